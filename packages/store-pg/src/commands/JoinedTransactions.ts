import type { Connection as SqlConnection } from "@effect/sql/SqlConnection"
import { type Entropy, ShopNotFound, StoreUnavailable, TrackingPages, type Transactions } from "@workshop/core"
import {
  type Command,
  type CommitCallback,
  OpenTransaction,
  type Outcome,
  ServiceLimits,
  type Store
} from "@workshop/core/store"
import { type Context, Effect, Exit, Fiber } from "effect"
import { sqlConnection, type storeDatabaseCheck } from "../connection/CallersPool.js"
import type { Connection } from "../connection/Connection.js"
import { isCodeTaken, type PgFailure, storeFailure } from "../connection/PgFailure.js"
import { DEFAULT_SCHEMA } from "../connection/Schema.js"
import { formatMs } from "../connection/SessionClient.js"
import { JoinedReads } from "../connection/Sql.js"
import type { Statement } from "../connection/Statement.js"
import type { PgNotifier } from "../deliveries/PgNotifier.js"
import { clockGuard } from "../observe/ClockGuard.js"
import { expiredCommands } from "../observe/PgMetrics.js"
import type { WebhookSecrets } from "../secrets/WebhookSecrets.js"
import {
  type BatchedCommand,
  type DecidedBatch,
  decideBatch,
  momentOf,
  saveInTransaction,
  toOutcome
} from "./CommandBatch.js"
import { shopLockRemedy } from "./CommandFailures.js"
import {
  checkTransaction,
  endedByCaller,
  ignoreErrorEvents,
  isClient,
  isNotBegun,
  isTransactionEnded,
  type JoinedConnection,
  joinedConnection,
  READ_SAVEPOINT,
  RELEASE,
  ROLLBACK_TO,
  readTransactionState,
  refusal,
  SAVEPOINT,
  statement,
  TRANSACTION,
  type TransactionState
} from "./JoinedConnection.js"

/*
 * Commands in a transaction that an embedder began on their own client, so that the embedder's rows and the commands
 * commit together. Like a batch of one command, a command locks the head of its shop, loads, decides and saves, on a
 * `JoinedConnection`. It uses a savepoint in place of a transaction, so that a refused or failed command leaves no rows
 * and no lock.
 *
 * Only the embedder knows when the transaction commits, and then calls `afterCommit`, which notifies dispatchers.
 * Without that call, dispatchers find due deliveries at their next poll. A NOTIFY within the transaction would delay
 * other transactions' commits.
 *
 * Each save compares the transaction's id, because a command that comes after the end of the transaction would commit
 * alone, or in the next transaction of the client. The end of `run` compares it too, because the embedder may have
 * ended the transaction, for example by the `begin … commit` of a query builder that does not know of it.
 */

/** A transaction that `join` has joined. */
interface JoinState {
  readonly connection: JoinedConnection
  /** Called after the commit. */
  readonly callbacks: Array<CommitCallback>
  /**
   * Runs effects one after another, because they use one connection. An effect that starts after the end of the work
   * dies.
   */
  readonly serially: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const CURRENT_TRANSACTION = statement(`select /* workshop still */ ${TRANSACTION} as transaction`)

/** Selects the events that still exist in the transaction, because the embedder may have rolled back to a savepoint. */
const queryEvents = (events: CommitCallback["events"]): Statement => ({
  name: "find remaining events",
  text: "select /* workshop still */ id from workshop.event where shop_id = any($1::uuid[]) and id = any($2::uuid[])",
  values: [[...new Set(events.map(({ shop_id }) => shop_id))], events.map(({ id }) => id)]
})

const NO_CLIENT =
  "The argument must be a client of pg. Pass the client that pool.connect() resolves to and on which you ran begin, not the pool or a query builder's wrapper."

/** Dies, because a call after the end of its transaction is a mistake in the caller's program. */
const dieTransactionEnded = Effect.suspend(() =>
  Effect.die(
    refusal("The transaction of this call has ended, so the call did nothing. Await every call within the transaction.")
  )
)

const ENDED_EARLY =
  "The transaction was committed or rolled back while within was still running, so your rows and the tickets may not agree. Do not run commit, rollback or begin on this client inside within. For a nested transaction, use the tx of your query builder's own transaction."

/**
 * Dies unless the client is still in the transaction. Removes the callbacks whose events no longer exist. Succeeds if
 * the connection broke, because the embedder's COMMIT will fail.
 */
const checkStillJoined = ({ send, id }: Connection, onCommit: Array<CommitCallback>) =>
  Effect.suspend(() => {
    const events = onCommit.flatMap((callback) => callback.events)
    return Effect.matchEffect(
      send(events.length === 0 ? [CURRENT_TRANSACTION] : [CURRENT_TRANSACTION, queryEvents(events)]),
      {
        onFailure: () => Effect.void,
        onSuccess: ([current, remaining]) => {
          if (current!.rows[0]!.transaction !== id) return Effect.die(refusal(ENDED_EARLY))
          const ids = new Set(remaining?.rows.map((row) => row.id))
          const keptEvents = onCommit.filter((callback) => callback.events.every((event) => ids.has(event.id)))
          onCommit.splice(0, onCommit.length, ...keptEvents)
          return Effect.void
        }
      }
    )
  })

/** A connection on which the store's reads use the client, so that they see the transaction's own changes. */
const readConnection = ({ connection, serially }: JoinState): SqlConnection =>
  sqlConnection((statement) =>
    connection.send([READ_SAVEPOINT, statement, RELEASE]).pipe(
      Effect.tapError(() => Effect.exit(connection.send([ROLLBACK_TO]))),
      Effect.map(([, result]) => result!),
      Effect.uninterruptible,
      serially
    )
  )

/** The reason why a transaction cannot be joined; undefined if it can be. */
const refusalReason = ({ isolation, read_only }: TransactionState, isStoreDatabase: boolean): string | undefined => {
  if (!isStoreDatabase)
    return "The client is not connected to the store's database and server. Pass a client of the store's database."
  if (isolation !== "read committed")
    return `The transaction has the isolation level ${isolation}, in which a command could use outdated rows. Begin the transaction with read committed.`
  return read_only === "on" ? "The transaction is read-only. Begin the transaction with read write." : undefined
}

const unavailable = (failure: PgFailure) => Effect.failCause(storeFailure(failure))

const isLockTimeout = ({ kind }: PgFailure): boolean => kind === "lockTimeout"

const countExpired = Effect.sync(() => expiredCommands.unsafeUpdate(1, []))

/**
 * The refusal of a command that waited for its shop's lock. The message names the embedder's timeouts if they shortened
 * the wait.
 */
const shopUnavailable = ({ shop_id }: Command<unknown, unknown>, waits: string, cause: PgFailure) => {
  const waitDescription =
    waits === formatMs(ServiceLimits.command_wait_max_ms)
      ? undefined
      : `${waits}, the longest wait that this transaction's lock_timeout or statement_timeout allows`
  return new StoreUnavailable({ cause, remedy: shopLockRemedy(shop_id, waitDescription) })
}

interface JoiningOptions {
  readonly schema: string
  readonly isStoreDatabase: ReturnType<typeof storeDatabaseCheck>
  readonly secrets: WebhookSecrets
  readonly notifier: Pick<PgNotifier, "notifyDue" | "notifyShops" | "shopsChanged">
  readonly entropy: Context.Tag.Service<Entropy>
}

const toCallback =
  ({ changes }: DecidedBatch, { notifier }: JoiningOptions) =>
  () => {
    if (changes.wakesDispatchers) notifier.notifyDue()
    if (changes.changedShops.size === 0) return
    notifier.notifyShops(changes.changedShops)
    notifier.shopsChanged(changes.changedShops)
  }

/** Runs a command under a savepoint, and again if a random tracking code was taken. */
const runWithin = (joined: JoinState, command: BatchedCommand, options: JoiningOptions) => {
  const { connection, callbacks } = joined
  const undo = Effect.exit(connection.send([ROLLBACK_TO]))
  const runOnce = Effect.gen(function* () {
    const batch = yield* decideBatch(connection, [command], {
      skipsLocked: false,
      secrets: options.secrets,
      begin: SAVEPOINT
    }).pipe(
      Effect.catchIf(isLockTimeout, (failure) =>
        Effect.zipRight(countExpired, shopUnavailable(command.command, connection.waits(), failure))
      )
    )
    const exit = batch.exits[0]?.[1] ?? Exit.fail(new ShopNotFound())
    if (batch.changes.isEmpty) return yield* Effect.as(undo, exit)
    yield* saveInTransaction(connection, batch, checkTransaction(connection.id)).pipe(
      Effect.catchIf(isTransactionEnded, () => endedByCaller),
      Effect.tapError((failure) => (isLockTimeout(failure) ? countExpired : Effect.void))
    )
    // If the caller ended the transaction meanwhile, there is no savepoint to release.
    yield* Effect.catchIf(connection.send([RELEASE]), isNotBegun, () => Effect.void)
    // If the embedder rolls back to a savepoint, this notification is unnecessary but harmless, because listeners only
    // query again.
    callbacks.push({ notify: toCallback(batch, options), events: [] })
    return exit
  }).pipe(Effect.tapError(() => undo))
  const attempt = (runs: number): typeof runOnce =>
    Effect.catchIf(
      runOnce,
      (failure) => failure._tag === "PgFailure" && isCodeTaken(failure) && runs < ServiceLimits.command_attempts,
      () => attempt(runs + 1)
    )
  return Effect.matchEffect(attempt(1), {
    onFailure: (failure) => {
      if (failure._tag !== "PgFailure") return Effect.fail(failure)
      return failure.kind === "data" ? Effect.die(failure) : unavailable(failure)
    },
    onSuccess: (exit) => exit
  })
}

/** Runs an effect, and waits for the fibers that it forked. */
const withForks = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) =>
    Effect.flatMap(fiber.children, (childrenBefore) =>
      Effect.tap(effect, () =>
        Effect.flatMap(fiber.children, (forked) =>
          Fiber.awaitAll(forked.filter((child) => !childrenBefore.includes(child)))
        )
      )
    )
  )

/**
 * Makes `Transactions`, and `wrapTransact`, which changes a `Store.transact` to run the commands of a fiber that has joined
 * a transaction in that transaction. Other commands run as before.
 */
export const joinedTransactions = (options: JoiningOptions) =>
  Effect.gen(function* () {
    const pages = yield* TrackingPages
    const checkClock = yield* clockGuard
    const { schema = DEFAULT_SCHEMA, entropy, isStoreDatabase } = options
    const openStates = new WeakMap<object, JoinState>()
    const ignoreErrors = ignoreErrorEvents()

    const join: Context.Tag.Service<Transactions>["join"] = (client) =>
      Effect.gen(function* () {
        if (!isClient(client)) return yield* refusal(NO_CLIENT)
        ignoreErrors(client)
        const state = yield* readTransactionState(client, schema)
        const reason = refusalReason(state, yield* isStoreDatabase(state.database))
        if (reason !== undefined) return yield* refusal(reason)
        const connection = joinedConnection(client, schema, state.transaction)
        yield* checkClock(connection)
        const oneByOne = (yield* Effect.makeSemaphore(1)).withPermits(1)
        const onCommit: Array<CommitCallback> = []
        const part = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.suspend(() => {
            let isEnded = false
            const serially: JoinState["serially"] = (one) =>
              oneByOne(Effect.suspend(() => (isEnded ? dieTransactionEnded : one)))
            const joined = { connection, serially, callbacks: onCommit }
            const transaction = { onCommit }
            openStates.set(transaction, joined)
            const end = Effect.sync(() => {
              isEnded = true
            })
            return withForks(effect).pipe(
              Effect.ensuring(oneByOne(end)),
              Effect.provideService(OpenTransaction, transaction),
              Effect.provideService(JoinedReads, readConnection(joined))
            ) as Effect.Effect<A, E, R>
          })
        return {
          part,
          run: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
            Effect.zipLeft(part(effect), checkStillJoined(connection, onCommit)),
          afterCommit: Effect.sync(() => {
            for (const { notify } of onCommit.splice(0)) notify()
          })
        }
      }).pipe(Effect.catchTag("PgFailure", unavailable))

    const within =
      (joined: JoinState) =>
      <A, E>(command: Command<A, E>): Effect.Effect<Outcome<A>, E | StoreUnavailable> =>
        Effect.clockWith((clock) => {
          const moment = momentOf(clock, entropy, pages)
          return runWithin(joined, { command, moment }, options).pipe(
            Effect.map(toOutcome),
            Effect.uninterruptible,
            joined.serially
          ) as Effect.Effect<Outcome<A>, E | StoreUnavailable>
        })

    const wrapTransact =
      (transact: Context.Tag.Service<Store>["transact"]): Context.Tag.Service<Store>["transact"] =>
      (command) =>
        Effect.flatMap(OpenTransaction, (transaction) => {
          const joined = transaction === null ? undefined : openStates.get(transaction)
          return joined === undefined ? transact(command) : within(joined)(command)
        })

    return { transactions: { join }, wrapTransact }
  })
