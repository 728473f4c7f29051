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
import {
  BEGIN,
  COMMIT,
  type Connection,
  makeReconnecting,
  type QueryResult,
  ROLLBACK
} from "../connection/Connection.js"
import { PgFailure, reportFailure } from "../connection/PgFailure.js"
import type { Database } from "../connection/Schema.js"
import type { Statement } from "../connection/Statement.js"
import { clockGuard } from "../observe/ClockGuard.js"
import type { WebhookSecrets } from "../secrets/WebhookSecrets.js"
import {
  CLAIM,
  CLAIMS_PER_DUE_FROM_UPDATE,
  ENTER_BACKLOGS,
  FIRST_QUEUE,
  LOCK_FIRST_QUEUES,
  LOCK_QUEUES,
  LOCK_READY_QUEUES,
  MAKE_READY,
  OPEN_REPLAYS,
  RECLAIM,
  RESCHEDULE_SHOPS,
  RESCHEDULE_SHOPS_ON_CITUS,
  resetQueues,
  SELECT_NEXT_TURNS,
  STORE_READY_QUEUES
} from "./ClaimStatements.js"
import type { PgNotifier } from "./PgNotifier.js"

/** The clock by which leases expire, in milliseconds. */
export type LeaseClock = "database" | Effect.Effect<number>

/** The number of shops that a claim locks in addition to the number of deliveries it may take, because some may have nothing to claim. */
const MAX_SPARE_SHOPS = 16

/** The most transactions that one call of `claim` runs. */
const MAX_CLAIMS_PER_CALL = 16

/**
 * An instant before all others. With it, {@link RESCHEDULE_SHOPS} considers no delivery due, and writes the exact next
 * instant of each shop.
 */
const BEFORE_ALL_INSTANTS = -1

/**
 * The number of queues that one transaction corrects when it searches the earliest one, and the most such transactions.
 */
const MAX_CORRECTED_SHOPS = 64
const MAX_CORRECTIONS = 1_000

/** The most expired leases that one statement ends. */
const MAX_RECLAIMED_LEASES = 1_000

/** Retries after conflicts. A claim that waited for a lock is not retried, because the dispatcher claims again anyway. */
const CONFLICT_RETRIES = Schedule.recurs(5)

/**
 * For a second after Citus moved a cell, its old node forwards each statement to the new node, but not the settings in
 * which a statement stores shops for the next statement. The next statement then fails with one of these SQLSTATEs,
 * because the settings are empty or unknown. They are never outdated, because they end with the transaction. The code
 * alone decides, because the message is in the language of the server (`lc_messages`).
 */
const SETTINGS_LOST: ReadonlySet<string | null> = new Set(["22P02", "42704"])
const isSettingsLost = ({ code }: PgFailure): boolean => SETTINGS_LOST.has(code)

/**
 * The number of attempts to claim after a move. They take longer than the process needs to look up the cell's new node.
 */
const PAUSES_AFTER_MOVE = 12
const PAUSE_AFTER_MOVE = Effect.withClock(Effect.sleep("250 millis"), Clock.make())

/**
 * The failure if all attempts failed because the process could not look up the cell's new node at the coordinator. It
 * has the last error's message but not its code, which alone would mean a bug in the store.
 */
const nodeNotFound = ({ message }: PgFailure) =>
  new PgFailure({
    kind: "other",
    code: null,
    constraint: null,
    cause: new Error(
      `Citus moved the cell, and this process has not yet found it on its new node. The database's last error: ${message}`
    )
  })

const retryAfterMove = <A>(
  work: Effect.Effect<A, PgFailure>,
  remainingPauses = PAUSES_AFTER_MOVE
): Effect.Effect<A, PgFailure> =>
  Effect.catchIf(work, isSettingsLost, (failure) =>
    remainingPauses > 0
      ? Effect.zipRight(PAUSE_AFTER_MOVE, retryAfterMove(work, remainingPauses - 1))
      : Effect.fail(nodeNotFound(failure))
  )

const statement = (name: string, text: string, ...values: ReadonlyArray<unknown>): Statement => ({ name, text, values })

const shopsOf = (result: QueryResult | undefined): ReadonlyArray<ShopId> =>
  (result?.rows ?? []).map(({ shop_id }) => shop_id as ShopId)

/** The number of shops that a statement stored in settings. Each column of its result is an array, as text. */
const countOf = (record: object | undefined): number => {
  const [array] = Object.values(record ?? {})
  return typeof array === "string" && array !== "{}" ? array.split(",").length : 0
}

/** The two times of a claim. */
interface ClaimTimes {
  readonly now: Instant
  /** The time by which leases expire; null for the database's own clock. */
  readonly lease_now: number | null
}

/** The statements that reschedule the locked shops. */
type Reschedule = (times: ClaimTimes) => ReadonlyArray<Statement>

/** Reschedules shops in one statement, or in two if Citus distributes the tables. */
const rescheduleBy = (isDistributed: () => boolean): Reschedule => {
  let runs = 0
  return ({ now, lease_now }) => {
    const values = [now, lease_now, ++runs % CLAIMS_PER_DUE_FROM_UPDATE === 0]
    return isDistributed()
      ? [
          statement("reschedule shops apart", RESCHEDULE_SHOPS_ON_CITUS, ...values),
          statement("enter backlogs", ENTER_BACKLOGS, ...values)
        ]
      : [statement("reschedule shops", RESCHEDULE_SHOPS, ...values)]
  }
}

/** A claim of deliveries. */
interface ClaimRequest extends ClaimTimes {
  readonly connection: Connection
  readonly reschedule: Reschedule
  /** The most deliveries to claim. */
  readonly max: number
  /** The minimum of the claim's number. */
  readonly minNumber: number
}

/**
 * Runs one claim, which locks `spareShops` shops more than it may claim deliveries. Sends all statements at once, so that no
 * round trip prolongs the locks. Returns the claims, and whether more shops may be ready.
 */
const claimOnce = (
  { connection, reschedule, now, lease_now, max, minNumber }: ClaimRequest,
  spareShops: number
): Effect.Effect<NumberedClaims & { readonly hasMore: boolean }, PgFailure> =>
  Effect.map(
    connection.send([
      statement("make ready", MAKE_READY, now),
      BEGIN,
      statement("lock shops", LOCK_READY_QUEUES, max + spareShops, minNumber),
      statement("claim", CLAIM, now, max, lease_now),
      statement("lock queues", LOCK_QUEUES),
      ...reschedule({ now, lease_now }),
      COMMIT
    ]),
    ([, , locked, claimed]) => ({
      number: locked!.rows[0]!.number as number,
      claims: claimed!.rows as unknown as ReadonlyArray<Claim>,
      hasMore: countOf(locked!.rows[0]) >= max + spareShops
    })
  )

/**
 * Claims up to `max` deliveries. Each locked shop costs time, so the first transaction locks few spare shops, and none to claim a single
 * delivery. If it finds too little, further transactions with more spare shops follow while more shops may be ready.
 */
const claimUpTo = (request: ClaimRequest): Effect.Effect<NumberedClaims, PgFailure> =>
  Effect.gen(function* () {
    const { max } = request
    const claims: Array<Claim> = []
    let number = request.minNumber
    for (let attempt = 1; ; attempt++) {
      const remaining = max - claims.length
      const spareShops = attempt === 1 ? Math.min(MAX_SPARE_SHOPS, max - 1) : MAX_SPARE_SHOPS
      const claimed = yield* claimOnce({ ...request, max: remaining, minNumber: number }, spareShops)
      number = claimed.number
      claims.push(...claimed.claims)
      if (claims.length === max || !claimed.hasMore || attempt === MAX_CLAIMS_PER_CALL) return { number, claims }
    }
  })

/**
 * Returns the deliveries that a claim would get, without locks. Reads more shops if the first shops have too few
 * deliveries.
 */
const selectNextTurns = (connection: Connection, { now, lease_now }: ClaimTimes, max: number) =>
  Effect.gen(function* () {
    for (let shops = max + MAX_SPARE_SHOPS; ; shops *= 8) {
      const [, , kept, seen] = yield* connection.send([
        statement("make ready", MAKE_READY, now),
        BEGIN,
        statement("keep queues", STORE_READY_QUEUES, shops),
        statement("see turns", SELECT_NEXT_TURNS, now, max, lease_now),
        COMMIT
      ])
      if (seen!.rows.length >= max || countOf(kept!.rows[0]) < shops)
        return seen!.rows as unknown as ReadonlyArray<DeliveryTurn>
    }
  })

const reclaimEnded = (connection: Connection, lease_now: number | null) =>
  Effect.gen(function* () {
    const [, freed] = yield* connection.send([BEGIN, statement("reclaim", RECLAIM, lease_now, MAX_RECLAIMED_LEASES)])
    const shop_ids = shopsOf(freed)
    if (shop_ids.length === 0) return yield* Effect.as(connection.send([ROLLBACK]), 0)
    yield* connection.send([resetQueues(new Set(shop_ids)), COMMIT])
    return shop_ids.length
  })

/**
 * Returns the instant of the earliest due delivery. A queue's `next_claim_at` may be too early, so the earliest are
 * corrected until the first is exact.
 */
const firstDueAt = (reschedule: Reschedule, connection: Connection, lease_now: number | null, until: Instant) =>
  Effect.gen(function* () {
    for (let corrections = 0; ; corrections++) {
      const results = yield* connection.send([
        BEGIN,
        statement("lock first queues", LOCK_FIRST_QUEUES, until, MAX_CORRECTED_SHOPS),
        ...reschedule({ now: BEFORE_ALL_INSTANTS, lease_now }),
        statement("first queue", FIRST_QUEUE, until),
        COMMIT
      ])
      const [first] = results.at(-2)!.rows as unknown as ReadonlyArray<{
        readonly due_at: number
        readonly is_locked: boolean
      }>
      if (first === undefined) return null
      if (first.is_locked || corrections === MAX_CORRECTIONS) return first.due_at
    }
  })

/**
 * Returns the claims whose webhook secrets can be decrypted. A process with the key delivers the others after their
 * leases expire.
 */
const withOpenSecrets = (secrets: WebhookSecrets, claims: ReadonlyArray<Claim>) =>
  Effect.partition(claims, (claim) =>
    Effect.map(secrets.open(claim.webhook), (webhook): Claim => ({ ...claim, webhook }))
  ).pipe(
    Effect.tap(([[first]]) => (first === undefined ? Effect.void : Effect.logError(first.message))),
    Effect.map(([, opened]) => opened)
  )

/** The database of the queue, and the parts that it shares with the store's other ports. */
export interface DeliveriesOptions extends Database {
  readonly leaseClock: LeaseClock
  readonly notifier: Pick<PgNotifier, "due">
  readonly secrets: WebhookSecrets
  /** Fails while some webhook secrets cannot be decrypted. */
  readonly checkSecrets: Effect.Effect<void, StoreUnavailable>
  /** Opens the connection, or returns one that cells share. */
  readonly makeConnection?: typeof makeReconnecting | undefined
  /** Whether Citus currently distributes the tables. */
  readonly isDistributed?: (() => boolean) | undefined
}

/** The queue of deliveries. Its transactions are short, and skip rows that other transactions have locked. */
export const pgDeliveries = ({
  url,
  schema,
  leaseClock,
  notifier,
  secrets,
  checkSecrets,
  makeConnection = makeReconnecting,
  isDistributed = () => false
}: DeliveriesOptions): Effect.Effect<
  Context.Tag.Service<Deliveries> & {
    readonly claimNumbered: Context.Tag.Service<CellAccess>["claim"]
    readonly turns: Context.Tag.Service<CellAccess>["turns"]
  },
  never,
  Scope.Scope
> =>
  Effect.gen(function* () {
    // Commits need not be durable: if the database crashes and loses a claim, the event is sent again under the same id.
    const queue = yield* makeConnection({
      url,
      schema,
      name: "workshop deliveries",
      lock_timeout_ms: 1_000,
      isSynchronous: false
    })
    const checkClock = yield* clockGuard
    const reschedule = rescheduleBy(isDistributed)
    const serially = Effect.unsafeMakeSemaphore(1).withPermits(1)
    /** The number of the last claim, so that two claims in one millisecond get different numbers. */
    let last = 0

    /** The time by which leases expire; null for the database's own clock. */
    const leaseNow: Effect.Effect<number | null> = leaseClock === "database" ? Effect.succeed(null) : leaseClock

    const inTurn = <A>(work: (connection: Connection) => Effect.Effect<A, PgFailure>) =>
      Effect.flatMap(queue.connection, work).pipe(
        Effect.tapError(queue.undo),
        Effect.retry({ schedule: CONFLICT_RETRIES, while: ({ kind }) => kind === "conflict" }),
        // Releases the connection, because a retry on the same connection would use the old node again.
        Effect.ensuring(queue.release),
        retryAfterMove,
        reportFailure,
        Effect.uninterruptible,
        serially
      )

    const claimNumbered = (now: Instant, max: number) =>
      inTurn((connection) =>
        Effect.zipRight(
          checkClock(connection),
          Effect.flatMap(leaseNow, (lease_now) =>
            claimUpTo({ connection, reschedule, now, lease_now, max, minNumber: last + 1 })
          )
        )
      ).pipe(
        Effect.flatMap(({ number, claims }) => {
          last = number
          return Effect.map(withOpenSecrets(secrets, claims), (claims) => ({ number, claims }))
        }),
        (claim) => Effect.zipRight(checkSecrets, claim)
      )

    return {
      claim: (now, max) => Effect.map(claimNumbered(now, max), ({ claims }) => claims),
      claimNumbered,
      turns: (now, max) =>
        inTurn((connection) =>
          Effect.flatMap(leaseNow, (lease_now) => selectNextTurns(connection, { now, lease_now }, max))
        ),
      reclaim: inTurn((connection) => Effect.flatMap(leaseNow, (lease_now) => reclaimEnded(connection, lease_now))),
      next: (until) =>
        inTurn((connection) =>
          Effect.flatMap(leaseNow, (lease_now) => firstDueAt(reschedule, connection, lease_now, until))
        ),
      changed: notifier.due,
      replays: inTurn((connection) =>
        Effect.map(
          connection.send([statement("open replays", OPEN_REPLAYS, ServiceLimits.replays_per_look)]),
          ([result]) => result!.rows as unknown as ReadonlyArray<OpenReplay>
        )
      )
    }
  })
