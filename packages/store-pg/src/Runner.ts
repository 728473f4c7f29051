import { Cause, Clock, Effect } from "effect"
import { type Decided, decideTogether, failAll, save, settleAll } from "./Batch.js"
import { BATCH_STEP, type BatchReceipt, outcomeOf } from "./BatchReceipt.js"
import type { ClockGuard } from "./ClockGuard.js"
import type { Connection } from "./Connection.js"
import { type PgFailure, storeFailure } from "./PgFailure.js"
import { batchCommands, expiredCommands } from "./PgMetrics.js"
import type { QueuedCommand } from "./QueuedCommand.js"
import type { ReconnectingConnection } from "./ReconnectingConnection.js"
import type { WebhookSecrets } from "./WebhookSecrets.js"

/** How often a batch is run again that lost against another transaction, and a command whose tracking code was taken. */
const MOST_RUNS = 16

/** The unique rule that no decision can see: another ticket of the shop has the code already. */
const TRACKING_CODE = "ticket_tracking_code"

/** Where a runner's commands go that it does not run to their end itself. */
export interface RunnerOptions {
  readonly link: ReconnectingConnection
  /** Asked before each batch. */
  readonly guard: ClockGuard
  /** Opens and seals the secrets of webhooks. */
  readonly secrets: WebhookSecrets
  /** Takes commands back that did not fit, or whose shop is still held, before all others of their shop. */
  readonly putBack: (entries: ReadonlyArray<QueuedCommand>) => void
  /** Takes the commands of shops that another process holds; null where this runner waits for them itself. */
  readonly apart: ((entries: ReadonlyArray<QueuedCommand>) => void) | null
  /** Told of all that was committed. */
  readonly onCommit: (decided: Decided) => void
  /** Told that the database cannot be reached. */
  readonly onAway: (cause: Cause.Cause<unknown>) => void
}

/** Why a command was not run, or is not known to have been. */
export const unavailable: (cause: unknown) => Cause.Cause<unknown> = storeFailure

/** A batch on its way to its end, and how often it was begun. */
interface Run {
  readonly entries: ReadonlyArray<QueuedCommand>
  readonly runs: number
  /** Whether shops that another process holds are left out. */
  readonly skipsHeld: boolean
}

const again = (run: Run): Run => ({ ...run, runs: run.runs + 1 })

/** Tells those that waited too long so, and answers the others. */
export const unexpired = (entries: ReadonlyArray<QueuedCommand>): ReadonlyArray<QueuedCommand> => {
  const expired = entries.filter((entry) => entry.isExpired())
  if (expired.length === 0) return entries
  expiredCommands.unsafeUpdate(expired.length, [])
  failAll(expired, unavailable(new Error("The command waited too long")))
  return entries.filter((entry) => !expired.includes(entry))
}

/** Everything that happens to a batch until each of its commands was told how it ended, or went elsewhere. */
export class Runner {
  readonly #options: RunnerOptions
  #batches = 0

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  /** Runs a batch. Whatever happens, every command of it is settled or goes elsewhere. */
  run(entries: ReadonlyArray<QueuedCommand>): Effect.Effect<void> {
    return Effect.catchAllCause(this.#run({ entries, runs: 0, skipsHeld: false }), (defect) =>
      // A bug of ours: the connection may be within a transaction, and a lane that died would leave everybody waiting.
      Effect.zipRight(
        this.#options.link.drop,
        Effect.sync(() => failAll(entries, defect))
      )
    )
  }

  #run(run: Run): Effect.Effect<void> {
    return Effect.matchEffect(this.#options.link.connection, {
      onFailure: (failure) =>
        Effect.sync(() => {
          failAll(run.entries, unavailable(failure))
          this.#options.onAway(unavailable(failure))
        }),
      onSuccess: (connection) =>
        Effect.zipRight(
          this.#options.guard(connection),
          decideTogether(connection, run.entries, { skipsHeld: run.skipsHeld, secrets: this.#options.secrets })
        ).pipe(
          Effect.flatMap((decided) => this.#saved(connection, run, decided)),
          Effect.catchAll((failure) =>
            Effect.zipRight(this.#options.link.undo(failure), this.#afterFailure(run, failure))
          )
        )
    })
  }

  /**
   * Saves a decided batch, and settles it once it is known whether that was committed. On the connection that holds its
   * locks and no other: where that broke meanwhile, a new one would save without them, each statement by itself.
   */
  #saved(connection: Connection, run: Run, decided: Decided): Effect.Effect<void, PgFailure> {
    const { link } = this.#options
    return Effect.flatMap(Clock.currentTimeMillis, (saved_at) => {
      this.#batches += BATCH_STEP
      const receipt = { connection: connection.id, batch: this.#batches, saved_at }
      return save(connection, decided, receipt).pipe(
        Effect.zipRight(this.#settle(run, decided)),
        Effect.catchAll((failure) =>
          failure.isLoss
            ? Effect.zipRight(link.drop, this.#afterLoss(run, decided, receipt, failure))
            : Effect.fail(failure)
        )
      )
    })
  }

  /** The connection broke between save and answer: asks, on another one, what became of the transaction. Never a guess. */
  #afterLoss(run: Run, decided: Decided, receipt: BatchReceipt, failure: PgFailure): Effect.Effect<void> {
    const entries = decided.exits.map(([entry]) => entry)
    return Effect.flatMap(outcomeOf(this.#options.link, receipt), (outcome) => {
      if (outcome === "committed") return this.#settle(run, decided)
      this.#rest(run, decided)
      return outcome === "aborted" && run.runs < MOST_RUNS
        ? this.#run(again({ ...run, entries }))
        : Effect.sync(() => failAll(entries, unavailable(failure)))
    })
  }

  #settle(run: Run, decided: Decided): Effect.Effect<void> {
    return Effect.sync(() => {
      settleAll(decided)
      batchCommands.unsafeUpdate(decided.exits.length, [])
      this.#rest(run, decided)
      this.#options.onCommit(decided)
    })
  }

  /** What the batch left undone: too large to fit, or held elsewhere. Who waited for its lock and found no row has no shop. */
  #rest({ skipsHeld }: Run, { left, held }: Decided): void {
    if (left.length > 0) this.#options.putBack(left)
    if (held.length === 0) return
    if (skipsHeld && this.#options.apart !== null) this.#options.apart(held)
    else failAll(held, Cause.die(new Error(`No shop ${held[0]!.command.shop_id}`)))
  }

  #afterFailure(run: Run, failure: PgFailure): Effect.Effect<void> {
    const { entries } = run
    if (run.runs >= MOST_RUNS) return Effect.sync(() => failAll(entries, this.#lastWord(failure)))
    switch (failure.kind) {
      case "held":
        return this.#afterHeld(run)
      case "conflict":
      case "lost":
        return this.#unlessExpired(again(run))
      case "data":
        if (entries.length > 1) return this.#halve(run)
        if (failure.constraint === TRACKING_CODE) return this.#run(again(run))
        return Effect.sync(() => failAll(entries, Cause.die(failure)))
      case "late":
      case "clock":
      case "other":
        return Effect.sync(() => failAll(entries, unavailable(failure)))
    }
  }

  /** Shops that are held go apart, where their turn comes again and again; what is held besides heads is waited for here. */
  #afterHeld(run: Run): Effect.Effect<void> {
    if (this.#options.apart === null) return Effect.sync(() => this.#options.putBack(unexpired(run.entries)))
    return run.skipsHeld ? this.#unlessExpired(run) : this.#run({ ...run, skipsHeld: true })
  }

  #lastWord(failure: PgFailure): Cause.Cause<unknown> {
    return failure.kind === "data"
      ? Cause.die(new Error("Every tracking code drawn was taken: the entropy repeats itself"))
      : unavailable(failure)
  }

  #unlessExpired(run: Run): Effect.Effect<void> {
    const entries = unexpired(run.entries)
    return entries.length === 0 ? Effect.void : this.#run({ ...run, entries })
  }

  /** One of them brought what the database refuses: halved again and again, it fails alone. */
  #halve(run: Run): Effect.Effect<void> {
    const middle = run.entries.length >> 1
    return Effect.zipRight(
      this.#run({ ...run, entries: run.entries.slice(0, middle), runs: 0 }),
      Effect.suspend(() => this.#run({ ...run, entries: run.entries.slice(middle), runs: 0 }))
    )
  }
}
