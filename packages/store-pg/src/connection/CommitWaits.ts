import { Effect, Schedule } from "effect"
import { PgFailure } from "./PgFailure.js"
import { SessionRefused } from "./SessionClient.js"
import type { Statement } from "./Statement.js"

/*
 * Commits that wait for a synchronous standby. No timeout of the server ends such a wait, and the waiting backend does
 * not notice that its client has disconnected. A process that replaced each connection whose commit gets no response
 * would use up the server's connections. So the listening connection of each address, which never commits, samples the
 * waiting sessions every second, and the process does not replace an abandoned connection while its session waits. The
 * process does not cancel the wait, because canceling it would make a commit visible that no standby has.
 */

/** The remedy for commits that wait for a standby. */
export const WAITS_FOR_STANDBY =
  "Commits wait for a synchronous standby. Start a standby, or remove its name from synchronous_standby_names."

/**
 * The wait of a commit, in milliseconds, after which further commits are refused. A little later the waiting commit is
 * abandoned.
 */
export const LONG_WAIT_MS = 3_000

/** {@link LONG_WAIT_MS} as a number of samples, which are taken once a second. */
const LONG_WAIT_SAMPLES = LONG_WAIT_MS / 1_000

/** A condition that selects, from `pg_stat_activity`, the sessions of this role that wait for a standby. */
export const IS_WAITING = "wait_event = 'SyncRep' and usename = session_user"

/** Selects the sessions that wait, and also tests whether the connection is alive. */
const HEARTBEAT: Statement = {
  name: "heartbeat",
  text: `select pid from pg_stat_activity where ${IS_WAITING}`,
  values: []
}

/** The sessions of an address that waited in the last sample. */
interface WaitSample {
  readonly number: number
  /** The number of consecutive samples in which each session waited, by process id. */
  readonly waits: ReadonlyMap<number, number>
}

/** The part of a connection that sampling uses. */
interface Sampler {
  readonly send: (
    statements: ReadonlyArray<Statement>
  ) => Effect.Effect<ReadonlyArray<{ readonly rows: ReadonlyArray<unknown> }>, PgFailure>
}

/** The last sample of each address that is sampled. */
const samples = new Map<string, WaitSample>()

/** The listening connection of each address. */
const samplers = new Map<string, Sampler>()

let lastNumber = 0

const takeSample = (url: string, sampler: Sampler, counts: 0 | 1): Effect.Effect<void, PgFailure> =>
  Effect.map(sampler.send([HEARTBEAT]), ([result]) => {
    const waitsBefore = samples.get(url)?.waits
    const rows = (result?.rows ?? []) as ReadonlyArray<{ readonly pid: number }>
    lastNumber++
    samples.set(url, {
      number: lastNumber,
      waits: new Map(rows.map(({ pid }) => [pid, (waitsBefore?.get(pid) ?? 0) + counts]))
    })
  })

/**
 * Samples the sessions of an address. The listening connection calls this every second, and {@link AbandonedSessions}
 * uses it for further samples.
 */
export const sampleWaits = (url: string, sampler: Sampler): Effect.Effect<void, PgFailure> => {
  samplers.set(url, sampler)
  return takeSample(url, sampler, 1)
}

/** Deletes the samples of an address whose listening connection ended, because they would be outdated. */
export const forgetWaits = (url: string): void => {
  samplers.delete(url)
  samples.delete(url)
}

/**
 * Whether a commit at an address has waited for {@link LONG_WAIT_MS}, so that another commit would only occupy a
 * further connection.
 */
export const hasWaitingCommits = (url: string): boolean =>
  [...(samples.get(url)?.waits.values() ?? [])].some((count) => count > LONG_WAIT_SAMPLES)

/** The error of a commit or a new connection that is refused because commits wait. */
export const standbyWaitRefusal = () => new SessionRefused({ message: WAITS_FOR_STANDBY })

const standbyWaitFailure = () =>
  new PgFailure({ kind: "other", code: null, constraint: null, cause: standbyWaitRefusal() })

/** The interval of checks for the end of a wait, because a standby that returns ends all waits within moments. */
const RECHECK = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(5))

/** The most sessions that are stored. */
const MAX_ABANDONED_SESSIONS = 100

/** The abandoned sessions of one purpose, such as a lane. Each may still occupy a connection of the server. */
export class AbandonedSessions {
  readonly #url: string
  /** The number of the sample after which each session was abandoned. */
  readonly #after = new Map<number, number>()

  constructor(url: string) {
    this.#url = url
  }

  add(pid: number): void {
    this.#after.set(pid, lastNumber)
    if (this.#after.size > MAX_ABANDONED_SESSIONS) this.#after.delete(this.#after.keys().next().value!)
  }

  /**
   * Succeeds once all abandoned sessions have ended. Fails if one still waits, because no connection may replace it.
   */
  readonly ended: Effect.Effect<void, PgFailure> = Effect.suspend(() => {
    if (this.waiting === 0) return Effect.void
    const sampler = samplers.get(this.#url)
    if (sampler === undefined) return standbyWaitFailure()
    return takeSample(this.#url, sampler, 0).pipe(
      Effect.filterOrFail(() => this.waiting === 0, standbyWaitFailure),
      Effect.retry(RECHECK),
      Effect.asVoid
    )
  })

  /**
   * The number of abandoned sessions that waited in the last sample. A session that is missing in a sample has ended.
   */
  get waiting(): number {
    const lastSample = samples.get(this.#url)
    if (lastSample === undefined) return 0
    let waiting = 0
    for (const [pid, after] of this.#after) {
      if (lastSample.waits.has(pid)) waiting++
      else if (lastSample.number > after) this.#after.delete(pid)
    }
    return waiting
  }
}
