import { toIso } from "@workshop/core/internal"
import type { GroupHandlers } from "@workshop/core/internal/http"
import { ClockAdvance, ClockMove, type ClockState, type NextDue } from "@workshop/core/sandbox"
import { Effect, Schema } from "effect"
import type { Agenda } from "./AgendaApi.js"
import { dataOnly, endpoint, groupOf } from "./endpoints.js"
import type { Feed } from "./Feed.js"

/** The sandbox's clock in a response. */
export const ClockView = Schema.Struct({
  now: Schema.String,
  frozen: Schema.Boolean,
  frozen_by: Schema.NullOr(Schema.String).annotations({
    description: "What froze the clock, such as a recording of the console; null if it was not named"
  }),
  ahead_ms: Schema.Int.annotations({
    description: "How many milliseconds the sandbox's clock is ahead of the real clock"
  })
}).annotations({
  identifier: "SandboxClock"
})

/** The endpoints that read, move and freeze the clock (Specification, Sandbox). */
export class ClockApi extends groupOf(
  "clock",
  ["Clock", "The sandbox's clock, by which every rule is timed"],
  endpoint("GET", "readClock", "/clock", ClockView, [
    "Read the clock",
    "Returns the sandbox's time, and whether the clock is frozen."
  ]),
  endpoint("POST", "moveClock", "/clock", ClockView, [
    "Move or freeze the clock",
    'Moves the clock forward: by `advance` (a length of time such as `60d` or `24h1ms`) or `advance_ms`, to the instant `set` or `to`, or with `to: "next"` to the next entry of the agenda. Responds after all work that is due by then has run, each at the instant at which it was due. `freeze` true freezes the clock, and false lets it run. With `freeze`, `frozen_by` can name what freezes the clock, for others who use the sandbox. The clock goes back only by a reset or an import.'
  ]).setPayload(ClockMove)
) {}

/** The state of the clock in a response. */
export const clockView = ({ now, frozen, frozen_by, ahead_ms }: ClockState) =>
  dataOnly({ now: toIso(now), frozen, frozen_by, ahead_ms })

/** The number of agenda entries that are read to find the first future entry. */
const ENTRIES_READ = 1000

/** Handles the endpoints of the clock. */
export const clockHandlers = (agenda: Agenda, feed: Feed) =>
  Effect.map(ClockAdvance, ({ state, move }): GroupHandlers<typeof ClockApi, void> => {
    const next: NextDue = (now) =>
      agenda(undefined, ENTRIES_READ, now).pipe(
        Effect.map((due) => due.find(({ at }) => at > now)?.at ?? null),
        // A shop that was removed meanwhile has no agenda.
        Effect.catchTag("ShopNotFound", () => Effect.succeed(null))
      )
    return {
      readClock: () => Effect.map(state, clockView),
      moveClock: ({ payload }) =>
        Effect.map(move(payload, next), (moveResult) => {
          const shown = clockView(moveResult)
          feed.publish("clock", { at: shown.data.now, moved_ms: moveResult.moved_ms, ...shown.data })
          return shown
        })
    }
  })
