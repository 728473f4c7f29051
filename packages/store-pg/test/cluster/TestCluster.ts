import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect, Exit, Schedule, Scope } from "effect"
import * as EmbeddedPostgres from "../../src/embedded/EmbeddedPostgres.js"
import { connect, type Session } from "../../src/migrate/Session.js"
import { programsIn } from "./InstalledPostgres.js"

/** A Postgres for one run of the tests, with a migrated database that others are copied from. */
export interface TestCluster {
  /** Copies the migrated database, or another one without connections. */
  readonly create: (original?: string) => Promise<string>
  readonly drop: (url: string) => Promise<void>
  readonly close: () => Promise<void>
}

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "cluster-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Four workers open several stores at once, and on a busy machine some of them have not closed before the next ones open. */
const settings = { ...EmbeddedPostgres.throwaway, max_connections: "400" }

const embedded = Effect.gen(function* () {
  const dataDir = yield* folder
  const { url } = yield* EmbeddedPostgres.start({ dataDir, settings })
  // Copying files beats writing them through the log where nothing is synced.
  return { url, how: "strategy file_copy" }
})

/** A Postgres of another version, by the folder of its programs. */
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

/** How often a database is looked at before it is dropped, and how long the looks are apart. */
const MOST_LOOKS = 50
const BETWEEN_LOOKS = "10 millis"

/**
 * Waits a little until nobody is connected to a database. A pool's connection that is on its way out when the server ends it gets an
 * error that nobody listens to any more, and that ends the worker.
 */
const untilLeft = (admin: Session, database: string) =>
  admin.run("select from pg_stat_activity where datname = $1", [database]).pipe(
    Effect.filterOrFail((connected) => connected.length === 0),
    Effect.retry({ times: MOST_LOOKS, schedule: Schedule.spaced(BETWEEN_LOOKS) }),
    Effect.ignore
  )

const opened = Effect.gen(function* () {
  const { url, how } = yield* server
  const admin = yield* connect(url)
  const prefix = `workshop_test_${process.pid}`
  const drop = (database: string) =>
    admin.run(`drop database if exists ${database} with (force)`).pipe(Effect.asVoid, Effect.orDie)
  const template = `${prefix}_template`
  yield* Effect.acquireRelease(admin.run(`create database ${template}`), () => drop(template))
  yield* migrate(named(url, template))
  const turn = yield* Effect.makeSemaphore(1)
  let made = 0
  return {
    create: (original?: string) =>
      Effect.suspend(() => {
        const database = `${prefix}_${++made}`
        const from = original === undefined ? template : nameOf(original)
        // Statements of the store that do not name their schema would find no table.
        return admin
          .run(`create database ${database} template ${from} ${how}`)
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
 * Opens the Postgres of `TEST_DATABASE_URL`, whose role may create databases; or else starts a throwaway one, from the programs in the
 * folder `WORKSHOP_TEST_POSTGRES` or those that npm brought.
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
