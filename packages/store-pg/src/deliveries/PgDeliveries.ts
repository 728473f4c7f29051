import type { Instant, ShopId, StoreUnavailable } from "@workshop/core"
import {
  type CellAccess,
  type Claim,
  type Deliveries,
  type DeliveryTurn,
  type NumberedClaims,
  type OpenReplay,
  ServiceLimits
} from "@workshop/core/store"
import { Clock, type Context, Effect, Schedule, type Scope } from "effect"
import { BEGIN, COMMIT, type Connection, type QueryResult, ROLLBACK, reconnecting } from "../connection/Connection.js"
import { PgFailure, reported } from "../connection/PgFailure.js"
import type { Database } from "../connection/Schema.js"
import type { Statement } from "../connection/Statement.js"
import { clockGuard } from "../observe/ClockGuard.js"
import type { WebhookSecrets } from "../secrets/WebhookSecrets.js"
import {
  BEGIN_ROUNDS,
  CLAIM,
  DUE_FROM_EVERY,
  FIRST_TURN,
  KEEP_DUE_TURNS,
  LOCK_DUE_TURNS,
  LOCK_FIRST_TURNS,
  LOCK_TURNS,
  MAKE_READY,
  OPEN_REPLAYS,
  RECLAIM,
  RESCHEDULE_SHOPS,
  RESCHEDULE_SHOPS_APART,
  resetTurns,
  SEE_TURNS
} from "./ClaimStatements.js"
import type { PgNotifier } from "./PgNotifier.js"

/** Milliseconds on the clock by which leases are counted. */
export type LeaseClock = "database" | Effect.Effect<number>

/** How many shops are locked beyond those for whose deliveries there is room, because some may turn out to have nothing that can go. */
const MOST_SPARE = 16

/** How often one claim looks for ready shops. */
const MOST_LOOKS = 16

/** An instant before all others: with it {@link RESCHEDULE_SHOPS} writes exact instants and leaves no shop ready. */
const BEFORE_ALL = -1

/** How many turns of shops are corrected at once while the earliest one is looked for, and how often at most. */
const SHOPS_CORRECTED = 64
const MOST_CORRECTIONS = 1_000

/** How many ended leases are put back at once. */
const MOST_RECLAIMED = 1_000

/** A claim that lost against another one may run again. One that waited for a lock has waited long enough, and the dispatcher asks again. */
const AGAIN = Schedule.recurs(5)

/**
 * Within a second after Citus moved a cell, its old node passes each statement on to the new one. The settings in which one statement keeps
 * what the next one reads stay behind: they end with each transaction, so the next one finds them empty or unknown, and never old.
 */
const LEFT_BEHIND: ReadonlySet<string | null> = new Set(["22P02", "42704"])
const isLeftBehind = ({ code, message }: PgFailure): boolean =>
  LEFT_BEHIND.has(code) && /malformed array literal: ""|parameter "workshop_claim\./.test(message)

/** After so many pauses, in real time, the process has found the cell on its new node. */
const PAUSES_AFTER_MOVE = 12
const PAUSE_AFTER_MOVE = Effect.withClock(Effect.sleep("250 millis"), Clock.make())

/** A process that still has not found it, because the coordinator is away too, cannot use the cell for now. */
const notFoundYet = new PgFailure({
  kind: "other",
  code: null,
  constraint: null,
  cause: new Error("Citus moved the cell, and this process has not found it on its new node yet")
})

const afterMove = <A>(work: Effect.Effect<A, PgFailure>, left = PAUSES_AFTER_MOVE): Effect.Effect<A, PgFailure> =>
  Effect.catchIf(work, isLeftBehind, () =>
    left > 0 ? Effect.zipRight(PAUSE_AFTER_MOVE, afterMove(work, left - 1)) : Effect.fail(notFoundYet)
  )

const statement = (name: string, text: string, ...values: ReadonlyArray<unknown>): Statement => ({ name, text, values })

const shopsOf = (answer: QueryResult | undefined): ReadonlyArray<ShopId> =>
  (answer?.rows ?? []).map(({ shop_id }) => shop_id as ShopId)

/** How many shops a statement kept: each of its columns is an array, as text. */
const countOf = (kept: object | undefined): number => {
  const [array] = Object.values(kept ?? {})
  return typeof array === "string" && array !== "{}" ? array.split(",").length : 0
}

/** Writes when the locked shops are to be looked at next. */
type Reschedule = (now: Instant, lease_now: number | null) => ReadonlyArray<Statement>

/** How one store reschedules shops: in one statement, or in two where the rows are distributed. */
const rescheduleBy = (isDistributed: () => boolean): Reschedule => {
  let runs = 0
  return (now, lease_now) => {
    const values = [now, lease_now, ++runs % DUE_FROM_EVERY === 0]
    return isDistributed()
      ? [
          statement("reschedule shops apart", RESCHEDULE_SHOPS_APART, ...values),
          statement("begin rounds", BEGIN_ROUNDS, ...values)
        ]
      : [statement("reschedule shops", RESCHEDULE_SHOPS, ...values)]
  }
}

/** In one go, so that the shops stay locked no longer than the database takes. Returns the claims, and whether more shops may be ready. */
const claimingBeside = (
  reschedule: Reschedule,
  spare: number,
  connection: Connection,
  lease_now: number | null,
  now: Instant,
  most: number,
  leastNumber: number
): Effect.Effect<NumberedClaims & { readonly hasMore: boolean }, PgFailure> =>
  Effect.map(
    connection.send(
      [statement("make ready", MAKE_READY, now)],
      [
        statement("lock shops", LOCK_DUE_TURNS, most + spare, leastNumber),
        statement("claim", CLAIM, now, most, lease_now),
        statement("lock turns", LOCK_TURNS),
        ...reschedule(now, lease_now)
      ]
    ),
    ([, locked, claimed]) => ({
      number: locked!.rows[0]!.number as number,
      claims: claimed!.rows as unknown as ReadonlyArray<Claim>,
      hasMore: countOf(locked!.rows[0]) >= most + spare
    })
  )

/**
 * Each shop costs time, so a claim of few has few to spare, and a claim of one has none. Where those had too little that can go, it looks
 * for the rest among many, as often as there may be more.
 */
const claiming = (
  reschedule: Reschedule,
  connection: Connection,
  lease_now: number | null,
  now: Instant,
  most: number,
  leastNumber: number
): Effect.Effect<NumberedClaims, PgFailure> =>
  Effect.gen(function* () {
    const found: Array<Claim> = []
    let number = leastNumber
    for (let looks = 1; ; looks++) {
      const left = most - found.length
      const spare = looks === 1 ? Math.min(MOST_SPARE, most - 1) : MOST_SPARE
      const one = yield* claimingBeside(reschedule, spare, connection, lease_now, now, left, number)
      number = one.number
      found.push(...one.claims)
      if (found.length === most || !one.hasMore || looks === MOST_LOOKS) return { number, claims: found }
    }
  })

/** Sees the deliveries that a claim would get, in one go as a claim is, among more shops where the first had too little. Nothing is locked. */
const seeing = (connection: Connection, lease_now: number | null, now: Instant, most: number) =>
  Effect.gen(function* () {
    for (let shops = most + MOST_SPARE; ; shops *= 8) {
      const [, kept, seen] = yield* connection.send(
        [statement("make ready", MAKE_READY, now)],
        [statement("keep turns", KEEP_DUE_TURNS, shops), statement("see turns", SEE_TURNS, now, most, lease_now)]
      )
      if (seen!.rows.length >= most || countOf(kept!.rows[0]) < shops)
        return seen!.rows as unknown as ReadonlyArray<DeliveryTurn>
    }
  })

const reclaiming = (connection: Connection, lease_now: number | null) =>
  Effect.gen(function* () {
    const [, freed] = yield* connection.send([BEGIN, statement("reclaim", RECLAIM, lease_now, MOST_RECLAIMED)])
    const shop_ids = shopsOf(freed)
    if (shop_ids.length === 0) return yield* Effect.as(connection.send([ROLLBACK]), 0)
    yield* connection.send([resetTurns(new Set(shop_ids)), COMMIT])
    return shop_ids.length
  })

/** Corrects the earliest turns until the first of them is right: its instant is a hint, and may be too early. */
const looking = (reschedule: Reschedule, connection: Connection, lease_now: number | null, until: Instant) =>
  Effect.gen(function* () {
    for (let corrections = 0; ; corrections++) {
      const answers = yield* connection.send([
        statement("lock first turns", LOCK_FIRST_TURNS, until, SHOPS_CORRECTED),
        ...reschedule(BEFORE_ALL, lease_now),
        statement("first turn", FIRST_TURN, until)
      ])
      const [first] = answers.at(-1)!.rows as unknown as ReadonlyArray<{
        readonly due_at: number
        readonly is_locked: boolean
      }>
      if (first === undefined) return null
      if (first.is_locked || corrections === MOST_CORRECTIONS) return first.due_at
    }
  })

/** The claims whose secrets can be opened. The others are delivered under a later lease, by a process that has their key. */
const opened = (secrets: WebhookSecrets, claims: ReadonlyArray<Claim>) =>
  Effect.partition(claims, (claim) =>
    Effect.map(secrets.open(claim.webhook), (webhook): Claim => ({ ...claim, webhook }))
  ).pipe(
    Effect.tap(([[first]]) => (first === undefined ? Effect.void : Effect.logError(first.message))),
    Effect.map(([, opened]) => opened)
  )

/** How webhook secrets are opened, and what fails while some cannot be. */
export interface DeliverySecrets {
  readonly secrets: WebhookSecrets
  readonly guard: Effect.Effect<void, StoreUnavailable>
}

/** The queue of deliveries. Its transactions are short and wait for nobody: what others hold is left to them. */
export const pgDeliveries = (
  database: Database,
  leaseClock: LeaseClock,
  { due }: Pick<PgNotifier, "due">,
  { secrets, guard: secretsGuard }: DeliverySecrets,
  connecting = reconnecting,
  /** Whether the tables are distributed by Citus just now. */
  isDistributed = () => false
): Effect.Effect<
  Context.Tag.Service<Deliveries> & {
    readonly claimNumbered: Context.Tag.Service<CellAccess>["claim"]
    readonly turns: Context.Tag.Service<CellAccess>["turns"]
  },
  never,
  Scope.Scope
> =>
  Effect.gen(function* () {
    // A claim that is lost as the database crashes is made again: the event comes once more, under its id.
    const queue = yield* connecting({
      ...database,
      name: "workshop deliveries",
      lock_timeout_ms: 1_000,
      isSynchronous: false
    })
    const guard = yield* clockGuard
    const reschedule = rescheduleBy(isDistributed)
    const oneByOne = Effect.unsafeMakeSemaphore(1).withPermits(1)
    /** The number of the last claim, so that two in one millisecond have different ones. */
    let last = 0

    /** Null where the database is to look at its own clock. */
    const leaseNow: Effect.Effect<number | null> = leaseClock === "database" ? Effect.succeed(null) : leaseClock

    const inTurn = <A>(work: (connection: Connection) => Effect.Effect<A, PgFailure>) =>
      Effect.flatMap(queue.connection, work).pipe(
        Effect.tapError(queue.undo),
        Effect.retry({ schedule: AGAIN, while: ({ kind }) => kind === "conflict" }),
        // A connection that is kept for the next attempt would lead to the old node again.
        Effect.ensuring(queue.release),
        afterMove,
        reported,
        Effect.uninterruptible,
        oneByOne
      )

    const claimNumbered = (now: Instant, most: number) =>
      inTurn((connection) =>
        Effect.zipRight(
          guard(connection),
          Effect.flatMap(leaseNow, (lease_now) => claiming(reschedule, connection, lease_now, now, most, last + 1))
        )
      ).pipe(
        Effect.flatMap(({ number, claims }) => {
          last = number
          return Effect.map(opened(secrets, claims), (claims) => ({ number, claims }))
        }),
        (claim) => Effect.zipRight(secretsGuard, claim)
      )

    return {
      claim: (now, most) => Effect.map(claimNumbered(now, most), ({ claims }) => claims),
      claimNumbered,
      turns: (now, most) =>
        inTurn((connection) => Effect.flatMap(leaseNow, (lease_now) => seeing(connection, lease_now, now, most))),
      reclaim: inTurn((connection) => Effect.flatMap(leaseNow, (lease_now) => reclaiming(connection, lease_now))),
      next: (until) =>
        inTurn((connection) =>
          Effect.flatMap(leaseNow, (lease_now) => looking(reschedule, connection, lease_now, until))
        ),
      changed: due,
      replays: inTurn((connection) =>
        Effect.map(
          connection.send([statement("open replays", OPEN_REPLAYS, ServiceLimits.replays_per_look)]),
          ([answer]) => answer!.rows as unknown as ReadonlyArray<OpenReplay>
        )
      )
    }
  })
