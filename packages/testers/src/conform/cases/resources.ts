import type { TicketJson } from "../../testkit/ResponseTypes.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectShape, expectThat } from "../Expectations.js"

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Envelope, money and dates of every response (Specification, Requests and responses; Lists and sync; Errors). */
export const envelopeCases = casesOf("§1", [
  test("envelope-success (rule-envelope-success, key): A successful response is a JSON object with success true and data.", async (shop) => {
    const response = await shop.get("/shop")
    response.expectHeader("Content-Type", /^application\/json/).expectOk()
  }),
  test("envelope-unknown-route (rule-envelope-success, key): An unknown path of the API is a 404 in the envelope.", async (shop) => {
    const response = await shop.get("/nothing-here")
    response.expectHeader("Content-Type", /^application\/json/).expectRefusal(404, "NOT_FOUND")
    expectThat(typeof response.error.message === "string", "error.message to be a text", response.error.message)
  }),
  test("envelope-outside (rule-envelope-success, key): A path outside the API is a 404 in the envelope, and requires no key.", async (shop) => {
    ;(await shop.env.api("GET", "/nothing-here")).expectRefusal(404, "NOT_FOUND")
  }),
  // BREW is a method that no HTTP library knows.
  ...["PUT", "DELETE", "PATCH", "BREW"].map((method) =>
    test(`envelope-method-${method.toLowerCase()} (rule-envelope-method-all, key): ${method} /v1/tickets is a 404 in the envelope, and the server keeps running.`, async (shop) => {
      const { key } = shop
      ;(await shop.env.api(method, "/v1/tickets", { bearer: key })).expectRefusal(404, "NOT_FOUND")
      ;(await shop.env.api("GET", "/v1/tickets", { bearer: key })).expectOk()
    })
  ),
  test("envelope-options (rule-envelope-method-all, key): OPTIONS is an unknown method, and no response has CORS headers.", async (shop) => {
    const { key } = shop
    const headers = { Origin: "https://shop.example.com", "Access-Control-Request-Method": "POST" }
    const response = await shop.env.api("OPTIONS", "/v1/tickets", { bearer: key, headers })
    response.expectRefusal(404, "NOT_FOUND").expectHeader("Access-Control-Allow-Origin", undefined)
  }),
  test("envelope-head (rule-envelope-head, key): HEAD returns the response of GET without its body.", async (shop) => {
    const { key } = shop
    const response = await shop.env.api("HEAD", "/v1/shop", { bearer: key })
    expectThat(response.status === 200, "status 200", response.status)
    expectThat(response.exchange.response.body === "", "no body", response.exchange.response.body)
  }),
  test("envelope-malformed-json (rule-envelope-malformed-json, key): A body that is not valid JSON is a 400 in the envelope.", async (shop) => {
    const response = await shop.create({}, { raw: '{"service":' })
    response.expectInvalid()
  }),
  test("envelope-content-type (rule-envelope-malformed-json, key): A body whose Content-Type is not JSON is a 400.", async (shop) => {
    ;(await shop.create({}, { headers: { "Content-Type": "text/plain" } })).expectInvalid()
  }),
  test("envelope-too-large (rule-envelope-malformed-json, key): A body over 64 KiB is a 400, and the connection stays open until the client has the response.", async (shop) => {
    const raw = `{"service":"Hem"${" ".repeat(64 * 1024)}}`
    ;(await shop.create({}, { raw })).expectInvalid()
  }),
  test("envelope-not-an-object (rule-envelope-malformed-json, key): A JSON body that is not an object is a 400.", async (shop) => {
    for (const raw of ["[]", "null", '"Hem"', "1"]) (await shop.create({}, { raw })).expectInvalid()
  }),
  test("envelope-member-twice (rule-envelope-member-twice, key): A body with a duplicate member in an object is a 400 that names the member.", async (shop) => {
    ;(await shop.create({}, { raw: '{"service":"Hem","service":"Zip"}' })).expectInvalid("body service")
    const items = '"items":[{"label":"Left"},{"label":"Right","label":"Right"}]'
    ;(await shop.create({}, { raw: `{"service":"Hem",${items}}` })).expectInvalid("body items.1.label")
  }),
  test("instants-utc (rule-instants-utc, key): Instants are ISO 8601 in UTC with milliseconds and Z.", async (shop) => {
    const response = await shop.create()
    response.expectData({ created_at: INSTANT, updated_at: INSTANT }, 201)
  }),
  test("instants-offset (rule-instants-offset, key): An instant that is sent with an offset is returned in UTC.", async (shop) => {
    const response = await shop.create({ promised_at: "2031-05-04T12:30:00+02:00" })
    response.expectData({ promised_at: "2031-05-04T10:30:00.000Z" }, 201)
  }),
  test("money-minor-units (rule-money-minor-units): Amounts are whole numbers of minor units, and the response has the shop's currency and its decimals.", async (shop) => {
    const tunis = await shop.env.openShop({ currency: "TND", decimals: 3 })
    const paris = await shop.env.openShop({ currency: "EUR", decimals: 2 })
    const body = { price_minor: 12_345 }
    ;(await tunis.create(body)).expectData({ money: { currency: "TND", decimals: 3, price_minor: 12_345 } }, 201)
    ;(await paris.create(body)).expectData({ money: { currency: "EUR", decimals: 2, price_minor: 12_345 } }, 201)
  }),
  test("one-key-one-shop (rule-one-key-one-shop): A key gives access to the data of its own shop only.", async (shop) => {
    const [mine, theirs] = [shop, await shop.env.openShop()]
    const ticket = await theirs.createTicket()
    ;(await mine.get<ReadonlyArray<TicketJson>>("/tickets")).expectData([])
    ;(await mine.get(`/tickets/${ticket.id}`)).expectRefusal(404, "NOT_FOUND")
    ;(await mine.setStatus(ticket.id, "ready")).expectRefusal(404, "NOT_FOUND")
    ;(await mine.recordNotified(ticket.id)).expectRefusal(404, "NOT_FOUND")
    ;(await mine.get(`/tickets/by-number/${ticket.number}`)).expectRefusal(404, "NOT_FOUND")
  }),
  test("api-disabled (rule-api-disabled): Requests return API_DISABLED while the API is off for their shop, and succeed after it is on again.", async (shop) => {
    await shop.changeSettings({ api_enabled: false })
    ;(await shop.get("/shop")).expectRefusal(403, "API_DISABLED")
    await shop.changeSettings({ api_enabled: true })
    ;(await shop.get("/shop")).expectOk()
  })
])

const FIELDS = [
  ...["id", "number", "number_label", "state", "outcome", "type", "service", "item", "description", "items", "money"],
  ...["quote", "promised_at", "delay", "part", "client", "client_phone", "tracking_code", "tracking_url", "photo_url"],
  ...["created_at", "updated_at", "ready_at", "collected_at", "abandoned_at", "abandon_reason", "notified_at"],
  ...["created_via", "external_ref"]
]

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** The fields of a ticket (Specification, Resources; Tickets). */
export const fieldCases = casesOf("§2", [
  test("ticket-fields (rule-ticket-fields, key): A ticket has every field of the specification, including those without a value.", async (shop) => {
    const ticket = await shop.createTicket()
    const missing = FIELDS.filter((name) => !(name in ticket))
    expectSame(missing, [], "the list of missing fields")
  }),
  test("ticket-fresh (rule-ticket-fields, key): A new ticket is a repair in the state workshop, created through the API, and its optional fields are null.", async (shop) => {
    const absentFields = Object.fromEntries(
      ["outcome", "item", "description", "quote", "promised_at", "delay", "part", "client", "client_phone"]
        .concat("photo_url", "ready_at", "collected_at", "abandoned_at", "abandon_reason", "notified_at")
        .map((name) => [name, null])
    )
    const created = await shop.create({ service: "Resoling" })
    created.expectData(
      { ...absentFields, state: "workshop", type: "repair", service: "Resoling", items: [], created_via: "api" },
      201
    )
  }),
  test("ticket-id (rule-ticket-id, key): Ids are UUIDs of version 7.", async (shop) => {
    const ticket = await shop.createTicket()
    expectThat(UUID.test(ticket.id), "a UUID of version 7", ticket.id)
  }),
  test("ticket-as-given (rule-ticket-fields, key): A ticket has the fields with which it was created, both in the response and when it is read later.", async (shop) => {
    const input = {
      service: "Taking in",
      type: "prepare",
      item: "Grey suit",
      description: "Two cm at the waist\nand the sleeves",
      promised_at: "2031-01-02T03:04:05.678Z",
      external_ref: shop.env.uniqueText("ref")
    }
    const ticket = (await shop.create(input)).expectData(input, 201)
    expectSame(await shop.readTicket(ticket.id), ticket, "the ticket when read")
  }),
  test("ticket-items (rule-ticket-items, key): Each item has its own id, its label, service and price, and is not done.", async (shop) => {
    const items = [{ label: "Left shoe", service: "Heel", price_minor: 900 }, { label: "Right shoe" }]
    const ticket = (await shop.create({ items })).expectData(
      {
        items: [
          { label: "Left shoe", service: "Heel", price_minor: 900, done: false },
          { label: "Right shoe", service: null, price_minor: null, done: false }
        ]
      },
      201
    )
    expectThat(new Set(ticket.items.map(({ id }) => id)).size === 2, "two ids", ticket.items)
  }),
  test("money-remaining (rule-money-remaining, key): The remaining amount is the price minus the deposit, or the price if there is no deposit.", async (shop) => {
    const ticket = await shop.create({ price_minor: 5000, deposit_minor: 1200 })
    ticket.expectData(
      { money: { price_minor: 5000, deposit_minor: 1200, remaining_minor: 3800, before_minor: null } },
      201
    )
    const price = await shop.create({ price_minor: 5000 })
    price.expectData({ money: { price_minor: 5000, deposit_minor: null, remaining_minor: 5000 } }, 201)
  }),
  test("money-without-price (rule-money-remaining, key): A ticket without a price has no remaining amount, even if its items have prices.", async (shop) => {
    const items = [
      { label: "One", price_minor: 100 },
      { label: "Two", price_minor: 200 }
    ]
    const response = await shop.create({ items })
    response.expectData({ money: { price_minor: null, remaining_minor: null } }, 201)
  }),
  test("number-label (rule-create-numbers): The label of a ticket number has four digits.", async (shop) => {
    await shop.changeSettings({ next_number: 42 })
    ;(await shop.create()).expectData({ number: 42, number_label: "0042" }, 201)
  }),
  test("tracking-code (rule-tracking-code, key): Tracking codes are two groups of four Crockford characters, and no two are the same.", async (shop) => {
    const codes = [await shop.createTicket(), await shop.createTicket(), await shop.createTicket()].map(
      (ticket) => ticket.tracking_code
    )
    for (const code of codes) expectShape(code, /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/, "tracking_code")
    expectThat(new Set(codes).size === 3, "three different codes", codes)
  }),
  test("tracking-url (rule-tracking-code): tracking_url is the shop's base address followed by the code, or null if the shop has no base address.", async (shop) => {
    const base = "https://shop.example.com/t/"
    const ticket = await (await shop.env.openShop({ tracking_base_url: base })).createTicket()
    expectSame(ticket.tracking_url, `${base}${ticket.tracking_code}`, "tracking_url")
    expectSame((await shop.createTicket()).tracking_url, null, "tracking_url without a base")
  }),
  test("quote-proposed (rule-quote-proposed): A proposed quote shows its price, note and instant, and does not change the ticket's price.", async (shop) => {
    const { id } = await shop.createTicket({ price_minor: 1000 })
    await shop.env.callSandbox("propose quote", id, { price_minor: 1500, note: "New sole" })
    const quote = { status: "proposed", price_minor: 1500, note: "New sole", proposed_at: await shop.env.readInstant() }
    const response = await shop.get<TicketJson>(`/tickets/${id}`)
    response.expectData({ quote: { ...quote, answered_at: null }, money: { price_minor: 1000, before_minor: null } })
  }),
  test("quote-accepted (rule-quote-proposed): An accepted quote becomes the ticket's price, and the ticket still shows the price before it.", async (shop) => {
    const { id } = await shop.createTicket({ price_minor: 1000, deposit_minor: 300 })
    await shop.env.callSandbox("propose quote", id, { price_minor: 1500 })
    await shop.env.advance(1)
    await shop.env.callSandbox("accept quote", id, {})
    ;(await shop.get<TicketJson>(`/tickets/${id}`)).expectData({
      quote: { status: "accepted", price_minor: 1500, answered_at: await shop.env.readInstant() },
      money: { price_minor: 1500, before_minor: 1000, remaining_minor: 1200 }
    })
  }),
  test("quote-again (rule-quote-proposed): After a second accepted quote the ticket shows the price before that quote, and a refused quote changes neither price.", async (shop) => {
    const { id } = await shop.createTicket({ price_minor: 1000 })
    for (const price_minor of [1500, 1800]) {
      await shop.env.callSandbox("propose quote", id, { price_minor })
      await shop.env.callSandbox("accept quote", id, {})
    }
    const money = { price_minor: 1800, before_minor: 1500 }
    ;(await shop.get<TicketJson>(`/tickets/${id}`)).expectData({ quote: { status: "accepted" }, money })
    await shop.env.callSandbox("propose quote", id, { price_minor: 2000 })
    await shop.env.callSandbox("refuse quote", id, {})
    ;(await shop.get<TicketJson>(`/tickets/${id}`)).expectData({ quote: { status: "refused" }, money })
  }),
  test("quote-refused (rule-quote-proposed): A refused quote does not change the ticket's price.", async (shop) => {
    const { id } = await shop.createTicket({ price_minor: 1000 })
    await shop.env.callSandbox("propose quote", id, { price_minor: 1500 })
    await shop.env.callSandbox("refuse quote", id, {})
    ;(await shop.get<TicketJson>(`/tickets/${id}`)).expectData({
      quote: { status: "refused" },
      money: { price_minor: 1000, before_minor: null }
    })
  }),
  test("delay (rule-delay): A delay changes the promised instant, and shows the instant before it, its reason and when it was announced.", async (shop) => {
    const before = "2031-01-01T10:00:00.000Z"
    const { id } = await shop.createTicket({ promised_at: before })
    const promised_at = "2031-01-05T10:00:00.000Z"
    await shop.env.callSandbox("announce delay", id, { promised_at, reason: "The leather is late" })
    ;(await shop.get<TicketJson>(`/tickets/${id}`)).expectData({
      promised_at,
      delay: { previous_promised_at: before, reason: "The leather is late", announced_at: await shop.env.readInstant() }
    })
  }),
  test("part-and-photo (rule-part-and-photo): A part shows whether and when it was ordered or received, and a photo shows its address.", async (shop) => {
    const { id } = await shop.createTicket()
    const photo_url = "https://pictures.example.com/1.jpg"
    await shop.env.callSandbox("attach photo", id, { photo_url })
    const expected_at = "2031-01-01T10:00:00.000Z"
    await shop.env.callSandbox("record part", id, { label: "Zip", status: "ordered", expected_at })
    const ordered_at = await shop.env.readInstant()
    const part = { label: "Zip", status: "ordered", ordered_at, expected_at, received_at: null }
    ;(await shop.get<TicketJson>(`/tickets/${id}`)).expectData({ photo_url, part })
    await shop.env.advance(1)
    await shop.env.callSandbox("record part", id, { label: "Zip", status: "received" })
    const received = { status: "received", ordered_at, received_at: await shop.env.readInstant() }
    ;(await shop.get<TicketJson>(`/tickets/${id}`)).expectData({ part: received })
  }),
  test("created-via (rule-created-via): A ticket shows whether it was created in the app or through the API.", async (shop) => {
    const { id } = (await shop.createInApp()).data
    ;(await shop.get<TicketJson>(`/tickets/${id}`)).expectData({ created_via: "app", number: 1 })
    ;(await shop.create()).expectData({ created_via: "api", number: 2 }, 201)
  })
])

/** The version (Specification, Versions). */
export const versioningCases = casesOf("§9", [
  test("version-in-path (rule-version-in-path, key): The API is available under /v1 and under no other version.", async (shop) => {
    const { key } = shop
    ;(await shop.env.api("GET", "/v1/shop", { bearer: key })).expectOk()
    for (const path of ["/v2/shop", "/shop"])
      (await shop.env.api("GET", path, { bearer: key })).expectRefusal(404, "NOT_FOUND")
  }),
  test("version-in-events (rule-version-in-path): Every event has the version of the API.", async (shop) => {
    await shop.createAndMove("ready", "collected")
    const versions = (await shop.listEvents()).map(({ api_version }) => api_version)
    expectSame(versions, ["1", "1", "1"], "the versions in the events")
  })
])
