import { expectSame, expectShape, expectThat } from "../Broken.js"
import { type Case, casesOf, type Row } from "../Case.js"
import { receiving } from "../receiving.js"
import { DAY, HOUR, later, MINUTE } from "../World.js"

const DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR]

/** How events reach their receiver (Specification, Webhooks). */
export const deliveryCases: ReadonlyArray<Case> = casesOf("§6", [
  {
    id: "delivery-retries",
    rule: "Without a 2xx an event is tried eight times, each at its very instant, and is then dead.",
    anchor: "rule-delivery-retries",
    run: async (world) => {
      const { shop, inbox } = await receiving(world, { status: 500 })
      const { created_at } = await shop.ticket()
      await world.settle()
      const instants = [created_at]
      for (const delay of DELAYS) instants.push(later(instants.at(-1) ?? "", delay))
      for (const [made, delay] of DELAYS.entries()) {
        const [delivery] = await shop.deliveries()
        expectShape(delivery, { state: "pending", next_attempt_at: instants[made + 1] }, `after ${made + 1} attempts`)
        await world.advance(delay - 1)
        expectSame(inbox.posts.length, made + 1, `the attempts one millisecond before number ${made + 2}`)
        await world.advance(1)
        expectSame(inbox.posts.length, made + 2, `the attempts at the instant of number ${made + 2}`)
      }
      const [dead] = await shop.deliveries()
      expectShape(dead, { state: "dead", next_attempt_at: null }, "the delivery at the end")
      expectSame(
        dead?.attempts.map(({ started_at }) => started_at),
        instants,
        "when the attempts started"
      )
      await world.advance(10 * DAY)
      expectSame(inbox.posts.length, 8, "the attempts ten days later")
    }
  },
  {
    id: "delivery-retried-until-taken",
    rule: "A retry that is taken ends it, and the row of failures with it.",
    anchor: "rule-delivery-retries",
    run: async (world) => {
      const { shop, inbox } = await receiving(world, { status: 503 })
      await shop.ticket()
      await world.settle()
      const first_failure_at = await world.instant()
      expectShape(await shop.webhook(), { on: true, failures_in_row: 1, first_failure_at }, "the webhook")
      inbox.answer({ status: 200 })
      await world.advance(MINUTE)
      const attempts = [
        { n: 1, status: 503 },
        { n: 2, status: 200 }
      ]
      expectShape(await shop.deliveries(), [{ state: "delivered", attempts }], "the deliveries")
      expectShape(await shop.webhook(), { failures_in_row: 0, first_failure_at: null }, "the webhook")
    }
  },
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
  ).map(
    ([status, taken]) =>
      ({
        id: `delivery-status-${status}`,
        rule: `A receiver that answers ${status} ${taken ? "has taken the event" : "has not taken the event"}.`,
        anchor: "rule-delivery-status-all",
        run: async (world) => {
          const { shop, inbox } = await receiving(world, { status })
          await shop.ticket()
          await world.settle()
          const state = taken ? "delivered" : "pending"
          expectShape(await shop.deliveries(), [{ state, attempts: [{ n: 1, status }] }], "the deliveries")
          await world.advance(MINUTE)
          expectSame(inbox.posts.length, taken ? 1 : 2, "the number of attempts a minute later")
        }
      }) satisfies Row
  ),
  {
    id: "delivery-redirect",
    rule: "A redirect is a failure, and nothing is sent where it points.",
    anchor: "rule-delivery-status-all",
    run: async (world) => {
      const shop = await world.shop()
      const [inbox, elsewhere] = [world.inbox(), world.inbox()]
      for (const status of [302, 307, 308]) {
        inbox.answer({ status, location: elsewhere.url })
        await shop.sendTo(inbox)
        await shop.ticket()
        await world.settle()
      }
      expectSame(elsewhere.posts.length, 0, "the number of deliveries where the redirect points")
      const statuses = (await shop.deliveries()).map(({ attempts }) => attempts[0]?.status)
      expectSame(statuses, [302, 307, 308], "the statuses of the attempts")
    }
  },
  {
    id: "delivery-silence",
    rule: "A receiver that does not answer within ten seconds has failed, and is tried again a minute later.",
    anchor: "rule-delivery-status-all",
    run: async (world) => {
      const { shop, inbox } = await receiving(world, "silence")
      await shop.ticket()
      await world.settle()
      const attempts = [{ n: 1, status: null, error: /./ }]
      expectShape(await shop.deliveries(), [{ state: "pending", attempts }], "the deliveries")
      inbox.answer({ status: 200 })
      await world.advance(MINUTE)
      expectShape(await shop.deliveries(), [{ state: "delivered" }], "the deliveries a minute later")
    }
  },
  {
    id: "delivery-order",
    rule: "The events of a ticket arrive in their order.",
    anchor: "rule-delivery-order",
    run: async (world) => {
      const { shop, inbox } = await receiving(world)
      const client = await shop.known()
      for (let i = 0; i < 3; i++) {
        const { id } = await shop.ticket({ client_id: client.id })
        for (const status of ["ready", "workshop", "impossible", "collected"]) (await shop.status(id, status)).ok()
      }
      await world.settle()
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
    }
  },
  {
    id: "delivery-failed-holds-nothing-back",
    rule: "An event that waits for its retry holds back neither its ticket's next events nor other tickets.",
    anchor: "rule-delivery-order",
    run: async (world) => {
      const { shop, inbox } = await receiving(world, { status: 500 })
      const { id } = await shop.ticket()
      await world.settle()
      inbox.answer({ status: 200 })
      ;(await shop.status(id, "ready")).ok()
      await shop.ticket()
      await world.settle()
      const states = (await shop.deliveries()).map(({ state }) => state)
      expectSame(states, ["pending", "delivered", "delivered"], "the states of the deliveries")
    }
  },
  {
    id: "delivery-no-webhook",
    rule: "Without a webhook events are recorded and none is delivered.",
    anchor: "rule-delivery-no-webhook",
    run: async (world) => {
      const shop = await world.shop()
      await shop.ticket()
      expectSame(await shop.types(), ["ticket.created"], "the events")
      expectSame(await shop.deliveries(), [], "the deliveries")
      const inbox = world.inbox()
      await shop.sendTo(inbox)
      await world.settle()
      expectSame(inbox.posts.length, 0, "what the receiver got")
    }
  },
  {
    id: "delivery-own-shop",
    rule: "A receiver gets the events of its own shop only.",
    anchor: "rule-one-key-one-shop",
    run: async (world) => {
      const [shop, other] = [await world.shop(), await world.shop()]
      const [inbox, theirs] = [world.inbox(), world.inbox()]
      await shop.sendTo(inbox)
      await other.sendTo(theirs)
      await shop.ticket()
      await world.settle()
      expectSame([inbox.posts.length, theirs.posts.length], [1, 0], "the deliveries of both shops")
      expectThat(inbox.posts[0]?.event.shop_id === shop.id, "the shop's id in the event", inbox.posts[0]?.event.shop_id)
    }
  }
])
