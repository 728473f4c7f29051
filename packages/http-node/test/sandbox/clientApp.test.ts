import { beforeAll, describe, expect, it } from "vitest"
import { type Json, later, NOBODY, Sandbox, SECOND, START } from "./Sandbox.js"

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await Sandbox.open()
  await sandbox.clock({ freeze: true })
})

const create = (shop: { readonly id: string }, body: object = {}, idempotency_key?: string) =>
  sandbox.ask(
    "POST",
    `/sandbox/shops/${shop.id}/tickets`,
    { service: "Hem", ...body },
    idempotency_key === undefined ? {} : { idempotency_key }
  )

describe("The QR code of a ticket's page", () => {
  it("the QR code is an SVG of the page's address, and null if the ticket has no page", async () => {
    const shop = await sandbox.shop({ tracking_base_url: "https://lac.example/t/" })
    const { data: ticket } = await create(shop)
    const { tracking_url, svg } = await sandbox.good("GET", `/sandbox/tickets/${ticket.id}/qr`)
    expect(tracking_url).toBe(`https://lac.example/t/${ticket.tracking_code}`)
    expect(svg).toMatch(/^<svg .*<\/svg>\n$/s)
    const { data: other } = await create(await sandbox.shop())
    expect(await sandbox.good("GET", `/sandbox/tickets/${other.id}/qr`)).toEqual({ tracking_url: null, svg: null })
    expect((await sandbox.ask("GET", `/sandbox/tickets/${NOBODY}/qr`)).status).toBe(404)
  })
})

describe("Clients (Specification, Sandbox)", () => {
  it("a client can open an account, and a visit to the counter makes them known to the shop", async () => {
    const shop = await sandbox.shop()
    const phone = "+21650000001"
    const person = { given_name: "Amira", family_name: "Ben Salah", phone, hide_name: true }
    const opened = await sandbox.ask("POST", "/sandbox/clients", person)
    expect([opened.status, Object.keys(opened.data)]).toEqual([201, ["id"]])
    const look = () =>
      sandbox.ask("GET", "/v1/clients", undefined, { bearer: shop.key, query: `phone=${encodeURIComponent(phone)}` })
    expect((await look()).status).toBe(404)
    const visit = await sandbox.good("POST", `/sandbox/clients/${opened.data.id}/visits`, { shop_id: shop.id })
    expect(visit).toEqual({ client_id: opened.data.id, shop_id: shop.id })
    expect((await look()).data).toMatchObject({ id: opened.data.id, display_name: "Amira B." })
  })

  it("null for hide_name is accepted as if the field were omitted (Specification, Errors)", async () => {
    const shop = await sandbox.shop()
    const person = { given_name: "Amira", family_name: "Ben Salah", phone: "+21650000002", hide_name: null }
    const opened = await sandbox.ask("POST", "/sandbox/clients", person)
    expect(opened.status).toBe(201)
    await sandbox.good("POST", `/sandbox/clients/${opened.data.id}/visits`, { shop_id: shop.id })
    const seen = await sandbox.good("GET", `/v1/clients/${opened.data.id}`, undefined, { bearer: shop.key })
    expect(seen.display_name).toBe("Amira Ben Salah")
  })

  it("an account with invalid input, or with the phone number of another account, is refused", async () => {
    const { phone } = await sandbox.person()
    const names = { given_name: "Sami", family_name: "Trabelsi" }
    const taken = await sandbox.ask("POST", "/sandbox/clients", { ...names, phone })
    expect([taken.status, taken.issues]).toEqual([400, ["body phone"]])
    const bad = await sandbox.ask("POST", "/sandbox/clients", { given_name: "", phone: "12", hide_name: 0, age: 3 })
    expect([...bad.issues].sort()).toEqual([
      "body age",
      "body family_name",
      "body given_name",
      "body hide_name",
      "body phone"
    ])
  })

  it("a client accepts an offer once, which links them to the ticket", async () => {
    const shop = await sandbox.shop()
    const { id, phone } = await sandbox.person()
    const ticket = await sandbox.ticket(shop, { client_phone: phone })
    expect(ticket.client).toBeNull()
    const offers: Array<Json> = await sandbox.good("GET", `/sandbox/clients/${id}/offers`)
    expect(offers).toEqual([
      { id: expect.any(String), shop_id: shop.id, ticket_id: ticket.id, status: "open", created_at: START }
    ])
    const path = `/sandbox/offers/${offers[0].id}`
    expect(await sandbox.good("POST", `${path}/accept`)).toEqual({ id: offers[0].id, status: "accepted" })
    expect((await sandbox.good("GET", `/sandbox/clients/${id}/offers`))[0].status).toBe("accepted")
    const read = await sandbox.good("GET", `/v1/tickets/${ticket.id}`, undefined, { bearer: shop.key })
    expect(read.client).toEqual({ id, display_name: "Amira Ben Salah" })
    for (const again of ["accept", "block"]) {
      const response = await sandbox.ask("POST", `${path}/${again}`)
      expect([response.status, response.error.details.reason]).toEqual([409, "OFFER_CLOSED"])
    }
  })

  it("a client can block a shop, which then no longer knows them", async () => {
    const shop = await sandbox.shop()
    const { id, phone } = await sandbox.person()
    await sandbox.good("POST", `/sandbox/clients/${id}/visits`, { shop_id: shop.id })
    await sandbox.ticket(shop, { client_phone: phone })
    const [offer] = await sandbox.good("GET", `/sandbox/clients/${id}/offers`)
    expect(await sandbox.good("POST", `/sandbox/offers/${offer.id}/block`)).toEqual({ id: offer.id, status: "blocked" })
    expect((await sandbox.ask("GET", `/v1/clients/${id}`, undefined, { bearer: shop.key })).status).toBe(404)
  })

  it("a client's inbox lists the client's notifications in the app", async () => {
    const shop = await sandbox.shop()
    const { id } = await sandbox.person()
    expect(await sandbox.good("GET", `/sandbox/clients/${id}/inbox`)).toEqual([])
    await sandbox.good("POST", `/sandbox/clients/${id}/visits`, { shop_id: shop.id })
    const ticket = await sandbox.ticket(shop, { client_id: id })
    await sandbox.status(shop, ticket, "ready")
    const inbox = await sandbox.good("GET", `/sandbox/clients/${id}/inbox`)
    expect(inbox).toEqual([
      {
        id: expect.any(String),
        shop_id: shop.id,
        ticket_id: ticket.id,
        type: "ticket.ready",
        created_at: START,
        ticket: expect.objectContaining({ id: ticket.id, state: "ready", notified_at: START })
      }
    ])
  })
})

describe("Tickets made in the app (Specification, Sandbox)", () => {
  it("tickets made in the app need no Idempotency-Key", async () => {
    const shop = await sandbox.shop()
    const { status, data, meta, headers } = await create(shop, { price_minor: 1200 })
    expect([status, meta, data.created_via, data.number]).toEqual([201, { replayed: false }, "app", 1])
    expect(headers["RateLimit-Limit"]).toBe("120")
    expect((await create(shop)).data.number).toBe(2)
  })

  it("an Idempotency-Key of the app is separate from those of the shop's API keys and of other shops", async () => {
    const [shop, other] = [await sandbox.shop(), await sandbox.shop()]
    const first = await create(shop, {}, "app 1")
    const replay = await create(shop, { type: "repair" }, "app 1")
    expect([replay.status, replay.meta, replay.data]).toEqual([200, { replayed: true }, first.data])
    expect(replay.headers["Idempotent-Replayed"]).toBe("true")
    const reused = await create(shop, { item: "Coat" }, "app 1")
    expect([reused.status, reused.error.details.reason]).toEqual([409, "IDEMPOTENCY_KEY_REUSED"])
    expect((await create(other, {}, "app 1")).status).toBe(201)
    const api = await sandbox.ask(
      "POST",
      "/v1/tickets",
      { service: "Hem" },
      { bearer: shop.key, idempotency_key: "app 1" }
    )
    expect([api.status, api.data.number, api.data.created_via]).toEqual([201, 2, "api"])
  })

  it("invalid tickets made in the app are refused with the same errors as in the API", async () => {
    const shop = await sandbox.shop()
    const bad = await create(shop, { service: "", deposit_minor: -1, colour: "red" }, "x".repeat(81))
    expect([...bad.issues].sort()).toEqual([
      "body colour",
      "body deposit_minor",
      "body service",
      "header Idempotency-Key"
    ])
    expect((await create(shop, { client_id: NOBODY })).status).toBe(404)
    expect((await create(shop, { item: "merde" })).status).toBe(422)
  })
})

describe("Acts on a ticket (Specification, Sandbox)", () => {
  it("an accepted quote becomes the price, and can be accepted once", async () => {
    const shop = await sandbox.shop()
    const ticket = (await create(shop, { price_minor: 1000 })).data
    const path = `/sandbox/tickets/${ticket.id}/quote`
    const none = await sandbox.ask("POST", `${path}/accept`)
    expect([none.status, none.error.details.reason]).toEqual([409, "QUOTE_CLOSED"])
    const proposed = await sandbox.good("POST", path, { price_minor: 2500, note: "New lining" })
    const quote = { price_minor: 2500, note: "New lining", proposed_at: START }
    expect(proposed.quote).toEqual({ ...quote, status: "proposed", answered_at: null })
    const accepted = await sandbox.good("POST", `${path}/accept`)
    expect(accepted.quote).toEqual({ ...quote, status: "accepted", answered_at: START })
    expect(accepted.money).toMatchObject({ price_minor: 2500, before_minor: 1000 })
    for (const response of ["accept", "refuse"])
      expect((await sandbox.ask("POST", `${path}/${response}`)).error.details.reason).toBe("QUOTE_CLOSED")
    expect((await sandbox.events(shop)).at(-1)).toBe(`quote.accepted ${START}`)
  })

  it("a refused quote leaves the price unchanged", async () => {
    const ticket = (await create(await sandbox.shop(), { price_minor: 1000 })).data
    const path = `/sandbox/tickets/${ticket.id}/quote`
    await sandbox.good("POST", path, { price_minor: 2500 })
    const refused = await sandbox.good("POST", `${path}/refuse`)
    expect([refused.quote.status, refused.money.price_minor]).toEqual(["refused", 1000])
  })

  it("a delay, a part and a photo are added to the ticket", async () => {
    const own = await Sandbox.open()
    const ticket = await own.ticket(await own.shop(), { promised_at: later(0) })
    await own.clock({ advance_ms: SECOND, freeze: true })
    const act = (name: string, body: object) => own.good("POST", `/sandbox/tickets/${ticket.id}/${name}`, body)
    const delayed = await act("delay", { promised_at: "2026-12-24T09:00:00Z", reason: "Strike" })
    expect(delayed.promised_at).toBe("2026-12-24T09:00:00.000Z")
    expect(delayed.delay).toEqual({ previous_promised_at: START, reason: "Strike", announced_at: later(SECOND) })
    const ordered = await act("part", { label: "Zip", status: "ordered", expected_at: "2026-12-01T00:00:00Z" })
    expect(ordered.part).toEqual({
      label: "Zip",
      status: "ordered",
      ordered_at: later(SECOND),
      expected_at: "2026-12-01T00:00:00.000Z",
      received_at: null
    })
    expect((await act("photo", { photo_url: "https://p.example/1.jpg" })).photo_url).toBe("https://p.example/1.jpg")
  })

  const bad: ReadonlyArray<readonly [string, object, ReadonlyArray<string>]> = [
    ["quote", { price_minor: -1, note: 3, by: "x" }, ["body by", "body note", "body price_minor"]],
    ["quote", { price_minor: 10 }, ["body price_minor"]],
    ["quote/accept", { price_minor: 1 }, ["body price_minor"]],
    ["quote/refuse", ["x"], ["body body"]],
    ["delay", { promised_at: "soon", reasons: "x" }, ["body promised_at", "body reasons"]],
    ["part", { label: "", status: "lost", expected_at: 1 }, ["body expected_at", "body label", "body status"]],
    ["photo", { photo_url: "http://p.example/1.jpg" }, ["body photo_url"]],
    ["photo", {}, ["body photo_url"]]
  ]
  for (const [act, body, issues] of bad) {
    it(`the act ${act} refuses the body ${JSON.stringify(body)}`, async () => {
      const ticket = (await create(await sandbox.shop(), { price_minor: 1000, deposit_minor: 500 })).data
      const response = await sandbox.ask("POST", `/sandbox/tickets/${ticket.id}/${act}`, body)
      expect([response.status, [...response.issues].sort()]).toEqual([400, issues])
    })
  }
})

describe("An unknown client, offer or ticket is not found (Specification, Sandbox)", () => {
  for (const [method, path, body] of [
    ["POST", `/sandbox/clients/${NOBODY}/visits`, "shop"],
    ["GET", `/sandbox/clients/${NOBODY}/offers`, undefined],
    ["GET", `/sandbox/clients/${NOBODY}/inbox`, undefined],
    ["POST", `/sandbox/offers/${NOBODY}/accept`, undefined],
    ["POST", `/sandbox/offers/${NOBODY}/block`, undefined],
    ["POST", `/sandbox/shops/${NOBODY}/tickets`, { service: "Hem" }],
    ["POST", `/sandbox/tickets/${NOBODY}/quote`, { price_minor: 1 }],
    ["POST", `/sandbox/tickets/${NOBODY}/quote/accept`, undefined],
    ["POST", `/sandbox/tickets/${NOBODY}/quote/refuse`, undefined],
    ["POST", `/sandbox/tickets/${NOBODY}/delay`, { promised_at: START }],
    ["POST", `/sandbox/tickets/${NOBODY}/part`, { label: "Zip", status: "ordered" }],
    ["POST", `/sandbox/tickets/${NOBODY}/photo`, { photo_url: "https://p.example/1.jpg" }]
  ] as const) {
    it(`${method} ${path.replace(NOBODY, "…")} is a 404`, async () => {
      const sent = body === "shop" ? { shop_id: (await sandbox.shop()).id } : body
      const { status, error } = await sandbox.ask(method, path, sent)
      expect([status, error.code]).toEqual([404, "NOT_FOUND"])
    })
  }

  it("a visit to an unknown shop is not found, and one without a body is refused", async () => {
    const { id } = await sandbox.person()
    expect((await sandbox.ask("POST", `/sandbox/clients/${id}/visits`, { shop_id: NOBODY })).status).toBe(404)
    expect((await sandbox.ask("POST", `/sandbox/clients/${id}/visits`)).issues).toEqual(["body shop_id"])
  })
})
