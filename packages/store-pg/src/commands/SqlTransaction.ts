import { SqlClient, TransactionConnection } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { StoreUnavailable, TransactionRefused, Transactions } from "@workshop/core"
import { OpenTransaction } from "@workshop/core/store"
import { Effect, Option } from "effect"
import { failureOf } from "../connection/PgFailure.js"

const dieTransactionRefused = (message: string) => Effect.die(new TransactionRefused({ message }))

const NESTED =
  "sqlTransaction was called within sql.withTransaction, whose commit it cannot observe. Call sqlTransaction instead of the outermost sql.withTransaction."

/** The `pg` client of a connection of `@effect/sql-pg`. */
const pgClientOf = (connection: object): unknown => ("pg" in connection ? connection.pg : undefined)

const runJoined = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { join } = yield* Transactions
    const [connection] = yield* TransactionConnection
    // Dies, because a refusal means a mistake in the program, such as a client of another database.
    const { run, afterCommit } = yield* Effect.catchTag(join(pgClientOf(connection)), "TransactionRefused", Effect.die)
    return { value: yield* run(effect), afterCommit }
  })

/** The class of SQLSTATEs of a server that has no room for another connection. */
const NO_CONNECTION_LEFT = /^53/

const isLoss = (error: unknown): error is SqlError => {
  if (!(error instanceof SqlError)) return false
  const { isLoss, code } = failureOf(error.cause)
  return isLoss || NO_CONNECTION_LEFT.test(code ?? "")
}

/**
 * Turns the loss of a connection, or a failure to open one, into StoreUnavailable. The SqlClient dies with it if COMMIT
 * or ROLLBACK fails.
 */
const lossAsUnavailable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreUnavailable, R> =>
  effect.pipe(
    Effect.catchSomeDefect((defect) =>
      isLoss(defect) ? Option.some(new StoreUnavailable({ cause: defect })) : Option.none()
    ),
    Effect.catchIf(isLoss, (cause) => new StoreUnavailable({ cause }))
  )

/**
 * Like `sql.withTransaction` of your own `SqlClient` of `@effect/sql-pg`, for effects that also call the services.
 * Their commands and reads use your transaction, and commit together with your rows if the effect succeeds; if it fails
 * or is interrupted, all of them are rolled back. After the commit, listeners and dispatchers are notified. A
 * `sqlTransaction` or `sql.withTransaction` inside another is a savepoint. Fails with `StoreUnavailable` if the
 * connection is lost or cannot be opened. If the connection is lost during the commit, it is unknown whether the commit
 * succeeded, so repeat the effect with the same idempotency key. Dies with `TransactionRefused` if the store has no
 * transactions, like the memory store, or if the client is not connected to the store's database.
 */
export const sqlTransaction = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError | StoreUnavailable, R | SqlClient | Transactions> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    if ((yield* OpenTransaction) !== null) return yield* sql.withTransaction(effect)
    if ((yield* Effect.serviceOption(TransactionConnection))._tag === "Some")
      return yield* dieTransactionRefused(NESTED)
    // The SqlClient provides the connection at run time, but the type does not show it.
    const inTransaction = runJoined(effect) as Effect.Effect<
      Effect.Effect.Success<ReturnType<typeof runJoined<A, E, R>>>,
      E | StoreUnavailable,
      R | Transactions
    >
    const { value, afterCommit } = yield* sql.withTransaction(inTransaction)
    yield* afterCommit
    return value
  }).pipe(lossAsUnavailable)
