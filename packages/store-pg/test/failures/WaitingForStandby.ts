import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import { until } from "../../../../test/until.js"
import * as EmbeddedPostgres from "../../src/embedded/EmbeddedPostgres.js"
import { openMigrationSession } from "../../src/migrate/Session.js"

/** Starts a Postgres that can be set to wait at each commit for a synchronous standby, which does not exist. */
export const waitingForStandby = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "workshop-standby-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const { url } = yield* EmbeddedPostgres.startServer({ dataDir })
  yield* migrate(url)
  const session = yield* openMigrationSession(url)
  const waitFor = (standby: string) =>
    session
      .run(`alter system set synchronous_standby_names = '${standby}'`)
      .pipe(Effect.zipRight(session.run("select pg_reload_conf()")))
  /**
   * Writes until a commit waits for the standby, because Postgres applies the setting only some time after the change.
   */
  const commitsWait = Effect.gen(function* () {
    const prober = yield* openMigrationSession(url)
    yield* prober.run("create table probe (n integer)")
    yield* waitFor("nobody")
    yield* Effect.forkScoped(Effect.forever(prober.run("insert into probe values (1)")))
    yield* until(
      "a commit that waits for the standby",
      session.run("select from pg_stat_activity where wait_event = 'SyncRep'"),
      (rows) => rows.length > 0
    )
  })
  return { url, session, waitFor, commitsWait }
})
