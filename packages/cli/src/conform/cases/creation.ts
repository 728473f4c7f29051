import { casesOf, test } from "../Case.js"
import { NOBODY } from "../Environment.js"
import { expectSame, expectShape } from "../Expectations.js"

/** How tickets are made (Specification, Endpoints; Tickets). */
export const creationCases = casesOf("§4", [
  test("shop-record (rule-client-counts): GET /v1/shop tells the shop, its currency, its time zone and the key's scopes.", async (own) => {
    const shop = await own.env.openShop({
      name: "Atelier Lac",
      currency: "EUR",
      decimals: 2,
      time_zone: "Europe/Paris"
    })
    const record = { id: shop.id, name: "Atelier Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" }
    const { scopes } = (await shop.get<{ scopes: Array<string> }>("/shop")).shows(record)
    const all = ["clients:read", "loyalty:write", "tickets:read", "tickets:write"]
    expectSame([...scopes].sort(), all, "the scopes of a full-access key")
  }),
  test("create (rule-status-workshop-ready): A new ticket is answered with 201 and raises ticket.created with the ticket as it was made.", async (shop) => {
    const ticket = (await shop.create({ service: "Zip" })).shows({ number: 1, state: "workshop", service: "Zip" }, 201)
    const events = await shop.events()
    expectSame(await shop.types(), ["ticket.created"], "the shop's events")
    expectSame(events[0]?.data.ticket, ticket, "the event's ticket")
  }),
  test("create-numbers (rule-create-numbers): Numbers follow one another, whether tickets come from the app or through the API.", async (shop) => {
    await shop.ticket()
    await shop.app()
    ;(await shop.create()).shows({ number: 3 }, 201)
  }),
  test("create-number-wraps (rule-create-numbers): After 9999 comes 1.", async (shop) => {
    await shop.set({ next_number: 9999 })
    ;(await shop.create()).shows({ number: 9999, number_label: "9999" }, 201)
    ;(await shop.create()).shows({ number: 1, number_label: "0001" }, 201)
  }),
  test("create-failed-uses-no-number (rule-create-numbers): A create that is refused uses up no number.", async (shop) => {
    await shop.set({ forbidden_words: ["grumblefluff"] })
    await shop.ticket()
    ;(await shop.create({ service: "" })).invalid("body service")
    ;(await shop.create({ client_id: NOBODY })).refused(404, "NOT_FOUND")
    ;(await shop.create({ service: "grumblefluff" })).refused(422, "PROFANITY")
    ;(await shop.create()).shows({ number: 2 }, 201)
    expectSame(await shop.types(), ["ticket.created", "ticket.created"], "the shop's events")
  }),
  test("create-client-linked (rule-create-client-linked): A known client is linked at once: ticket.created, then client.linked.", async (shop) => {
    const client = await shop.known()
    const linked = { id: client.id, display_name: "Amira Ben Salah" }
    ;(await shop.create({ client_id: client.id })).shows({ client: linked }, 201)
    const events = await shop.events()
    expectSame(await shop.types(), ["ticket.created", "client.linked"], "the shop's events")
    expectShape(events[1]?.data, { client: linked, ticket: { client: linked } }, "the data of client.linked")
  }),
  test("create-client-unknown (rule-create-client-linked): A client who is unknown, known to another shop only, or blocking is the same 404.", async (shop) => {
    const other = await shop.env.openShop()
    const [stranger, theirs, blocker] = [await shop.env.person(), await other.known(), await shop.blocker()]
    for (const id of [NOBODY, stranger.id, theirs.id, blocker.id])
      (await shop.create({ client_id: id })).refused(404, "NOT_FOUND")
  }),
  test("create-offer (rule-create-offer): A phone number makes an offer to the account that holds it; nobody is linked until it is accepted.", async (shop) => {
    const client = await shop.env.person()
    const { id } = (await shop.create({ client_phone: client.phone })).shows({ client: null }, 201)
    const offers = await shop.env.act("get offers", client.id)
    expectShape(offers, [{ shop_id: shop.id, ticket_id: id, status: "open" }], "the client's offers")
    ;(await shop.lookUp(client.phone)).refused(404, "NOT_FOUND")
    await shop.env.answerOffer(client, "accept")
    ;(await shop.get(`/tickets/${id}`)).shows({ client: { id: client.id } })
    expectSame(await shop.types(), ["ticket.created", "client.linked"], "the shop's events")
    ;(await shop.lookUp(client.phone)).shows({ id: client.id })
  }),
  test("create-offer-twice-answered (rule-create-offer-twice-answered): An offer that was answered cannot be answered again.", async (shop) => {
    const client = await shop.env.person()
    await shop.ticket({ client_phone: client.phone })
    const [offer] = await shop.env.act<ReadonlyArray<{ id: string }>>("get offers", client.id)
    await shop.env.act("accept offer", offer?.id, {})
    ;(await shop.env.sandbox("block shop", offer?.id, {})).conflict("OFFER_CLOSED")
  }),
  test("create-phone-e164 (rule-create-phone-e164, key): A phone number is kept in E.164, however it was written.", async (shop) => {
    ;(await shop.create({ client_phone: " +49 (1512) 345-6789 " })).shows({ client_phone: "+4915123456789" }, 201)
  }),
  test("create-phone-invalid (rule-create-phone-e164, key): A number without its country, or that is none, is a 400.", async (shop) => {
    for (const client_phone of ["015123456789", "+", "+49", "call me"])
      (await shop.create({ client_phone })).invalid("body client_phone")
  }),
  test("create-null-is-absent (rule-create-unknown-field, key): null for an optional field means that it is absent.", async (shop) => {
    const body = { type: null, item: null, description: null, items: null, client_id: null, client_phone: null }
    const more = { price_minor: null, deposit_minor: null, promised_at: null, external_ref: null }
    ;(await shop.create({ ...body, ...more })).shows({ type: "repair", item: null, items: [] }, 201)
  }),
  test("create-unknown-field (rule-create-unknown-field, key): A body field that is not known is refused by its name.", async (shop) => {
    ;(await shop.create({ price_minors: 1 })).invalid("body price_minors")
    const items = [{ label: "One", colour: "red" }, { label: "Two" }]
    ;(await shop.create({ items })).invalid("body items.0.colour")
  }),
  test("create-every-problem (rule-create-every-problem, key): All that is wrong with a request is told at once, each with its place.", async (shop) => {
    const items = [{ label: "One" }, { label: "" }]
    const body = { service: "", type: "sale", price_minor: 1.5, items }
    const answer = await shop.create(body, { once: undefined })
    answer.invalid("body service", "body type", "body price_minor", "body items.1.label", "header Idempotency-Key")
  })
])
