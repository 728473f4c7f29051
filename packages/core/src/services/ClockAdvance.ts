import { Context, Effect, Exit, Layer, Schema } from "effect"
import { DateTimeText, type Instant, LAST_INSTANT, toIso } from "../domain/Instant.js"
import { InvalidInput } from "../domain/InvalidInput.js"
import { optional } from "../domain/Optional.js"
import type { StoreUnavailable } from "../ports/Store.js"
import { type MovableClock, SandboxClock } from "./SandboxClock.js"

/** Work that becomes due at instants of its own, such as closures (`Closer`): what a walk through time stops for. */
export interface DueWork {
  /** The earliest instant, at most `until`, at which there is something to do, also where it has passed; null where there is nothing. */
  readonly next: (until: Instant) => Effect.Effect<Instant | null, StoreUnavailable>
  /** Does all that is due by now, and whatever that makes due now. Answers how much that was. */
  readonly runOnce: Effect.Effect<number, StoreUnavailable>
}

/** How to move the clock: first to `set`, then on by `advance_ms`; there it stands or runs along as `freeze` says, or as before. */
export const ClockMove = Schema.Struct({
  advance_ms: optional(
    Schema.Int.pipe(
      Schema.nonNegative({ message: () => "must be 0 or more whole milliseconds: the clock never goes back" })
    )
  ),
  set: optional(DateTimeText),
  freeze: optional(Schema.Boolean)
}).annotations({ identifier: "ClockMoveInput" })
export type ClockMove = typeof ClockMove.Type

/** What a clock shows. */
export interface ClockState {
  readonly now: Instant
  readonly frozen: boolean
}

const refused = (field: keyof ClockMove, message: string) =>
  Effect.fail(new InvalidInput({ issues: [{ field, message }] }))

/** Where a move leads, from `now`; what leads back or too far is refused. */
const destination = ({ set, advance_ms }: ClockMove, now: Instant): Effect.Effect<Instant, InvalidInput> => {
  const start = set ?? now
  if (start < now) return refused("set", `must not be before ${toIso(now)}: the clock never goes back`)
  const target = start + (advance_ms ?? 0)
  return target > LAST_INSTANT
    ? refused("advance_ms", `must not lead beyond ${toIso(LAST_INSTANT)}`)
    : Effect.succeed(target)
}

/** How often in a row, at one instant, work may be said to be due and none be done. */
const MOST_IDLE = 100

const walker = (clock: MovableClock, works: ReadonlyArray<DueWork>) => {
  /** Does all work that is due at the earliest instant until `target`. Answers how much that was; null where nothing is due. */
  const step = Effect.fnUntraced(function* step(target: Instant) {
    const nexts = yield* Effect.forEach(works, (work) => work.next(target))
    const dues = nexts.filter((next) => next !== null)
    if (dues.length === 0) return null
    clock.holdAt(Math.min(...dues))
    const now = clock.unsafeCurrentTimeMillis()
    const due = works.filter((_, i) => (nexts[i] ?? Number.POSITIVE_INFINITY) <= now)
    const done = yield* Effect.forEach(due, ({ runOnce }) => runOnce)
    return done.reduce((sum, n) => sum + n, 0)
  })

  return Effect.fnUntraced(function* (target: Instant) {
    for (let idle = 0; idle < MOST_IDLE; ) {
      const before = clock.unsafeCurrentTimeMillis()
      const done = yield* step(target)
      if (done === null) return clock.holdAt(target)
      idle = done === 0 && clock.unsafeCurrentTimeMillis() === before ? idle + 1 : 0
    }
    return yield* Effect.dieMessage("Work is said to be due that is never done")
  })
}

/**
 * Moves the sandbox clock (Specification, Sandbox). The way leads from one instant at which something is due to the next: the
 * clock stands at that very instant while the work runs, so order and timestamps are those of a clock that ran there.
 * Moves wait for one another. Where one is interrupted or the store fails, the clock stays at the instant it reached,
 * with all that was due by then done or still due.
 */
export class ClockAdvance extends Context.Tag("@workshop/core/TimeWalk")<
  ClockAdvance,
  {
    readonly state: Effect.Effect<ClockState>
    /** Answers once everything due on the way has run; a refused move moves nothing. */
    readonly move: (move: ClockMove) => Effect.Effect<ClockState, InvalidInput | StoreUnavailable>
  }
>() {
  /** Walks that stop for the given works: `TimeWalk.layer([Closer])`. */
  static readonly layer = <const Works extends ReadonlyArray<Effect.Effect<DueWork, never, unknown>>>(
    works: Works
  ): Layer.Layer<ClockAdvance, never, SandboxClock | Effect.Effect.Context<Works[number]>> =>
    Layer.effect(
      ClockAdvance,
      Effect.gen(function* () {
        const clock = yield* SandboxClock
        const sources = yield* Effect.all(
          works as ReadonlyArray<Effect.Effect<DueWork, never, Effect.Effect.Context<Works[number]>>>
        )
        return ClockAdvance.of(make(clock, sources))
      })
    )
}

const make = (clock: MovableClock, works: ReadonlyArray<DueWork>): Context.Tag.Service<ClockAdvance> => {
  const walkTo = walker(clock, works)
  const oneByOne = Effect.unsafeMakeSemaphore(1).withPermits(1)
  const state = Effect.sync((): ClockState => ({ now: clock.unsafeCurrentTimeMillis(), frozen: clock.frozen }))

  const moveAlone = (move: ClockMove) => {
    const isGoing = (move.set ?? move.advance_ms ?? null) !== null
    const frozen = move.freeze ?? clock.frozen
    return Effect.acquireUseRelease(
      Effect.sync(() => clock.holdAt(clock.unsafeCurrentTimeMillis())),
      Effect.fnUntraced(function* () {
        const target = yield* destination(move, clock.unsafeCurrentTimeMillis())
        if (isGoing) yield* walkTo(target)
        return { now: clock.unsafeCurrentTimeMillis(), frozen }
      }),
      (_, exit) => Effect.sync(() => clock.release(Exit.isSuccess(exit) ? frozen : clock.frozen))
    )
  }

  return { state, move: (move) => oneByOne(Effect.suspend(() => moveAlone(move))) }
}
