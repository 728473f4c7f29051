import type { Event } from "../../testkit/Shapes.js"
import { DAY } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectShape } from "../Expectations.js"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Which events are raised, and what they hold (Specification, Webhooks). */
export const eventCases = casesOf("§6", [
  test("event-envelope (rule-event-envelope): An event has an id, its type, its instant, the API's version, the shop and its data.", async (shop) => {
    const ticket = await shop.ticket()
    const [event] = await shop.events()
    const fields = { id: UUID, type: "ticket.created", created_at: ticket.created_at, api_version: "1" }
    expectShape(event, { ...fields, shop_id: shop.id, data: { ticket: { id: ticket.id } } }, "the event")
  }),
  test("event-steps (rule-event-steps): Every step of a ticket is told, in order, each with the ticket as it stood then.", async (shop) => {
    const { id } = await shop.moved("ready", "workshop", "impossible", "collected")
    const told = (await shop.events()).map(
      ({ type, data }) => `${type} ${data.ticket?.id === id} ${data.ticket?.state}`
    )
    const steps = ["created true workshop", "ready true ready", "reopened true workshop", "impossible true impossible"]
    expectSame(
      told,
      [...steps, "collected true collected"].map((step) => `ticket.${step}`),
      "the events"
    )
  }),
  test("event-quote-accepted (rule-event-steps): A price that is proposed, accepted or refused is told with the ticket and the quote.", async (shop) => {
    const { id } = await shop.ticket({ price_minor: 100 })
    await shop.env.act("propose quote", id, { price_minor: 150 })
    await shop.env.act("refuse quote", id, {})
    await shop.env.act("propose quote", id, { price_minor: 120, note: "Less" })
    await shop.env.act("accept quote", id, {})
    const raised = (await shop.events()).filter(({ type }) => type.startsWith("quote."))
    const told = (type: string, price_minor: number, money: object) => {
      const quote = { status: type.slice("quote.".length), price_minor }
      return { type, data: { ticket: { id, money, quote }, quote } }
    }
    const [before, after] = [{ price_minor: 100 }, { price_minor: 120, before_minor: 100 }]
    const expected = [
      told("quote.proposed", 150, before),
      told("quote.refused", 150, before),
      told("quote.proposed", 120, before),
      told("quote.accepted", 120, after)
    ]
    expectShape(raised, expected, "the events of the quotes")
  }),
  test("event-updated (rule-event-steps): An edit, a delay, a part and a photo are told with the ticket and the fields that changed.", async (shop) => {
    const { id } = await shop.ticket()
    await shop.env.act("edit ticket", id, { item: "Coat", price_minor: 100 })
    await shop.env.act("announce delay", id, { promised_at: "2099-12-24T09:00:00Z" })
    await shop.env.act("record part", id, { label: "Zip", status: "ordered" })
    await shop.env.act("attach photo", id, { photo_url: "https://photos.example/1.jpg" })
    const raised = (await shop.events()).slice(1).map(({ type, data }) => ({
      type,
      id: data.ticket?.id,
      changed: [...((data as { changed?: ReadonlyArray<string> }).changed ?? [])].sort()
    }))
    const changed = [["item", "money"], ["delay", "promised_at"], ["part"], ["photo_url"]]
    const expected = changed.map((fields) => ({ type: "ticket.updated", id, changed: fields }))
    expectSame(raised, expected, "the events of the updates")
  }),
  test("quote-answered-twice (rule-quote-answered-twice): A quote is answered once; without one there is nothing to answer.", async (shop) => {
    const { id } = await shop.ticket()
    ;(await shop.env.sandbox("accept quote", id, {})).conflict("QUOTE_CLOSED")
    await shop.env.act("propose quote", id, { price_minor: 150 })
    await shop.env.act("refuse quote", id, {})
    ;(await shop.env.sandbox("accept quote", id, {})).conflict("QUOTE_CLOSED")
  }),
  test("quote-left-shop (rule-quote-answered-twice): Once a ticket is collected its quote can no longer be answered, and the price stays.", async (shop) => {
    const { id } = await shop.ticket({ price_minor: 100 })
    await shop.env.act("propose quote", id, { price_minor: 150 })
    for (const status of ["ready", "collected"]) (await shop.status(id, status)).ok()
    for (const call of ["accept quote", "refuse quote"] as const)
      (await shop.env.sandbox(call, id, {})).conflict("QUOTE_CLOSED")
    expectShape((await shop.read(id)).money, { price_minor: 100 }, "the ticket's money")
  }),
  test("event-app (rule-create): What is done in the app raises the same events as through the API.", async (shop) => {
    await shop.app()
    const [event] = await shop.events()
    expectShape(event, { type: "ticket.created", data: { ticket: { created_via: "app" } } }, "the event")
  }),
  test("event-ping (rule-event-ping): The test button sends a ping without data, also recorded among the events.", async (shop) => {
    const inbox = await shop.receiving()
    const ping = await shop.env.act<Event>("ping", shop.id, {})
    expectShape(ping, { type: "ping", shop_id: shop.id }, "the ping")
    expectSame(ping.data, {}, "its data")
    await shop.env.settle()
    const received = inbox.posts.map(({ event }) => event)
    expectSame(received, [ping], "what the receiver got")
  }),
  test("event-frozen (rule-event-frozen): An event stays as it was committed, whatever becomes of the ticket.", async (shop) => {
    const { id } = await shop.ticket()
    const [before] = await shop.events()
    ;(await shop.status(id, "ready")).ok()
    await shop.env.advance(70 * DAY)
    expectSame((await shop.events())[0], before, "the first event")
  }),
  test("event-client-linked (rule-event-steps): Accepting an offer is told as client.linked with the client as the ticket shows them.", async (shop) => {
    const client = await shop.env.person({ hide_name: true })
    const { id } = await shop.ticket({ client_phone: client.phone })
    await shop.env.answerOffer(client, "accept")
    const badge = { id: client.id, display_name: "Amira B." }
    const last = (await shop.events()).at(-1)
    const expected = { type: "client.linked", data: { client: badge, ticket: { id, client: badge } } }
    expectShape(last, expected, "the last event")
  })
])
