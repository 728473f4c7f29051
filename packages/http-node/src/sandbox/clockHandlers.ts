import { ClockAdvance, type ClockState, toIso } from "@workshop/core"
import type { Handlers } from "@workshop/core/http"
import { Effect } from "effect"
import type { SandboxApi } from "./SandboxApi.js"

const shown = ({ now, frozen }: ClockState) => ({ data: { now: toIso(now), frozen } })

/** The clock, read and moved. */
export const clockHandlers = Effect.map(
  ClockAdvance,
  ({ state, move }) =>
    ({
      read: () => Effect.map(state, shown),
      move: ({ payload }) => Effect.map(move(payload), shown)
    }) satisfies Handlers<typeof SandboxApi, void>["clock"]
)
