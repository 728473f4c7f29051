import { DAY, HOUR, later, MINUTE } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectShape, expectThat } from "../Expectations.js"

const DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR]

/** How events reach their receiver (Specification, Webhooks). */
export const deliveryCases = casesOf("§6", [
  test("delivery-retries (rule-delivery-retries): Without a 2xx an event is tried eight times, each at its very instant, and is then dead.", async (shop) => {
    const inbox = await shop.receiving(500)
    const { created_at } = await shop.ticket()
    await shop.env.settle()
    const instants = [created_at]
    for (const delay of DELAYS) instants.push(later(instants.at(-1) ?? "", delay))
    for (const [made, delay] of DELAYS.entries()) {
      const [delivery] = await shop.deliveries()
      expectShape(delivery, { state: "pending", next_attempt_at: instants[made + 1] }, `after ${made + 1} attempts`)
      await shop.env.advance(delay - 1)
      expectSame(inbox.posts.length, made + 1, `the attempts one millisecond before number ${made + 2}`)
      await shop.env.advance(1)
      expectSame(inbox.posts.length, made + 2, `the attempts at the instant of number ${made + 2}`)
    }
    const [dead] = await shop.deliveries()
    expectShape(dead, { state: "dead", next_attempt_at: null }, "the delivery at the end")
    const started = dead?.attempts.map(({ started_at }) => started_at)
    expectSame(started, instants, "when the attempts started")
    await shop.env.advance(10 * DAY)
    expectSame(inbox.posts.length, 8, "the attempts ten days later")
  }),
  test("delivery-retried-until-taken (rule-delivery-retries): A retry that is taken ends it, and the row of failures with it.", async (shop) => {
    const inbox = await shop.receiving(503)
    await shop.ticket()
    await shop.env.settle()
    const first_failure_at = await shop.env.instant()
    expectShape(await shop.webhook(), { on: true, failures_in_row: 1, first_failure_at }, "the webhook")
    inbox.answer(200)
    await shop.env.advance(MINUTE)
    const attempts = [
      { n: 1, status: 503 },
      { n: 2, status: 200 }
    ]
    expectShape(await shop.deliveries(), [{ state: "delivered", attempts }], "the deliveries")
    expectShape(await shop.webhook(), { failures_in_row: 0, first_failure_at: null }, "the webhook")
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
    test(`delivery-status-${status} (rule-delivery-status-all): A receiver that answers ${status} ${taken ? "has taken the event" : "has not taken the event"}.`, async (shop) => {
      const inbox = await shop.receiving(status)
      await shop.ticket()
      await shop.env.settle()
      const state = taken ? "delivered" : "pending"
      expectShape(await shop.deliveries(), [{ state, attempts: [{ n: 1, status }] }], "the deliveries")
      await shop.env.advance(MINUTE)
      expectSame(inbox.posts.length, taken ? 1 : 2, "the number of attempts a minute later")
    })
  ),
  test("delivery-redirect (rule-delivery-status-all): A redirect is a failure, and nothing is sent where it points.", async (shop) => {
    const [inbox, elsewhere] = [shop.env.inbox(), shop.env.inbox()]
    for (const status of [302, 307, 308]) {
      inbox.answer({ kind: "redirect", status, to: elsewhere.url })
      await shop.sendTo(inbox)
      await shop.ticket()
      await shop.env.settle()
    }
    expectSame(elsewhere.posts.length, 0, "the number of deliveries where the redirect points")
    const statuses = (await shop.deliveries()).map(({ attempts }) => attempts[0]?.status)
    expectSame(statuses, [302, 307, 308], "the statuses of the attempts")
  }),
  test("delivery-silence (rule-delivery-status-all): A receiver that does not answer within ten seconds has failed, and is tried again a minute later.", async (shop) => {
    const inbox = await shop.receiving({ kind: "silent" })
    await shop.ticket()
    await shop.env.settle()
    const attempts = [{ n: 1, status: null, error: /./ }]
    expectShape(await shop.deliveries(), [{ state: "pending", attempts }], "the deliveries")
    inbox.answer(200)
    await shop.env.advance(MINUTE)
    expectShape(await shop.deliveries(), [{ state: "delivered" }], "the deliveries a minute later")
  }),
  test("delivery-order (rule-delivery-order): The events of a ticket arrive in their order.", async (shop) => {
    const inbox = await shop.receiving()
    const client = await shop.known()
    for (let i = 0; i < 3; i++) {
      const { id } = await shop.ticket({ client_id: client.id })
      for (const status of ["ready", "workshop", "impossible", "collected"]) (await shop.status(id, status)).ok()
    }
    await shop.env.settle()
    const order = (events: ReadonlyArray<{ id: string; data: { ticket?: { id: string } } }>) => {
      const tickets = new Map<string, Array<string>>()
      for (const { id, data } of events) {
        const key = data.ticket?.id ?? ""
        tickets.set(key, [...(tickets.get(key) ?? []), id])
      }
      return Object.fromEntries([...tickets].sort())
    }
    const came = order(inbox.posts.map(({ event }) => event))
    expectSame(came, order(await shop.events()), "the order of events by ticket")
  }),
  test("delivery-failed-holds-nothing-back (rule-delivery-order): An event that waits for its retry holds back neither its ticket's next events nor other tickets.", async (shop) => {
    const inbox = await shop.receiving(500)
    const { id } = await shop.ticket()
    await shop.env.settle()
    inbox.answer(200)
    ;(await shop.status(id, "ready")).ok()
    await shop.ticket()
    await shop.env.settle()
    const states = (await shop.deliveries()).map(({ state }) => state)
    expectSame(states, ["pending", "delivered", "delivered"], "the states of the deliveries")
  }),
  test("delivery-no-webhook (rule-delivery-no-webhook): Without a webhook events are recorded and none is delivered.", async (shop) => {
    await shop.ticket()
    expectSame(await shop.types(), ["ticket.created"], "the events")
    expectSame(await shop.deliveries(), [], "the deliveries")
    const inbox = shop.env.inbox()
    await shop.sendTo(inbox)
    await shop.env.settle()
    expectSame(inbox.posts.length, 0, "what the receiver got")
  }),
  test("delivery-own-shop (rule-one-key-one-shop): A receiver gets the events of its own shop only.", async (shop) => {
    const other = await shop.env.openShop()
    const [inbox, theirs] = [shop.env.inbox(), shop.env.inbox()]
    await shop.sendTo(inbox)
    await other.sendTo(theirs)
    await shop.ticket()
    await shop.env.settle()
    expectSame([inbox.posts.length, theirs.posts.length], [1, 0], "the deliveries of both shops")
    expectThat(inbox.posts[0]?.event.shop_id === shop.id, "the shop's id in the event", inbox.posts[0]?.event.shop_id)
  })
])
