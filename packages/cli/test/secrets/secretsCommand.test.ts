import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { openMigrationSession } from "../../../store-pg/src/migrate/Session.js"
import { testDatabase } from "../../../store-pg/test/cluster/TestDatabase.js"
import { runCommandLine } from "../runCommandLine.js"

const folder = mkdtempSync(join(tmpdir(), "workshop-keys-"))
afterAll(() => rmSync(folder, { recursive: true }))

const KEY = Buffer.alloc(32, 1).toString("base64")
const file = join(folder, "key")
writeFileSync(file, `${KEY}\n`)

/** Runs a test on a database with one webhook, whose secret is not encrypted. */
const withWebhook = (act: (url: string, secrets: () => Promise<ReadonlyArray<unknown>>) => Promise<void>) =>
  Effect.gen(function* () {
    const { url } = yield* testDatabase
    const session = yield* openMigrationSession(url)
    yield* session.run(
      "insert into webhook select gen_random_uuid(), 'https://example.com/', 'whsec_x', null, null, null, 0, null, 0, 1, 0"
    )
    const secrets = () => Effect.runPromise(session.run("select left(secret, 15) as secret from webhook"))
    yield* Effect.promise(() => act(url, secrets))
  }).pipe(Effect.scoped, Effect.runPromise)

describe("workshop secrets reseal (docs/operating.md)", { timeout: 60_000 }, () => {
  it("workshop secrets reseal encrypts with the key of WORKSHOP_SECRETS_KEY or its file, changes nothing the second time, and decrypts with --in-clear", () =>
    withWebhook(async (url, secrets) => {
      const first = await runCommandLine(["secrets", "reseal"], { DATABASE_URL: url, WORKSHOP_SECRETS_KEY_FILE: file })
      expect(first).toMatchObject({
        status: 0,
        stdout: "1 webhook changed. All webhook secrets are now encrypted with the key 72cd6e84.\n"
      })
      expect(await secrets()).toEqual([{ secret: "sealed:72cd6e84" }])
      const again = await runCommandLine(["secrets", "reseal", "--json"], {
        DATABASE_URL: url,
        WORKSHOP_SECRETS_KEY: KEY
      })
      expect(JSON.parse(again.stdout)).toEqual({ key_id: "72cd6e84", changed: 0 })
      const back = await runCommandLine(["secrets", "reseal", "--in-clear"], {
        DATABASE_URL: url,
        WORKSHOP_SECRETS_KEY: KEY
      })
      expect(back.stdout).toBe("1 webhook changed. All webhook secrets are now stored unencrypted.\n")
      expect(await secrets()).toEqual([{ secret: "whsec_x" }])
    }))

  it("a reseal is recorded in the audit log with the operator and the key", () =>
    withWebhook(async (url) => {
      const set = { DATABASE_URL: url, WORKSHOP_SECRETS_KEY: KEY }
      await runCommandLine(["secrets", "reseal", "--actor", "owner:amira"], set)
      await runCommandLine(["secrets", "reseal", "--in-clear", "--actor", "owner:amira"], set)
      const { stdout } = await runCommandLine(["audit", "--json", "--limit", "2"], set)
      expect(JSON.parse(stdout)).toMatchObject([
        { act: "database.secrets_resealed", actor: "owner:amira", details: { key_id: null } },
        { act: "database.secrets_resealed", actor: "owner:amira", details: { key_id: "72cd6e84" } }
      ])
      expect(stdout).not.toContain(KEY)
    }))

  it("a reseal that failed is not recorded in the audit log", () =>
    withWebhook(async (url) => {
      const set = { DATABASE_URL: url, WORKSHOP_SECRETS_KEY: KEY }
      await runCommandLine(["secrets", "reseal"], set)
      const other = Buffer.alloc(32, 9).toString("base64")
      const failed = await runCommandLine(["secrets", "reseal"], { DATABASE_URL: url, WORKSHOP_SECRETS_KEY: other })
      expect(failed.status).toBe(1)
      const { stdout } = await runCommandLine(["audit", "--json"], set)
      const acts = (JSON.parse(stdout) as ReadonlyArray<{ act: string }>).map(({ act }) => act)
      expect(acts.filter((act) => act === "database.secrets_resealed")).toHaveLength(1)
    }))

  it("workshop secrets reseal is refused without a key, as are serve, dispatch and the owner's commands if the data need one", () =>
    withWebhook(async (url) => {
      const refusal = await runCommandLine(["secrets", "reseal"], { DATABASE_URL: url })
      expect([refusal.status, refusal.stderr]).toEqual([
        1,
        "workshop secrets reseal needs a key. Create a key with openssl rand -base64 32, and set WORKSHOP_SECRETS_KEY to it.\n"
      ])
      await runCommandLine(["secrets", "reseal"], { DATABASE_URL: url, WORKSHOP_SECRETS_KEY: KEY })
      for (const words of [["serve", "--port", "0"], ["dispatch"], ["shop", "list"]]) {
        const { status, stderr } = await runCommandLine(words, { DATABASE_URL: url })
        expect([words, status, stderr]).toEqual([
          words,
          1,
          "The database has webhook secrets that are encrypted with the key 72cd6e84, but this process does not have that key. Add the key to WORKSHOP_SECRETS_KEY (or the option secretsKeys).\n"
        ])
      }
      expect((await runCommandLine(["migrate"], { DATABASE_URL: url })).status).toBe(0)
      expect((await runCommandLine(["shop", "list"], { DATABASE_URL: url, WORKSHOP_SECRETS_KEY: KEY })).status).toBe(0)
    }))

  it("workshop secrets reseal refuses an invalid key without printing it", () =>
    withWebhook(async (url) => {
      const { status, stderr } = await runCommandLine(["shop", "list"], {
        DATABASE_URL: url,
        WORKSHOP_SECRETS_KEY: "hunter2"
      })
      expect([status, stderr]).toEqual([
        1,
        "Key 1 of WORKSHOP_SECRETS_KEY (or the option secretsKeys) is not 32 bytes in base64 or hex. Create a key with openssl rand -base64 32.\n"
      ])
    }))
})
