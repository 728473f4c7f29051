import { Cause, Context, Effect, Layer, Option } from "effect"
import { rootCause, toOneLine } from "../../domain/ErrorLine.js"
import { MINUTE_MS } from "../../domain/Instant.js"

/** The operator's remedy for a failure, if the store knows one (Specification, Commands). */
export const remedyIn = (cause: Cause.Cause<unknown>): string | null => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  return typeof failure === "object" && failure !== null && "remedy" in failure && typeof failure.remedy === "string"
    ? failure.remedy
    : null
}

const emptyLog = () => ({
  /** The time of the last line about each subject. */
  at: new Map<string, number>(),
  /** The subjects of failures since the last success of any background work. */
  unavailable: new Set<string>()
})

/** The lines that were logged about the background work. */
class FailureLog extends Context.Reference<FailureLog>()("@workshop/core/BackgroundFailure/Logged", {
  defaultValue: emptyLog
}) {}

/**
 * Records the lines of a workshop apart from those of other workshops in its process, because their stores fail
 * independently.
 */
export const ownFailureLog: Layer.Layer<never> = Layer.sync(FailureLog, emptyLog)

/** Whether to log a line about a subject now: at most once a minute. `at` has the time of the last line. */
export const isLoggedNow = <Subject>(
  at: {
    readonly get: (subject: Subject) => number | undefined
    readonly set: (subject: Subject, now: number) => unknown
  },
  subject: Subject
): Effect.Effect<boolean> =>
  Effect.clockWith((clock) =>
    Effect.map(clock.currentTimeMillis, (now) => {
      const lastLoggedAt = at.get(subject)
      if (lastLoggedAt !== undefined && Math.abs(now - lastLoggedAt) < MINUTE_MS) return false
      at.set(subject, now)
      return true
    })
  )

/** Logs a line for the operator, who has to act on it, at most once a minute for the same line. */
export const logRemedy = (line: string): Effect.Effect<void> =>
  Effect.flatMap(FailureLog, ({ at }) => Effect.whenEffect(Effect.logWarning(line), isLoggedNow(at, line)))

/** Logs that the store cannot be reached, once a minute, because all background work then fails several times a second. */
const logUnavailable = (failure: Error): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { at, unavailable } = yield* FailureLog
    const subject = rootCause(failure).message
    if (!(yield* isLoggedNow(at, subject))) return
    yield* Effect.logWarning(
      `The background work ${unavailable.has(subject) ? "still waits" : "waits"} for the store. ${toOneLine(failure)}`
    )
    unavailable.add(subject)
  })

/**
 * Run this after background work has succeeded. It logs that the store can be reached again, if it could not before.
 */
export const backgroundSucceeded: Effect.Effect<void> = Effect.flatMap(FailureLog, ({ at, unavailable }) => {
  if (unavailable.size === 0) return Effect.void
  for (const subject of unavailable) at.delete(subject)
  unavailable.clear()
  return Effect.logInfo("The store can be reached again, so the background work continues")
})

const isUnavailable = (failure: unknown): failure is Error =>
  failure instanceof Error && "_tag" in failure && failure._tag === "StoreUnavailable"

/**
 * Logs why background work failed. An unreachable store, and a failure with a remedy, such as a database that was never
 * migrated, make all background work fail at each of its polls. Each is therefore logged as one line without a stack,
 * at most once a minute.
 */
export const logBackgroundFailure = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const remedy = remedyIn(cause)
    if (remedy !== null) return logRemedy(`The background work has stopped until this is solved. ${remedy}`)
    const failure = Option.getOrUndefined(Cause.failureOption(cause))
    return isUnavailable(failure) ? logUnavailable(failure) : Effect.logWarning(message, cause)
  })
