import { Entropy, type StorePorts, type TicketId } from "@workshop/core"
import { Deliveries, Reads } from "@workshop/core/store"
import { type CellAddress, PgStore } from "@workshop/store-pg"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect, Layer, ManagedRuntime, Schedule, type Scope } from "effect"
import { setWebhook } from "../../../packages/core/dist/decisions/webhookSettings.js"
import { runCommand } from "../../../packages/core/dist/testing/Fixtures.js"
import { record, statusResult } from "../../../packages/core/dist/testing/TestDispatcher.js"
import { openMigrationSession, type Session } from "../../../packages/store-pg/dist/migrate/Session.js"
import { BenchClock, createNext, creators } from "../create/Workload.js"

/** A store whose shops are placed in one of the compared ways, and the work that is measured there. */
export interface Placement {
  readonly name: string
  readonly create: Effect.Effect<unknown, unknown>
  /** Reads one of the tickets that `create` created. */
  readonly get: Effect.Effect<unknown, unknown>
  /** Claims due deliveries. Returns effects that record their attempts. */
  readonly claim: (max: number) => Effect.Effect<ReadonlyArray<Effect.Effect<unknown, unknown>>, unknown>
}

/** The address of another database on the same server. */
const beside = (url: string, database: string): string => Object.assign(new URL(url), { pathname: `/${database}` }).href

const NAMES = { plain: "one plain Postgres", one: "one cell of Citus", eight: "eight cells of Citus" } as const

/** The compared ways, with their schemas. The plain one uses a database without Citus on the coordinator's server. */
const WAYS = [
  { name: NAMES.plain, schema: "workshop", cells: [] },
  { name: NAMES.one, schema: "bench_one", cells: [{ name: "only" }] },
  {
    name: NAMES.eight,
    schema: "bench_eight",
    cells: Array.from({ length: 8 }, (_, i) => ({ name: `cell_${i + 1}` }))
  }
] as const

/** Creates a database without Citus on the coordinator's server, which exists until the scope closes. */
export const plainDatabase = (url: string) =>
  Effect.gen(function* () {
    const admin = yield* openMigrationSession(beside(url, "postgres"))
    const drop = admin.run("drop database if exists bench_plain with (force)")
    yield* drop
    yield* admin.run("create database bench_plain")
    yield* Effect.addFinalizer(() => Effect.orDie(drop))
    return beside(url, "bench_plain")
  })

/** Creates the schemas of cells on Citus, which exist until the scope closes. */
export const cellSchemas = (
  url: string,
  schema: string,
  cells: ReadonlyArray<CellAddress>
): Effect.Effect<Session, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const session = yield* openMigrationSession(url)
    const drop = Effect.forEach([schema, ...cells.map(({ name }) => `${schema}_${name}`)], (one) =>
      session.run(`drop schema if exists ${one} cascade`)
    )
    yield* drop
    yield* Effect.addFinalizer(() => Effect.orDie(drop))
    yield* migrate(url, { schema, cells })
    return session
  })

/** Returns a function that runs effects on a store, which is open until the scope closes. */
export const onStore = (url: string, schema: string, cells: ReadonlyArray<CellAddress>, clock: BenchClock) =>
  Effect.gen(function* () {
    const store = PgStore.layer({ url, schema, cells }).pipe(
      Layer.provideMerge(Layer.merge(Entropy.layer, clock.layer))
    )
    const runtime = ManagedRuntime.make(store)
    yield* Effect.addFinalizer(() => Effect.promise(() => runtime.dispose()))
    const context = yield* runtime.runtimeEffect
    return <A, E, R extends StorePorts | Entropy>(effect: Effect.Effect<A, E, R>) =>
      Effect.provide(effect, context) as Effect.Effect<A, E>
  })

/** The retries of the first statements in a new schema, which may exceed the store's time-out on a busy machine. */
export const RETRY_SCHEDULE = Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(10))

const open = (url: string, { name, schema, cells }: (typeof WAYS)[number]) =>
  Effect.gen(function* () {
    const clock = new BenchClock()
    const at = cells.length === 0 ? yield* plainDatabase(url) : url
    if (cells.length === 0) yield* migrate(at, { schema })
    else yield* cellSchemas(at, schema, cells)
    const on = yield* onStore(at, schema, cells, clock)
    const shops = yield* Effect.retry(on(creators), RETRY_SCHEDULE)
    for (const { shop_id } of shops)
      yield* Effect.retry(
        on(runCommand(setWebhook(shop_id, { url: "https://shop.example/hook", secret: "whsec_1" }))),
        RETRY_SCHEDULE
      )
    const tickets: Array<readonly [shop: number, id: TicketId]> = []
    let creates = 0
    let gets = 0
    const makes = yield* on(createNext(shops, clock))
    const [reads, deliveries] = yield* on(Effect.all([Reads, Deliveries]))
    const create = Effect.suspend(() => {
      const shop = ++creates % shops.length
      return Effect.map(on(makes), ({ result }) => void tickets.push([shop, result.data.id as TicketId]))
    })
    return {
      name,
      create,
      get: Effect.suspend(() => {
        const [shop, id] = tickets[(++gets * 7919) % tickets.length]!
        return on(reads.ticket(shops[shop]!.shop_id, id))
      }),
      claim: (max) =>
        Effect.map(
          Effect.suspend(() => on(deliveries.claim(clock.unsafeCurrentTimeMillis(), max))),
          (claims) => claims.map((claim) => on(record(claim, statusResult(200))))
        )
    } satisfies Placement
  })

/** Opens a placement for each way on a cluster. */
export const placements = (url: string): Effect.Effect<ReadonlyArray<Placement>, unknown, Scope.Scope> =>
  Effect.forEach(WAYS, (way) => open(url, way))
