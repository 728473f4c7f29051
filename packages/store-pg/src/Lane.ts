import { StoreUnavailable } from "@workshop/core/ports/Store"
import { Cause, Effect, type Scope } from "effect"
import { type Decided, decideTogether, failAll, save, settleAll } from "./Batch.js"
import { type ConnectionOptions, ROLLBACK } from "./Connection.js"
import type { Entry } from "./Entry.js"
import { type Link, link } from "./Link.js"
import { PgFailure } from "./PgFailure.js"
import { outcomeOf } from "./TransactionOutcome.js"
import { Waiting } from "./Waiting.js"

/** How often a batch is run again that lost against another transaction, and a command whose tracking code was taken. */
const MOST_RUNS = 16

/** The unique rule that no decision can see: another ticket of the shop has the code already. */
const TRACKING_CODE = "ticket_tracking_code"

/** What a lane does besides running its commands. */
export interface LaneOptions {
  readonly connection: ConnectionOptions
  /** Takes the commands of shops that another process holds; null where this lane waits for them itself. */
  readonly apart: ((entries: ReadonlyArray<Entry>) => void) | null
  /** Told of all that was committed. */
  readonly onCommit: (decided: Decided) => void
}

/** Runs the commands of some shops, many in one transaction. */
export interface Lane {
  /** Queues a command; false where too many wait. */
  readonly offer: (entry: Entry) => boolean
  /** Takes a command out that has not begun to run. */
  readonly withdraw: (entry: Entry) => boolean
  /** How many wait. */
  readonly waiting: () => number
}

const unavailable = (cause: unknown): Cause.Cause<unknown> => Cause.fail(new StoreUnavailable({ cause }))

/** A batch on its way to its end, and how often it was begun. */
interface Run {
  readonly entries: ReadonlyArray<Entry>
  readonly runs: number
}

const again = ({ entries, runs }: Run): Run => ({ entries, runs: runs + 1 })

/** Everything that happens to a batch until each of its commands was told how it ended. */
class Runner {
  readonly #link: Link
  readonly #options: LaneOptions
  readonly #putBack: (entries: ReadonlyArray<Entry>) => void

  constructor(link: Link, options: LaneOptions, putBack: (entries: ReadonlyArray<Entry>) => void) {
    this.#link = link
    this.#options = options
    this.#putBack = putBack
  }

  readonly run = (run: Run, skipsHeld = false): Effect.Effect<void> =>
    this.#link.connection.pipe(
      Effect.flatMap((connection) =>
        decideTogether(connection, run.entries, { skipsHeld }).pipe(
          Effect.flatMap((decided) => this.#saved(run, decided, skipsHeld)),
          Effect.catchAll((failure) => Effect.zipRight(this.#undo, this.#afterFailure(run, failure)))
        )
      ),
      Effect.catchAll((failure) => Effect.sync(() => failAll(run.entries, unavailable(failure))))
    )

  readonly #undo = Effect.suspend(() => this.#link.connection).pipe(
    Effect.flatMap((connection) => connection.send([ROLLBACK])),
    Effect.catchAll(() => this.#link.drop)
  )

  /** Saves a decided batch, and settles it once it is known whether that was committed. */
  #saved(run: Run, decided: Decided, skipsHeld: boolean): Effect.Effect<void, PgFailure> {
    const whole: Run = { entries: decided.exits.map(([entry]) => entry), runs: run.runs }
    return Effect.flatMap(this.#link.connection, (connection) => save(connection, decided)).pipe(
      Effect.flatMap((isCommitted) => (isCommitted ? this.#settle(decided, skipsHeld) : this.run(again(run)))),
      Effect.catchAll((failure) => {
        if (failure.kind !== "lost") return Effect.fail(failure)
        return Effect.zipRight(this.#link.drop, this.#afterLoss(whole, decided, skipsHeld, failure))
      })
    )
  }

  /** The connection broke between save and answer: asks, on another one, what became of the transaction. Never a guess. */
  #afterLoss(run: Run, decided: Decided, skipsHeld: boolean, failure: PgFailure): Effect.Effect<void> {
    return outcomeOf(this.#link, decided.xid).pipe(
      Effect.flatMap((outcome) => {
        if (outcome === "committed") return this.#settle(decided, skipsHeld)
        this.#rest(decided, skipsHeld)
        return outcome === "aborted"
          ? this.run(again(run))
          : Effect.sync(() => failAll(run.entries, unavailable(failure)))
      })
    )
  }

  #settle(decided: Decided, skipsHeld: boolean): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#options.onCommit(decided)
      settleAll(decided)
      this.#rest(decided, skipsHeld)
    })
  }

  /** What the batch left undone: too large to fit, or held elsewhere. Who waited for its lock and found no row has no shop. */
  #rest({ left, held }: Decided, skipsHeld: boolean): void {
    if (left.length > 0) this.#putBack(left)
    if (held.length === 0) return
    if (skipsHeld && this.#options.apart !== null) this.#options.apart(held)
    else failAll(held, Cause.die(new Error(`No shop ${held[0]!.command.shop_id}`)))
  }

  #afterFailure(run: Run, failure: PgFailure): Effect.Effect<void> {
    const { entries } = run
    const [only] = entries
    if (run.runs >= MOST_RUNS) return Effect.sync(() => failAll(entries, this.#lastWord(failure)))
    switch (failure.kind) {
      case "held":
        return this.#options.apart === null ? this.#unlessExpired(again(run)) : this.run(again(run), true)
      case "conflict":
      case "lost":
        return this.#unlessExpired(again(run))
      case "data":
        if (entries.length > 1) return this.#halve(run)
        if (failure.constraint === TRACKING_CODE) return this.run(again(run))
        return Effect.sync(() => failAll([only!], Cause.die(failure)))
      case "other":
        return Effect.sync(() => failAll(entries, unavailable(failure)))
    }
  }

  #lastWord(failure: PgFailure): Cause.Cause<unknown> {
    return failure.kind === "data"
      ? Cause.die(new Error("Every tracking code drawn was taken: the entropy repeats itself"))
      : unavailable(failure)
  }

  #unlessExpired(run: Run): Effect.Effect<void> {
    const expired = run.entries.filter((entry) => entry.isExpired())
    failAll(expired, unavailable(new Error("The command waited too long")))
    const entries = run.entries.filter((entry) => !expired.includes(entry))
    return entries.length === 0 ? Effect.void : this.run({ ...run, entries })
  }

  /** One of them brought what the database refuses: halved again and again, it fails alone. */
  #halve({ entries, runs }: Run): Effect.Effect<void> {
    const middle = entries.length >> 1
    return Effect.zipRight(
      this.run({ entries: entries.slice(0, middle), runs: 0 }),
      Effect.suspend(() => this.run({ entries: entries.slice(middle), runs }))
    )
  }
}

/** A lane with a connection of its own. It works until its scope ends; then it finishes what it has and refuses what waits. */
export const lane = (options: LaneOptions): Effect.Effect<Lane, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting = new Waiting()
    const connection = yield* link(options.connection)
    const runner = new Runner(connection, options, (entries) => waiting.putBack(entries))
    let ring = (): void => undefined
    let isClosed = false

    const untilOffered = Effect.async<void>((resume) => {
      ring = () => resume(Effect.void)
      if (waiting.count > 0) ring()
    })

    const turn = Effect.gen(function* () {
      yield* untilOffered
      // Those who came in the same moment come along.
      yield* Effect.yieldNow()
      const taken = waiting.take()
      const expired = taken.filter((entry) => entry.isExpired())
      failAll(expired, unavailable(new Error("The command waited too long")))
      const entries = taken.filter((entry) => !expired.includes(entry))
      if (entries.length > 0) yield* Effect.uninterruptible(runner.run({ entries, runs: 0 }))
    })

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        while (waiting.count > 0) failAll(waiting.take(), unavailable(new Error("The store is closing")))
      })
    )
    yield* Effect.forkScoped(Effect.forever(turn))
    return {
      offer: (entry) => {
        if (isClosed || !waiting.add(entry)) return false
        ring()
        return true
      },
      withdraw: (entry) => waiting.withdraw(entry),
      waiting: () => waiting.count
    }
  })
