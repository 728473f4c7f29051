import { Entropy, type Probe, Probes, type ShopId } from "@workshop/core"
import { Deliveries, Reads } from "@workshop/core/store"
import { reseal } from "@workshop/store-pg/migrate"
import { Clock, Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { createTicket } from "../../core/src/decisions/createTicket.js"
import { rotateSecret, setWebhook } from "../../core/src/decisions/webhookSettings.js"
import { openShop, runCommand, ticketInput } from "../../core/src/testing/Fixtures.js"
import { layer } from "../src/PgStore.js"
import { database, node, runTest } from "./nodes/Node.js"

const OLD = Buffer.alloc(32, 1).toString("base64")
const NEW = Buffer.alloc(32, 2).toString("hex")
/** The id of the old key, which is the beginning of its SHA-256. */
const OLD_ID = "72cd6e84"
const NEW_ID = "75877bb4"

const open = Effect.gen(function* () {
  const { id } = yield* openShop()
  yield* runCommand(setWebhook(id, { url: "https://example.com/", secret: "whsec_first" }))
  return id
})

const create = (shop_id: ShopId) => runCommand(createTicket(shop_id, ticketInput(), { via: "api", foundWords: [] }))

const claimed = Effect.gen(function* () {
  const claims = yield* (yield* Deliveries).claim(yield* Clock.currentTimeMillis, 10)
  return claims.map(({ shop_id, webhook }) => [shop_id, webhook.secret, webhook.previous_secret])
})

const starting = (url: string, ...secretsKeys: ReadonlyArray<string>) =>
  Effect.flip(Effect.scoped(Layer.build(Layer.provide(layer({ url, secretsKeys }), Entropy.layer))))

describe("webhook secrets in the database (docs/security.md)", { timeout: 60_000 }, () => {
  it("the store encrypts webhook secrets with the key and the shop's id, and decrypts them to sign requests or to show them", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        const ports = yield* node({ url, secretsKeys: [OLD] })
        const stored = session.run<{ secret: string; previous_secret: string | null }>(
          "select secret, previous_secret from webhook order by shop_id"
        )
        yield* Effect.gen(function* () {
          const id = yield* open
          const [first] = yield* stored
          expect(first!.secret).toMatch(new RegExp(`^sealed:${OLD_ID}:[\\w-]{16}\\.[\\w-]{22}\\.[\\w-]{15}$`))
          yield* runCommand(rotateSecret(id, "whsec_second"))
          // The ciphertext of a secret depends only on the secret and its shop, so writing it again does not change it.
          expect(yield* stored).toEqual([{ secret: expect.any(String), previous_secret: first!.secret }])
          const { webhook } = (yield* (yield* Reads).shop(id))!
          expect([webhook!.secret, webhook!.previous_secret]).toEqual(["whsec_second", "whsec_first"])
          yield* create(id)
          expect(yield* claimed).toEqual([[id, "whsec_second", "whsec_first"]])
          expect(
            (yield* runCommand(setWebhook(id, { url: "https://example.org/", secret: "whsec_unused" }))).secret
          ).toBe("whsec_second")
          const other = yield* open
          yield* session.run(
            `update webhook set secret = (select secret from webhook where shop_id = '${id}') where shop_id = '${other}'`
          )
          expect((yield* Effect.flip((yield* Reads).shop(other))).message).toMatch(
            /^The webhook secret of the shop .* cannot be decrypted with its key 72cd6e84, because the row was changed/
          )
          const rows = JSON.stringify(yield* session.run("select * from webhook"))
          expect(rows).not.toContain("whsec_")
        }).pipe(Effect.provide(ports))
      })
    ))

  it("a store does not start without the key of its secrets or with an invalid key, and the error has a remedy", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* database
        yield* Effect.provide(open, yield* node({ url, secretsKeys: [OLD] }))
        const missing = {
          _tag: "SecretsRefused",
          message: `The database has webhook secrets that are encrypted with the key ${OLD_ID}, but this process does not have that key. Add the key to WORKSHOP_SECRETS_KEY (or the option secretsKeys).`
        }
        expect(yield* starting(url)).toMatchObject(missing)
        expect(yield* starting(url, NEW)).toMatchObject(missing)
        for (const invalid of ["short", `${OLD}=`, "g".repeat(64), ""]) {
          const { message } = yield* starting(url, OLD, invalid)
          expect(message).toBe(
            "Key 2 of WORKSHOP_SECRETS_KEY (or the option secretsKeys) is not 32 bytes in base64 or hex. Create a key with openssl rand -base64 32."
          )
        }
      })
    ))

  it("a store without a key stores secrets in plain text, which a store with a key can read too", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        const id = yield* Effect.provide(open, yield* node({ url }))
        expect(yield* session.run("select secret from webhook")).toEqual([{ secret: "whsec_first" }])
        const ports = yield* node({ url, secretsKeys: [OLD] })
        yield* Effect.provide(create(id), ports)
        expect(yield* Effect.provide(claimed, ports)).toEqual([[id, "whsec_first", null]])
      })
    ))

  it("the first key encrypts new secrets, every key decrypts, and after resealing the old key is no longer needed", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        const [one, two] = [
          yield* Effect.provide(open, yield* node({ url, secretsKeys: [OLD] })),
          yield* Effect.provide(open, yield* node({ url, secretsKeys: [OLD] }))
        ]
        const both = yield* node({ url, secretsKeys: [NEW, OLD] })
        yield* Effect.provide(runCommand(rotateSecret(one, "whsec_second")), both)
        const clear = yield* Effect.provide(openShop(), both)
        yield* session.run(`insert into webhook select '${clear.id}', url, 'whsec_clear', null, null, off_reason,
          failures_in_row, first_failure_at, failure_steps_notified, generation, enabled_at from webhook where shop_id = '${one}'`)
        const ids = session.run<{ id: string }>(
          `select split_part(secret, ':', 2) as id from webhook union
          select split_part(previous_secret, ':', 2) from webhook where previous_secret is not null order by 1`
        )
        expect(yield* ids).toEqual([{ id: "" }, { id: OLD_ID }, { id: NEW_ID }])
        expect((yield* Effect.flip(reseal(url, { secretsKeys: [NEW] }))).message).toContain(`the key ${OLD_ID}`)
        expect(yield* ids).toEqual([{ id: "" }, { id: OLD_ID }, { id: NEW_ID }])
        expect(yield* reseal(url, { secretsKeys: [NEW, OLD] })).toEqual({ key_id: NEW_ID, changed: 2 })
        expect(yield* ids).toEqual([{ id: NEW_ID }])
        expect(yield* reseal(url, { secretsKeys: [NEW, OLD] })).toEqual({ key_id: NEW_ID, changed: 0 })
        const ports = yield* node({ url, secretsKeys: [NEW] })
        for (const id of [one, two, clear.id as ShopId]) yield* Effect.provide(create(id), ports)
        expect(new Set(yield* Effect.provide(claimed, ports))).toEqual(
          new Set([
            [one, "whsec_second", "whsec_first"],
            [two, "whsec_first", null],
            [clear.id, "whsec_clear", null]
          ])
        )
      })
    ))

  it("resealing in plain text removes the encryption, and is refused without the key", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        yield* Effect.provide(open, yield* node({ url, secretsKeys: [OLD] }))
        expect((yield* Effect.flip(reseal(url, { secretsKeys: [], inClear: true }))).message).toMatch(
          /^workshop secrets reseal needs a key\. Create a key .* set WORKSHOP_SECRETS_KEY/
        )
        expect(yield* reseal(url, { secretsKeys: [OLD], inClear: true })).toEqual({ key_id: null, changed: 1 })
        expect(yield* session.run("select secret from webhook")).toEqual([{ secret: "whsec_first" }])
        yield* node({ url })
      })
    ))

  it("resealing covers all webhooks if there are more than one batch of them", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        yield* session.run(`insert into webhook select gen_random_uuid(), 'https://example.com/', 'whsec_' || n, null, null, null,
          0, null, 0, 1, 0 from generate_series(1, 1201) n`)
        expect(yield* reseal(url, { secretsKeys: [OLD] })).toEqual({ key_id: OLD_ID, changed: 1201 })
        expect(yield* session.run("select from webhook where secret not like 'sealed:%'")).toEqual([])
      })
    ))

  it("a process without the key of a shop's secret sends that shop no webhooks and reports why, until it has the key", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* database
        const probes = new Set<Probe>()
        const ports = yield* Effect.provide(node({ url }), Layer.succeed(Probes, probes))
        const complaints = Effect.map(
          Effect.forEach([...probes], ({ complaint = Effect.succeed(null) }) => complaint),
          (all) => all.filter((one) => one !== null)
        )
        const shop = yield* Effect.provide(open, ports)
        const oldKeyShop = yield* Effect.provide(open, yield* node({ url, secretsKeys: [OLD] }))
        const sentence = expect.stringContaining(
          `encrypted with the key ${OLD_ID}, but this process does not have that key`
        )
        expect(yield* complaints).toEqual([])
        yield* Effect.provide(create(oldKeyShop), yield* node({ url, secretsKeys: [OLD] }))
        yield* Effect.provide(create(shop), ports)
        expect(yield* Effect.provide(claimed, ports)).toEqual([[shop, "whsec_first", null]])
        expect(yield* complaints).toEqual([sentence])
        expect(yield* Effect.provide(Effect.flip(create(oldKeyShop)), ports)).toMatchObject({
          _tag: "StoreUnavailable",
          remedy: sentence
        })
        expect(yield* Effect.provide(Effect.flip(claimed), ports)).toMatchObject({ remedy: sentence })
        yield* Effect.provide(create(shop), ports)
        yield* reseal(url, { secretsKeys: [OLD], inClear: true })
        yield* Effect.provide(create(oldKeyShop), ports)
      })
    ))
})
