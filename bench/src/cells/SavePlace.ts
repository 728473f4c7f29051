import { randomBytes, randomUUID } from "node:crypto"
import { ENTROPY_BYTES } from "@workshop/core/store"
import type { CellAddress } from "@workshop/store-pg"
import { listCells, migrate } from "@workshop/store-pg/migrate"
import { Effect, type Scope } from "effect"
import pg from "pg"
import { setWebhook } from "../../../packages/core/dist/decisions/webhookSettings.js"
import { runCommand } from "../../../packages/core/dist/testing/Fixtures.js"
import {
  type BatchedCommand,
  type DecidedBatch,
  decideBatch,
  putReceipt,
  RECEIPT_STEP,
  type saveBatch
} from "../../../packages/store-pg/dist/commands/CommandBatch.js"
import { sendOn } from "../../../packages/store-pg/dist/connection/CallersPool.js"
import { COMMIT, type Connection, connect } from "../../../packages/store-pg/dist/connection/Connection.js"
import { failureOf, type PgFailure } from "../../../packages/store-pg/dist/connection/PgFailure.js"
import {
  PLANNED_EACH_TIME,
  PLANNED_ONCE,
  type Settings
} from "../../../packages/store-pg/dist/connection/SessionClient.js"
import { unencryptedSecrets } from "../../../packages/store-pg/dist/secrets/WebhookSecrets.js"
import { BenchClock, type Creator, createCommand, creators } from "../create/Workload.js"
import { cellSchemas, onStore, plainDatabase, RETRY_SCHEDULE } from "./Placement.js"

/** A function that saves a batch in its transaction. */
export type SaveForm = typeof saveBatch

/** Sends separate statements, without waiting for the results of earlier ones. */
export const pipelined: SaveForm = (connection, { changes }, receipt) =>
  Effect.asVoid(
    connection.send([...changes.locks(), ...changes.statements(), putReceipt(receipt), ...changes.rewrites(), COMMIT])
  )

/** A connection that saves creates, as a lane of the store does. */
export interface Saver {
  /**
   * Decides and saves a batch with `size` creates in different shops. Returns the duration of the save in milliseconds.
   */
  readonly batch: (size: number, save: SaveForm) => Effect.Effect<number, PgFailure>
}

/** A place for the rows of shops, with a way of connecting to it. */
export interface SavePlace {
  readonly name: string
  readonly savers: ReadonlyArray<Saver>
}

/** The name of the savers' connections. */
export const SAVES = "bench saves"

/**
 * The creates of a shop after which the clock moves by an hour, because a shop may create only 150 tickets an hour and
 * 600 a day (Specification, Limits).
 */
const CREATES_AN_HOUR = 20

const saverOf = (connection: Connection, shops: ReadonlyArray<Creator>): Saver => {
  let count = 0
  let batches = 0
  const began = Date.now()
  const queued = (): BatchedCommand => {
    count++
    const now = began + Math.floor((count * 3_600_000) / CREATES_AN_HOUR / shops.length)
    return {
      command: createCommand(shops[count % shops.length]!, count),
      moment: () => ({ now, entropy: randomBytes(ENTROPY_BYTES), tracking_base_url: null })
    }
  }
  const saved = (batch: DecidedBatch, save: SaveForm) =>
    Effect.suspend(() => {
      const begun = performance.now()
      batches += RECEIPT_STEP
      const receipt = { connection: connection.id, batch: batches, saved_at: began }
      return Effect.map(save(connection, batch, receipt), () => performance.now() - begun)
    })
  return {
    batch: (size, save) =>
      Effect.suspend(() =>
        decideBatch(connection, Array.from({ length: size }, queued), {
          skipsLocked: false,
          secrets: unencryptedSecrets
        })
      ).pipe(Effect.flatMap((batch) => saved(batch, save)))
  }
}

const SAVERS = 2

interface Way {
  readonly name: string
  readonly connection: (schema: string) => Effect.Effect<Connection, unknown, Scope.Scope>
}

const own =
  (url: string, plans: Settings): Way["connection"] =>
  (schema) =>
    connect({ url, schema, plans, name: SAVES, lock_timeout_ms: 1_000 })

/** A client of an embedder's pool, which sends each statement only after the result of the previous statement. */
const borrowed =
  (url: string): Way["connection"] =>
  (schema) =>
    Effect.gen(function* () {
      const client = new pg.Client({ connectionString: url, application_name: SAVES })
      yield* Effect.promise(() => client.connect())
      yield* Effect.addFinalizer(() => Effect.promise(() => client.end()))
      const send = sendOn(client, schema)
      return {
        id: randomUUID(),
        send: (...groups) => Effect.tryPromise({ try: () => send(groups.flat()), catch: failureOf }),
        isOpen: () => true,
        broken: Effect.never
      }
    })

/** Opens the savers of a way, each for its own part of the shops, because a saver counts the creates of its shops. */
const openWay = ({ name, connection }: Way, schema: string, shops: ReadonlyArray<Creator>) =>
  Effect.gen(function* () {
    const each = shops.length / SAVERS
    const savers = yield* Effect.forEach(Array.from({ length: SAVERS }).keys(), (i) =>
      Effect.map(connection(schema), (opened) => saverOf(opened, shops.slice(i * each, (i + 1) * each)))
    )
    return { name, savers } satisfies SavePlace
  })

const openShops = (url: string, schema: string, cells: ReadonlyArray<CellAddress>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const on = yield* onStore(url, schema, cells, new BenchClock())
      const shops = yield* Effect.retry(on(creators), RETRY_SCHEDULE)
      for (const { shop_id } of shops)
        yield* Effect.retry(
          on(runCommand(setWebhook(shop_id, { url: "https://shop.example/hook", secret: "whsec_1" }))),
          RETRY_SCHEDULE
        )
      return shops
    })
  )

const SCHEMA = "bench_saves"
const CELLS = [{ name: "only" }]

/**
 * The compared places: a plain Postgres over the store's connections and over an embedder's pool, and a cell of Citus
 * at its own node and through the coordinator.
 */
export const savePlaces = (url: string): Effect.Effect<ReadonlyArray<SavePlace>, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const plain = yield* plainDatabase(url)
    yield* migrate(plain, {})
    yield* cellSchemas(url, SCHEMA, CELLS)
    const [, cell] = yield* listCells(url, { schema: SCHEMA, cells: CELLS })
    const node = Object.assign(new URL(url), { host: cell!.node }).href
    const inCell = `${SCHEMA}_${CELLS[0]!.name}`
    const onPlain = (way: Way) =>
      Effect.flatMap(openShops(plain, "workshop", []), (shops) => openWay(way, "workshop", shops))
    const onCitus = (way: Way) => Effect.flatMap(openShops(url, SCHEMA, CELLS), (shops) => openWay(way, inCell, shops))
    return [
      yield* onPlain({ name: "one plain Postgres", connection: own(plain, PLANNED_ONCE) }),
      yield* onPlain({ name: "one plain Postgres, an embedder's pool", connection: borrowed(plain) }),
      yield* onCitus({ name: "a cell of Citus, at its own node", connection: own(node, PLANNED_EACH_TIME) }),
      yield* onCitus({ name: "a cell of Citus, through the coordinator", connection: own(url, PLANNED_EACH_TIME) })
    ]
  })
