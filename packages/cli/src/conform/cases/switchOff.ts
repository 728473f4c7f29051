import { expectSame, expectShape } from "../Broken.js"
import { casesOf } from "../Case.js"
import { receiving } from "../receiving.js"
import type { Webhook } from "../Shapes.js"
import type { Shop } from "../Shop.js"
import { DAY, HOUR, later, MINUTE } from "../World.js"

const states = async (shop: Shop) => (await shop.deliveries()).map(({ state }) => state)

/** How often the owner was told something. */
const notices = async (shop: Shop): Promise<number> =>
  (await shop.world.act<ReadonlyArray<unknown>>("GET", `/shops/${shop.id}/notices`)).length

/** What turns a webhook off, what turns it on again, and what is sent again (Specification, Webhooks; Sandbox). */
export const switchOffCases = casesOf("§6", [
  {
    id: "webhook-gone",
    rule: "A 410 turns the webhook off at once and its owner is told; later events wait.",
    anchor: "rule-delivery-no-webhook",
    run: async (world) => {
      const { shop, inbox } = await receiving(world, { status: 410 })
      await shop.ticket()
      await world.settle()
      expectShape(await shop.webhook(), { on: false, off_reason: "gone" }, "the webhook")
      expectSame(await notices(shop), 1, "the number of notices to the owner")
      await shop.ticket()
      await world.advance(2 * DAY)
      expectSame(inbox.posts.length, 1, "the number of attempts")
      expectSame(await states(shop), ["parked", "parked"], "the states of the deliveries")
    }
  },
  {
    id: "webhook-enable",
    rule: "Turned on again, all that waited goes out, once each.",
    anchor: "rule-webhook-gone",
    run: async (world) => {
      const { shop, inbox } = await receiving(world, { status: 410 })
      await shop.ticket()
      await world.settle()
      await shop.ticket()
      inbox.answer({ status: 200 })
      const enabled = await world.act<Webhook>("POST", `/shops/${shop.id}/webhook/enable`, {})
      expectShape(enabled, { on: true, off_reason: null, failures_in_row: 0 }, "the webhook")
      await world.settle()
      expectSame(await states(shop), ["delivered", "delivered"], "the states of the deliveries")
      expectSame(inbox.posts.length, 3, "the number of attempts in all")
    }
  },
  {
    id: "webhook-failing",
    rule: "The twentieth failure in a row turns the webhook off, once the first is 72 hours old.",
    anchor: "rule-webhook-gone",
    run: async (world) => {
      const { shop, inbox } = await receiving(world, { status: 500 })
      const { created_at } = await shop.ticket()
      await world.advance(48 * HOUR)
      await shop.ticket()
      await world.advance(23 * HOUR)
      await shop.ticket()
      // Attempts of the third at 71 h, 71:01, 71:06, 71:36 and 73:36: eight, seven and four make nineteen.
      await world.advance(2 * HOUR + 36 * MINUTE - 1)
      const nineteen = { on: true, failures_in_row: 19, first_failure_at: created_at }
      expectShape(await shop.webhook(), nineteen, "the webhook after nineteen failures")
      const before = await notices(shop)
      await world.advance(1)
      const off = { on: false, off_reason: "failing", failures_in_row: 20 }
      expectShape(await shop.webhook(), off, "the webhook after the twentieth")
      expectSame((await notices(shop)) > before, true, "whether the owner was told")
      await world.advance(3 * DAY)
      expectSame(inbox.posts.length, 20, "the number of attempts three days later")
    }
  },
  {
    id: "webhook-failing-young",
    rule: "More than twenty failures in a row within 72 hours do not turn it off.",
    anchor: "rule-webhook-gone",
    run: async (world) => {
      const { shop } = await receiving(world, { status: 500 })
      for (let i = 0; i < 4; i++) await shop.ticket()
      await world.advance(47 * HOUR)
      expectShape(await shop.webhook(), { on: true, failures_in_row: 32 }, "the webhook after 32 failures")
    }
  },
  {
    id: "webhook-failing-broken-row",
    rule: "One success ends the row: failures before it do not count.",
    anchor: "rule-webhook-gone",
    run: async (world) => {
      const { shop, inbox } = await receiving(world, { status: 500 })
      for (let i = 0; i < 3; i++) await shop.ticket()
      await world.advance(3 * HOUR)
      inbox.answer({ status: 200 })
      await shop.ticket()
      await world.settle()
      inbox.answer({ status: 500 })
      await world.advance(6 * HOUR)
      const first_failure_at = later(await world.instant(), -24 * MINUTE)
      expectShape(await shop.webhook(), { failures_in_row: 3, first_failure_at }, "the webhook")
      await world.advance(80 * HOUR)
      expectShape(await shop.webhook(), { on: true }, "the webhook when all were given up")
    }
  },
  {
    id: "replay-deliveries",
    rule: "Events named for it are sent again under their own ids, and their attempts count on.",
    anchor: "rule-replay-deliveries",
    run: async (world) => {
      const { shop, inbox } = await receiving(world)
      await shop.ticket()
      await shop.ticket()
      await world.settle()
      const [first] = await shop.events()
      const path = `/shops/${shop.id}/deliveries/replay`
      expectSame(await world.act("POST", path, { event_ids: [first?.id], dry_run: true }), { count: 1 }, "the dry run")
      await world.settle()
      expectSame(inbox.posts.length, 2, "the deliveries after the dry run")
      expectSame(await world.act("POST", path, { event_ids: [first?.id] }), { count: 1 }, "the replay")
      await world.settle()
      expectSame(inbox.posts.map(({ event }) => event.id).at(-1), first?.id, "the id of what was sent again")
      expectSame(inbox.posts[2]?.body, inbox.posts[0]?.body, "its body")
      const numbers = (await shop.deliveries())[0]?.attempts.map(({ n }) => n)
      expectSame(numbers, [1, 2], "the numbers of its attempts")
    }
  },
  {
    id: "replay-dead",
    rule: "A replay by state takes the dead ones, which get eight attempts anew, the first at once.",
    anchor: "rule-replay-deliveries",
    run: async (world) => {
      const { shop, inbox } = await receiving(world, { status: 500 })
      await shop.ticket()
      await world.advance(3 * DAY)
      expectSame(await states(shop), ["dead"], "the states of the deliveries")
      inbox.answer({ status: 200 })
      await shop.ticket()
      await world.settle()
      inbox.answer({ status: 500 })
      expectSame(
        await world.act("POST", `/shops/${shop.id}/deliveries/replay`, { state: "dead" }),
        { count: 1 },
        "the replay"
      )
      await world.settle()
      expectSame(inbox.posts.length, 10, "the attempts at once: eight, one and one")
      await world.advance(3 * DAY)
      expectSame(inbox.posts.length, 17, "the attempts at the end")
    }
  },
  {
    id: "replay-since",
    rule: "A replay of a time takes the events of that time, its start included and its end not.",
    anchor: "rule-replay-deliveries",
    run: async (world) => {
      const { shop } = await receiving(world)
      const made = []
      for (let i = 0; i < 3; i++) {
        made.push(await shop.ticket())
        await world.advance(1000)
      }
      const [since, until] = [made[1]?.created_at, made[2]?.created_at]
      const path = `/shops/${shop.id}/deliveries/replay`
      expectSame(
        await world.act("POST", path, { since, until, dry_run: true }),
        { count: 1 },
        "from the second to the third"
      )
      expectSame(await world.act("POST", path, { since, dry_run: true }), { count: 2 }, "from the second on")
    }
  }
])
