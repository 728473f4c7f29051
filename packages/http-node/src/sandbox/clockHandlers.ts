import { toIso } from "@workshop/core/domain/Instant"
import type { Handlers } from "@workshop/core/http/Endpoint"
import { type ClockState, TimeWalk } from "@workshop/core/services/TimeWalk"
import { Effect } from "effect"
import type { SandboxApi } from "./SandboxApi.js"

const shown = ({ now, frozen }: ClockState) => ({ data: { now: toIso(now), frozen } })

/** The clock, read and moved. */
export const clockHandlers = Effect.map(
  TimeWalk,
  ({ state, move }) =>
    ({
      read: () => Effect.map(state, shown),
      move: ({ payload }) => Effect.map(move(payload), shown)
    }) satisfies Handlers<typeof SandboxApi, void>["clock"]
)
