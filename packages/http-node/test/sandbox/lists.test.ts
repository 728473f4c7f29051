import { beforeAll, describe, expect, it } from "vitest"
import { DAY, type Json, NOBODY, Sandbox, SIXTY_DAYS } from "./Sandbox.js"

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await Sandbox.open()
  await sandbox.clock({ freeze: true })
})

describe("Lists of the sandbox (Specification, Sandbox)", () => {
  it("the list of shops has each shop as its own path returns it, newest last", async () => {
    const first = await sandbox.shop()
    await sandbox.clock({ advance_ms: 1 })
    const second = await sandbox.shop({ name: "Retouches du Lac" })
    await sandbox.clock({ advance_ms: 1 })
    const shops: Array<Json> = await sandbox.good("GET", "/sandbox/shops")
    expect(shops.slice(-2)).toEqual([
      await sandbox.good("GET", `/sandbox/shops/${first.id}`),
      await sandbox.good("GET", `/sandbox/shops/${second.id}`)
    ])
  })

  it("a key's text can be read only if this process created the key, and is never in the list of keys", async () => {
    const shop = await sandbox.shop()
    const created = await sandbox.good("POST", `/sandbox/shops/${shop.id}/keys`, { name: "console", preset: "read" })
    await sandbox.good("DELETE", `/sandbox/keys/${created.id}`)
    const keys: Array<Json> = await sandbox.good("GET", `/sandbox/shops/${shop.id}/keys`)
    expect(JSON.stringify(keys)).not.toContain(shop.key)
    const texts = await Promise.all(keys.map(({ id }) => sandbox.good("GET", `/sandbox/keys/${id}/text`)))
    expect(texts.map(({ key }) => key)).toEqual([shop.key, created.key])
    const other = await sandbox.good("GET", "/sandbox/keys/0198c5f1-0d20-7000-8a4f-2be6c90d1357/text")
    expect(other.key).toBeNull()
  })

  it("a shop's list of clients has every client: whether the shop knows them, whether they block it, and their loyalty card", async () => {
    const shop = await sandbox.shop()
    await sandbox.good("PATCH", `/sandbox/shops/${shop.id}`, { program: { active: true } })
    const [stranger, regular, blocker] = [await sandbox.person(), await sandbox.person(), await sandbox.person()]
    await sandbox.good("POST", `/sandbox/clients/${regular.id}/visits`, { shop_id: shop.id })
    const stamps = { bearer: shop.key, idempotency_key: sandbox.newIdempotencyKey() }
    await sandbox.good("POST", `/v1/clients/${regular.id}/loyalty/stamps`, { count: 3 }, stamps)
    await sandbox.ticket(shop, { client_phone: blocker.phone })
    const [offer] = await sandbox.good("GET", `/sandbox/clients/${blocker.id}/offers`)
    await sandbox.good("POST", `/sandbox/offers/${offer.id}/block`)
    const clients: Array<Json> = await sandbox.good("GET", `/sandbox/shops/${shop.id}/clients`)
    const seen = (id: string) => clients.find((client) => client.id === id)
    expect(seen(stranger.id)).toEqual({
      id: stranger.id,
      display_name: "Amira Ben Salah",
      phone: stranger.phone,
      known: false,
      blocked: false,
      card: null
    })
    expect(seen(regular.id)).toMatchObject({ known: true, blocked: false, card: { balance: 3, lifetime: 3 } })
    expect(seen(blocker.id)).toMatchObject({ blocked: true })
  })

  it("a shop's tickets are listed newest first, with the next scheduled event of each", async () => {
    const shop = await sandbox.shop()
    const [old, collected, fresh] = [await sandbox.ticket(shop), await sandbox.ticket(shop), await sandbox.ticket(shop)]
    await sandbox.status(shop, collected, "ready")
    await sandbox.status(shop, collected, "collected")
    await sandbox.status(shop, fresh, "impossible")
    const tickets: Array<Json> = await sandbox.good("GET", `/sandbox/shops/${shop.id}/tickets`)
    const later = (ms: number) => new Date(Date.parse(old.created_at) + ms).toISOString()
    const next = [null, { at: later(DAY), kind: "reopen_end" }, { at: later(SIXTY_DAYS), kind: "closure" }]
    const read = async ({ id }: Json) => sandbox.good("GET", `/v1/tickets/${id}`, undefined, { bearer: shop.key })
    expect(tickets).toEqual([
      { ...(await read(fresh)), next: next[0] },
      { ...(await read(collected)), next: next[1] },
      { ...(await read(old)), next: next[2] }
    ])
  })

  it("the list of tickets can be filtered by state, number, phone, reference and part of the service or item, and has pages", async () => {
    const shop = await sandbox.shop()
    const boots = await sandbox.ticket(shop, {
      service: "New soles",
      item: "Brown boots",
      client_phone: "+21620123987"
    })
    const coat = await sandbox.ticket(shop, { service: "Lining", external_ref: "till-77" })
    const find = async (query: string) => {
      const tickets: Array<Json> = await sandbox.good("GET", `/sandbox/shops/${shop.id}/tickets`, undefined, { query })
      return tickets.map(({ id }) => id)
    }
    for (const query of ["q=1", "q=%230001", "q=20123987", "q=%2B216%2020%20123%20987", "q=SOLES", "q=boots"])
      expect([query, await find(query)]).toEqual([query, [boots.id]])
    expect(await find("q=till-77")).toEqual([coat.id])
    expect(await find("q=nothing")).toEqual([])
    await sandbox.status(shop, coat, "ready")
    expect(await find("state=ready")).toEqual([coat.id])
    expect(await find("limit=1")).toEqual([coat.id])
    expect(await find(`limit=1&before=${coat.id}`)).toEqual([boots.id])
  })

  it("a list for an unknown shop or ticket is a 404, and an invalid parameter is a 400", async () => {
    for (const path of [`shops/${NOBODY}/tickets`, `shops/${NOBODY}/clients`, `tickets/${NOBODY}/moves`])
      expect([path, (await sandbox.ask("GET", `/sandbox/${path}`)).status]).toEqual([path, 404])
    const { id } = await sandbox.shop()
    const { status, issues } = await sandbox.ask("GET", `/sandbox/shops/${id}/tickets`, undefined, {
      query: "state=lost&limit=many&colour=red"
    })
    expect([status, [...issues].sort()]).toEqual([400, ["query colour", "query limit", "query state"]])
  })
})

describe("The list of acts that a ticket accepts (Specification, Sandbox)", () => {
  const moves = async ({ id }: Json) => {
    const acts: Array<Json> = await sandbox.good("GET", `/sandbox/tickets/${id}/moves`)
    return Object.fromEntries(acts.map(({ act, accepted, reason }) => [act, accepted ? "yes" : reason]))
  }

  it("the list has exactly the acts that the API accepts, and each refused act has the reason of its 409", async () => {
    const shop = await sandbox.shop()
    const ticket = await sandbox.ticket(shop, { price_minor: 9000, deposit_minor: 4000 })
    expect(await moves(ticket)).toEqual({
      "status:ready": "yes",
      "status:impossible": "yes",
      "status:workshop": "SAME_STATE",
      "status:collected": "INVALID_TRANSITION",
      notified: "yes",
      quote: "yes",
      accept: "QUOTE_CLOSED",
      refuse: "QUOTE_CLOSED",
      delay: "yes",
      part: "yes",
      photo: "yes"
    })
    await sandbox.good("POST", `/sandbox/tickets/${ticket.id}/quote`, { price_minor: 12000 })
    expect(await moves(ticket)).toMatchObject({ accept: "yes", refuse: "yes" })
  })

  it("reading the list of acts changes nothing, and the list depends on the clock", async () => {
    const own = await Sandbox.open()
    await own.clock({ freeze: true })
    const shop = await own.shop()
    const ticket = await own.ticket(shop)
    await own.status(shop, ticket, "ready")
    await own.status(shop, ticket, "collected")
    const read = () => own.good("GET", `/v1/tickets/${ticket.id}`, undefined, { bearer: shop.key })
    const [before, events] = [await read(), await own.events(shop)]
    const reopening = async () => {
      const acts: Array<Json> = await own.good("GET", `/sandbox/tickets/${ticket.id}/moves`)
      return acts.find(({ act }) => act === "status:workshop")
    }
    expect(await reopening()).toEqual({ act: "status:workshop", accepted: true, reason: null })
    await own.clock({ advance_ms: DAY + 1 })
    expect(await reopening()).toEqual({ act: "status:workshop", accepted: false, reason: "REOPEN_WINDOW" })
    expect([await read(), await own.events(shop)]).toEqual([before, events])
  })
})
