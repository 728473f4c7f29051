import { Entropy, type ShopId } from "@workshop/core"
import { SettableClock } from "@workshop/core/testing"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { openMigrationSession, type Session } from "../../../store-pg/src/migrate/Session.js"
import { layer } from "../../../store-pg/src/PgStore.js"
import { testDatabase } from "../../../store-pg/test/cluster/TestDatabase.js"
import { runCommandLine } from "../runCommandLine.js"

const SHOP = "01890000-0000-7000-8000-000000000001" as ShopId

const withShop = (act: (url: string, run: Session["run"]) => Promise<void>) =>
  Effect.gen(function* () {
    const { url } = yield* testDatabase
    const { run } = yield* openMigrationSession(url)
    yield* Effect.provide(openShop({ id: SHOP }), Layer.provideMerge(layer({ url }), Entropy.layer))
    yield* Effect.promise(() => act(url, run))
  }).pipe(Effect.scoped, Effect.withClock(new SettableClock()), Effect.runPromise)

describe("workshop check (docs/operating.md)", { timeout: 60_000 }, () => {
  it("workshop check of consistent data says that it found nothing, and exits with 0", () =>
    withShop(async (url) => {
      expect(await runCommandLine(["check"], { DATABASE_URL: url })).toEqual({
        status: 0,
        stdout: expect.stringMatching(/^\d+ checks found nothing wrong\.\n$/),
        stderr: ""
      })
      const { stdout } = await runCommandLine(["check", "--json"], { DATABASE_URL: url })
      expect(JSON.parse(stdout)).toEqual({ checks: expect.any(Number), findings: [] })
    }))

  it("workshop check of inconsistent data shows each finding with its count and first rows, and exits with 1", () =>
    withShop(async (url, run) => {
      await Effect.runPromise(run(`insert into delivery_queue select '${SHOP}', 0, 1`))
      const { status, stdout, stderr } = await runCommandLine(["check"], { DATABASE_URL: url })
      expect([status, stdout]).toEqual([
        1,
        `queue-webhook: Shops have a delivery queue but no webhook (1).\n  shop_id=${SHOP}\n`
      ])
      expect(stderr).toMatch(
        /^1 of \d+ checks found something wrong\. See "Check the data" in docs\/operating\.md\.\n$/
      )
      const json = await runCommandLine(["check", "--json"], { DATABASE_URL: url })
      expect(json.status).toBe(1)
      expect(JSON.parse(json.stdout).findings).toEqual([
        {
          name: "queue-webhook",
          finds: "Shops have a delivery queue but no webhook",
          count: 1,
          first: [{ shop_id: SHOP }]
        }
      ])
    }))

  it("workshop check reads the data folder of workshop serve, and says if a folder has no data", async () => {
    const { status, stderr } = await runCommandLine(["check", "--data-dir", "/nowhere/at/all"], { DATABASE_URL: "" })
    expect([status, stderr]).toEqual([
      1,
      "There is no data in /nowhere/at/all. Give the folder of the data with --data-dir, or create data with workshop serve.\n"
    ])
  })
})
