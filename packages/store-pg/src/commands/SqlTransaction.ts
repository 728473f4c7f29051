import { SqlClient, TransactionConnection } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { type StoreUnavailable, TransactionRefused, Transactions } from "@workshop/core"
import { OpenTransaction } from "@workshop/core/store"
import { Effect } from "effect"

const refused = (message: string) => Effect.die(new TransactionRefused({ message }))

const NESTED =
  "sqlTransaction was called within sql.withTransaction, whose commit it does not see: call it in place of the outermost sql.withTransaction"

/** The client of `pg` beneath a connection of `@effect/sql-pg`. */
const pgClientOf = (connection: object): unknown => ("pg" in connection ? connection.pg : undefined)

const joined = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { join } = yield* Transactions
    const [connection] = yield* TransactionConnection
    // A mistake in the program, such as a client of another database.
    const { run, afterCommit } = yield* Effect.catchTag(join(pgClientOf(connection)), "TransactionRefused", Effect.die)
    return { value: yield* run(effect), afterCommit }
  })

/**
 * As `sql.withTransaction` of your own `SqlClient` of `@effect/sql-pg`, for effects that also call the services: their commands and reads use
 * your transaction, and commit with your rows if the effect succeeds; if it fails or is interrupted, all of them are rolled back. After the
 * commit, listeners and dispatchers are notified. A `sqlTransaction` or `sql.withTransaction` in another is a savepoint. Dies with
 * `TransactionRefused` if the store has no transactions, as the memory store, or the client is not one of its database.
 */
export const sqlTransaction = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError | StoreUnavailable, R | SqlClient | Transactions> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    if ((yield* OpenTransaction) !== null) return yield* sql.withTransaction(effect)
    if ((yield* Effect.serviceOption(TransactionConnection))._tag === "Some") return yield* refused(NESTED)
    // The client adds the connection to the context, but not to the type.
    const inTransaction = joined(effect) as Effect.Effect<
      Effect.Effect.Success<ReturnType<typeof joined<A, E, R>>>,
      E | StoreUnavailable,
      R | Transactions
    >
    const { value, afterCommit } = yield* sql.withTransaction(inTransaction)
    yield* afterCommit
    return value
  })
