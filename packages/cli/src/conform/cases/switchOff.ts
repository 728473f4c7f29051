import type { Webhook } from "../../testkit/Shapes.js"
import { DAY, HOUR, later, MINUTE } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { Shop } from "../Environment.js"
import { expectSame, expectShape } from "../Expectations.js"

const states = async (shop: Shop) => (await shop.deliveries()).map(({ state }) => state)

/** How often the owner was told something. */
const notices = async (shop: Shop): Promise<number> =>
  (await shop.env.act<ReadonlyArray<unknown>>("list notices", shop.id)).length

/** What turns a webhook off, what turns it on again, and what is sent again (Specification, Webhooks; Sandbox). */
export const switchOffCases = casesOf("§6", [
  test("webhook-gone (rule-delivery-no-webhook): A 410 turns the webhook off at once and its owner is told; later events wait.", async (shop) => {
    const inbox = await shop.receiving(410)
    await shop.ticket()
    await shop.env.settle()
    expectShape(await shop.webhook(), { on: false, off_reason: "gone" }, "the webhook")
    expectSame(await notices(shop), 1, "the number of notices to the owner")
    await shop.ticket()
    await shop.env.advance(2 * DAY)
    expectSame(inbox.posts.length, 1, "the number of attempts")
    expectSame(await states(shop), ["parked", "parked"], "the states of the deliveries")
  }),
  test("webhook-enable (rule-webhook-gone): Turned on again, all that waited goes out, once each.", async (shop) => {
    const inbox = await shop.receiving(410)
    await shop.ticket()
    await shop.env.settle()
    await shop.ticket()
    inbox.answer(200)
    const enabled = await shop.env.act<Webhook>("enable webhook", shop.id, {})
    expectShape(enabled, { on: true, off_reason: null, failures_in_row: 0 }, "the webhook")
    await shop.env.settle()
    expectSame(await states(shop), ["delivered", "delivered"], "the states of the deliveries")
    expectSame(inbox.posts.length, 3, "the number of attempts in all")
  }),
  test("webhook-failing (rule-webhook-gone): The twentieth failure in a row turns the webhook off, once the first is 72 hours old.", async (shop) => {
    const inbox = await shop.receiving(500)
    const { created_at } = await shop.ticket()
    await shop.env.advance(48 * HOUR)
    await shop.ticket()
    await shop.env.advance(23 * HOUR)
    await shop.ticket()
    // Attempts of the third at 71 h, 71:01, 71:06, 71:36 and 73:36: eight, seven and four make nineteen.
    await shop.env.advance(2 * HOUR + 36 * MINUTE - 1)
    const nineteen = { on: true, failures_in_row: 19, first_failure_at: created_at }
    expectShape(await shop.webhook(), nineteen, "the webhook after nineteen failures")
    const before = await notices(shop)
    await shop.env.advance(1)
    const off = { on: false, off_reason: "failing", failures_in_row: 20 }
    expectShape(await shop.webhook(), off, "the webhook after the twentieth")
    expectSame((await notices(shop)) > before, true, "whether the owner was told")
    await shop.env.advance(3 * DAY)
    expectSame(inbox.posts.length, 20, "the number of attempts three days later")
  }),
  test("webhook-failing-young (rule-webhook-gone): More than twenty failures in a row within 72 hours do not turn it off.", async (shop) => {
    await shop.receiving(500)
    for (let i = 0; i < 4; i++) await shop.ticket()
    await shop.env.advance(47 * HOUR)
    expectShape(await shop.webhook(), { on: true, failures_in_row: 32 }, "the webhook after 32 failures")
  }),
  test("webhook-failing-broken-row (rule-webhook-gone): One success ends the row: failures before it do not count.", async (shop) => {
    const inbox = await shop.receiving(500)
    for (let i = 0; i < 3; i++) await shop.ticket()
    await shop.env.advance(3 * HOUR)
    inbox.answer(200)
    await shop.ticket()
    await shop.env.settle()
    inbox.answer(500)
    await shop.env.advance(6 * HOUR)
    const first_failure_at = later(await shop.env.instant(), -24 * MINUTE)
    expectShape(await shop.webhook(), { failures_in_row: 3, first_failure_at }, "the webhook")
    await shop.env.advance(80 * HOUR)
    expectShape(await shop.webhook(), { on: true }, "the webhook when all were given up")
  }),
  test("replay-deliveries (rule-replay-deliveries): Events named for it are sent again under their own ids, and their attempts count on.", async (shop) => {
    const inbox = await shop.receiving()
    await shop.ticket()
    await shop.ticket()
    await shop.env.settle()
    const [first] = await shop.events()
    expectSame(await shop.replay({ event_ids: [first?.id], dry_run: true }), 1, "the count of the dry run")
    await shop.env.settle()
    expectSame(inbox.posts.length, 2, "the deliveries after the dry run")
    expectSame(await shop.replay({ event_ids: [first?.id] }), 1, "the count of the replay")
    await shop.env.settle()
    expectSame(inbox.posts.map(({ event }) => event.id).at(-1), first?.id, "the id of what was sent again")
    expectSame(inbox.posts[2]?.body, inbox.posts[0]?.body, "its body")
    const numbers = (await shop.deliveries())[0]?.attempts.map(({ n }) => n)
    expectSame(numbers, [1, 2], "the numbers of its attempts")
  }),
  test("replay-dead (rule-replay-deliveries): A replay by state takes the dead ones, which get eight attempts anew, the first at once.", async (shop) => {
    const inbox = await shop.receiving(500)
    await shop.ticket()
    await shop.env.advance(3 * DAY)
    expectSame(await states(shop), ["dead"], "the states of the deliveries")
    inbox.answer(200)
    await shop.ticket()
    await shop.env.settle()
    inbox.answer(500)
    expectSame(await shop.replay({ state: "dead" }), 1, "the count of the replay")
    await shop.env.settle()
    expectSame(inbox.posts.length, 10, "the attempts at once: eight, one and one")
    await shop.env.advance(3 * DAY)
    expectSame(inbox.posts.length, 17, "the attempts at the end")
  }),
  test("replay-since (rule-replay-deliveries): A replay of a time takes the events of that time, its start included and its end not.", async (shop) => {
    await shop.receiving()
    const made = []
    for (let i = 0; i < 3; i++) {
      made.push(await shop.ticket())
      await shop.env.advance(1000)
    }
    const [since, until] = [made[1]?.created_at, made[2]?.created_at]
    expectSame(await shop.replay({ since, until, dry_run: true }), 1, "from the second to the third")
    expectSame(await shop.replay({ since, dry_run: true }), 2, "from the second on")
  })
])
