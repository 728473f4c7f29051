import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { start } from "@workshop/core/services/PromiseWorkshop"
import { throwaway } from "@workshop/store-pg/embedded/EmbeddedPostgres"
import * as EmbeddedStore from "@workshop/store-pg/embedded/EmbeddedStore"
import * as MigratedStore from "@workshop/store-pg/MigratedStore"
import { afterAll, describe, expect, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "workshop-store-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const opened = () =>
  start({
    store: EmbeddedStore.layer({ dataDir: join(folder, "data"), settings: throwaway }),
    background: false
  })

describe("the Promise face", { timeout: 60_000 }, () => {
  it("on a Postgres of its own migrates it, keeps what it was told, and stops it", async () => {
    const first = await opened()
    const shop = await first.shops.create({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
    await first.stop()
    const again = await opened()
    expect(await again.shops.list(null, 1)).toMatchObject({ value: [{ name: "Needle" }] })
    await again.stop()
    expect(shop.ok).toBe(true)
  })

  it("does not start on a database that is away, and says what to check", async () => {
    const away = start({ store: MigratedStore.layer({ url: "postgres://nobody@127.0.0.1:1/nothing" }) })
    await expect(away).rejects.toThrow(/^The database cannot be reached \(.*\): check that it runs/)
  })
})
