import { type Entropy, probe, type ShopId, type StoreUnavailable } from "@workshop/core"
import { type Command, type Decision, ENTROPY_BYTES, type Outcome, readClock, type Store } from "@workshop/core/store"
import { type Context, Effect, type Exit, type Scope } from "effect"
import type { Decided } from "./Batch.js"
import { type CommitQueue, commitQueue } from "./CommitQueue.js"
import type { ConnectionOptions } from "./Connection.js"
import { showWaiting } from "./PgMetrics.js"
import type { QueuedCommand } from "./QueuedCommand.js"
import type { WebhookSecrets } from "./WebhookSecrets.js"

/** How long a lane waits for a head that another process holds, before it lets its shop wait apart. */
const LANE_LOCK_TIMEOUT_MS = 25

/** How long one that waits apart waits at a time. */
const APART_LOCK_TIMEOUT_MS = 250

/** How long a command waits for its turn, in real time. */
const WAIT_NS = 5_000_000_000n

/** How commands are brought to the database. */
export interface TransactOptions {
  readonly url: string
  /** How many connections run commands at once; the shops are divided among them. */
  readonly lanes: number
  readonly secrets: WebhookSecrets
  readonly onCommit: (decided: Decided) => void
}

const laneOf = (shop_id: ShopId, lanes: ReadonlyArray<CommitQueue>): CommitQueue => {
  let hash = 0
  for (let i = 0; i < shop_id.length; i++) hash = (hash * 31 + shop_id.charCodeAt(i)) | 0
  return lanes[Math.abs(hash) % lanes.length]!
}

const outcome = ({ answer, usages }: Decision<unknown>): Outcome<unknown> => ({ answer, usages })

/** The lanes of the process, and one apart for the shops that other processes hold just then. */
export const transact = (
  { url, lanes, secrets, onCommit }: TransactOptions,
  { bytes }: Context.Tag.Service<Entropy>
): Effect.Effect<Context.Tag.Service<Store>["transact"] & { readonly waiting: () => number }, never, Scope.Scope> =>
  Effect.gen(function* () {
    const speaking = (name: string, lock_timeout_ms: number): ConnectionOptions => ({ url, name, lock_timeout_ms })
    const apart = yield* commitQueue({
      connection: speaking("workshop apart", APART_LOCK_TIMEOUT_MS),
      apart: null,
      secrets,
      onCommit
    })
    const sendApart = (entries: ReadonlyArray<QueuedCommand>) => {
      for (const entry of entries) apart.offer(entry)
    }
    const all = yield* Effect.forEach(Array.from({ length: lanes }), (_, i) =>
      commitQueue({
        connection: speaking(`workshop lane ${i + 1}`, LANE_LOCK_TIMEOUT_MS),
        apart: sendApart,
        secrets,
        onCommit
      })
    )
    const measure = Effect.suspend(() =>
      Effect.all([
        showWaiting("apart", apart.waiting()),
        ...all.map((one, i) => showWaiting(String(i + 1), one.waiting()))
      ])
    )
    yield* probe({ measure: Effect.asVoid(measure) })
    const waiting = () => all.reduce((sum, one) => sum + one.waiting(), apart.waiting())

    const run = <A, E>(command: Command<A, E>): Effect.Effect<Outcome<A>, E | StoreUnavailable> =>
      readClock((clock) =>
        Effect.async<Outcome<unknown>, unknown>((resume) => {
          const since = clock.unsafeCurrentTimeNanos()
          const ended: { exit?: Exit.Exit<Decision<unknown>, unknown>; listener?: () => void } = {}
          const entry: QueuedCommand = {
            command,
            moment: () => ({ now: clock.unsafeCurrentTimeMillis(), entropy: bytes(ENTROPY_BYTES) }),
            isExpired: () => clock.unsafeCurrentTimeNanos() - since > WAIT_NS,
            settle: (exit) => {
              if (ended.exit !== undefined) return
              ended.exit = exit
              resume(Effect.map(exit, outcome))
              ended.listener?.()
            }
          }
          // Where some of the shop's wait apart, those that come after them need not find out for themselves.
          const lane = apart.hasWaiting(command.shop_id) ? apart : laneOf(command.shop_id, all)
          lane.offer(entry)
          return Effect.async<void>((resumed) => {
            const hasLeft = !lane.withdraw(entry) && !apart.withdraw(entry) && ended.exit === undefined
            if (!hasLeft) resumed(Effect.void)
            else ended.listener = () => resumed(Effect.void)
          })
        })
      ) as Effect.Effect<Outcome<A>, E | StoreUnavailable>
    return Object.assign(run, { waiting })
  })
