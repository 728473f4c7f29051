import { Cause, Context, Effect, Option } from "effect"
import { MINUTE_MS } from "../domain/Instant.js"

/** The operator's remedy for a failure, if the store knows one (Specification, Commands). */
export const remedyIn = (cause: Cause.Cause<unknown>): string | null => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  return typeof failure === "object" && failure !== null && "remedy" in failure && typeof failure.remedy === "string"
    ? failure.remedy
    : null
}

/** When each line was last logged by this process. */
class Logged extends Context.Reference<Logged>()("@workshop/core/BackgroundFailure/Logged", {
  defaultValue: () => new Map<string, number>()
}) {}

/** Logs a line for the operator, who has to act on it, at most once a minute however often the same is found. */
export const logRemedy = (line: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const logged = yield* Logged
    const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
    const last = logged.get(line)
    if (last !== undefined && Math.abs(now - last) < MINUTE_MS) return
    logged.set(line, now)
    yield* Effect.logWarning(line)
  })

/**
 * Logs why background work failed. A failure that has a remedy, such as a database that was never migrated, fails all background work
 * alike, at each of its polls: so the remedy is one line, without the cause, and at most once a minute.
 */
export const logBackgroundFailure = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const remedy = remedyIn(cause)
    return remedy === null ? Effect.logWarning(message, cause) : logRemedy(`The background work waits. ${remedy}`)
  })
