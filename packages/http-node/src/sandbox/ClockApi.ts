import type { GroupHandlers } from "@workshop/core/adapter"
import { ClockAdvance, ClockMove, type ClockState, type NextDue, toIso } from "@workshop/core/adapter"
import { Effect, Schema } from "effect"
import type { Agenda } from "./AgendaApi.js"
import { data, endpoint, groupOf } from "./endpoints.js"
import type { Feed } from "./Feed.js"

/** The sandbox's clock in a response. */
export const ClockView = Schema.Struct({
  now: Schema.String,
  frozen: Schema.Boolean,
  frozen_by: Schema.NullOr(Schema.String).annotations({
    description: "The name that was given with the freeze, such as a recording of the console"
  }),
  ahead_ms: Schema.Int.annotations({ description: "By how much it is ahead of the real clock" })
}).annotations({
  identifier: "SandboxClock"
})

/** The clock: read, moved, stopped (Specification, Sandbox). */
export class ClockApi extends groupOf(
  "clock",
  ["Clock", "The clock by which every rule goes"],
  endpoint("GET", "readClock", "/clock", ClockView, [
    "Read the clock",
    "The sandbox's present, and whether it stands still."
  ]),
  endpoint("POST", "moveClock", "/clock", ClockView, [
    "Move or stop the clock",
    'Moves the clock forward, by `advance` (a length of time such as `60d` or `24h1ms`) or `advance_ms`, to the instant `set` or `to`, or to what falls due next with `to: "next"`; and answers once everything that is due by then has run, each thing at its own instant. `freeze` stops it or lets it run; `frozen_by` beside it names what stops it, for others who use the sandbox. No move leads back; a reset or an import does.'
  ]).setPayload(ClockMove)
) {}

/** The state of the clock in a response. */
export const clockView = ({ now, frozen, frozen_by, ahead_ms }: ClockState) =>
  data({ now: toIso(now), frozen, frozen_by, ahead_ms })

/** How far the agenda is read for the first entry that is still to come. */
const LOOKED_THROUGH = 1000

/** The clock, read and moved. */
export const clockHandlers = (agenda: Agenda, feed: Feed) =>
  Effect.map(ClockAdvance, ({ state, move }): GroupHandlers<typeof ClockApi, void> => {
    const next: NextDue = (now) =>
      agenda(undefined, LOOKED_THROUGH, now).pipe(
        Effect.map((due) => due.find(({ at }) => at > now)?.at ?? null),
        // A shop that was removed meanwhile has nothing due.
        Effect.catchTag("ShopNotFound", () => Effect.succeed(null))
      )
    return {
      readClock: () => Effect.map(state, clockView),
      moveClock: ({ payload }) =>
        Effect.map(move(payload, next), (moved) => {
          const shown = clockView(moved)
          feed.publish("clock", { at: shown.data.now, moved_ms: moved.moved_ms, ...shown.data })
          return shown
        })
    }
  })
