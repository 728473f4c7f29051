import { Clock, Context, Effect, Either, Exit, Layer, Option, ParseResult, Schema } from "effect"
import { DurationText } from "../../domain/Duration.js"
import { DateTimeText, type Instant, InstantNumber, LAST_INSTANT, toIso } from "../../domain/Instant.js"
import { InvalidInput } from "../../domain/InvalidInput.js"
import { optional } from "../../domain/Text.js"
import type { StoreUnavailable } from "../../ports/StorePorts.js"

/**
 * A clock that runs as fast as the real one but ahead of it by its moves, or that is frozen. Except in `begin` it never
 * goes back, even if the real clock does, and it does not go beyond the year 9999.
 *
 * Only its time can be moved. Sleeps, and the nanoseconds that measure durations, use the real clock, so loops and
 * time-outs continue while this clock is frozen (Specification, Webhooks). A loop that looks for due work once a second
 * therefore finds it within a real second after any move of the clock.
 */
export class MovableClock implements Clock.Clock {
  /** The mark by which Effect recognises a clock. */
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  /** The moved time, in milliseconds since 1970. */
  readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())
  /** The real clock's nanoseconds, which only measure durations. */
  readonly currentTimeNanos: Effect.Effect<bigint>
  /** Sleeps in real time, even while this clock is frozen. */
  readonly sleep: Clock.Clock["sleep"]
  readonly #real: Clock.Clock
  #ahead_ms = 0
  #isHeld = false
  #frozen = false
  #frozen_by: string | null = null
  /** The latest time that the clock returned. While the clock is frozen, this is its time. */
  #now: Instant

  constructor(real: Clock.Clock) {
    this.#real = real
    this.#now = real.unsafeCurrentTimeMillis()
    this.sleep = (duration) => real.sleep(duration)
    this.currentTimeNanos = real.currentTimeNanos
  }

  /** The moved time, in milliseconds since 1970. */
  unsafeCurrentTimeMillis(): Instant {
    if (!this.#isHeld) this.#reach(this.#real.unsafeCurrentTimeMillis() + this.#ahead_ms)
    return this.#now
  }

  /** The real clock's nanoseconds, which only measure durations. */
  unsafeCurrentTimeNanos(): bigint {
    return this.#real.unsafeCurrentTimeNanos()
  }

  /** Whether the clock is frozen. A move in progress, which holds the clock, does not count. */
  get frozen(): boolean {
    return this.#frozen
  }

  /** The name that was given with the freeze; null if there was none. */
  get frozen_by(): string | null {
    return this.#frozen_by
  }

  /** How far the clock is ahead of the real one, in milliseconds; negative if it is frozen and the real clock has passed it. */
  get ahead_ms(): number {
    return this.unsafeCurrentTimeMillis() - this.#real.unsafeCurrentTimeMillis()
  }

  /** Holds the clock at an instant, or at the current time if that is later, until the clock is released. */
  holdAt(instant: Instant): void {
    this.unsafeCurrentTimeMillis()
    this.#isHeld = true
    this.#reach(instant)
  }

  /** Releases the clock, which then runs again from this time, or stays frozen. */
  release(frozen: boolean, frozen_by: string | null = null): void {
    this.unsafeCurrentTimeMillis()
    this.#frozen = frozen
    this.#frozen_by = frozen ? frozen_by : null
    this.#isHeld = frozen
    this.#ahead_ms = this.#now - this.#real.unsafeCurrentTimeMillis()
  }

  /** Resets the clock to its state at the start, or to a given instant, which may be earlier; it then runs or is frozen. */
  begin(at: Pick<ClockState, "now" | "frozen"> | null): void {
    const real = this.#real.unsafeCurrentTimeMillis()
    this.#now = Math.min(LAST_INSTANT, at?.now ?? real)
    this.#ahead_ms = this.#now - real
    this.#frozen = at?.frozen ?? false
    this.#frozen_by = null
    this.#isHeld = this.#frozen
  }

  #reach(instant: Instant): void {
    this.#now = Math.min(LAST_INSTANT, Math.max(this.#now, instant))
  }
}

/** This process's movable clock, for code that moves it; all other code uses Effect's `Clock` (Specification, Sandbox). */
export class SandboxClock extends Context.Tag("@workshop/core/SandboxClock")<SandboxClock, MovableClock>() {
  /** Sets the clock of everything that is built on this layer. The clock below it counts as the real one. */
  static readonly layer: Layer.Layer<SandboxClock> = Layer.unwrapEffect(
    Effect.map(Effect.clock, (real) => {
      const clock = new MovableClock(real)
      return Layer.merge(Layer.succeed(SandboxClock, clock), Layer.setClock(clock))
    })
  )
}

/** Whether the process is a sandbox: its time can be moved, so its data must not be used in production (Specification, Keys and scopes). */
export const inSandbox: Effect.Effect<boolean> = Effect.map(Effect.serviceOption(SandboxClock), Option.isSome)

/** Work that becomes due at certain instants, such as closures (`Closer`). A clock that moves stops at each of them. */
export interface DueWork {
  /** The earliest instant, at most `until`, at which work is due, even if it has passed; null if there is none. */
  readonly next: (until: Instant) => Effect.Effect<Instant | null, StoreUnavailable>
  /** Does all work that is due by now, including further work that it makes due. Returns the number of acts. */
  readonly runOnce: Effect.Effect<number, StoreUnavailable>
}

const TO_REFUSED = 'must be "next", or a date and time such as 2026-11-20T10:20:42Z'

const decodeDateTime = Schema.decodeEither(DateTimeText)

/** `next` or an instant, with one error message for both. */
const NextOrInstant = Schema.transformOrFail(Schema.String, Schema.Union(Schema.Literal("next"), InstantNumber), {
  strict: true,
  decode: (text, _, ast): Either.Either<"next" | Instant, ParseResult.ParseIssue> =>
    text === "next"
      ? Either.right("next" as const)
      : Either.mapLeft(decodeDateTime(text), () => new ParseResult.Type(ast, text, TO_REFUSED)),
  encode: (to) => Either.right(to === "next" ? "next" : toIso(to))
}).annotations({
  jsonSchema: {
    type: "string",
    examples: ["next", "2026-11-20T10:20:42Z"],
    description: "The text next, or an ISO 8601 date and time"
  }
})

/**
 * A move of the clock: first to `set`, then by `advance_ms` or `advance`, or to the instant `to`, which may be the next
 * scheduled one. `freeze` decides whether the clock is frozen afterwards; by default this does not change. `frozen_by`
 * shows other testers who froze it.
 */
export const ClockMove = Schema.Struct({
  advance_ms: optional(
    Schema.Int.pipe(
      Schema.nonNegative({
        message: () => "must be a whole number of milliseconds, at least 0, because the clock never goes back"
      })
    )
  ),
  advance: optional(DurationText),
  set: optional(DateTimeText),
  to: optional(NextOrInstant),
  freeze: optional(Schema.Boolean),
  frozen_by: optional(Schema.String.pipe(Schema.maxLength(200, { message: () => "must be at most 200 characters" })))
})
  .pipe(
    Schema.filter(
      ({ advance_ms, advance, set, to }) => {
        if ((advance ?? null) !== null && (advance_ms ?? null) !== null)
          return { path: ["advance"], message: "must be omitted if advance_ms is given" }
        return (to ?? null) === null || (advance_ms ?? advance ?? set ?? null) === null
          ? true
          : { path: ["to"], message: "cannot be combined with set, advance or advance_ms" }
      },
      { jsonSchema: {} }
    )
  )
  .annotations({ identifier: "ClockMoveInput" })
/** One move of the clock, which {@link ClockMove} has checked. Instants are in milliseconds since 1970. */
export type ClockMove = typeof ClockMove.Type

/** The time of a clock. */
export interface ClockState {
  /** The clock's time, in milliseconds since 1970. */
  readonly now: Instant
  /** Whether the clock stands still until it is moved or released. */
  readonly frozen: boolean
  /** The name that was given with the freeze, such as `a recording`; null if there was none, and while the clock runs. */
  readonly frozen_by: string | null
  /** How many milliseconds the sandbox's clock is ahead of the real clock. */
  readonly ahead_ms: number
}

/** The time of a clock after a move. */
export interface ClockMoveResult extends ClockState {
  /** How far the clock was moved, in milliseconds; 0 if it was only frozen or released. */
  readonly moved_ms: number
}

const clockMoveRefusal = (field: keyof ClockMove, message: string) =>
  Effect.fail(new InvalidInput({ issues: [{ field, message }] }))

/** The target of a move from `now`; a move back or too far ahead is refused. */
const targetOf = ({ set, advance_ms, advance, to }: ClockMove, now: Instant): Effect.Effect<Instant, InvalidInput> => {
  const [field, start] = typeof to === "number" ? (["to", to] as const) : (["set", set ?? now] as const)
  if (start < now) return clockMoveRefusal(field, `must not be before ${toIso(now)}, because the clock never goes back`)
  const target = start + (advance_ms ?? advance ?? 0)
  return target > LAST_INSTANT
    ? clockMoveRefusal(
        (advance ?? null) === null ? "advance_ms" : "advance",
        `must not move the clock beyond ${toIso(LAST_INSTANT)}`
      )
    : Effect.succeed(target)
}

/** Replaces `to: "next"` with the instant of the next scheduled work. */
const resolveNext = (
  move: ClockMove,
  next: NextDue,
  now: Instant
): Effect.Effect<ClockMove, InvalidInput | StoreUnavailable> =>
  move.to !== "next"
    ? Effect.succeed(move)
    : Effect.flatMap(next(now), (at) =>
        at === null
          ? clockMoveRefusal(
              "to",
              "cannot be next, because nothing is scheduled; give an instant, or a length of time to advance"
            )
          : Effect.succeed({ ...move, to: at })
      )

/** The first instant after `now` at which something is scheduled; null if nothing is. */
export type NextDue = (now: Instant) => Effect.Effect<Instant | null, StoreUnavailable>

/** The maximum number of times in a row that work may be due at one instant although `runOnce` does none. */
const MAX_IDLE_ROUNDS = 100

const makeWalker = (clock: MovableClock, works: ReadonlyArray<DueWork>) => {
  /** Does all work that is due at the earliest instant up to `target`. Returns the number of acts; null if nothing is due. */
  const step = Effect.fnUntraced(function* step(target: Instant) {
    const nextInstants = yield* Effect.forEach(works, (work) => work.next(target))
    const dueInstants = nextInstants.filter((next) => next !== null)
    if (dueInstants.length === 0) return null
    clock.holdAt(Math.min(...dueInstants))
    const now = clock.unsafeCurrentTimeMillis()
    const due = works.filter((_, i) => (nextInstants[i] ?? Number.POSITIVE_INFINITY) <= now)
    const done = yield* Effect.forEach(due, ({ runOnce }) => runOnce)
    return done.reduce((sum, n) => sum + n, 0)
  })

  return Effect.fnUntraced(function* (target: Instant) {
    for (let idle = 0; idle < MAX_IDLE_ROUNDS; ) {
      const before = clock.unsafeCurrentTimeMillis()
      const done = yield* step(target)
      if (done === null) return clock.holdAt(target)
      idle = done === 0 && clock.unsafeCurrentTimeMillis() === before ? idle + 1 : 0
    }
    return yield* Effect.dieMessage("A background task reports due work but never does it")
  })
}

/**
 * Moves the sandbox clock (Specification, Sandbox). The clock stops at each instant at which work is due and shows
 * exactly that instant while the work runs, so the order and the timestamps are the same as with a clock that runs
 * continuously. Moves run one after another. If a move is interrupted or the store fails, the clock stays at the
 * instant it reached, and the work up to then is done or still due.
 */
export class ClockAdvance extends Context.Tag("@workshop/core/ClockAdvance")<
  ClockAdvance,
  {
    readonly state: Effect.Effect<ClockState>
    /**
     * Moves the clock, and returns when all work up to the target is done; a refused move changes nothing. `next` finds
     * the instant of `to: "next"`.
     */
    readonly move: (move: ClockMove, next?: NextDue) => Effect.Effect<ClockMoveResult, InvalidInput | StoreUnavailable>
    /**
     * Resets the clock to an instant, or for null to its state at the start. The first given effect runs before, on the
     * old clock, and the second runs after, on the new one. No move happens meanwhile.
     */
    readonly reset: <A, E>(
      at: Pick<ClockState, "now" | "frozen"> | null,
      before: Effect.Effect<void, E>,
      after: Effect.Effect<A, E>
    ) => Effect.Effect<A, E>
  }
>() {
  /** The service for these kinds of work, such as `ClockAdvance.layer([Closer])`. */
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
  const walkTo = makeWalker(clock, works)
  const oneByOne = Effect.unsafeMakeSemaphore(1).withPermits(1)
  const stateWith = (frozen: boolean, frozen_by: string | null): ClockState => ({
    now: clock.unsafeCurrentTimeMillis(),
    frozen,
    frozen_by: frozen ? frozen_by : null,
    ahead_ms: clock.ahead_ms
  })
  const noWorkDue: NextDue = () => Effect.succeed(null)

  const moveAlone = (move: ClockMove, next: NextDue) => {
    const isMoving = (move.set ?? move.advance_ms ?? move.advance ?? move.to ?? null) !== null
    const frozen = move.freeze ?? clock.frozen
    const frozen_by = (move.freeze ?? null) === null ? clock.frozen_by : (move.frozen_by ?? null)
    return Effect.acquireUseRelease(
      Effect.sync(() => clock.holdAt(clock.unsafeCurrentTimeMillis())),
      Effect.fnUntraced(function* () {
        const now = clock.unsafeCurrentTimeMillis()
        const target = yield* targetOf(yield* resolveNext(move, next, now), now)
        if (isMoving) yield* walkTo(target)
        return { ...stateWith(frozen, frozen_by), moved_ms: clock.unsafeCurrentTimeMillis() - now }
      }),
      (_, exit) =>
        Effect.sync(() =>
          Exit.isSuccess(exit) ? clock.release(frozen, frozen_by) : clock.release(clock.frozen, clock.frozen_by)
        )
    )
  }

  return {
    state: Effect.sync(() => stateWith(clock.frozen, clock.frozen_by)),
    move: (move, next = noWorkDue) => oneByOne(Effect.suspend(() => moveAlone(move, next))),
    reset: (at, before, after) =>
      oneByOne(
        Effect.zipRight(
          Effect.zipRight(
            before,
            Effect.sync(() => clock.begin(at))
          ),
          after
        )
      )
  }
}
