import { StoreUnavailable } from "@workshop/core"
import {
  giveBackUses,
  type LimitUse,
  type LimitWindows,
  peekLimit,
  type RateLimits,
  useLimits
} from "@workshop/core/store"
import { Cause, type Context, Effect, Schedule, type Scope } from "effect"
import { inputDrained } from "./CommitQueue.js"
import { PgFailure, storeFailure } from "./PgFailure.js"
import { distinct, LockedWindows, locking, type RateLimitRow } from "./RateLimitRows.js"
import { type ReconnectingConnection, reconnecting } from "./ReconnectingConnection.js"

/** Something to do with windows, once they are locked. */
interface Job {
  readonly takes: ReadonlyArray<LimitUse>
  /** Does it; what it returns tells the answer, which must wait until it is saved. */
  readonly run: (windows: LimitWindows) => () => void
  readonly fail: (cause: Cause.Cause<StoreUnavailable>) => void
}

/** How many requests are counted together at most. */
const MOST_TOGETHER = 512

/** How many may wait to be counted. */
const MOST_WAITING = 10_000

/** How long counting may take, in real time: every request waits for it, so where the database is away it is soon known. */
const ANSWER_TIMEOUT_MS = 2_000

/** A row that went away between its two statements: an ended window that was tidied up just then. */
const vanished = new PgFailure({
  kind: "conflict",
  code: null,
  constraint: null,
  cause: new Error("A window was removed")
})

/** Counts what came in one moment, in one transaction. */
const countTogether = (link: ReconnectingConnection, jobs: ReadonlyArray<Job>): Effect.Effect<void, PgFailure> =>
  Effect.gen(function* () {
    const connection = yield* link.connection
    const takes = distinct(jobs.flatMap((job) => job.takes))
    const answers = yield* connection.send(locking(takes))
    const rows = answers.at(-1)!.rows as unknown as ReadonlyArray<RateLimitRow>
    if (rows.length < takes.length) return yield* vanished
    const windows = new LockedWindows(rows)
    const tell = jobs.map(({ run }) => run(windows))
    yield* connection.send(windows.ending())
    for (const tellOne of tell) tellOne()
  }).pipe(Effect.tapError(link.undo))

const refusal = (why: string) => Cause.fail(new StoreUnavailable({ cause: new Error(why) }))
const closing = refusal("The store is closing")
const tooMany = refusal("Too many requests wait to be counted")

const RETRIES = Schedule.recurs(5)

/** After a loss a use may count twice, which the windows of minutes and hours forgive. One that is late was waited for long enough. */
const mayRunAgain = ({ kind }: PgFailure): boolean => kind === "conflict" || kind === "held" || kind === "lost"

/** The counts behind the limits of requests, in rows that all processes of the service share. */
export const pgRateLimits = (url: string): Effect.Effect<Context.Tag.Service<RateLimits>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* reconnecting({
      url,
      name: "workshop limits",
      lock_timeout_ms: 1_000,
      answer_timeout_ms: ANSWER_TIMEOUT_MS
    })
    const queue: Array<Job> = []
    let ring = (): void => undefined

    const untilAsked = Effect.async<void>((resume) => {
      ring = () => resume(Effect.void)
      if (queue.length > 0) ring()
    })
    /** Whoever waits by then would only wait for the same connection. */
    const failAll = (jobs: ReadonlyArray<Job>, cause: Cause.Cause<StoreUnavailable>) =>
      Effect.sync(() => {
        for (const { fail } of [...jobs, ...queue.splice(0)]) fail(cause)
      })
    const countNext = Effect.suspend(() => {
      const jobs = queue.splice(0, MOST_TOGETHER)
      return countTogether(connection, jobs).pipe(
        Effect.retry({ schedule: RETRIES, while: mayRunAgain }),
        Effect.catchAll((cause) => failAll(jobs, storeFailure(cause))),
        // A bug of ours; the loop goes on, or everybody would wait for ever.
        Effect.catchAllDefect((defect) => Effect.zipRight(connection.drop, failAll(jobs, Cause.die(defect))))
      )
    })
    const turn = untilAsked.pipe(Effect.zipRight(inputDrained), Effect.zipRight(Effect.uninterruptible(countNext)))
    let isClosed = false
    const close = Effect.suspend(() => {
      isClosed = true
      return failAll([], closing)
    })
    yield* Effect.addFinalizer(() => close)
    yield* Effect.forkScoped(Effect.forever(turn))

    const ask = <A, E>(takes: ReadonlyArray<LimitUse>, run: (windows: LimitWindows) => Effect.Effect<A, E>) =>
      Effect.async<A, E | StoreUnavailable>((resume) => {
        if (isClosed) return resume(Effect.failCause(closing))
        if (queue.length >= MOST_WAITING) return resume(Effect.failCause(tooMany))
        queue.push({
          takes,
          run: (windows) => {
            const answer = run(windows)
            return () => resume(answer)
          },
          fail: (cause) => resume(Effect.failCause(cause))
        })
        ring()
      })

    return {
      take: (takes, now) => ask(takes, (windows) => useLimits(windows, takes, now)),
      giveBack: (takes, taken) => ask(takes, (windows) => Effect.succeed(giveBackUses(windows, takes, taken))),
      look: (one, now) => ask([one], (windows) => Effect.succeed(peekLimit(windows, one, now)))
    }
  })
