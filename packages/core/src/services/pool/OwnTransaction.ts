import { Cause, Effect, Exit, Runtime } from "effect"
import { type JoinedTransaction, StoreUnavailable, Transactions } from "../../ports/StorePorts.js"
import { type BorrowedClient, type PoolOf, withClient } from "./PoolClient.js"

/**
 * Begins your own transaction on a client of `pg`, calls `work` with the client and with your query builder's object
 * for it, and commits. If `work` rejects, it rolls back and rejects.
 */
export type Begin<Tx> = (work: (client: unknown, tx: Tx) => Promise<void>) => Promise<unknown>

/** The part of a client of the package `pg` that a transaction needs. */
export interface PoolClientLike extends BorrowedClient {
  /** Runs a statement, and rejects if the database refuses it. */
  readonly query: (text: "begin" | "commit" | "rollback") => Promise<unknown>
}

/** Begins transactions on clients of a `Pool` of the package `pg`, for programs without a query builder. `tx` is the client. */
export const beginOn =
  <Client extends PoolClientLike>(pool: PoolOf<Client>): Begin<Client> =>
  (work) =>
    withClient(pool, async (client, giveUp) => {
      await client.query("begin")
      try {
        await work(client, client)
        await client.query("commit")
      } catch (error) {
        await client.query("rollback").catch(giveUp)
        throw error
      }
    })

/** Waits for a promise to its end even if the fiber is interrupted, because the rollback must finish. */
const waitUninterrupted = (
  run: (signal: AbortSignal) => Promise<unknown>,
  afterInterruption: Effect.Effect<void>
): Effect.Effect<Exit.Exit<unknown>> =>
  Effect.async((resume) => {
    const controller = new AbortController()
    const workExit: Promise<Exit.Exit<unknown>> = Promise.resolve(controller.signal)
      .then(run)
      .then(Exit.succeed, Exit.die)
    void workExit.then((exit) => resume(Effect.succeed(exit)))
    return Effect.flatMap(
      Effect.promise(() => {
        controller.abort()
        return workExit
      }),
      (exit) => (Exit.isSuccess(exit) ? afterInterruption : Effect.void)
    )
  })

interface WorkResult<A> {
  readonly value: A
  readonly afterCommit: JoinedTransaction["afterCommit"]
}

/**
 * Runs effects in transactions of your own: `const inTransaction = ownTransaction(beginOn(pool))`, and then
 * `inTransaction((client) => …)`. The commands and reads of the services in the effect use the transaction, and commit with your rows if
 * the effect succeeds; if it fails or is interrupted, all of them are rolled back. After the commit, listeners and dispatchers are notified.
 * Fails with `StoreUnavailable` if no transaction can be begun, or the connection breaks while it commits. Dies with `TransactionRefused` if
 * the store has no transactions, such as the memory store, or the client is not connected to its database. Dies with the database's error if
 * the database refuses the commit.
 */
export const ownTransaction =
  <Tx>(begin: Begin<Tx>) =>
  <A, E, R>(work: (tx: Tx) => Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreUnavailable, R | Transactions> =>
    Effect.gen(function* () {
      const { join } = yield* Transactions
      const runtime = yield* Effect.runtime<R>()
      const runWork = (client: unknown, tx: Tx) =>
        Effect.gen(function* () {
          // This is a bug of the program, such as a pool in place of a client.
          const { run, afterCommit } = yield* Effect.catchTag(join(client), "TransactionRefused", Effect.die)
          return { value: yield* run(work(tx)), afterCommit }
        })
      const state: { worked?: Exit.Exit<WorkResult<A>, E | StoreUnavailable> } = {}
      const runToCommit = (signal: AbortSignal) =>
        begin(async (client, tx) => {
          state.worked = await Runtime.runPromiseExit(runtime)(runWork(client, tx), { signal })
          if (Exit.isFailure(state.worked)) throw Cause.squash(state.worked.cause)
        })
      const runAnnounced = Effect.suspend(() =>
        state.worked !== undefined && Exit.isSuccess(state.worked) ? state.worked.value.afterCommit : Effect.void
      )
      const exit = yield* waitUninterrupted(runToCommit, runAnnounced)
      const failure = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      if (state.worked === undefined)
        return yield* failure instanceof StoreUnavailable ? failure : new StoreUnavailable({ cause: failure })
      const { value } = yield* state.worked
      if (failure !== undefined) return yield* failure instanceof StoreUnavailable ? failure : Effect.die(failure)
      yield* runAnnounced
      return value
    })
