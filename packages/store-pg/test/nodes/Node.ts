import { Entropy, type ShopId, type StorePorts } from "@workshop/core"
import { Reads } from "@workshop/core/store"
import { SettableClock } from "@workshop/core/testing"
import { type Context, Effect, Layer, type Scope } from "effect"
import pg from "pg"
import { createTicket } from "../../../core/src/decisions/createTicket.js"
import { runCommand, ticketInput } from "../../../core/src/testing/Fixtures.js"
import { openMigrationSession, type Session } from "../../src/migrate/Session.js"
import { layer, type PgStoreOptions } from "../../src/PgStore.js"
import { testDatabase } from "../cluster/TestDatabase.js"

/** The services of a node that tests call. */
export type Ports = Context.Context<StorePorts | Entropy>

/** Starts a store, as each process of the service does. */
export const node = (options: PgStoreOptions): Effect.Effect<Ports, never, Scope.Scope> =>
  Layer.build(Layer.provideMerge(Layer.orDie(layer(options)), Entropy.layer))

/** Creates an embedder's pool for a store. */
export const borrowedFrom = (url: string, max = 4): Effect.Effect<pg.Pool, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new pg.Pool({ connectionString: url, max, application_name: "mine" })
      // The database may be dropped while a client is still closing, which emits an error.
      return pool.on("error", () => undefined)
    }),
    (pool) => Effect.promise(() => pool.end())
  )

/** Creates a database, with a session of its owner. */
export const database: Effect.Effect<{ readonly url: string; readonly session: Session }, never, Scope.Scope> =
  Effect.gen(function* () {
    const { url } = yield* testDatabase
    return { url, session: yield* Effect.orDie(openMigrationSession(url)) }
  })

/** A clock with real time, for fixtures that require a {@link SettableClock}. */
export class RealClock extends SettableClock {
  override readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())
  override unsafeCurrentTimeMillis(): number {
    return Date.now()
  }
  override unsafeCurrentTimeNanos(): bigint {
    return process.hrtime.bigint()
  }
}

/** Runs a test in real time by default, or under `clock`. */
export const runTest = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>, clock: SettableClock = new RealClock()) =>
  Effect.runPromise(Effect.withClock(Effect.scoped(effect), clock))

/** Creates a ticket and returns its number. */
export const create = (shop_id: ShopId, service = "Hem") =>
  Effect.map(
    runCommand(createTicket(shop_id, ticketInput({ service }), { via: "api", foundWords: [] })),
    ({ number }) => number ?? 0
  )

/** The numbers of all tickets of a shop, oldest first. */
export const numbers = (shop_id: ShopId) =>
  Effect.gen(function* () {
    const reads = yield* Reads
    const { tickets } = yield* reads.tickets(shop_id, {}, { _tag: "Newest", after: null }, 1_000)
    return tickets.map(({ record }) => record.number).sort((a, b) => a - b)
  })

/** The whole numbers from 1 to `n`. */
export const upTo = (n: number): ReadonlyArray<number> => Array.from({ length: n }, (_, i) => i + 1)
