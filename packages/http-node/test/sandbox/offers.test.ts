import { beforeAll, describe, expect, it } from "vitest"
import { Sandbox } from "./Sandbox.js"

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await Sandbox.open()
  await sandbox.clock({ freeze: true })
})

type Shop = Awaited<ReturnType<Sandbox["shop"]>>

const visit = (shop: Shop, id: string) => sandbox.good("POST", `/sandbox/clients/${id}/visits`, { shop_id: shop.id })

/** The client answers their newest offer. */
const answer = async (id: string, how: "accept" | "block") => {
  const offer = (await sandbox.good("GET", `/sandbox/clients/${id}/offers`)).at(-1)
  return sandbox.good("POST", `/sandbox/offers/${offer.id}/${how}`)
}

const read = (shop: Shop, path: string) => sandbox.ask("GET", `/v1${path}`, undefined, { bearer: shop.key })

describe("Accepting an offer (contract §12)", () => {
  it("links a ticket whose client has blocked the shop", async () => {
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
})
