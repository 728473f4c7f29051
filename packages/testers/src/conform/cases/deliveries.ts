import type { WebhookJson } from "../../testkit/ResponseTypes.js"
import { addMs, DAY, HOUR, MINUTE } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { CaseShop } from "../CaseEnvironment.js"
import { expectSame, expectShape, expectThat } from "../Expectations.js"

const RETRY_DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR]

const listStates = async (shop: CaseShop) => (await shop.listDeliveries()).map(({ state }) => state)

/** The number of notices to the owner. */
const countNotices = async (shop: CaseShop): Promise<number> =>
  (await shop.env.callSandbox<ReadonlyArray<unknown>>("list notices", shop.id)).length

/** Retries, the turning off of a webhook, and replays (Specification, Webhooks; Sandbox). */
export const deliveryCases = casesOf("§6", [
  test("delivery-retries (rule-delivery-retries): An event that gets no 2xx is sent eight times, each time exactly when it is due, and is then dead.", async (shop) => {
    const inbox = await shop.openReceiver(500)
    const { created_at } = await shop.createAndDeliver()
    const instants = [created_at]
    for (const delay of RETRY_DELAYS) instants.push(addMs(instants.at(-1) ?? "", delay))
    for (const [attempts, delay] of RETRY_DELAYS.entries()) {
      const [delivery] = await shop.listDeliveries()
      expectShape(
        delivery,
        { state: "pending", next_attempt_at: instants[attempts + 1] },
        `after ${attempts + 1} attempts`
      )
      await shop.env.advance(delay - 1)
      expectSame(inbox.deliveries.length, attempts + 1, `the attempts one millisecond before number ${attempts + 2}`)
      await shop.env.advance(1)
      expectSame(inbox.deliveries.length, attempts + 2, `the attempts at the instant of number ${attempts + 2}`)
    }
    const [dead] = await shop.listDeliveries()
    expectShape(dead, { state: "dead", next_attempt_at: null }, "the delivery after all attempts")
    const startInstants = dead?.attempts.map(({ started_at }) => started_at)
    expectSame(startInstants, instants, "when the attempts started")
    await shop.env.advance(10 * DAY)
    expectSame(inbox.deliveries.length, 8, "the attempts ten days later")
  }),
  test("delivery-retried-until-taken (rule-delivery-retries): A retry that gets a 2xx ends the retries of its event, and resets the count of consecutive failures.", async (shop) => {
    const inbox = await shop.openReceiver(503)
    await shop.createAndDeliver()
    const first_failure_at = await shop.env.readInstant()
    expectShape(await shop.readWebhook(), { on: true, failures_in_row: 1, first_failure_at }, "the webhook")
    inbox.reply(200)
    await shop.env.advance(MINUTE)
    const attempts = [
      { n: 1, status: 503 },
      { n: 2, status: 200 }
    ]
    expectShape(await shop.listDeliveries(), [{ state: "delivered", attempts }], "the deliveries")
    expectShape(await shop.readWebhook(), { failures_in_row: 0, first_failure_at: null }, "the webhook")
  }),
  ...(
    [
      [200, true],
      [204, true],
      [299, true],
      [301, false],
      [400, false],
      [404, false],
      [500, false]
    ] as const
  ).map(([status, taken]) =>
    test(`delivery-status-${status} (rule-delivery-status-all): A receiver that responds ${status} ${taken ? "acknowledges the event" : "does not acknowledge the event"}.`, async (shop) => {
      const inbox = await shop.openReceiver(status)
      await shop.createAndDeliver()
      const state = taken ? "delivered" : "pending"
      expectShape(await shop.listDeliveries(), [{ state, attempts: [{ n: 1, status }] }], "the deliveries")
      await shop.env.advance(MINUTE)
      expectSame(inbox.deliveries.length, taken ? 1 : 2, "the number of attempts a minute later")
    })
  ),
  test("delivery-redirect (rule-delivery-status-all): A redirect is a failure, and nothing is sent to its target.", async (shop) => {
    const [inbox, elsewhere] = [shop.env.openInbox(), shop.env.openInbox()]
    for (const status of [302, 307, 308]) {
      inbox.reply({ kind: "redirect", status, to: elsewhere.url })
      await shop.setWebhookTo(inbox)
      await shop.createAndDeliver()
    }
    expectSame(elsewhere.deliveries.length, 0, "the number of deliveries at the redirect's target")
    const statuses = (await shop.listDeliveries()).map(({ attempts }) => attempts[0]?.status)
    expectSame(statuses, [302, 307, 308], "the statuses of the attempts")
  }),
  test("delivery-silence (rule-delivery-status-all): An attempt that gets no response within ten seconds fails, and is repeated a minute later.", async (shop) => {
    const inbox = await shop.openReceiver({ kind: "silent" })
    await shop.createAndDeliver()
    const attempts = [{ n: 1, status: null, error: /./ }]
    expectShape(await shop.listDeliveries(), [{ state: "pending", attempts }], "the deliveries")
    inbox.reply(200)
    await shop.env.advance(MINUTE)
    expectShape(await shop.listDeliveries(), [{ state: "delivered" }], "the deliveries a minute later")
  }),
  test("delivery-order (rule-delivery-order): The events of a ticket are delivered in order.", async (shop) => {
    const inbox = await shop.openReceiver()
    const client = await shop.openKnownClient()
    for (let i = 0; i < 3; i++) {
      const { id } = await shop.createTicket({ client_id: client.id })
      for (const status of ["ready", "workshop", "impossible", "collected"])
        (await shop.setStatus(id, status)).expectOk()
    }
    await shop.env.settle()
    const groupByTicket = (events: ReadonlyArray<{ id: string; data: { ticket?: { id: string } } }>) => {
      const tickets = new Map<string, Array<string>>()
      for (const { id, data } of events) {
        const key = data.ticket?.id ?? ""
        tickets.set(key, [...(tickets.get(key) ?? []), id])
      }
      return Object.fromEntries([...tickets].sort())
    }
    const receivedOrder = groupByTicket(inbox.deliveries.map(({ event }) => event))
    expectSame(receivedOrder, groupByTicket(await shop.listEvents()), "the order of events by ticket")
  }),
  test("delivery-failed-holds-nothing-back (rule-delivery-order): An event that waits for its retry delays neither later events of its ticket nor events of other tickets.", async (shop) => {
    const inbox = await shop.openReceiver(500)
    const { id } = await shop.createAndDeliver()
    inbox.reply(200)
    ;(await shop.setStatus(id, "ready")).expectOk()
    await shop.createAndDeliver()
    const states = (await shop.listDeliveries()).map(({ state }) => state)
    expectSame(states, ["pending", "delivered", "delivered"], "the states of the deliveries")
  }),
  test("delivery-no-webhook (rule-delivery-no-webhook): Events of a shop without a webhook are recorded and not delivered.", async (shop) => {
    await shop.createTicket()
    expectSame(await shop.listEventTypes(), ["ticket.created"], "the events")
    expectSame(await shop.listDeliveries(), [], "the deliveries")
    const inbox = shop.env.openInbox()
    await shop.setWebhookTo(inbox)
    await shop.env.settle()
    expectSame(inbox.deliveries.length, 0, "what the receiver got")
  }),
  test("delivery-own-shop (rule-one-key-one-shop): A receiver gets only the events of its own shop.", async (shop) => {
    const otherShop = await shop.env.openShop()
    const [inbox, theirs] = [shop.env.openInbox(), shop.env.openInbox()]
    await shop.setWebhookTo(inbox)
    await otherShop.setWebhookTo(theirs)
    await shop.createAndDeliver()
    expectSame([inbox.deliveries.length, theirs.deliveries.length], [1, 0], "the deliveries of both shops")
    expectThat(
      inbox.deliveries[0]?.event.shop_id === shop.id,
      "the shop's id in the event",
      inbox.deliveries[0]?.event.shop_id
    )
  }),
  test("webhook-gone (rule-delivery-no-webhook): A 410 turns the webhook off immediately and notifies its owner, and later events wait.", async (shop) => {
    const inbox = await shop.openReceiver(410)
    await shop.createAndDeliver()
    expectShape(await shop.readWebhook(), { on: false, off_reason: "gone" }, "the webhook")
    expectSame(await countNotices(shop), 1, "the number of notices to the owner")
    await shop.createTicket()
    await shop.env.advance(2 * DAY)
    expectSame(inbox.deliveries.length, 1, "the number of attempts")
    expectSame(await listStates(shop), ["parked", "parked"], "the states of the deliveries")
  }),
  test("webhook-gone-last (rule-webhook-gone): An event whose last attempt gets a 410 waits as well, and later gets eight new attempts.", async (shop) => {
    const inbox = await shop.openReceiver(500)
    await shop.createAndDeliver()
    await shop.env.advance(21 * HOUR)
    inbox.reply(410)
    await shop.env.advance(DAY)
    expectShape(await shop.readWebhook(), { on: false, off_reason: "gone", failures_in_row: 8 }, "the webhook")
    expectSame(await listStates(shop), ["parked"], "the state of the delivery")
    inbox.reply(500)
    await shop.env.callSandbox("enable webhook", shop.id, {})
    await shop.env.advance(MINUTE)
    expectSame(
      (await shop.listDeliveries())[0]?.attempts.map(({ n }) => n).slice(-2),
      [9, 10],
      "the next attempts of the delivery"
    )
    expectSame(await listStates(shop), ["pending"], "the state of the delivery then")
  }),
  test("webhook-enable (rule-webhook-gone): Turning the webhook on again sends every waiting event once.", async (shop) => {
    const inbox = await shop.openReceiver(410)
    await shop.createAndDeliver()
    await shop.createTicket()
    inbox.reply(200)
    const enabled = await shop.env.callSandbox<WebhookJson>("enable webhook", shop.id, {})
    expectShape(enabled, { on: true, off_reason: null, failures_in_row: 0 }, "the webhook")
    await shop.env.settle()
    expectSame(await listStates(shop), ["delivered", "delivered"], "the states of the deliveries")
    expectSame(inbox.deliveries.length, 3, "the number of attempts in all")
  }),
  test("webhook-failing (rule-webhook-gone): The twentieth consecutive failure turns the webhook off if the first of them is at least 72 hours old.", async (shop) => {
    const inbox = await shop.openReceiver(500)
    const { created_at } = await shop.createTicket()
    await shop.env.advance(48 * HOUR)
    await shop.createTicket()
    await shop.env.advance(23 * HOUR)
    await shop.createTicket()
    // The attempts of the third delivery are due at 71:00, 71:01, 71:06, 71:36 and 73:36 hours. Before 73:36, the three
    // deliveries have had eight, seven and four attempts, which makes nineteen.
    await shop.env.advance(2 * HOUR + 36 * MINUTE - 1)
    const afterNineteen = { on: true, failures_in_row: 19, first_failure_at: created_at }
    expectShape(await shop.readWebhook(), afterNineteen, "the webhook after nineteen failures")
    const noticesBefore = await countNotices(shop)
    await shop.env.advance(1)
    const webhookOff = { on: false, off_reason: "failing", failures_in_row: 20 }
    expectShape(await shop.readWebhook(), webhookOff, "the webhook after the twentieth")
    expectSame((await countNotices(shop)) > noticesBefore, true, "whether the owner was notified")
    await shop.env.advance(3 * DAY)
    expectSame(inbox.deliveries.length, 20, "the number of attempts three days later")
  }),
  test("webhook-failing-young (rule-webhook-gone): More than twenty consecutive failures within 72 hours do not turn the webhook off.", async (shop) => {
    await shop.openReceiver(500)
    for (let i = 0; i < 4; i++) await shop.createTicket()
    await shop.env.advance(47 * HOUR)
    expectShape(await shop.readWebhook(), { on: true, failures_in_row: 32 }, "the webhook after 32 failures")
  }),
  test("webhook-failing-early (rule-webhook-gone): If twenty consecutive failures happen within 72 hours, the first failure after these 72 hours turns the webhook off.", async (shop) => {
    await shop.openReceiver(500)
    for (let i = 0; i < 4; i++) await shop.createTicket()
    await shop.env.advance(72 * HOUR)
    expectShape(await shop.readWebhook(), { on: true, failures_in_row: 32 }, "the webhook after 32 failures")
    await shop.createAndDeliver()
    expectShape(await shop.readWebhook(), { on: false, failures_in_row: 33 }, "the webhook after the next one")
  }),
  test("webhook-failing-broken-row (rule-webhook-gone): A successful delivery resets the count of consecutive failures.", async (shop) => {
    const inbox = await shop.openReceiver(500)
    for (let i = 0; i < 3; i++) await shop.createTicket()
    await shop.env.advance(3 * HOUR)
    inbox.reply(200)
    await shop.createAndDeliver()
    inbox.reply(500)
    await shop.env.advance(6 * HOUR)
    const first_failure_at = addMs(await shop.env.readInstant(), -24 * MINUTE)
    expectShape(await shop.readWebhook(), { failures_in_row: 3, first_failure_at }, "the webhook")
    await shop.env.advance(80 * HOUR)
    expectShape(await shop.readWebhook(), { on: true }, "the webhook after all events were given up")
  }),
  test("replay-deliveries (rule-replay-deliveries): Events that a replay names are sent again under their own ids, and the numbering of their attempts continues.", async (shop) => {
    const inbox = await shop.openReceiver()
    await shop.createTicket()
    await shop.createAndDeliver()
    const [first] = await shop.listEvents()
    expectSame(await shop.replay({ event_ids: [first?.id], dry_run: true }), 1, "the count of the dry run")
    await shop.env.settle()
    expectSame(inbox.deliveries.length, 2, "the deliveries after the dry run")
    expectSame(await shop.replay({ event_ids: [first?.id] }), 1, "the count of the replay")
    await shop.env.settle()
    expectSame(
      inbox.deliveries.map(({ event }) => event.id).at(-1),
      first?.id,
      "the id of the event that was sent again"
    )
    expectSame(inbox.deliveries[2]?.body, inbox.deliveries[0]?.body, "its body")
    const numbers = (await shop.listDeliveries())[0]?.attempts.map(({ n }) => n)
    expectSame(numbers, [1, 2], "the numbers of the event's attempts")
  }),
  test("replay-dead (rule-replay-deliveries): A replay of dead events gives each eight new attempts, the first of them immediately.", async (shop) => {
    const inbox = await shop.openReceiver(500)
    await shop.createTicket()
    await shop.env.advance(3 * DAY)
    expectSame(await listStates(shop), ["dead"], "the states of the deliveries")
    inbox.reply(200)
    await shop.createAndDeliver()
    inbox.reply(500)
    expectSame(await shop.replay({ state: "dead" }), 1, "the count of the replay")
    await shop.env.settle()
    expectSame(inbox.deliveries.length, 10, "the attempts at once: eight, one and one")
    await shop.env.advance(3 * DAY)
    expectSame(inbox.deliveries.length, 17, "the attempts at the end")
  }),
  test("replay-since (rule-replay-deliveries): A replay of a period includes the events at its start and excludes those at its end.", async (shop) => {
    await shop.openReceiver()
    const tickets = []
    for (let i = 0; i < 3; i++) {
      tickets.push(await shop.createTicket())
      await shop.env.advance(1000)
    }
    const [since, until] = [tickets[1]?.created_at, tickets[2]?.created_at]
    expectSame(await shop.replay({ since, until, dry_run: true }), 1, "from the second to the third")
    expectSame(await shop.replay({ since, dry_run: true }), 2, "from the second on")
  })
])
