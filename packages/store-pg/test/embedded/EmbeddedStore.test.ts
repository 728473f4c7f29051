import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { start } from "@workshop/core/promise"
import { MigratedStore } from "@workshop/store-pg"
import * as EmbeddedStore from "@workshop/store-pg/embedded"
import { Effect } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import * as EmbeddedPostgres from "../../src/embedded/EmbeddedPostgres.js"
import { openMigrationSession } from "../../src/migrate/Session.js"

const folder = mkdtempSync(join(tmpdir(), "workshop-store-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const opened = () =>
  start({
    store: EmbeddedStore.layer({ dataDir: join(folder, "data"), settings: EmbeddedPostgres.THROWAWAY_SETTINGS }),
    background: false
  })

describe("an embedded Postgres (docs/security.md)", { timeout: 60_000 }, () => {
  it("an embedded Postgres listens only on loopback, requires its password, and makes its files readable only to its user", () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const dataDir = join(folder, "guarded")
          const { url } = yield* EmbeddedPostgres.startServer({
            dataDir,
            settings: EmbeddedPostgres.THROWAWAY_SETTINGS
          })
          const session = yield* openMigrationSession(url)
          const shown = yield* session.run<{ readonly [name: string]: string }>(
            "select current_setting('listen_addresses') as host, current_setting('unix_socket_directories') as sockets"
          )
          expect(shown).toEqual([{ host: "127.0.0.1", sockets: "" }])
          const rules = yield* session.run<{ readonly auth_method: string }>(
            "select distinct auth_method from pg_hba_file_rules"
          )
          expect(rules).toEqual([{ auth_method: "scram-sha-256" }])
          const guess = new URL(url)
          guess.password = "guess"
          expect((yield* Effect.flip(openMigrationSession(guess.href))).message).toMatch(/password/)
          // Started by root, the server runs as another user, who must be able to enter the folder but not to list it.
          const passable = process.getuid?.() === 0 ? 0o711 : 0o700
          expect(statSync(join(dataDir, "postgres")).mode & 0o777).toBe(passable)
          expect(statSync(join(dataDir, "postgres/cluster")).mode & 0o777).toBe(0o700)
          expect(statSync(join(dataDir, "postgres/password")).mode & 0o777).toBe(0o600)
        })
      )
    ))
})

describe("the Promise API", { timeout: 60_000 }, () => {
  it("the Promise API starts an embedded Postgres, migrates it, preserves its data over a restart, and stops it", async () => {
    const first = await opened()
    const shop = await first.shops.create({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
    await first.stop()
    const restarted = await opened()
    expect(await restarted.shops.list(null, 1)).toMatchObject({ value: [{ name: "Needle" }] })
    await restarted.stop()
    expect(shop.ok).toBe(true)
  })

  it("the Promise API fails to start if the database is unreachable, with an error that says what to check", async () => {
    const away = start({ store: MigratedStore.layer({ url: "postgres://nobody@127.0.0.1:1/nothing" }) })
    await expect(away).rejects.toThrow(
      /^The database cannot be reached \(.*\)\. Check that the database server is running/
    )
  })
})
