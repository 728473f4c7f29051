import { DAY } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectShape } from "../Expectations.js"

/** A collected ticket's way back (Specification, States). */
export const reopeningCases = casesOf("§3", [
  test("reopen-at-24h (rule-reopen-at-24h): Exactly 24 hours after its collection a ticket can still be reopened.", async (shop) => {
    const { id } = await shop.moved("ready", "collected")
    await shop.env.advance(DAY)
    ;(await shop.status(id, "workshop")).shows({ state: "workshop", collected_at: null })
  }),
  test("reopen-past-24h (rule-reopen-at-24h): One millisecond later it cannot: REOPEN_WINDOW.", async (shop) => {
    const { id } = await shop.moved("ready", "collected")
    await shop.env.advance(DAY + 1)
    ;(await shop.status(id, "workshop")).conflict("REOPEN_WINDOW", { allowed: [] })
    expectSame((await shop.read(id)).state, "collected", "state")
  }),
  test("reopen-past-24h-any-status (rule-reopen-at-24h): After the window every status is refused with REOPEN_WINDOW.", async (shop) => {
    const { id } = await shop.moved("ready", "collected")
    await shop.env.advance(2 * DAY)
    for (const status of ["ready", "impossible", "collected", "workshop"])
      (await shop.status(id, status)).conflict("REOPEN_WINDOW", { from: "collected", to: status })
  }),
  test("reopen-keeps-notified (rule-status-instants): Reopening forgets the end of the work, not that the client was told.", async (shop) => {
    const { id } = await shop.moved("ready")
    const notified_at = await shop.env.instant()
    ;(await shop.notified(id, "call")).shows({ notified_at })
    ;(await shop.status(id, "collected")).ok()
    await shop.env.advance(1)
    const cleared = { ready_at: null, collected_at: null, outcome: null }
    ;(await shop.status(id, "workshop")).shows({ ...cleared, notified_at })
  }),
  test("reopen-event-from (rule-status-instants): The event of a reopening tells from which state the ticket came back.", async (shop) => {
    for (const path of [["ready"], ["impossible"], ["ready", "collected"]]) {
      const { id } = await shop.moved(...path)
      ;(await shop.status(id, "workshop")).ok()
      const event = (await shop.events()).at(-1)
      expectShape(event, { type: "ticket.reopened", data: { from: path.at(-1), ticket: { id } } }, "the last event")
    }
  }),
  test("reopen-second-window (rule-reopen-at-24h): A ticket collected anew has a window of its own.", async (shop) => {
    const { id } = await shop.moved("ready", "collected")
    await shop.env.advance(DAY)
    for (const status of ["workshop", "ready", "collected"]) (await shop.status(id, status)).ok()
    await shop.env.advance(DAY)
    ;(await shop.status(id, "workshop")).shows({ state: "workshop" })
  })
])
