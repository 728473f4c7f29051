import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect, Exit, Schedule, Scope } from "effect"
import * as EmbeddedPostgres from "../../src/embedded/EmbeddedPostgres.js"
import { openMigrationSession, type Session } from "../../src/migrate/Session.js"
import { programsIn } from "./InstalledPostgres.js"

/**
 * A Postgres server for one run of the tests. It has a migrated template database, from which test databases are
 * copied.
 */
export interface TestCluster {
  /**
   * Copies the template, or the database `original`, which must have no connections. Returns the copy's connection
   * string.
   */
  readonly create: (original?: string) => Promise<string>
  readonly drop: (url: string) => Promise<void>
  readonly close: () => Promise<void>
}

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "cluster-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/**
 * 400 connections, because four workers open several stores at once, and on a busy machine old stores close after new
 * ones open.
 */
const settings = { ...EmbeddedPostgres.THROWAWAY_SETTINGS, max_connections: "400" }

const embedded = Effect.gen(function* () {
  const dataDir = yield* folder
  const { url } = yield* EmbeddedPostgres.startServer({ dataDir, settings })
  // With fsync off, copying files is faster than writing pages through the WAL.
  return { url, how: "strategy file_copy" }
})

/** Starts a Postgres of another version, whose programs are in the folder `bin`. */
const ofPrograms = (bin: string) =>
  Effect.gen(function* () {
    const { run, start } = yield* programsIn(bin)
    run("initdb", "-D", "data", "-U", "workshop", "-A", "trust", "-E", "UTF8", "--locale=C")
    const port = yield* start("data", settings)
    return { url: `postgres://workshop@127.0.0.1:${port}/postgres`, how: "strategy file_copy" }
  })

const server = Effect.suspend(() => {
  const { TEST_DATABASE_URL: url, WORKSHOP_TEST_POSTGRES: bin } = process.env
  if (url) return Effect.succeed({ url, how: "" })
  return bin ? ofPrograms(bin) : embedded
})

const named = (url: string, database: string): string => {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1)

/** The number of times that `untilLeft` checks for connections, and the pause between two checks. */
const MAX_CHECKS = 50
const BETWEEN_LOOKS = "10 millis"

/**
 * Waits up to 500 ms until a database has no connections. If the server ends a connection that a pool is closing, the
 * connection emits an error without a listener, which would end the Vitest worker.
 */
const untilLeft = (admin: Session, database: string) =>
  admin.run("select from pg_stat_activity where datname = $1", [database]).pipe(
    Effect.filterOrFail((connected) => connected.length === 0),
    Effect.retry({ times: MAX_CHECKS, schedule: Schedule.spaced(BETWEEN_LOOKS) }),
    Effect.ignore
  )

const opened = Effect.gen(function* () {
  const { url, how: copyOptions } = yield* server
  const admin = yield* openMigrationSession(url)
  const prefix = `workshop_test_${process.pid}`
  const drop = (database: string) =>
    admin.run(`drop database if exists ${database} with (force)`).pipe(Effect.asVoid, Effect.orDie)
  const template = `${prefix}_template`
  yield* Effect.acquireRelease(admin.run(`create database ${template}`), () => drop(template))
  yield* migrate(named(url, template))
  const turn = yield* Effect.makeSemaphore(1)
  let count = 0
  return {
    create: (original?: string) =>
      Effect.suspend(() => {
        const database = `${prefix}_${++count}`
        const from = original === undefined ? template : nameOf(original)
        // An empty search_path makes a statement of the store fail if it does not name its schema.
        return admin
          .run(`create database ${database} template ${from} ${copyOptions}`)
          .pipe(
            Effect.zipRight(admin.run(`alter database ${database} set search_path = nowhere`)),
            Effect.as(named(url, database))
          )
      }).pipe(turn.withPermits(1), Effect.orDie),
    drop: (other: string) =>
      Effect.zipRight(untilLeft(admin, nameOf(other)), drop(nameOf(other)).pipe(turn.withPermits(1)))
  }
})

/**
 * Connects to the Postgres of `TEST_DATABASE_URL`, whose role must be able to create databases. Without that variable,
 * starts a throwaway server from the programs in the folder `WORKSHOP_TEST_POSTGRES`, or from the npm package.
 */
export const openTestCluster = async (): Promise<TestCluster> => {
  const scope = Effect.runSync(Scope.make())
  const { create, drop } = await Effect.runPromise(Scope.extend(opened, scope))
  return {
    create: (original) => Effect.runPromise(create(original)),
    drop: (url) => Effect.runPromise(drop(url)),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
