import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { ClockAdvance, ClockMove, type ClockState, toIso } from "@workshop/core"
import { type GroupHandlers, SuccessBody } from "@workshop/core/http"
import { Effect, Schema } from "effect"
import { data, described, titled } from "./described.js"

/** The sandbox clock as it is answered. */
const ClockView = Schema.Struct({ now: Schema.String, frozen: Schema.Boolean }).annotations({
  identifier: "SandboxClock"
})

/** The clock: read, moved, stopped (Specification, Sandbox). */
export class ClockApi extends HttpApiGroup.make("clock")
  .add(
    HttpApiEndpoint.get("read", "/clock")
      .addSuccess(SuccessBody(ClockView))
      .annotateContext(described("readClock", "Read the clock", "The sandbox's present, and whether it stands still."))
  )
  .add(
    HttpApiEndpoint.post("move", "/clock")
      .setPayload(ClockMove)
      .addSuccess(SuccessBody(ClockView))
      .annotateContext(
        described(
          "moveClock",
          "Move or stop the clock",
          "Moves the clock forward, by `advance_ms` or to `set`, and answers once everything that is due by then has run, each thing at its own instant. `freeze` stops it or lets it run. It never goes back."
        )
      )
  )
  .annotateContext(titled("Clock", "The clock by which every rule goes")) {}

const clockView = ({ now, frozen }: ClockState) => data({ now: toIso(now), frozen })

/** The clock, read and moved. */
export const clockHandlers = Effect.map(
  ClockAdvance,
  ({ state, move }): GroupHandlers<typeof ClockApi, void> => ({
    read: () => Effect.map(state, clockView),
    move: ({ payload }) => Effect.map(move(payload), clockView)
  })
)
