import { type ShopId, Tracing } from "@workshop/core"
import { Effect, type Scope } from "effect"
import { failAll } from "./Batch.js"
import { clockGuard } from "./ClockGuard.js"
import type { ConnectionOptions } from "./Connection.js"
import type { QueuedCommand } from "./QueuedCommand.js"
import { reconnecting } from "./ReconnectingConnection.js"
import { Runner, type RunnerOptions, unavailable, unexpired } from "./Runner.js"
import { CommandQueue } from "./Waiting.js"

/** How often it is looked whether somebody waits too long, in real time: a batch before them may take its time. */
const LOOK = "250 millis"

/** Lets all come along whose requests and answers the process has been sent by now: a batch costs little more for many than for one. */
export const allCame: Effect.Effect<void> = Effect.async((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

const closing = unavailable(new Error("The store is closing"))
const tooMany = unavailable(new Error("Too many commands wait for their turn"))

/** What a lane does besides running its commands. */
export interface CommitQueueOptions extends Pick<RunnerOptions, "apart" | "onCommit" | "secrets"> {
  readonly connection: ConnectionOptions
}

/** Runs the commands of some shops, many in one transaction. */
export interface CommitQueue {
  /** Queues a command; where too many wait, or the lane closes, it fails at once. */
  readonly offer: (entry: QueuedCommand) => void
  /** Takes a command out that has not begun to run. */
  readonly withdraw: (entry: QueuedCommand) => boolean
  /** How many wait. */
  readonly waiting: () => number
  /** Whether commands of a shop wait here. */
  readonly hasWaiting: (shop_id: ShopId) => boolean
}

/** A lane with a connection of its own. It works until its scope ends; then it finishes what it has and refuses what waits. */
export const commitQueue = ({
  connection,
  ...options
}: CommitQueueOptions): Effect.Effect<CommitQueue, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { within } = yield* Tracing
    const waiting = new CommandQueue()
    const runner = new Runner({
      ...options,
      link: yield* reconnecting(connection),
      guard: yield* clockGuard,
      putBack: (entries) => waiting.putBack(entries),
      // They would only wait for the same connection, one batch after the other.
      onAway: (cause) => failAll(waiting.takeAll(), cause)
    })
    let ring = (): void => undefined
    let isClosed = false

    const untilOffered = Effect.async<void>((resume) => {
      ring = () => resume(Effect.void)
      if (waiting.count > 0) ring()
    })

    const traced = (entries: ReadonlyArray<QueuedCommand>) =>
      within("store batch", { lane: connection.name, commands: entries.length }, runner.run(entries))

    const runNext = Effect.suspend(() => {
      // Apart, a shop that stays held must not keep the others from theirs.
      const entries = unexpired(options.apart === null ? waiting.takeOfOneShop() : waiting.take())
      return entries.length > 0 ? traced(entries) : Effect.void
    })
    const turn = untilOffered.pipe(Effect.zipRight(allCame), Effect.zipRight(Effect.uninterruptible(runNext)))

    const sweep = Effect.zipRight(
      Effect.sleep(LOOK),
      Effect.sync(() => unexpired(waiting.takeExpired()))
    )

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        failAll(waiting.takeAll(), closing)
      })
    )
    yield* Effect.forkScoped(Effect.forever(turn))
    yield* Effect.forkScoped(Effect.forever(sweep))
    return {
      offer: (entry) => {
        if (isClosed) return failAll([entry], closing)
        if (!waiting.add(entry)) return failAll([entry], tooMany)
        ring()
      },
      withdraw: (entry) => waiting.withdraw(entry),
      waiting: () => waiting.count,
      hasWaiting: (shop_id) => waiting.has(shop_id)
    }
  })
