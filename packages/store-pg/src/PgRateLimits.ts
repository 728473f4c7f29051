import type { Instant } from "@workshop/core/domain/Instant"
import { Policies, type PolicyName } from "@workshop/core/domain/Limits"
import { current, LimitReached, type LimitWindow, type Usage, usage, used } from "@workshop/core/domain/LimitWindow"
import type { RateLimits, Take } from "@workshop/core/ports/RateLimits"
import { StoreUnavailable } from "@workshop/core/ports/Store"
import { Cause, type Context, Effect, Exit, Schedule, type Scope } from "effect"
import { BEGIN, COMMIT, ROLLBACK, type Statement } from "./Connection.js"
import { allCame } from "./Lane.js"
import { type Link, link } from "./Link.js"
import { PgFailure, storeUnavailable } from "./PgFailure.js"

type Answer = Exit.Exit<ReadonlyArray<Usage>, LimitReached | StoreUnavailable>
type Windows = Map<string, LimitWindow>

/** Something to do with the windows of some policies, once they are locked. */
interface Job {
  readonly takes: ReadonlyArray<Take>
  readonly run: (windows: Windows) => Exit.Exit<ReadonlyArray<Usage>, LimitReached>
  readonly settle: (answer: Answer) => void
}

/** How many requests are counted together at most. */
const MOST_TOGETHER = 512

/** How many may wait to be counted. */
const MOST_WAITING = 10_000

/** How long counting may take, in real time: every request waits for it, so where the database is away it is soon known. */
const ANSWER_TIMEOUT_MS = 2_000

const placeOf = ({ policy, subject }: Pick<Take, "policy" | "subject">): string => `${policy} ${subject}`

const isFull = (window: LimitWindow, policy: PolicyName): boolean => window.used >= Policies[policy].limit

const known = (windows: Windows, take: Take): LimitWindow | undefined => windows.get(placeOf(take))

const taking =
  (takes: ReadonlyArray<Take>, now: Instant): Job["run"] =>
  (windows) => {
    const found = takes.map((take) => current(known(windows, take), take.policy, now, take.time_zone))
    if (takes.some(({ policy }, i) => isFull(found[i]!, policy))) {
      const usages = takes.map(({ policy }, i) => usage(found[i]!, policy))
      return Exit.fail(new LimitReached({ usages: usages.filter(({ remaining }) => remaining === 0) }))
    }
    const counted = found.map((window) => used(window, 1))
    for (const [i, take] of takes.entries()) windows.set(placeOf(take), counted[i]!)
    return Exit.succeed(takes.map(({ policy }, i) => usage(counted[i]!, policy)))
  }

const givingBack =
  (takes: ReadonlyArray<Take>, taken: ReadonlyArray<Usage>): Job["run"] =>
  (windows) => {
    takes.forEach((take, i) => {
      const window = known(windows, take)
      if (window !== undefined && window.resets_at === taken[i]?.resets_at && window.used > 0)
        windows.set(placeOf(take), used(window, -1))
    })
    return Exit.succeed([])
  }

const looking =
  (take: Take, now: Instant): Job["run"] =>
  (windows) =>
    Exit.succeed([usage(current(known(windows, take), take.policy, now, take.time_zone), take.policy)])

const keys = (jobs: ReadonlyArray<Job>): readonly [ReadonlyArray<string>, ReadonlyArray<string>] => {
  const takes = new Map(jobs.flatMap((job) => job.takes.map((take) => [placeOf(take), take] as const)))
  return [[...takes.values()].map(({ policy }) => policy), [...takes.values()].map(({ subject }) => subject)]
}

const KEYS = "unnest($1::text[], $2::text[]) q (policy, subject)"

/** Rows must be there to be locked; all processes lock them in one order. */
const opening = (jobs: ReadonlyArray<Job>): ReadonlyArray<Statement> => [
  BEGIN,
  {
    name: "open rate_limit",
    text: `insert into rate_limit select policy, subject, 0, 0 from ${KEYS} order by 1, 2 on conflict do nothing`,
    values: keys(jobs)
  },
  {
    name: "lock rate_limit",
    text: `select r.policy, r.subject, r.used, r.resets_at::double precision as resets_at
      from rate_limit r join ${KEYS} on r.policy = q.policy and r.subject = q.subject
      order by r.policy, r.subject for update of r`,
    values: keys(jobs)
  }
]

interface Row extends LimitWindow {
  readonly policy: PolicyName
  readonly subject: string
}

/** A policy has no space in its name; a subject may, where the embedder names its callers. */
const policyAndSubject = (place: string): readonly [string, string] => {
  const at = place.indexOf(" ")
  return [place.slice(0, at), place.slice(at + 1)]
}

const saving = (changed: ReadonlyArray<readonly [string, LimitWindow]>): ReadonlyArray<Statement> => {
  const places = changed.map(([place]) => policyAndSubject(place))
  return [
    {
      name: "put rate_limit",
      text: `update rate_limit r set used = q.used, resets_at = q.resets_at
        from unnest($1::text[], $2::text[], $3::integer[], $4::bigint[]) q (policy, subject, used, resets_at)
        where r.policy = q.policy and r.subject = q.subject`,
      values: [
        places.map(([policy]) => policy),
        places.map(([, subject]) => subject),
        changed.map(([, window]) => window.used),
        changed.map(([, window]) => window.resets_at)
      ]
    },
    COMMIT
  ]
}

/** A row that went away between its two statements: an ended window that was tidied up just then. */
const vanished = new PgFailure({
  kind: "conflict",
  code: null,
  constraint: null,
  cause: new Error("A window was removed")
})

/** Counts what came in one moment, in one transaction. */
const countTogether = (link: Link, jobs: ReadonlyArray<Job>): Effect.Effect<ReadonlyArray<Answer>, PgFailure> =>
  Effect.gen(function* () {
    const connection = yield* link.connection
    const answers = yield* connection.send(opening(jobs))
    const rows = answers[2]!.rows as unknown as ReadonlyArray<Row>
    if (rows.length < keys(jobs)[0].length) return yield* vanished
    const before: Windows = new Map(rows.map(({ used, resets_at, ...row }) => [placeOf(row), { used, resets_at }]))
    const windows = new Map(before)
    const exits = jobs.map(({ run }) => run(windows))
    const changed = [...windows].filter(([place, window]) => before.get(place) !== window)
    yield* connection.send(changed.length === 0 ? [ROLLBACK] : saving(changed))
    return exits
  }).pipe(Effect.tapError(link.undo))

const RETRIES = Schedule.recurs(5)

/** After a loss a use may count twice, which the windows of minutes and hours forgive. One that is late was waited for long enough. */
const mayRunAgain = ({ kind }: PgFailure): boolean => kind === "conflict" || kind === "held" || kind === "lost"

/** The counts behind the limits of requests, in rows that all processes of the service share. */
export const pgRateLimits = (url: string): Effect.Effect<Context.Tag.Service<RateLimits>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* link({
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
    const failAll = (jobs: ReadonlyArray<Job>, answer: Answer) => {
      for (const { settle } of [...jobs, ...queue.splice(0)]) settle(answer)
    }
    const countNext = Effect.suspend(() => {
      const jobs = queue.splice(0, MOST_TOGETHER)
      return countTogether(connection, jobs).pipe(
        Effect.retry({ schedule: RETRIES, while: mayRunAgain }),
        Effect.flatMap((answers) =>
          Effect.sync(() => {
            for (const [i, { settle }] of jobs.entries()) settle(answers[i]!)
          })
        ),
        Effect.catchAll((cause) => Effect.sync(() => failAll(jobs, Exit.fail(storeUnavailable(cause))))),
        // A bug of ours; the loop goes on, or everybody would wait for ever.
        Effect.catchAllDefect((defect) =>
          Effect.zipRight(
            connection.drop,
            Effect.sync(() => failAll(jobs, Exit.failCause(Cause.die(defect))))
          )
        )
      )
    })
    const turn = untilAsked.pipe(Effect.zipRight(allCame), Effect.zipRight(Effect.uninterruptible(countNext)))
    let isClosed = false
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        failAll([], Exit.fail(new StoreUnavailable({ cause: new Error("The store is closing") })))
      })
    )
    yield* Effect.forkScoped(Effect.forever(turn))

    const ask = (takes: ReadonlyArray<Take>, run: Job["run"]) =>
      Effect.async<ReadonlyArray<Usage>, LimitReached | StoreUnavailable>((resume) => {
        if (isClosed || queue.length >= MOST_WAITING) {
          resume(Effect.fail(new StoreUnavailable({ cause: new Error("Too many requests wait to be counted") })))
          return
        }
        queue.push({ takes, run, settle: resume })
        ring()
      })

    return {
      take: (takes, now) => ask(takes, taking(takes, now)),
      giveBack: (takes, taken) =>
        ask(takes, givingBack(takes, taken)).pipe(
          Effect.asVoid,
          Effect.catchTag("LimitReached", (cause) => Effect.die(cause))
        ),
      look: (take, now) =>
        ask([take], looking(take, now)).pipe(
          Effect.map(([found]) => found!),
          Effect.catchTag("LimitReached", (cause) => Effect.die(cause))
        )
    }
  })
