import { beforeAll, describe, expect, it } from "vitest"
import { Sandbox, SIXTY_DAYS, START } from "./Sandbox.js"

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await Sandbox.open()
  await sandbox.clock({ freeze: true })
})

type Shop = Awaited<ReturnType<Sandbox["shop"]>>

const visit = (shop: Shop, id: string) => sandbox.good("POST", `/sandbox/clients/${id}/visits`, { shop_id: shop.id })

/** Accepts a client's newest offer, or blocks its shop. */
const answer = async (id: string, decision: "accept" | "block") => {
  const offer = (await sandbox.good("GET", `/sandbox/clients/${id}/offers`)).at(-1)
  return sandbox.good("POST", `/sandbox/offers/${offer.id}/${decision}`)
}

const read = (shop: Shop, path: string) => sandbox.ask("GET", `/v1${path}`, undefined, { bearer: shop.key })

describe("Accepting an offer (Specification, Tickets)", () => {
  it("accepting an offer links a ticket whose previous client has blocked the shop", async () => {
    const shop = await sandbox.shop()
    const [blocker, other] = [await sandbox.person(), await sandbox.person()]
    await visit(shop, blocker.id)
    const ticket = await sandbox.ticket(shop, { client_id: blocker.id, client_phone: other.phone })
    await sandbox.ticket(shop, { client_phone: blocker.phone })
    await answer(blocker.id, "block")
    await answer(other.id, "accept")
    expect((await read(shop, `/tickets/${ticket.id}`)).data.client).toMatchObject({ id: other.id })
    expect((await read(shop, `/clients/${other.id}`)).data.tickets_total).toBe(1)
    expect((await sandbox.events(shop)).at(-1)).toMatch(/^client\.linked /)
  })

  it("accepting an offer of an abandoned ticket makes the client known and leaves the ticket unchanged", async () => {
    const own = await Sandbox.open()
    const shop = await own.shop()
    const { id, phone } = await own.person()
    const { id: ticket } = await own.ticket(shop, { client_phone: phone })
    await own.clock({ advance_ms: SIXTY_DAYS, freeze: true })
    const readTicket = () => own.good("GET", `/v1/tickets/${ticket}`, undefined, { bearer: shop.key })
    const before = await readTicket()
    const [offer] = await own.good("GET", `/sandbox/clients/${id}/offers`)
    await own.good("POST", `/sandbox/offers/${offer.id}/accept`)
    expect([before.state, await readTicket()]).toEqual(["abandoned", before])
    expect((await own.events(shop)).at(-1)).toMatch(/^ticket\.abandoned /)
    await own.good("GET", `/v1/clients/${id}`, undefined, { bearer: shop.key })
  })

  it("a ticket is not offered to the account that it is already linked to", async () => {
    const shop = await sandbox.shop()
    const { id, phone } = await sandbox.person()
    await visit(shop, id)
    await sandbox.ticket(shop, { client_id: id, client_phone: phone })
    expect(await sandbox.good("GET", `/sandbox/clients/${id}/offers`)).toEqual([])
  })
})

describe("A quote of a ticket that was collected (Specification, Tickets)", () => {
  it("the quote of a collected ticket is closed: 409 QUOTE_CLOSED, and the price is unchanged", async () => {
    const shop = await sandbox.shop()
    const { id } = await sandbox.ticket(shop, { price_minor: 1000 })
    await sandbox.good("POST", `/sandbox/tickets/${id}/quote`, { price_minor: 2500 })
    await sandbox.status(shop, { id }, "ready")
    await sandbox.status(shop, { id }, "collected")
    for (const [act, body] of [["accept"], ["refuse"], ["", { price_minor: 900 }]] as const) {
      const { status, error } = await sandbox.ask("POST", `/sandbox/tickets/${id}/quote${act && `/${act}`}`, body)
      const details = { reason: "QUOTE_CLOSED", state: "collected", updated_at: START }
      expect([act, status, error.details]).toEqual([act, 409, details])
    }
    expect((await read(shop, `/tickets/${id}`)).data.money.price_minor).toBe(1000)
  })
})
