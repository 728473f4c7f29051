import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { outcomeOf, RECEIPT_STEP, writing } from "../../src/CommandBatch.js"
import { BEGIN, COMMIT, connect, reconnecting } from "../../src/Connection.js"
import * as EmbeddedPostgres from "../../src/embedded/EmbeddedPostgres.js"
import { connect as opened, type Session } from "../../src/migrate/Session.js"
import { create, database, node, numbers, testing } from "../nodes/Node.js"

const OPTIONS = { name: "a test", lock_timeout_ms: 25 }

/** A connection with a batch on it, and a way to ask what became of that. */
const batch = Effect.gen(function* () {
  const { url } = yield* database
  const connection = yield* connect({ url, ...OPTIONS })
  const receipt = { connection: connection.id, batch: 7 * RECEIPT_STEP, saved_at: Date.now() }
  return { connection, receipt, wire: yield* reconnecting({ url, ...OPTIONS }) }
})

describe.concurrent("the outcome of a batch whose answer was lost", { timeout: 60_000 }, () => {
  it("is committed where its receipt is there, however often it is asked for", () =>
    testing(
      Effect.gen(function* () {
        const { connection, receipt, wire } = yield* batch
        yield* connection.send([BEGIN, writing(receipt), COMMIT])
        expect([yield* outcomeOf(wire, receipt), yield* outcomeOf(wire, receipt)]).toEqual(["committed", "committed"])
      })
    ))

  it("is aborted where it is not, and then the batch cannot be committed any more, though its transaction is still open", () =>
    testing(
      Effect.gen(function* () {
        const { connection, receipt, wire } = yield* batch
        yield* connection.send([BEGIN])
        expect([yield* outcomeOf(wire, receipt), yield* outcomeOf(wire, receipt)]).toEqual(["aborted", "aborted"])
        expect((yield* Effect.flip(connection.send([writing(receipt), COMMIT]))).code).toBe("22012")
        const next = { ...receipt, connection: randomUUID() }
        expect(yield* outcomeOf(wire, next)).toBe("aborted")
      })
    ))

  it("is waited for while the transaction that wrote it is open", () =>
    testing(
      Effect.gen(function* () {
        const { connection, receipt, wire } = yield* batch
        yield* connection.send([BEGIN, writing(receipt)])
        const asked = yield* Effect.fork(outcomeOf(wire, receipt))
        yield* Effect.yieldNow()
        yield* connection.send([COMMIT])
        expect(yield* Fiber.join(asked)).toBe("committed")
      })
    ))
})

/** A Postgres whose commits wait for a standby that never comes. */
const waitingForStandby = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "workshop-receipts-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const { url } = yield* EmbeddedPostgres.start({ dataDir })
  yield* migrate(url)
  const session = yield* opened(url)
  const waitFor = (standby: string) =>
    session
      .run(`alter system set synchronous_standby_names = '${standby}'`)
      .pipe(Effect.zipRight(session.run("select pg_reload_conf()")))
  /** Postgres heeds the setting in its own time: commits are made until one waits, since the next one will wait too. */
  const commitsWait = Effect.gen(function* () {
    const prober = yield* opened(url)
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

/** Does something to the first session that waits for the standby. */
const toWaiting = (session: Session, act: "pg_cancel_backend" | "pg_terminate_backend") =>
  until(
    "a session that waits for the standby",
    session.run(
      `select ${act}(pid) from pg_stat_activity where wait_event = 'SyncRep' and application_name like 'workshop lane%'`
    ),
    (rows) => rows.length > 0
  )

describe("a commit that waits for a synchronous standby", () => {
  it.each(["pg_cancel_backend", "pg_terminate_backend"] as const)(
    "is not taken for saved where %s ends the wait, and is there once the standby is",
    { timeout: 120_000 },
    (act) =>
      testing(
        Effect.gen(function* () {
          const { url, session, waitFor, commitsWait } = yield* waitingForStandby
          const ports = yield* node({ url, lanes: 1 })
          const shop = yield* Effect.provide(openShop(), ports)
          expect(yield* Effect.provide(create(shop.id), ports)).toBe(1)
          yield* commitsWait
          const waiting = yield* Effect.fork(Effect.flip(Effect.provide(create(shop.id), ports)))
          yield* toWaiting(session, act)
          expect((yield* Fiber.join(waiting))._tag).toBe("StoreUnavailable")
          yield* waitFor("")
          expect(yield* Effect.provide(create(shop.id), ports)).toBe(3)
          expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual([1, 2, 3])
        })
      )
  )
})
