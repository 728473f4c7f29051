import { Effect, Schedule } from "effect"
import { PgFailure } from "./PgFailure.js"
import { SessionRefused } from "./SessionClient.js"
import type { Statement } from "./Statement.js"

/*
 * Commits that wait for a synchronous standby. No time-out of the server ends such a wait, and a backend in it does not notice that its client
 * has gone. A process that replaced each connection whose commit is not answered would use up all connections of the server. So the listening
 * connection of each address, which never commits anything, looks every second which sessions wait, and a connection that was given up is
 * not replaced while its session is among them. The wait is not cancelled: that would show a commit that no standby has.
 */

/** The remedy for the operator. */
export const WAITS_FOR_STANDBY =
  "Commits wait for a synchronous standby: start one, or take its name out of synchronous_standby_names"

/** From when on a wait counts as one that will not end soon, in milliseconds: a commit is given up a little later. */
export const LONG_WAIT_MS = 3_000

/** The same in looks, of which there is one a second. */
const LONG_WAIT_LOOKS = LONG_WAIT_MS / 1_000

/** A condition that selects, from `pg_stat_activity`, the sessions of this role that wait for a standby. */
export const IS_WAITING = "wait_event = 'SyncRep' and usename = session_user"

/** Returns the sessions that wait. Also shows that the connection is alive. */
const HEARTBEAT: Statement = {
  name: "heartbeat",
  text: `select pid from pg_stat_activity where ${IS_WAITING}`,
  values: []
}

/** The last look at an address. */
interface Look {
  readonly number: number
  /** In how many looks each session waited, by its number. */
  readonly waits: ReadonlyMap<number, number>
}

/** The part of a connection that a look needs. */
interface Looker {
  readonly send: (
    statements: ReadonlyArray<Statement>
  ) => Effect.Effect<ReadonlyArray<{ readonly rows: ReadonlyArray<unknown> }>, PgFailure>
}

/** The last look at each address, while somebody looks. */
const looks = new Map<string, Look>()

/** The listening connection of each address. */
const lookers = new Map<string, Looker>()

let made = 0

const look = (url: string, looker: Looker, counts: 0 | 1): Effect.Effect<void, PgFailure> =>
  Effect.map(looker.send([HEARTBEAT]), ([answer]) => {
    const before = looks.get(url)?.waits
    const rows = (answer?.rows ?? []) as ReadonlyArray<{ readonly pid: number }>
    made++
    looks.set(url, {
      number: made,
      waits: new Map(rows.map(({ pid }) => [pid, (before?.get(pid) ?? 0) + counts]))
    })
  })

/** Looks once a second at the sessions of an address, on a connection that never commits anything. It looks again when a link asks. */
export const lookAtWaits = (url: string, looker: Looker): Effect.Effect<void, PgFailure> => {
  lookers.set(url, looker)
  return look(url, looker, 1)
}

/** Forgets what was seen, because nobody looks any more. */
export const waitsUnseen = (url: string): void => {
  lookers.delete(url)
  looks.delete(url)
}

/** Whether commits at an address wait so long that another one would only occupy a further connection. */
export const commitsWait = (url: string): boolean =>
  [...(looks.get(url)?.waits.values() ?? [])].some((count) => count > LONG_WAIT_LOOKS)

/** The refusal of a commit, or of a connection for it. */
export const refusal = () => new SessionRefused({ message: WAITS_FOR_STANDBY })

const waitingFailure = () => new PgFailure({ kind: "other", code: null, constraint: null, cause: refusal() })

/** How soon the end of a wait is looked for again, and how often: a standby that is back ends all waits within moments. */
const SOON = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(5))

/** How many sessions are remembered at most. */
const MOST_REMEMBERED = 100

/** The sessions of one purpose that were given up, and may occupy a connection of the server all the same. */
export class GivenUp {
  readonly #url: string
  /** After which look each was given up. */
  readonly #after = new Map<number, number>()

  constructor(url: string) {
    this.#url = url
  }

  add(pid: number): void {
    this.#after.set(pid, made)
    if (this.#after.size > MOST_REMEMBERED) this.#after.delete(this.#after.keys().next().value!)
  }

  /** Fails if one of them still waits: then no connection may be made in its place. */
  readonly ended: Effect.Effect<void, PgFailure> = Effect.suspend(() => {
    if (this.waiting === 0) return Effect.void
    const looker = lookers.get(this.#url)
    if (looker === undefined) return waitingFailure()
    return look(this.#url, looker, 0).pipe(
      Effect.filterOrFail(() => this.waiting === 0, waitingFailure),
      Effect.retry(SOON),
      Effect.asVoid
    )
  })

  /** How many of them were seen to wait. Those that a later look does not find have ended. */
  get waiting(): number {
    const last = looks.get(this.#url)
    if (last === undefined) return 0
    let waiting = 0
    for (const [pid, after] of this.#after) {
      if (last.waits.has(pid)) waiting++
      else if (last.number > after) this.#after.delete(pid)
    }
    return waiting
  }
}
