import { TransactionRefused } from "@workshop/core"
import { ServiceLimits } from "@workshop/core/store"
import { Effect } from "effect"
import { DATABASE_IDENTITY, type PgClient, sendOn } from "../connection/CallersPool.js"
import { type Connection, STATEMENT_TIMEOUT_MS } from "../connection/Connection.js"
import { failureOf, type PgFailure } from "../connection/PgFailure.js"
import { type Settings, settingsText } from "../connection/SessionClient.js"
import { READ_LOCK_TIMEOUT_MS } from "../connection/Sql.js"
import type { Statement } from "../connection/Statement.js"

/*
 * A client of an embedder in the transaction that the embedder began on it.
 *
 * Statements are not prepared and change no session setting, because behind a pooler another client gets the session
 * after the transaction. The server must end a wait for a lock, because `pg` queues every later statement behind a
 * waiting one, even the rollback to the savepoint. Therefore a savepoint sets the timeouts, and its release or rollback
 * restores the embedder's timeouts. Each savepoint compares the transaction's id, because the embedder may have ended
 * the transaction meanwhile.
 */

/** The SQL of the current transaction's id; null on a standby, which has no transaction ids. */
export const TRANSACTION = "case when not pg_is_in_recovery() then pg_current_xact_id()::text end"

/** A statement that is not prepared. */
export const statement = (text: string): Statement => ({ name: "", text, values: [] })

const msOf = (setting: string): string => `nullif(extract(epoch from own.${setting}::interval) * 1000, 0)`

/**
 * Begins a savepoint in which statements wait for a lock for at most `wait_ms`, or for the embedder's timeouts if these
 * are shorter. After the wait a statement may run for {@link STATEMENT_TIMEOUT_MS}. Zero disables a timeout, and
 * `least` ignores null.
 */
const savepoint = (wait_ms: number): Statement =>
  statement(`savepoint workshop_command; select /* workshop within */ ${TRANSACTION} as transaction, own.*,
    set_config('lock_timeout', waits.ms::text, true) as waits,
    set_config('statement_timeout', (waits.ms + ${STATEMENT_TIMEOUT_MS})::text, true) as works
    from (select current_setting('lock_timeout') as lock_timeout, current_setting('statement_timeout') as statement_timeout offset 0) own
    cross join lateral (select ceil(least(${wait_ms}, ${msOf("lock_timeout")}, ${msOf("statement_timeout")}))::integer as ms offset 0) waits`)

/** Begins the savepoint of a command. */
export const SAVEPOINT = savepoint(ServiceLimits.command_wait_max_ms)
/** Begins the savepoint of a read. */
export const READ_SAVEPOINT = savepoint(READ_LOCK_TIMEOUT_MS)

/** The result of a savepoint: the transaction's id, and the embedder's timeouts. */
interface SavepointRow {
  readonly transaction: string
  readonly lock_timeout: string
  readonly statement_timeout: string
  /** The lock timeout in the savepoint, such as `5s`. */
  readonly waits: string
}

/** Releases the savepoint. {@link joinedConnection} adds the statement that restores the embedder's timeouts. */
export const RELEASE = statement("release savepoint workshop_command")

/**
 * Releases the savepoint and restores the embedder's timeouts, because settings of a released savepoint stay in the
 * transaction.
 */
const releaseStatement = (own: Settings): Statement =>
  statement(`${RELEASE.text}; select /* workshop release */ ${settingsText(own, true)}`)

/** Rolls back to the savepoint, which also restores the embedder's timeouts. */
export const ROLLBACK_TO = statement("rollback to savepoint workshop_command; release savepoint workshop_command")

/**
 * Has no effect within the transaction. After the transaction's end, a division by zero fails it and the statements
 * sent with it.
 */
export const checkTransaction = (transaction: string): Statement => ({
  name: "check transaction",
  text: `insert into workshop.batch_receipt (connection, batch, saved_at)
    select gen_random_uuid(), 1 / (${TRANSACTION} = $1)::integer, 0 where ${TRANSACTION} <> $1`,
  values: [transaction]
})

// The SQLSTATEs of these failures.
const NOT_BEGUN = "25P01"
const FAILED_ALREADY = "25P02"
const DIVISION_BY_ZERO = "22012"

/** Whether the client was not in a transaction. */
export const isNotBegun = ({ code }: PgFailure): boolean => code === NOT_BEGUN
/** Whether a statement before this one failed in the transaction. */
const isFailedAlready = ({ code }: PgFailure): boolean => code === FAILED_ALREADY

/** Whether {@link checkTransaction} found that the transaction has ended. */
export const isTransactionEnded = ({ code }: PgFailure): boolean => code === DIVISION_BY_ZERO

/** The refusal to join a transaction, or to continue in it. */
export const refusal = (message: string) => new TransactionRefused({ message })

const FAILED = "An earlier statement of the client's transaction failed. Roll the transaction back and begin again."

/** Dies, because the caller committed or rolled back the transaction while work in it was running. */
export const endedByCaller = Effect.suspend(() =>
  Effect.die(
    refusal(
      "The transaction was committed or rolled back before this call, so the call did nothing. Await every call before you end the transaction."
    )
  )
)

/**
 * Whether a value has the methods of a `pg` client, and is not a pool, which has these methods and a count of clients.
 */
export const isClient = (client: unknown): client is PgClient =>
  typeof client === "object" &&
  client !== null &&
  "query" in client &&
  typeof client.query === "function" &&
  !("totalCount" in client)

const TRANSACTION_STATE = statement(`savepoint workshop_command; release savepoint workshop_command;
  select /* workshop join */ ${DATABASE_IDENTITY} as database, ${TRANSACTION} as transaction,
  current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as read_only`)

/** The properties of a transaction that decide whether the store can join it. */
export interface TransactionState {
  readonly database: string
  readonly transaction: string
  readonly isolation: string
  readonly read_only: string
}

/** Reads the state of the client's transaction. Outside of a transaction, the savepoint in the statement fails. */
export const readTransactionState = (
  client: PgClient,
  schema: string
): Effect.Effect<TransactionState, TransactionRefused | PgFailure> =>
  Effect.tryPromise({ try: () => sendOn(client, schema)([TRANSACTION_STATE]), catch: failureOf }).pipe(
    Effect.map(([result]) => result!.rows[0] as unknown as TransactionState),
    Effect.catchIf(isNotBegun, () =>
      refusal("The client is not in a transaction. Pass a client, not a pool, and run begin on it first.")
    ),
    Effect.catchIf(
      (failure) => failure._tag === "PgFailure" && isFailedAlready(failure),
      () => refusal(FAILED)
    )
  )

/** Prevents the `error` event of a client whose connection breaks from ending the process, because the statements on it reject anyway. */
export const ignoreErrorEvents = () => {
  const clientsWithListener = new WeakSet<object>()
  return (client: PgClient) => {
    if (client.on === undefined || clientsWithListener.has(client)) return
    clientsWithListener.add(client)
    client.on("error", () => {})
  }
}

/** Closes the connection of a client, unless a wrapper hides the connection. */
const destroy = (client: PgClient): void =>
  (
    client as { readonly connection?: { readonly stream?: { readonly destroy?: () => void } } } & PgClient
  ).connection?.stream?.destroy?.()

/** The connection of a client in its transaction. */
export interface JoinedConnection extends Connection {
  /** The lock timeout in the last savepoint, such as `5s`. */
  readonly waits: () => string
}

/**
 * The connection of a client in the transaction with the id `transaction`. A savepoint in another transaction is rolled
 * back and refused.
 */
export const joinedConnection = (client: PgClient, schema: string, transaction: string): JoinedConnection => {
  const sendStatements = sendOn(client, schema, {
    statement_timeout_ms: ServiceLimits.command_wait_max_ms + STATEMENT_TIMEOUT_MS
  })
  let savepoint: SavepointRow | undefined
  const withSavepointRestored = (statement: Statement): Statement => {
    if (statement !== RELEASE || savepoint === undefined) return statement
    const { lock_timeout, statement_timeout } = savepoint
    return releaseStatement({ lock_timeout, statement_timeout })
  }
  const send = (statements: ReadonlyArray<Statement>) =>
    Effect.tryPromise({ try: () => sendStatements(statements.map(withSavepointRestored)), catch: failureOf }).pipe(
      // Dies, because the caller continued after a failed statement, which is a mistake in the program.
      Effect.catchIf(isFailedAlready, () => Effect.die(refusal(FAILED))),
      // The connection is broken, because the server should have ended the statement sooner. It is closed, because a
      // later COMMIT could commit the late statement's rows.
      Effect.tapError(({ kind }) => Effect.sync(() => kind === "responseTimeout" && destroy(client)))
    )
  const begin = (first: Statement) =>
    Effect.matchEffect(send([first]), {
      onFailure: (failure) => (isNotBegun(failure) ? endedByCaller : Effect.fail(failure)),
      onSuccess: (results) => {
        savepoint = results[0]!.rows[0] as unknown as SavepointRow
        return savepoint.transaction === transaction
          ? Effect.succeed(results)
          : Effect.zipRight(Effect.exit(send([ROLLBACK_TO])), endedByCaller)
      }
    })
  return {
    id: transaction,
    send: (...groups) => {
      const [first, ...others] = groups.flat()
      if (first !== SAVEPOINT && first !== READ_SAVEPOINT) return send(groups.flat())
      return Effect.flatMap(begin(first), (results) =>
        Effect.map(send(others), (otherResults) => [...results, ...otherResults])
      )
    },
    isOpen: () => true,
    broken: Effect.never,
    waits: () => savepoint?.waits ?? ""
  }
}
