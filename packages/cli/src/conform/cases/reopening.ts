import { expectSame, expectShape } from "../Broken.js"
import { casesOf } from "../Case.js"
import { DAY } from "../World.js"

/** A collected ticket's way back (Specification, States). */
export const reopeningCases = casesOf("§3", [
  {
    id: "reopen-at-24h",
    rule: "Exactly 24 hours after its collection a ticket can still be reopened.",
    anchor: "rule-reopen-at-24h",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("ready", "collected")
      await world.advance(DAY)
      ;(await shop.status(id, "workshop")).shows({ state: "workshop", collected_at: null })
    }
  },
  {
    id: "reopen-past-24h",
    rule: "One millisecond later it cannot: REOPEN_WINDOW.",
    anchor: "rule-reopen-at-24h",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("ready", "collected")
      await world.advance(DAY + 1)
      ;(await shop.status(id, "workshop")).conflict("REOPEN_WINDOW", { allowed: [] })
      expectSame((await shop.read(id)).state, "collected", "state")
    }
  },
  {
    id: "reopen-past-24h-any-status",
    rule: "After the window every status is refused with REOPEN_WINDOW.",
    anchor: "rule-reopen-at-24h",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("ready", "collected")
      await world.advance(2 * DAY)
      for (const status of ["ready", "impossible", "collected", "workshop"]) {
        ;(await shop.status(id, status)).conflict("REOPEN_WINDOW", { from: "collected", to: status })
      }
    }
  },
  {
    id: "reopen-keeps-notified",
    rule: "Reopening forgets the end of the work, not that the client was told.",
    anchor: "rule-status-instants",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("ready")
      const notified_at = await world.instant()
      ;(await shop.notified(id, "call")).shows({ notified_at })
      ;(await shop.status(id, "collected")).ok()
      await world.advance(1)
      const cleared = { ready_at: null, collected_at: null, outcome: null }
      ;(await shop.status(id, "workshop")).shows({ ...cleared, notified_at })
    }
  },
  {
    id: "reopen-event-from",
    rule: "The event of a reopening tells from which state the ticket came back.",
    anchor: "rule-status-instants",
    run: async (world) => {
      const shop = await world.shop()
      for (const path of [["ready"], ["impossible"], ["ready", "collected"]]) {
        const { id } = await shop.moved(...path)
        ;(await shop.status(id, "workshop")).ok()
        const event = (await shop.events()).at(-1)
        expectShape(event, { type: "ticket.reopened", data: { from: path.at(-1), ticket: { id } } }, "the last event")
      }
    }
  },
  {
    id: "reopen-second-window",
    rule: "A ticket collected anew has a window of its own.",
    anchor: "rule-reopen-at-24h",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("ready", "collected")
      await world.advance(DAY)
      for (const status of ["workshop", "ready", "collected"]) (await shop.status(id, status)).ok()
      await world.advance(DAY)
      ;(await shop.status(id, "workshop")).shows({ state: "workshop" })
    }
  }
])
