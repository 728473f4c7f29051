import type { EventJson } from "../../testkit/ResponseTypes.js"
import { DAY, MINUTE } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectShape, expectSigned, expectThat, signatureOf } from "../Expectations.js"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Events, their data, and the signatures of deliveries (Specification, Webhooks). */
export const eventCases = casesOf("§6", [
  test("event-envelope (rule-event-envelope): An event has an id, a type, an instant, the API's version, the shop's id and data.", async (shop) => {
    const ticket = await shop.createTicket()
    const [event] = await shop.listEvents()
    const fields = { id: UUID, type: "ticket.created", created_at: ticket.created_at, api_version: "1" }
    expectShape(event, { ...fields, shop_id: shop.id, data: { ticket: { id: ticket.id } } }, "the event")
  }),
  test("event-steps (rule-event-steps): Every step of a ticket raises an event, in order, and each event has the ticket as it was at that step.", async (shop) => {
    const { id } = await shop.createAndMove("ready", "workshop", "impossible", "collected")
    const raised = (await shop.listEvents()).map(
      ({ type, data }) => `${type} ${data.ticket?.id === id} ${data.ticket?.state}`
    )
    const steps = ["created true workshop", "ready true ready", "reopened true workshop", "impossible true impossible"]
    expectSame(
      raised,
      [...steps, "collected true collected"].map((step) => `ticket.${step}`),
      "the events"
    )
  }),
  test("event-quote-accepted (rule-event-steps): A quote that is proposed, accepted or refused raises an event with the ticket and the quote.", async (shop) => {
    const { id } = await shop.createTicket({ price_minor: 100 })
    await shop.env.callSandbox("propose quote", id, { price_minor: 150 })
    await shop.env.callSandbox("refuse quote", id, {})
    await shop.env.callSandbox("propose quote", id, { price_minor: 120, note: "Less" })
    await shop.env.callSandbox("accept quote", id, {})
    const raised = (await shop.listEvents()).filter(({ type }) => type.startsWith("quote."))
    const makeQuoteEvent = (type: string, price_minor: number, money: object) => {
      const quote = { status: type.slice("quote.".length), price_minor }
      return { type, data: { ticket: { id, money, quote }, quote } }
    }
    const [before, after] = [{ price_minor: 100 }, { price_minor: 120, before_minor: 100 }]
    const expected = [
      makeQuoteEvent("quote.proposed", 150, before),
      makeQuoteEvent("quote.refused", 150, before),
      makeQuoteEvent("quote.proposed", 120, before),
      makeQuoteEvent("quote.accepted", 120, after)
    ]
    expectShape(raised, expected, "the events of the quotes")
  }),
  test("event-updated (rule-event-steps): An edit, a delay, a part and a photo each raise an event with the ticket and the changed fields.", async (shop) => {
    const { id } = await shop.createTicket()
    await shop.env.callSandbox("edit ticket", id, { item: "Coat", price_minor: 100 })
    await shop.env.callSandbox("announce delay", id, { promised_at: "2099-12-24T09:00:00Z" })
    await shop.env.callSandbox("record part", id, { label: "Zip", status: "ordered" })
    await shop.env.callSandbox("attach photo", id, { photo_url: "https://photos.example/1.jpg" })
    const raised = (await shop.listEvents()).slice(1).map(({ type, data }) => ({
      type,
      id: data.ticket?.id,
      changed: [...((data as { changed?: ReadonlyArray<string> }).changed ?? [])].sort()
    }))
    const changed = [["item", "money"], ["delay", "promised_at"], ["part"], ["photo_url"]]
    const expected = changed.map((fields) => ({ type: "ticket.updated", id, changed: fields }))
    expectSame(raised, expected, "the events of the updates")
  }),
  test("quote-answered-twice (rule-quote-answered-twice): A quote can be answered only once, and a ticket without a quote refuses an answer.", async (shop) => {
    const { id } = await shop.createTicket()
    ;(await shop.env.sandbox("accept quote", id, {})).expectConflict("QUOTE_CLOSED")
    await shop.env.callSandbox("propose quote", id, { price_minor: 150 })
    await shop.env.callSandbox("refuse quote", id, {})
    ;(await shop.env.sandbox("accept quote", id, {})).expectConflict("QUOTE_CLOSED")
  }),
  test("quote-left-shop (rule-quote-answered-twice): The quote of a collected ticket can no longer be answered, and the price stays the same.", async (shop) => {
    const { id } = await shop.createTicket({ price_minor: 100 })
    await shop.env.callSandbox("propose quote", id, { price_minor: 150 })
    for (const status of ["ready", "collected"]) (await shop.setStatus(id, status)).expectOk()
    for (const call of ["accept quote", "refuse quote"] as const)
      (await shop.env.sandbox(call, id, {})).expectConflict("QUOTE_CLOSED")
    expectShape((await shop.readTicket(id)).money, { price_minor: 100 }, "the ticket's money")
  }),
  test("event-app (rule-create): An action in the app raises the same events as the same action through the API.", async (shop) => {
    await shop.createInApp()
    const [event] = await shop.listEvents()
    expectShape(event, { type: "ticket.created", data: { ticket: { created_via: "app" } } }, "the event")
  }),
  test("event-ping (rule-event-ping): A ping of the webhook has no data, and is also listed among the shop's events.", async (shop) => {
    const inbox = await shop.openReceiver()
    const ping = await shop.env.callSandbox<EventJson>("ping", shop.id, {})
    expectShape(ping, { type: "ping", shop_id: shop.id }, "the ping")
    expectSame(ping.data, {}, "its data")
    await shop.env.settle()
    const received = inbox.deliveries.map(({ event }) => event)
    expectSame(received, [ping], "what the receiver got")
  }),
  test("event-frozen (rule-event-frozen): An event does not change when its ticket changes later.", async (shop) => {
    const { id } = await shop.createTicket()
    const [before] = await shop.listEvents()
    ;(await shop.setStatus(id, "ready")).expectOk()
    await shop.env.advance(70 * DAY)
    expectSame((await shop.listEvents())[0], before, "the first event")
  }),
  test("event-client-linked (rule-event-steps): Accepting an offer raises client.linked with the client as the ticket shows them.", async (shop) => {
    const client = await shop.env.openAccount({ hide_name: true })
    const { id } = await shop.createTicket({ client_phone: client.phone })
    await shop.env.answerOffer(client, "accept")
    const badge = { id: client.id, display_name: "Amira B." }
    const lastEvent = (await shop.listEvents()).at(-1)
    const expected = { type: "client.linked", data: { client: badge, ticket: { id, client: badge } } }
    expectShape(lastEvent, expected, "the last event")
  }),
  test("signature (rule-signature): A delivery is signed over its timestamp, a dot and its raw body, with the whole secret.", async (shop) => {
    const inbox = shop.env.openInbox()
    const secret = await shop.setWebhookTo(inbox)
    await shop.createTicket({ item: "Größe 42 – 🧵" })
    await shop.env.settle()
    expectSame(inbox.deliveries.length, 1, "the number of deliveries")
    expectSigned(inbox.deliveries[0], [secret], await shop.env.readInstant())
  }),
  test("signature-each-attempt (rule-event-frozen): Every attempt sends the same bytes with a new timestamp and signature.", async (shop) => {
    const inbox = shop.env.openInbox()
    inbox.reply(500)
    const secret = await shop.setWebhookTo(inbox)
    await shop.createAndDeliver()
    await shop.env.advance(MINUTE)
    const [first, second] = inbox.deliveries
    expectSame(inbox.deliveries.length, 2, "the number of attempts")
    expectSame(second?.body, first?.body, "the body of the second attempt")
    expectSigned(second, [secret], await shop.env.readInstant())
    expectSame(
      signatureOf(second).t - signatureOf(first).t,
      60,
      "the seconds between the values of t in both signatures"
    )
  }),
  test("secret-format (rule-secret-format): A secret is whsec_ followed by 43 characters, and is shown when the webhook is set.", async (shop) => {
    expectShape(await shop.setWebhookTo(shop.env.openInbox()), /^whsec_[A-Za-z0-9_-]{43}$/, "the secret")
  }),
  test("secret-kept (rule-secret-format): Changing the address keeps the secret. Only a rotation changes it.", async (shop) => {
    const secret = await shop.setWebhookTo(shop.env.openInbox())
    const inbox = shop.env.openInbox()
    expectSame(await shop.setWebhookTo(inbox), secret, "the secret with the new address")
    await shop.createAndDeliver()
    expectSigned(inbox.deliveries[0], [secret], await shop.env.readInstant())
    const rotated = await shop.env.callSandbox<{ secret: string }>("rotate secret", shop.id, {})
    expectThat(rotated.secret !== secret, "a different secret after a rotation", "the same")
  }),
  test("secret-rotation (rule-signature): For 24 hours after a rotation a delivery has two v1 signatures, one of the new secret and one of the old. Then it has one.", async (shop) => {
    const inbox = shop.env.openInbox()
    const oldSecret = await shop.setWebhookTo(inbox)
    const { secret } = await shop.env.callSandbox<{ secret: string }>("rotate secret", shop.id, {})
    for (const [ms, secrets] of [
      [0, [secret, oldSecret]],
      [DAY - 1000, [secret, oldSecret]],
      [2000, [secret]]
    ] as const) {
      await shop.env.advance(ms)
      await shop.createAndDeliver()
      expectSigned(inbox.deliveries.at(-1), secrets, await shop.env.readInstant())
    }
    expectSame(inbox.deliveries.length, 3, "the number of deliveries")
  }),
  test("delivery-request (rule-event-frozen): A delivery is a POST of the event as JSON, with exactly the text that the shop's list of events shows.", async (shop) => {
    const inbox = await shop.openReceiver()
    await shop.createAndDeliver()
    expectShape(inbox.deliveries[0]?.headers["content-type"], /^application\/json/, "the header Content-Type")
    const received = inbox.deliveries.map(({ event }) => event)
    expectSame(received, await shop.listEvents(), "what the receiver got")
  }),
  test("webhook-address (rule-webhook-address): An address that is not https, is private or has credentials is a 400.", async (shop) => {
    const urls = [
      "http://shop.example.com/hook",
      "ftp://shop.example.com/hook",
      "https://10.0.0.1/hook",
      "https://192.168.1.1/hook",
      "https://169.254.169.254/latest",
      "https://[fd00::1]/hook",
      "https://[::ffff:10.0.0.1]/hook",
      "https://me:secret@shop.example.com/hook",
      "https://shop.example.com:8443/hook",
      "no address"
    ]
    for (const url of urls) (await shop.env.sandbox("set webhook", shop.id, { url })).expectInvalid("body url")
  })
])
