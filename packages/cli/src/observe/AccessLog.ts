import type { Watch } from "@workshop/core/http/Pipeline"
import { shownMethod, shownRoute } from "@workshop/http-node/metrics/HttpMetrics"
import { Clock, Effect } from "effect"

const real = Clock.make()

/** Logs a line for each request: by its route and never by its path or query, which may hold phone numbers. */
export const logged: Watch = ({ method }, stamp, answer) => {
  const began = real.unsafeCurrentTimeNanos()
  return Effect.tap(answer, ({ status }) => {
    const ms = Number((real.unsafeCurrentTimeNanos() - began) / 1000n) / 1000
    return Effect.annotateLogs(Effect.logInfo("Answered"), {
      method: shownMethod(method),
      route: shownRoute(stamp),
      status,
      ms
    })
  })
}
