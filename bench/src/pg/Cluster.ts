import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startServer } from "@workshop/store-pg/embedded"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect, type Scope } from "effect"
import { openMigrationSession } from "../../../packages/store-pg/dist/migrate/Session.js"

/**
 * The Postgres of `DATABASE_URL`, or a Postgres that this run starts, with the durability settings of `workshop serve`.
 */
export interface Cluster {
  /** Creates an empty database. Returns its connection string. */
  readonly empty: (name: string) => Effect.Effect<string, unknown>
  /** Creates a database with the current schema. Returns its connection string. */
  readonly database: (name: string) => Effect.Effect<string, unknown>
}

const SETTINGS = { shared_buffers: "512MB", max_wal_size: "4GB", checkpoint_timeout: "30min", max_connections: "300" }

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "workshop-bench-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Opens the cluster until the scope closes. The settings apply only to a Postgres that this run starts. */
export const cluster = (
  settings: Readonly<Record<string, string>> = {}
): Effect.Effect<Cluster, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const given = process.env.DATABASE_URL
    const url = given ?? (yield* startServer({ dataDir: yield* folder, settings: { ...SETTINGS, ...settings } })).url
    const admin = yield* openMigrationSession(url)
    const empty = (name: string) =>
      Effect.gen(function* () {
        const own = new URL(url)
        own.pathname = `/bench_${name}`
        yield* admin.run(`drop database if exists bench_${name} with (force)`)
        yield* admin.run(`create database bench_${name}`)
        return own.href
      })
    return { empty, database: (name) => Effect.tap(empty(name), migrate) }
  })
