import { randomUUID } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect, Exit, Schedule } from "effect"
import { expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { outcomeOf, putReceipt, RECEIPT_STEP } from "../../src/commands/CommandBatch.js"
import { makeReconnecting } from "../../src/connection/Connection.js"
import * as EmbeddedPostgres from "../../src/embedded/EmbeddedPostgres.js"
import { create, node, numbers, runTest, upTo } from "../nodes/Node.js"

const retrySchedule = Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(400))

/** A Postgres that the test may kill. EmbeddedPostgres restarts it. */
const cluster = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "workshop-restart-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const { url } = yield* EmbeddedPostgres.startServer({ dataDir })
  yield* migrate(url)
  const pid = () => Number(readFileSync(join(dataDir, "postgres/cluster/postmaster.pid"), "utf8").split("\n")[0])
  return { url, kill: (signal: NodeJS.Signals) => process.kill(pid(), signal) }
})

it(
  "after Postgres is killed or restarted under load, every confirmed command is stored, and the node works again without a restart",
  {
    timeout: 90_000
  },
  () =>
    runTest(
      Effect.gen(function* () {
        const { url, kill } = yield* cluster
        const ports = yield* node({ url, lanes: 1 })
        const wire = yield* makeReconnecting({ url, name: "a test", lock_timeout_ms: 25 })
        for (const signal of ["SIGINT", "SIGKILL"] as const) {
          const shop = yield* Effect.provide(openShop(), ports).pipe(Effect.retry(retrySchedule))
          yield* Effect.provide(create(shop.id), ports).pipe(Effect.retry(retrySchedule))
          const receipt = { connection: randomUUID(), batch: RECEIPT_STEP, saved_at: Date.now() }
          yield* Effect.flatMap(wire.connection, ({ send }) => send([putReceipt(receipt)])).pipe(
            Effect.retry(retrySchedule)
          )
          const load = yield* Effect.fork(
            Effect.forEach(upTo(100), () => Effect.exit(Effect.provide(create(shop.id), ports)), { concurrency: 4 })
          )
          yield* until("eleven tickets", Effect.provide(numbers(shop.id), ports), (tickets) => tickets.length > 10)
          kill(signal)
          const exits = yield* load
          const after = yield* Effect.provide(create(shop.id), ports).pipe(Effect.retry(retrySchedule))
          const answered = exits.filter(Exit.isSuccess).map(({ value }) => value)
          const stored = yield* Effect.provide(numbers(shop.id), ports).pipe(Effect.retry(retrySchedule))
          expect(stored).toEqual(upTo(after))
          expect([...answered, after].filter((number) => !stored.includes(number))).toEqual([])
          expect(new Set(answered).size).toBe(answered.length)

          // The table of receipts is not unlogged, so it survives a crash.
          expect(yield* outcomeOf(wire, receipt)).toBe("committed")
          expect(yield* outcomeOf(wire, { ...receipt, batch: 2 * RECEIPT_STEP })).toBe("aborted")
        }
      })
    )
)
