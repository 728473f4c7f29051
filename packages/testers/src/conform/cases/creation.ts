import { UNKNOWN_ID } from "../../testkit/Ids.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectShape } from "../Expectations.js"

/** Each field with its greatest length in characters. */
const MAX_LENGTHS = [
  ["service", 120],
  ["item", 200],
  ["description", 2000],
  ["external_ref", 64]
] as const

/** Creating tickets, and the bounds of texts, amounts and lists (Specification, Endpoints; Tickets; Limits). */
export const creationCases = casesOf("§4", [
  test("shop-record (rule-client-counts): GET /v1/shop returns the shop with its currency and time zone, and the scopes of the key.", async (own) => {
    const shop = await own.env.openShop({
      name: "Atelier Lac",
      currency: "EUR",
      decimals: 2,
      time_zone: "Europe/Paris"
    })
    const record = { id: shop.id, name: "Atelier Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" }
    const { scopes } = (await shop.get<{ scopes: Array<string> }>("/shop")).expectData(record)
    const allScopes = ["clients:read", "loyalty:write", "tickets:read", "tickets:write"]
    expectSame([...scopes].sort(), allScopes, "the scopes of a full-access key")
  }),
  test("create (rule-status-workshop-ready): Creating a ticket returns 201 and raises ticket.created with the ticket as it was created.", async (shop) => {
    const ticket = (await shop.create({ service: "Zip" })).expectData(
      { number: 1, state: "workshop", service: "Zip" },
      201
    )
    const events = await shop.listEvents()
    expectSame(await shop.listEventTypes(), ["ticket.created"], "the shop's events")
    expectSame(events[0]?.data.ticket, ticket, "the event's ticket")
  }),
  test("create-numbers (rule-create-numbers): Ticket numbers are consecutive, whether tickets are created in the app or through the API.", async (shop) => {
    await shop.createTicket()
    await shop.createInApp()
    ;(await shop.create()).expectData({ number: 3 }, 201)
  }),
  test("create-number-wraps (rule-create-numbers): The ticket number after 9999 is 1.", async (shop) => {
    await shop.changeSettings({ next_number: 9999 })
    ;(await shop.create()).expectData({ number: 9999, number_label: "9999" }, 201)
    ;(await shop.create()).expectData({ number: 1, number_label: "0001" }, 201)
  }),
  test("create-failed-uses-no-number (rule-create-numbers): A refused request to create a ticket uses no number.", async (shop) => {
    await shop.changeSettings({ forbidden_words: ["grumblefluff"] })
    await shop.createTicket()
    ;(await shop.create({ service: "" })).expectInvalid("body service")
    ;(await shop.create({ client_id: UNKNOWN_ID })).expectRefusal(404, "NOT_FOUND")
    ;(await shop.create({ service: "grumblefluff" })).expectRefusal(422, "PROFANITY")
    ;(await shop.create()).expectData({ number: 2 }, 201)
    expectSame(await shop.listEventTypes(), ["ticket.created", "ticket.created"], "the shop's events")
  }),
  test("create-client-linked (rule-create-client-linked): A ticket for a client whom the shop knows is linked immediately, and raises ticket.created and then client.linked.", async (shop) => {
    const client = await shop.openKnownClient()
    const linked = { id: client.id, display_name: "Amira Ben Salah" }
    ;(await shop.create({ client_id: client.id })).expectData({ client: linked }, 201)
    const events = await shop.listEvents()
    expectSame(await shop.listEventTypes(), ["ticket.created", "client.linked"], "the shop's events")
    expectShape(events[1]?.data, { client: linked, ticket: { client: linked } }, "the data of client.linked")
  }),
  test("create-client-unknown (rule-create-client-linked): Creating a ticket for a client who is unknown, is known to another shop only, or blocks the shop gets the same 404.", async (shop) => {
    const otherShop = await shop.env.openShop()
    const [stranger, theirs, blocker] = [
      await shop.env.openAccount(),
      await otherShop.openKnownClient(),
      await shop.openBlocker()
    ]
    for (const id of [UNKNOWN_ID, stranger.id, theirs.id, blocker.id])
      (await shop.create({ client_id: id })).expectRefusal(404, "NOT_FOUND")
  }),
  test("create-offer (rule-create-offer): A ticket with a phone number is offered to the account with that number, and is not linked until the client accepts.", async (shop) => {
    const client = await shop.env.openAccount()
    const { id } = (await shop.create({ client_phone: client.phone })).expectData({ client: null }, 201)
    const offers = await shop.env.callSandbox("get offers", client.id)
    expectShape(offers, [{ shop_id: shop.id, ticket_id: id, status: "open" }], "the client's offers")
    ;(await shop.lookUp(client.phone)).expectRefusal(404, "NOT_FOUND")
    await shop.env.answerOffer(client, "accept")
    ;(await shop.get(`/tickets/${id}`)).expectData({ client: { id: client.id } })
    expectSame(await shop.listEventTypes(), ["ticket.created", "client.linked"], "the shop's events")
    ;(await shop.lookUp(client.phone)).expectData({ id: client.id })
  }),
  test("create-offer-twice-answered (rule-create-offer-twice-answered): An offer that was answered cannot be answered again.", async (shop) => {
    const client = await shop.env.openAccount()
    await shop.createTicket({ client_phone: client.phone })
    const [offer] = await shop.env.callSandbox<ReadonlyArray<{ id: string }>>("get offers", client.id)
    await shop.env.callSandbox("accept offer", offer?.id, {})
    ;(await shop.env.sandbox("block shop", offer?.id, {})).expectConflict("OFFER_CLOSED")
  }),
  test("create-phone-e164 (rule-create-phone-e164, key): A phone number is stored in E.164, however it was written.", async (shop) => {
    ;(await shop.create({ client_phone: " +49 (1512) 345-6789 " })).expectData({ client_phone: "+4915123456789" }, 201)
  }),
  test("create-phone-invalid (rule-create-phone-e164, key): An invalid phone number, or one without a country code, is a 400.", async (shop) => {
    for (const client_phone of ["015123456789", "+", "+49", "call me"])
      (await shop.create({ client_phone })).expectInvalid("body client_phone")
  }),
  test("create-null-is-absent (rule-create-unknown-field, key): null for an optional field has the same effect as leaving the field out.", async (shop) => {
    const body = { type: null, item: null, description: null, items: null, client_id: null, client_phone: null }
    const optionalFields = { price_minor: null, deposit_minor: null, promised_at: null, external_ref: null }
    ;(await shop.create({ ...body, ...optionalFields })).expectData({ type: "repair", item: null, items: [] }, 201)
  }),
  test("create-unknown-field (rule-create-unknown-field, key): An unknown field in the body is refused, and the error names it.", async (shop) => {
    ;(await shop.create({ price_minors: 1 })).expectInvalid("body price_minors")
    const items = [{ label: "One", colour: "red" }, { label: "Two" }]
    ;(await shop.create({ items })).expectInvalid("body items.0.colour")
  }),
  test("create-every-problem (rule-create-every-problem, key): All problems of a request are reported at once, each with its location.", async (shop) => {
    const items = [{ label: "One" }, { label: "" }]
    const body = { service: "", type: "sale", price_minor: 1.5, items }
    const response = await shop.create(body, { idempotencyKey: undefined })
    response.expectInvalid(
      "body service",
      "body type",
      "body price_minor",
      "body items.1.label",
      "header Idempotency-Key"
    )
  }),
  ...MAX_LENGTHS.map(([field, max]) =>
    test(`length-${field.replace("_", "-")} (rule-length-all, key): ${field} accepts ${max} characters and refuses one more. A character outside the basic plane counts as one.`, async (shop) => {
      const longest = "🧵".repeat(max)
      ;(await shop.create({ [field]: ` ${longest}\t` })).expectData({ [field]: longest }, 201)
      ;(await shop.create({ [field]: `${"x".repeat(max)}y` })).expectInvalid(`body ${field}`)
      ;(await shop.create({ [field]: " \n " })).expectInvalid(`body ${field}`)
    })
  ),
  test("length-items (rule-length-all, key): The label of an item has at most 200 characters, and its service at most 120.", async (shop) => {
    const full = { label: "l".repeat(200), service: "s".repeat(120) }
    ;(await shop.create({ items: [full, full] })).expectData({ items: [full, full] }, 201)
    const tooLong = { label: "l".repeat(201), service: "s".repeat(121) }
    ;(await shop.create({ items: [full, tooLong] })).expectInvalid("body items.1.label", "body items.1.service")
  }),
  test("service-required (rule-length-all, key): Creating a ticket requires a service, which must be a text.", async (shop) => {
    for (const service of [undefined, null, "", 7, ["Hem"]])
      (await shop.create({ service })).expectInvalid("body service")
  }),
  test("type-enum (rule-type-enum, key): The type of a ticket must be repair or prepare.", async (shop) => {
    ;(await shop.create({ type: "prepare" })).expectData({ type: "prepare" }, 201)
    ;(await shop.create({ type: "order" })).expectInvalid("body type")
  }),
  test("text-control-characters (rule-text-control-characters, key): A text may contain newlines and tabs, but no other control characters and no lone surrogates.", async (shop) => {
    ;(await shop.create({ description: "one\n\ttwo" })).expectData({ description: "one\n\ttwo" }, 201)
    for (const badCharacter of ["\\u0000", "\\u0007", "\\u007f", "\\u0085", "\\ud800"]) {
      const raw = `{"service":"Hem","description":"a${badCharacter}b"}`
      ;(await shop.create({}, { raw })).expectInvalid("body description")
    }
  }),
  test("items-count (rule-items-count, key): A ticket with items has 2 to 20 of them.", async (shop) => {
    const makeItems = (n: number) => Array.from({ length: n }, (_, i) => ({ label: `Item ${i + 1}` }))
    for (const n of [2, 20]) (await shop.create({ items: makeItems(n) })).expectData({ items: makeItems(n) }, 201)
    for (const n of [0, 1, 21]) (await shop.create({ items: makeItems(n) })).expectInvalid("body items")
  }),
  test("amount-range (rule-amount-range, key): An amount is a whole number from 0 to a million million.", async (shop) => {
    for (const price_minor of [0, 1_000_000_000_000])
      (await shop.create({ price_minor })).expectData({ money: { price_minor } }, 201)
    for (const price_minor of [-1, 1_000_000_000_001, 0.5, "100", true])
      (await shop.create({ price_minor })).expectInvalid("body price_minor")
  }),
  test("deposit-above-price (rule-amount-range, key): A deposit may equal the price, but not exceed it.", async (shop) => {
    ;(await shop.create({ price_minor: 100, deposit_minor: 100 })).expectData({ money: { remaining_minor: 0 } }, 201)
    ;(await shop.create({ price_minor: 100, deposit_minor: 101 })).expectInvalid()
  }),
  test("quote-below-deposit (rule-amount-range): A quote below the deposit that was already paid is a 400.", async (shop) => {
    const { id } = await shop.createTicket({ price_minor: 500, deposit_minor: 300 })
    ;(await shop.env.sandbox("propose quote", id, { price_minor: 299 })).expectInvalid("body price_minor")
    ;(await shop.env.sandbox("propose quote", id, { price_minor: 300 })).expectOk()
  }),
  test("promised-at-format (rule-instants-offset, key): promised_at must be an instant that exists.", async (shop) => {
    for (const promised_at of ["tomorrow", "2031-02-30T10:00:00Z", 1_893_456_000_000])
      (await shop.create({ promised_at })).expectInvalid("body promised_at")
  })
])
