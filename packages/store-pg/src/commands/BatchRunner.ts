import { ShopNotFound } from "@workshop/core"
import { ServiceLimits } from "@workshop/core/store"
import { Cause, Clock, Effect } from "effect"
import type { Connection, ReconnectingConnection } from "../connection/Connection.js"
import { isCodeTaken, type PgFailure, storeFailure } from "../connection/PgFailure.js"
import { batchCommands } from "../observe/PgMetrics.js"
import type { WebhookSecrets } from "../secrets/WebhookSecrets.js"
import {
  type BatchReceipt,
  type DecidedBatch,
  decideBatch,
  outcomeOf,
  RECEIPT_STEP,
  saveBatch
} from "./CommandBatch.js"
import { type Commands, failAll, failExpired } from "./CommandFailures.js"
import type { CommandQueue, QueuedCommand } from "./CommandQueue.js"

/** The contended lane, or an ordinary lane, which moves the commands of locked shops to the contended lane. */
export type LaneKind =
  | { readonly isContended: true }
  | { readonly isContended: false; readonly moveToContended: (commands: Commands) => void }

/** The connection and the callbacks of a {@link BatchRunner}. */
export interface RunnerOptions {
  readonly database: ReconnectingConnection
  /** Fails if this machine's clock differs too much from the database's. Called before each batch. */
  readonly checkClock: (connection: Connection) => Effect.Effect<void, PgFailure>
  readonly secrets: WebhookSecrets
  readonly queue: CommandQueue
  readonly kind: LaneKind
  readonly onCommit: (batch: DecidedBatch<QueuedCommand>) => void
}

/** An attempt to run a batch. */
interface Attempt {
  readonly commands: Commands
  /** The number of earlier attempts. */
  readonly number: number
  /** Whether shops that another process has locked are left out. */
  readonly skipsLocked: boolean
}

const nextAttempt = (attempt: Attempt): Attempt => ({ ...attempt, number: attempt.number + 1 })

/**
 * Runs one batch at a time. Every command of a batch is settled, put back into the queue, or moved to the contended
 * lane.
 */
export class BatchRunner {
  readonly #options: RunnerOptions
  #batches = 0

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  run(commands: Commands): Effect.Effect<void> {
    const { database } = this.#options
    return this.#attempt({ commands, number: 0, skipsLocked: false }).pipe(
      Effect.catchAllCause((defect) =>
        // A defect of the store. Closes the connection, which may be in a transaction, and fails the commands, which
        // would otherwise wait forever.
        Effect.zipRight(
          database.drop,
          Effect.sync(() => failAll(commands, defect))
        )
      ),
      Effect.zipRight(database.release)
    )
  }

  #attempt(attempt: Attempt): Effect.Effect<void> {
    const { database, checkClock, queue, secrets } = this.#options
    return Effect.matchEffect(database.connection, {
      onFailure: (failure) =>
        Effect.sync(() => failAll([...attempt.commands, ...queue.takeAll()], storeFailure(failure))),
      onSuccess: (connection) =>
        checkClock(connection).pipe(
          Effect.zipRight(decideBatch(connection, attempt.commands, { skipsLocked: attempt.skipsLocked, secrets })),
          Effect.flatMap((batch) => this.#save(connection, attempt, batch)),
          Effect.catchAll((failure) => Effect.zipRight(database.undo(failure), this.#afterFailure(attempt, failure)))
        )
    })
  }

  /** Saves on the same connection that decided, because a different connection would not hold the locks. */
  #save(connection: Connection, attempt: Attempt, batch: DecidedBatch<QueuedCommand>): Effect.Effect<void, PgFailure> {
    return Effect.flatMap(Clock.currentTimeMillis, (saved_at) => {
      this.#batches += RECEIPT_STEP
      const receipt = { connection: connection.id, batch: this.#batches, saved_at }
      return saveBatch(connection, batch, receipt).pipe(
        Effect.zipRight(this.#settle(attempt, batch)),
        Effect.catchAll((failure) =>
          failure.isLoss
            ? Effect.zipRight(this.#options.database.drop, this.#afterLostCommit(attempt, batch, receipt, failure))
            : Effect.fail(failure)
        )
      )
    })
  }

  #afterLostCommit(
    attempt: Attempt,
    batch: DecidedBatch<QueuedCommand>,
    receipt: BatchReceipt,
    failure: PgFailure
  ): Effect.Effect<void> {
    const commands = batch.exits.map(([queued]) => queued)
    return Effect.flatMap(outcomeOf(this.#options.database, receipt), (outcome) => {
      if (outcome === "committed") return this.#settle(attempt, batch)
      this.#requeue(attempt, batch)
      return outcome === "aborted" && attempt.number < ServiceLimits.command_attempts
        ? this.#attempt(nextAttempt({ ...attempt, commands }))
        : Effect.sync(() => failAll(commands, storeFailure(failure)))
    })
  }

  #settle(attempt: Attempt, batch: DecidedBatch<QueuedCommand>): Effect.Effect<void> {
    return Effect.sync(() => {
      for (const [{ settle }, exit] of batch.exits) settle(exit)
      batchCommands.unsafeUpdate(batch.exits.length, [])
      this.#requeue(attempt, batch)
      this.#options.onCommit(batch)
    })
  }

  /**
   * Puts back the commands that the batch did not run, and moves the commands of locked shops to the contended lane. If
   * locked shops were not skipped, the shop of a missing head does not exist, so the command is refused.
   */
  #requeue({ skipsLocked }: Attempt, { remaining, withoutHead }: DecidedBatch<QueuedCommand>): void {
    const { queue, kind } = this.#options
    if (remaining.length > 0) queue.putBack(remaining)
    if (withoutHead.length === 0) return
    if (skipsLocked && !kind.isContended) kind.moveToContended(withoutHead)
    else failAll(withoutHead, Cause.fail(new ShopNotFound()))
  }

  #afterFailure(attempt: Attempt, failure: PgFailure): Effect.Effect<void> {
    const { commands } = attempt
    const fail = (cause: Cause.Cause<unknown>) => Effect.sync(() => failAll(commands, cause))
    if (attempt.number >= ServiceLimits.command_attempts)
      return failure.kind === "data"
        ? fail(
            Cause.die(
              new Error("Every tracking code that was drawn already exists, because the random source repeats itself")
            )
          )
        : fail(storeFailure(failure))
    switch (failure.kind) {
      case "lockTimeout":
        return this.#afterLocked(attempt)
      case "conflict":
      case "connectionLost":
        return this.#attemptUnexpired(nextAttempt(attempt))
      case "data":
        if (commands.length > 1) return this.#halve(attempt)
        return isCodeTaken(failure) ? this.#attempt(nextAttempt(attempt)) : fail(Cause.die(failure))
      case "responseTimeout":
      case "wrongClock":
      case "other":
        return fail(storeFailure(failure))
    }
  }

  /**
   * Runs the batch again without locked shops. A further lock timeout comes from a claim, which locks deliveries only
   * briefly.
   */
  #afterLocked(attempt: Attempt): Effect.Effect<void> {
    const { queue, kind } = this.#options
    if (kind.isContended) return Effect.sync(() => queue.putBack(failExpired(attempt.commands, true)))
    return attempt.skipsLocked ? this.#attemptUnexpired(attempt) : this.#attempt({ ...attempt, skipsLocked: true })
  }

  #attemptUnexpired(attempt: Attempt): Effect.Effect<void> {
    const commands = failExpired(attempt.commands, this.#options.kind.isContended)
    return commands.length === 0 ? Effect.void : this.#attempt({ ...attempt, commands })
  }

  #halve(attempt: Attempt): Effect.Effect<void> {
    const middle = attempt.commands.length >> 1
    return Effect.zipRight(
      this.#attempt({ ...attempt, commands: attempt.commands.slice(0, middle), number: 0 }),
      Effect.suspend(() => this.#attempt({ ...attempt, commands: attempt.commands.slice(middle), number: 0 }))
    )
  }
}
