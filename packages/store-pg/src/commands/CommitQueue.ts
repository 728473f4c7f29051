import { type Entropy, probe, type ShopId, ShopNotFound, StoreUnavailable, TrackingPages } from "@workshop/core"
import { type Command, ENTROPY_BYTES, type Outcome, type Store, Tracing } from "@workshop/core/store"
import { Cause, Clock, type Context, Effect, Exit, type Scope } from "effect"
import {
  type Connection,
  type ConnectionOptions,
  type ReconnectingConnection,
  reconnecting
} from "../connection/Connection.js"
import { isCodeTaken, type PgFailure, storeFailure } from "../connection/PgFailure.js"
import type { Database } from "../connection/Schema.js"
import { inputDrained } from "../fast/inputDrained.js"
import { clockGuard } from "../observe/ClockGuard.js"
import { batchCommands, expiredCommands, showWaiting } from "../observe/PgMetrics.js"
import type { WebhookSecrets } from "../secrets/WebhookSecrets.js"
import {
  type BatchReceipt,
  COMMIT_CONNECTIONS,
  type DecidedBatch,
  decideBatch,
  outcomeOf,
  type QueuedCommand,
  RECEIPT_STEP,
  saveBatch
} from "./CommandBatch.js"

/*
 * The path of a command in this store, from `Store.transact` to its result:
 *
 * 1. `transact` queues the command. There are as many commit queues as `lanes`, each with one connection. A hash of the shop's id
 *    chooses the queue, so that the commands of one shop run one after another and those of other shops beside them.
 * 2. A commit queue takes up to 128 commands at a time, one of each shop in turn, and gives them to its `BatchRunner`, because a
 *    transaction costs little more for many commands than for one. Meanwhile new commands queue up for the next batch.
 * 3. `decideBatch` (CommandBatch.ts) begins a transaction, locks the heads of the shops, loads what the commands need, and runs
 *    their decisions in memory. `saveBatch` writes all changes in one statement, with a receipt, and commits.
 * 4. Once the commit is known, each caller gets its outcome, and `onCommit` notifies dispatchers and other processes.
 *
 * Every command is settled exactly once, whatever fails on the way:
 *
 * - Another process holds the lock of a shop: the batch runs again without the locked shops, whose commands move to the contended
 *   queue. That one waits longer for locks and takes one shop at a time, so that a locked shop delays no other.
 * - The transaction lost a conflict, or the connection broke before the commit was sent: the batch runs again, up to 16 times.
 * - The connection broke during the commit: the receipt shows, on a new connection, whether the transaction was committed. If that
 *   cannot be found out in time, the callers get `StoreUnavailable`, because a guess could run a command twice.
 * - The database refuses the data of one command: the batch is halved until that command is alone and fails by itself.
 * - The database is unreachable: the batch and all that wait fail at once, because they would wait for the same connection.
 * - A command waited for five seconds, or too many wait already: it fails with `StoreUnavailable`.
 */

/** A lane's wait for a shop's lock, before it moves the shop's commands to the contended queue. */
const LANE_LOCK_TIMEOUT_MS = 25
/** The contended queue's wait for a shop's lock; then it tries the next shop. */
const CONTENDED_LOCK_TIMEOUT_MS = 250
/** The longest wait of a command for its batch, in real time. */
const MAX_WAIT_NS = 5_000_000_000n
/** The interval at which expired commands are looked for, in real time, because the batch before them may be slow. */
const SWEEP_INTERVAL = "250 millis"
const MAX_BATCH = 128
const MAX_WAITING_OF_SHOP = 1_000
const MAX_WAITING = 10_000
/** How often a batch is repeated after conflicts, and a command whose tracking code was taken. */
export const MAX_RUNS = 16

type Commands = ReadonlyArray<QueuedCommand>

const failAll = (entries: Commands, cause: Cause.Cause<unknown>): void => {
  for (const { settle } of entries) settle(Exit.failCause(cause))
}
const unavailable = (message: string) => storeFailure(new Error(message))
const EXPIRED = "The command waited five seconds for its turn: its shop or the database is busy; try again in a moment"
const closing = unavailable("The store is closing")
const tooMany = unavailable("Too many commands wait for their turn")

const expiry = ({ command }: QueuedCommand, isContended: boolean) => {
  const remedy = `Another transaction held the lock of the shop ${command.shop_id} for five seconds, so the command was given up: commit or roll back sooner, and do not wait for a command of the shop while a transaction of within is open`
  return Cause.fail(new StoreUnavailable({ remedy: isContended ? remedy : EXPIRED }))
}

/** Fails the expired commands, and returns the others. Those of the contended queue waited for the lock of their shop. */
const failExpired = (entries: Commands, isContended: boolean): Commands => {
  const expired = entries.filter((entry) => entry.isExpired())
  expiredCommands.unsafeUpdate(expired.length, [])
  for (const entry of expired) failAll([entry], expiry(entry, isContended))
  return entries.filter((entry) => !expired.includes(entry))
}

/** A replay's step reads rows that other commands of its shop may change, so it is the only command of its shop in a batch. */
const isExclusive = ({ command }: QueuedCommand): boolean => command.loadRequests.some(({ _tag }) => _tag === "Replay")

/** Waiting commands, by shop, so that a busy shop does not delay the others. */
export class CommandQueue {
  readonly #byShop = new Map<ShopId, Array<QueuedCommand>>()
  #count = 0

  get count(): number {
    return this.#count
  }

  has(shop_id: ShopId): boolean {
    return this.#byShop.has(shop_id)
  }

  /** Queues a command; false if too many wait already. */
  add(entry: QueuedCommand): boolean {
    const ofShop = this.#byShop.get(entry.command.shop_id)?.length ?? 0
    if (this.#count >= MAX_WAITING || ofShop >= MAX_WAITING_OF_SHOP) return false
    this.#insert(entry, "push")
    return true
  }

  /** Puts commands back to the front of their shops, however many wait. */
  putBack(entries: Commands): void {
    for (const entry of [...entries].reverse()) this.#insert(entry, "unshift")
  }

  /** Removes a command; false if it is no longer in the queue. */
  withdraw(entry: QueuedCommand): boolean {
    const { shop_id } = entry.command
    const ofShop = this.#byShop.get(shop_id)
    const at = ofShop?.indexOf(entry) ?? -1
    if (ofShop === undefined || at < 0) return false
    this.#cut(shop_id, ofShop, at, 1)
    return true
  }

  /** The next batch: one command of each shop in turn. */
  take(): Commands {
    const taken: Array<QueuedCommand> = []
    const begun = new Set<ShopId>()
    const closed = new Set<ShopId>()
    for (let found = true; found && taken.length < MAX_BATCH; ) {
      found = false
      for (const [shop_id, ofShop] of [...this.#byShop]) {
        if (taken.length === MAX_BATCH) break
        const first = ofShop[0]!
        if (closed.has(shop_id) || (begun.has(shop_id) && isExclusive(first))) continue
        if (isExclusive(first)) closed.add(shop_id)
        begun.add(shop_id)
        taken.push(...this.#takeAndRequeue(shop_id, ofShop, 1))
        found = true
      }
    }
    return taken
  }

  /** The next batch of one shop only, the one that was served longest ago. */
  takeOfOneShop(): Commands {
    for (const [shop_id, ofShop] of this.#byShop) {
      const next = ofShop.findIndex((entry, i) => i > 0 && (isExclusive(entry) || isExclusive(ofShop[0]!)))
      return this.#takeAndRequeue(shop_id, ofShop, Math.min(MAX_BATCH, next < 0 ? ofShop.length : next))
    }
    return []
  }

  /** Takes out the expired commands. The commands of a shop are in the order in which they came. */
  takeExpired(): Commands {
    const taken: Array<QueuedCommand> = []
    for (const [shop_id, ofShop] of [...this.#byShop]) {
      const firstUnexpired = ofShop.findIndex((entry) => !entry.isExpired())
      const count = firstUnexpired < 0 ? ofShop.length : firstUnexpired
      if (count > 0) taken.push(...this.#cut(shop_id, ofShop, 0, count))
    }
    return taken
  }

  takeAll(): Commands {
    const taken = [...this.#byShop.values()].flat()
    this.#byShop.clear()
    this.#count = 0
    return taken
  }

  #insert(entry: QueuedCommand, method: "push" | "unshift"): void {
    const { shop_id } = entry.command
    const ofShop = this.#byShop.get(shop_id)
    this.#count++
    if (ofShop === undefined) this.#byShop.set(shop_id, [entry])
    else ofShop[method](entry)
  }

  #cut(shop_id: ShopId, ofShop: Array<QueuedCommand>, from: number, n: number): Commands {
    const cut = ofShop.splice(from, n)
    this.#count -= cut.length
    if (ofShop.length === 0) this.#byShop.delete(shop_id)
    return cut
  }

  /** Takes a shop's first commands; the rest queues behind the other shops. */
  #takeAndRequeue(shop_id: ShopId, ofShop: Array<QueuedCommand>, n: number): Commands {
    const taken = this.#cut(shop_id, ofShop, 0, n)
    if (this.#byShop.delete(shop_id)) this.#byShop.set(shop_id, ofShop)
    return taken
  }
}

interface RunnerOptions {
  readonly database: ReconnectingConnection
  /** Fails before a batch where this machine's clock is too far off. */
  readonly guard: (connection: Connection) => Effect.Effect<void, PgFailure>
  readonly secrets: WebhookSecrets
  readonly queue: CommandQueue
  /** Takes the commands of locked shops; null in the contended queue itself. */
  readonly contended: ((entries: Commands) => void) | null
  readonly onCommit: (batch: DecidedBatch) => void
}

/** A batch on its way, and how often it was begun. */
interface Run {
  readonly entries: Commands
  readonly runs: number
  /** Whether shops that another process has locked are left out. */
  readonly skipsLocked: boolean
}

const again = (run: Run): Run => ({ ...run, runs: run.runs + 1 })

/** Runs one batch at a time. Every command of it is settled, put back or moved to the contended queue. */
class BatchRunner {
  readonly #options: RunnerOptions
  #batches = 0

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  run(entries: Commands): Effect.Effect<void> {
    const { database } = this.#options
    return this.#run({ entries, runs: 0, skipsLocked: false }).pipe(
      Effect.catchAllCause((defect) =>
        // A bug of ours: the connection may be within a transaction, and if the queue died everybody would wait forever.
        Effect.zipRight(
          database.drop,
          Effect.sync(() => failAll(entries, defect))
        )
      ),
      Effect.zipRight(database.release)
    )
  }

  #run(run: Run): Effect.Effect<void> {
    const { database, guard, queue, secrets } = this.#options
    return Effect.matchEffect(database.connection, {
      onFailure: (failure) => Effect.sync(() => failAll([...run.entries, ...queue.takeAll()], storeFailure(failure))),
      onSuccess: (connection) =>
        guard(connection).pipe(
          Effect.zipRight(decideBatch(connection, run.entries, { skipsLocked: run.skipsLocked, secrets })),
          Effect.flatMap((batch) => this.#save(connection, run, batch)),
          Effect.catchAll((failure) => Effect.zipRight(database.undo(failure), this.#afterFailure(run, failure)))
        )
    })
  }

  /** Saves on the connection that holds the locks. If that broke meanwhile, a new one would save without them. */
  #save(connection: Connection, run: Run, batch: DecidedBatch): Effect.Effect<void, PgFailure> {
    return Effect.flatMap(Clock.currentTimeMillis, (saved_at) => {
      this.#batches += RECEIPT_STEP
      const receipt = { connection: connection.id, batch: this.#batches, saved_at }
      return saveBatch(connection, batch, receipt).pipe(
        Effect.zipRight(this.#settle(run, batch)),
        Effect.catchAll((failure) =>
          failure.isLoss
            ? Effect.zipRight(this.#options.database.drop, this.#afterLostCommit(run, batch, receipt, failure))
            : Effect.fail(failure)
        )
      )
    })
  }

  #afterLostCommit(run: Run, batch: DecidedBatch, receipt: BatchReceipt, failure: PgFailure): Effect.Effect<void> {
    const entries = batch.exits.map(([entry]) => entry)
    return Effect.flatMap(outcomeOf(this.#options.database, receipt), (outcome) => {
      if (outcome === "committed") return this.#settle(run, batch)
      this.#requeue(run, batch)
      return outcome === "aborted" && run.runs < MAX_RUNS
        ? this.#run(again({ ...run, entries }))
        : Effect.sync(() => failAll(entries, storeFailure(failure)))
    })
  }

  #settle(run: Run, batch: DecidedBatch): Effect.Effect<void> {
    return Effect.sync(() => {
      for (const [{ settle }, exit] of batch.exits) settle(exit)
      batchCommands.unsafeUpdate(batch.exits.length, [])
      this.#requeue(run, batch)
      this.#options.onCommit(batch)
    })
  }

  /** Requeues what the batch left out: commands beyond its size, and locked shops. Without `skipsLocked` a shop that is missing does not exist. */
  #requeue({ skipsLocked }: Run, { left, missing }: DecidedBatch): void {
    const { queue, contended } = this.#options
    if (left.length > 0) queue.putBack(left)
    if (missing.length === 0) return
    if (skipsLocked && contended !== null) contended(missing)
    else failAll(missing, Cause.fail(new ShopNotFound()))
  }

  #afterFailure(run: Run, failure: PgFailure): Effect.Effect<void> {
    const { entries } = run
    const fail = (cause: Cause.Cause<unknown>) => Effect.sync(() => failAll(entries, cause))
    if (run.runs >= MAX_RUNS)
      return failure.kind === "data"
        ? fail(Cause.die(new Error("Every tracking code drawn was taken: the entropy repeats itself")))
        : fail(storeFailure(failure))
    switch (failure.kind) {
      case "held":
        return this.#afterLocked(run)
      case "conflict":
      case "lost":
        return this.#runUnexpired(again(run))
      case "data":
        if (entries.length > 1) return this.#halve(run)
        return isCodeTaken(failure) ? this.#run(again(run)) : fail(Cause.die(failure))
      case "late":
      case "clock":
      case "other":
        return fail(storeFailure(failure))
    }
  }

  /** Once locked heads are skipped, what is still locked are deliveries, which a claim holds only briefly. */
  #afterLocked(run: Run): Effect.Effect<void> {
    const { queue, contended } = this.#options
    if (contended === null) return Effect.sync(() => queue.putBack(failExpired(run.entries, true)))
    return run.skipsLocked ? this.#runUnexpired(run) : this.#run({ ...run, skipsLocked: true })
  }

  #runUnexpired(run: Run): Effect.Effect<void> {
    const entries = failExpired(run.entries, this.#options.contended === null)
    return entries.length === 0 ? Effect.void : this.#run({ ...run, entries })
  }

  #halve(run: Run): Effect.Effect<void> {
    const middle = run.entries.length >> 1
    return Effect.zipRight(
      this.#run({ ...run, entries: run.entries.slice(0, middle), runs: 0 }),
      Effect.suspend(() => this.#run({ ...run, entries: run.entries.slice(middle), runs: 0 }))
    )
  }
}

/** The commands of some shops, and the connection that runs them. */
export interface CommitQueue {
  /** Queues a command; it fails at once where too many wait, or the queue closes. */
  readonly offer: (entry: QueuedCommand) => void
  /** Removes a command that has not begun to run; false if it has. */
  readonly withdraw: (entry: QueuedCommand) => boolean
  readonly waiting: () => number
  readonly hasWaiting: (shop_id: ShopId) => boolean
}

/** Runs batches until the scope closes; then it finishes the current one and fails what waits. */
export const commitQueue = ({
  connection,
  connecting = reconnecting,
  ...options
}: Pick<RunnerOptions, "contended" | "onCommit" | "secrets"> & {
  readonly connection: ConnectionOptions
  /** Where its connections come from: from the caller's pool, or made by the queue itself. */
  readonly connecting?: typeof reconnecting | undefined
}): Effect.Effect<CommitQueue, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { within } = yield* Tracing
    const queue = new CommandQueue()
    const isContended = options.contended === null
    const runner = new BatchRunner({
      ...options,
      queue,
      database: yield* connecting(connection),
      guard: yield* clockGuard
    })
    let wake = (): void => undefined
    let isClosed = false

    const untilOffered = Effect.async<void>((resume) => {
      wake = () => resume(Effect.void)
      if (queue.count > 0) wake()
    })
    const runNext = Effect.suspend(() => {
      const entries = failExpired(isContended ? queue.takeOfOneShop() : queue.take(), isContended)
      return entries.length === 0
        ? Effect.void
        : within("store batch", { lane: connection.name, commands: entries.length }, runner.run(entries))
    })
    const nextBatch = untilOffered.pipe(Effect.zipRight(inputDrained), Effect.zipRight(Effect.uninterruptible(runNext)))
    const sweep = Effect.zipRight(
      Effect.sleep(SWEEP_INTERVAL),
      Effect.sync(() => failExpired(queue.takeExpired(), isContended))
    )

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        failAll(queue.takeAll(), closing)
      })
    )
    yield* Effect.forkScoped(Effect.forever(nextBatch))
    yield* Effect.forkScoped(Effect.forever(sweep))
    return {
      offer: (entry) => {
        if (isClosed) return failAll([entry], closing)
        if (!queue.add(entry)) return failAll([entry], tooMany)
        wake()
      },
      withdraw: (entry) => queue.withdraw(entry),
      waiting: () => queue.count,
      hasWaiting: (shop_id) => queue.has(shop_id)
    }
  })

/** How commands are run. */
export interface TransactOptions extends Database {
  /** How many connections run commands at once; the shops are divided among them. */
  readonly lanes: number
  /** The cell, where there are several. */
  readonly cell?: string | undefined
  readonly connecting?: typeof reconnecting | undefined
  readonly secrets: WebhookSecrets
  readonly onCommit: (batch: DecidedBatch) => void
}

const indexOf = (shop_id: ShopId, lanes: number): number => {
  let hash = 0
  for (let i = 0; i < shop_id.length; i++) hash = (hash * 31 + shop_id.charCodeAt(i)) | 0
  return Math.abs(hash) % lanes
}

/** `Store.transact` on one commit queue per lane, and the contended one. */
export const transact = (
  { url, schema, lanes, cell, connecting, secrets, onCommit }: TransactOptions,
  { bytes }: Context.Tag.Service<Entropy>
): Effect.Effect<Context.Tag.Service<Store>["transact"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const pages = yield* TrackingPages
    const queueNamed = (name: string, lock_timeout_ms: number, contended: RunnerOptions["contended"]) =>
      commitQueue({ connection: { url, schema, name, lock_timeout_ms }, connecting, contended, secrets, onCommit })
    const contended = yield* queueNamed(COMMIT_CONNECTIONS.contended, CONTENDED_LOCK_TIMEOUT_MS, null)
    const names = Array.from({ length: lanes }, (_, i) => `${COMMIT_CONNECTIONS.lane} ${i + 1}`)
    const queues = yield* Effect.forEach(names, (name) =>
      queueNamed(name, LANE_LOCK_TIMEOUT_MS, (entries) => entries.forEach(contended.offer))
    )
    const labelled = (lane: string) => (cell === undefined ? lane : `${cell} ${lane}`)
    yield* probe({
      measure: Effect.suspend(() =>
        Effect.all(
          [
            showWaiting(labelled("contended"), contended.waiting()),
            ...queues.map((one, i) => showWaiting(labelled(`${i + 1}`), one.waiting()))
          ],
          { discard: true }
        )
      )
    })

    return <A, E>(command: Command<A, E>): Effect.Effect<Outcome<A>, E | StoreUnavailable> =>
      Effect.clockWith((clock) =>
        Effect.async<Outcome<unknown>, unknown>((resume) => {
          const since = clock.unsafeCurrentTimeNanos()
          let isSettled = false
          let onSettled = (): void => undefined
          const entry: QueuedCommand = {
            command,
            moment: () => ({
              now: clock.unsafeCurrentTimeMillis(),
              entropy: bytes(ENTROPY_BYTES),
              tracking_base_url: pages.base_url
            }),
            isExpired: () => clock.unsafeCurrentTimeNanos() - since > MAX_WAIT_NS,
            settle: (exit) => {
              if (isSettled) return
              isSettled = true
              resume(Effect.map(exit, ({ result, usages }) => ({ result, usages })))
              onSettled()
            }
          }
          // If commands of this shop are in the contended queue, later ones go there directly.
          const queue = contended.hasWaiting(command.shop_id) ? contended : queues[indexOf(command.shop_id, lanes)]!
          queue.offer(entry)
          // An interrupted caller withdraws the command, or waits for its end once it runs.
          return Effect.async<void>((resumed) => {
            const isOver = queue.withdraw(entry) || contended.withdraw(entry) || isSettled
            if (isOver) resumed(Effect.void)
            else onSettled = () => resumed(Effect.void)
          })
        })
      ) as Effect.Effect<Outcome<A>, E | StoreUnavailable>
  })
