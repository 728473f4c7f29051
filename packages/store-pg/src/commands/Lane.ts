import { type Entropy, probe, type ShopId, type StoreUnavailable, TrackingPages } from "@workshop/core"
import { type Command, type Outcome, ServiceLimits, type Store, Tracing } from "@workshop/core/store"
import { type Context, Effect, type Scope } from "effect"
import { type ConnectionOptions, makeReconnecting } from "../connection/Connection.js"
import type { Database } from "../connection/Schema.js"
import { clockGuard } from "../observe/ClockGuard.js"
import { showWaiting } from "../observe/PgMetrics.js"
import type { WebhookSecrets } from "../secrets/WebhookSecrets.js"
import { batchLoop } from "./BatchLoop.js"
import { BatchRunner, type LaneKind, type RunnerOptions } from "./BatchRunner.js"
import { type DecidedBatch, LANE_CONNECTIONS, momentOf, toOutcome } from "./CommandBatch.js"
import { failAll, failExpired, unavailable } from "./CommandFailures.js"
import { CommandQueue, type QueuedCommand } from "./CommandQueue.js"

/*
 * The path of a command in this store, from `Store.transact` to its result. Three layers of other modules may wrap `transact` first:
 * `observedStore` of core reports what was committed, `routedStore` of core chooses the cell of the shop if there are several, and `joining`
 * (JoinedTransactions.ts) sends the commands of an open transaction of the caller past these queues.
 *
 * 1. `transact` adds the command to a lane, which is a `CommandQueue` with one connection. The option `lanes` is their number, and spans,
 *    the metrics' label `lane` and the names of connections show which one it was. A hash of the shop's id chooses the lane, so that the
 *    commands of one shop run one after another, and commands of shops in different lanes run at the same time.
 * 2. A lane takes up to 128 commands at a time from its queue, one of each shop in turn, and gives them to its `BatchRunner`, because a
 *    transaction costs little more for many commands than for one. Meanwhile new commands wait for the next batch (`batchLoop`).
 * 3. `decideBatch` (CommandBatch.ts) begins a transaction, locks the heads of the shops, loads what the commands need, and runs
 *    their decisions in memory. `saveBatch` writes all changes in one statement, with a receipt, and commits.
 * 4. Once the commit is known, each caller gets its outcome, and `onCommit` notifies dispatchers and other processes.
 *
 * Every command is settled exactly once, whatever fails on the way:
 *
 * - Another process holds the lock of a shop: the batch runs again without the locked shops, whose commands move to the contended
 *   lane. This is one more lane, which waits longer for locks and takes one shop at a time, so that a locked shop delays no other.
 * - The transaction lost a conflict, or the connection broke before the commit was sent: the batch runs again, up to 16 times.
 * - The connection broke during the commit: the receipt shows, on a new connection, whether the transaction was committed. If that
 *   cannot be found out in time, the callers get `StoreUnavailable`, because a guess could run a command twice.
 * - The database refuses the data of one command: the batch is halved until that command is alone and fails by itself.
 * - The database is unreachable: the batch and all that wait fail at once, because they would wait for the same connection.
 * - A command waited for five seconds, or too many wait already: it fails with `StoreUnavailable`.
 */

/** The time that a lane waits for a shop's lock before it moves the shop's commands to the contended lane. */
const LOCK_TIMEOUT_MS = 25
/** The time that the contended lane waits for a shop's lock before it tries the next shop. */
const CONTENDED_LOCK_TIMEOUT_MS = 250
const MAX_WAIT_NS = BigInt(ServiceLimits.command_wait_max_ms) * 1_000_000n
/** The interval of checks for expired commands, in real time, because the batch before them may be slow. */
const SWEEP_INTERVAL = "250 millis"

const closingFailure = unavailable("The store is closing")
const tooManyFailure = unavailable("Too many commands wait for their turn")

/** The waiting commands of some shops, and the connection that runs them. */
export interface Lane {
  /** Queues a command. The command fails at once if too many commands wait or the lane has closed. */
  readonly offer: (queued: QueuedCommand) => void
  /** Removes a command that has not begun to run. Returns false if it has begun. */
  readonly withdraw: (queued: QueuedCommand) => boolean
  readonly waitingCount: () => number
  readonly hasWaiting: (shop_id: ShopId) => boolean
}

/** Runs batches until the scope closes; then it finishes the current batch and fails the waiting commands. */
export const makeLane = ({
  connection,
  makeConnection = makeReconnecting,
  ...options
}: Pick<RunnerOptions, "kind" | "onCommit" | "secrets"> & {
  readonly connection: ConnectionOptions
  /** Opens the lane's connections, or borrows them from the caller's pool. */
  readonly makeConnection?: typeof makeReconnecting | undefined
}): Effect.Effect<Lane, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { within } = yield* Tracing
    const queue = new CommandQueue()
    const { isContended } = options.kind
    const runner = new BatchRunner({
      ...options,
      queue,
      database: yield* makeConnection(connection),
      checkClock: yield* clockGuard
    })
    const runNext = Effect.suspend(() => {
      const commands = failExpired(isContended ? queue.takeOfOneShop() : queue.take(), isContended)
      return commands.length === 0
        ? Effect.void
        : within("store batch", { lane: connection.name, commands: commands.length }, runner.run(commands))
    })
    const failExpiredPeriodically = Effect.zipRight(
      Effect.sleep(SWEEP_INTERVAL),
      Effect.sync(() => failExpired(queue.takeExpired(), isContended))
    )

    const loop = yield* batchLoop({
      hasWaiting: () => queue.count > 0,
      runBatch: runNext,
      close: () => failAll(queue.takeAll(), closingFailure)
    })
    yield* Effect.forkScoped(Effect.forever(failExpiredPeriodically))
    return {
      offer: (queued) => {
        if (loop.isClosed()) return failAll([queued], closingFailure)
        if (!queue.add(queued)) return failAll([queued], tooManyFailure)
        loop.wake()
      },
      withdraw: (queued) => queue.withdraw(queued),
      waitingCount: () => queue.count,
      hasWaiting: (shop_id) => queue.has(shop_id)
    }
  })

/** The number of lanes, their connections, and the callback after a commit. */
export interface TransactOptions extends Database {
  /** The number of lanes, not counting the contended one. Each has one connection, and the shops are divided among them. */
  readonly lanes: number
  /** The name of the cell, if there are several. */
  readonly cell?: string | undefined
  readonly makeConnection?: typeof makeReconnecting | undefined
  readonly secrets: WebhookSecrets
  readonly onCommit: (batch: DecidedBatch) => void
}

/** The number of the lane of a shop, from zero. */
const laneNumberOf = (shop_id: ShopId, lanes: number): number => {
  let hash = 0
  for (let i = 0; i < shop_id.length; i++) hash = (hash * 31 + shop_id.charCodeAt(i)) | 0
  return Math.abs(hash) % lanes
}

/** Makes `Store.transact`, with its lanes. */
export const makeTransact = (
  { url, schema, lanes: count, cell, makeConnection, secrets, onCommit }: TransactOptions,
  entropy: Context.Tag.Service<Entropy>
): Effect.Effect<Context.Tag.Service<Store>["transact"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const pages = yield* TrackingPages
    const openLane = (name: string, lock_timeout_ms: number, kind: LaneKind) =>
      makeLane({
        connection: { url, schema, name, lock_timeout_ms },
        makeConnection,
        kind,
        secrets,
        onCommit
      })
    const contendedLane = yield* openLane(LANE_CONNECTIONS.contended, CONTENDED_LOCK_TIMEOUT_MS, { isContended: true })
    const names = Array.from({ length: count }, (_, i) => `${LANE_CONNECTIONS.numbered} ${i + 1}`)
    const lanes = yield* Effect.forEach(names, (name) =>
      openLane(name, LOCK_TIMEOUT_MS, {
        isContended: false,
        moveToContended: (commands) => commands.forEach(contendedLane.offer)
      })
    )
    const labelOf = (lane: string) => (cell === undefined ? lane : `${cell} ${lane}`)
    yield* probe({
      measure: Effect.suspend(() =>
        Effect.all(
          [
            showWaiting(labelOf("contended"), contendedLane.waitingCount()),
            ...lanes.map((lane, i) => showWaiting(labelOf(`${i + 1}`), lane.waitingCount()))
          ],
          { discard: true }
        )
      )
    })

    return <A, E>(command: Command<A, E>): Effect.Effect<Outcome<A>, E | StoreUnavailable> =>
      Effect.clockWith((clock) =>
        Effect.async<Outcome<unknown>, unknown>((resume) => {
          const queued_ns = clock.unsafeCurrentTimeNanos()
          let isSettled = false
          let onSettled = (): void => undefined
          const queued: QueuedCommand = {
            command,
            moment: momentOf(clock, entropy, pages),
            isExpired: () => clock.unsafeCurrentTimeNanos() - queued_ns > MAX_WAIT_NS,
            settle: (exit) => {
              if (isSettled) return
              isSettled = true
              resume(Effect.map(exit, toOutcome))
              onSettled()
            }
          }
          // If commands of this shop wait in the contended lane, later commands go there too, to preserve their order.
          const lane = contendedLane.hasWaiting(command.shop_id)
            ? contendedLane
            : lanes[laneNumberOf(command.shop_id, count)]!
          lane.offer(queued)
          // An interruption withdraws the command, or waits for its end if it runs already.
          return Effect.async<void>((resumed) => {
            const isDone = lane.withdraw(queued) || contendedLane.withdraw(queued) || isSettled
            if (isDone) resumed(Effect.void)
            else onSettled = () => resumed(Effect.void)
          })
        })
      ) as Effect.Effect<Outcome<A>, E | StoreUnavailable>
  })
