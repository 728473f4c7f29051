import {
  ApiKeyCache,
  ClientInput,
  Clients,
  Entropy,
  KeyInput,
  Keys,
  Profanity,
  ShopInput,
  Shops,
  Workshop
} from "@workshop/core"
import { mountFetch } from "@workshop/core/http"
import { type PromiseWorkshop, start, unwrap } from "@workshop/core/promise"
import { createTestWorkshop, emptyBeforeUse } from "@workshop/store-memory/testing"
import { Effect, Layer, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { layer as migrated } from "../src/MigratedStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { runTest } from "./nodes/Node.js"

const READY = ["ticket.created", "ticket.ready"]

type Options = Parameters<typeof migrated>[0]

/** Creates two test workshops, each with a ready ticket, and advances the second workshop's clock by 61 days. */
const two = (optionsOf: (url: string, worker: number) => Options) =>
  Effect.flatMap(testDatabase, ({ url }) =>
    Effect.promise(async () => {
      const workshops = []
      for (const worker of [1, 2]) {
        const test = await createTestWorkshop({ store: migrated(optionsOf(url, worker)) })
        const { workshop, caller } = test
        await unwrap(workshop.webhooks.set(caller.shop_id, "https://erp.example/hook"))
        const { data } = await unwrap(
          workshop.tickets.create(caller, { service: "Hem", client_phone: `+3361234567${worker}` }, "order-1")
        )
        await unwrap(workshop.tickets.changeStatus(caller, data.id, "ready"))
        workshops.push({ ...test, id: data.id })
      }
      const [first, second] = workshops as [(typeof workshops)[number], (typeof workshops)[number]]
      await second.advance("61 days")
      const { state } = await unwrap(first.workshop.tickets.byId(first.caller, first.id))
      return { first, second, state }
    })
  )

describe("test workshops on one Postgres (docs/test-your-app.md)", { timeout: 60_000 }, () => {
  it("`received` contains only the events of the test's shop and of shops that the test opened", () =>
    runTest(
      Effect.flatMap(
        two((url) => ({ url })),
        ({ first, second, state }) =>
          Effect.promise(async () => {
            // The second workshop's background work closed the first workshop's ticket, because they share a schema.
            expect(state).toBe("abandoned")
            const { events, notifications, webhooks } = second.received
            expect(events.map(({ type }) => type)).toEqual([...READY, "ticket.abandoned"])
            expect(notifications.map(({ phone }) => phone)).toEqual(["+33612345672"])
            expect(webhooks.map(({ shop_id }) => shop_id)).toEqual(Array.from({ length: 3 }, () => second.shop.id))
            const another = await unwrap(
              second.workshop.shops.create({ name: "Another", currency: "EUR", time_zone: "Europe/Paris" })
            )
            const caller = { ...second.caller, shop_id: another.id }
            await unwrap(second.workshop.tickets.create(caller, { service: "Hem" }, "order-2"))
            expect(events.at(-1)).toMatchObject({ type: "ticket.created", shop_id: another.id })
            await first.stop()
            await second.stop()
          })
      )
    ))

  it("with `empty`, createTestWorkshop removes the accounts and rows of earlier runs", () =>
    runTest(
      Effect.flatMap(testDatabase, ({ url }) =>
        Effect.promise(async () => {
          const client = { given_name: "Lina", family_name: "Roux", phone: "+33612345678" }
          const runOnce = async (empty: boolean) => {
            const test = await createTestWorkshop({ store: migrated({ url, schema: "tests" }), empty })
            const registered = await test.workshop.clients.register(client)
            const shops = await unwrap(test.workshop.shops.list(null, 10))
            await test.stop()
            return [registered.ok, shops.length]
          }
          expect(await runOnce(true)).toEqual([true, 1])
          expect(await runOnce(true)).toEqual([true, 1])
          expect(await runOnce(false)).toEqual([false, 2])
          expect(await runOnce(true)).toEqual([true, 1])
        })
      )
    ))

  it("a mount accepts the API keys of its test workshop, and a mount in production refuses them as test keys", () =>
    runTest(
      Effect.flatMap(testDatabase, ({ url }) =>
        Effect.promise(async () => {
          const store = migrated({ url, schema: "tests" })
          const { workshop, shop, stop } = await createTestWorkshop({ store, empty: true })
          const { key } = await workshop.orThrow.keys.create(shop.id, { name: "till", scopes: ["tickets:read"] })
          expect(key).toMatch(/^wk_test_/)
          const read = async (on: PromiseWorkshop) => {
            const headers = { authorization: `Bearer ${key}` }
            const response = await mountFetch(on)(new Request("https://shop.example/v1/shop", { headers }))
            return [response.status, JSON.parse(await response.text()).error?.message]
          }
          expect(await read(workshop)).toEqual([200, undefined])
          const production = await start({ store, background: false })
          expect(await read(production)).toEqual([
            401,
            "This is a sandbox test key (wk_test_…), but this server has no sandbox. Send a key that begins with wk_live_."
          ])
          await production.stop()
          await stop()
        })
      )
    ))

  it("`emptied` removes the rows of earlier runs for tests with Effect layers, and refuses a store with other shops", () =>
    runTest(
      Effect.flatMap(testDatabase, ({ url }) => {
        const services = Workshop.layer.pipe(
          Layer.provideMerge(emptyBeforeUse(migrated({ url, schema: "tests" }))),
          Layer.provide(Profanity.layer),
          Layer.provide(Entropy.layer)
        )
        const shop = Schema.decodeSync(ShopInput)({ name: "Needle", currency: "TND", time_zone: "Africa/Tunis" })
        const amira = { given_name: "Amira", family_name: "Ben Salah", phone: "+33612345678" }
        const run = Effect.gen(function* () {
          const { id } = yield* Shops.create(shop)
          const { key } = yield* Keys.create(
            id,
            Schema.decodeSync(KeyInput)({ name: "till", scopes: ["tickets:read"] })
          )
          expect(yield* (yield* ApiKeyCache).holderOf(key, Number.MAX_SAFE_INTEGER)).toMatchObject({ shop: { id } })
          yield* Clients.register(Schema.decodeSync(ClientInput)(amira))
          return (yield* Shops.list(null, 10)).length
        })
        return Effect.gen(function* () {
          expect([yield* Effect.provide(run, services), yield* Effect.provide(run, services)]).toEqual([1, 1])
          const app = Layer.provide(emptyBeforeUse(migrated({ url, schema: "app" })), Entropy.layer)
          yield* Effect.promise(async () => {
            const workshop = await start({ store: migrated({ url, schema: "app" }), background: false })
            await workshop.orThrow.shops.create({ name: "Real", currency: "EUR", time_zone: "Europe/Paris" })
            await workshop.stop()
          })
          expect(yield* Effect.flip(Effect.scoped(Layer.build(app)))).toMatchObject({
            _tag: "EmptyingRefused",
            message: expect.stringContaining("The store has shops that these tests did not create")
          })
        })
      })
    ))

  it("createTestWorkshop with `empty` refuses a database with an app's data, and removes nothing", () =>
    runTest(
      Effect.flatMap(testDatabase, ({ url }) =>
        Effect.promise(async () => {
          const store = migrated({ url, schema: "app" })
          const app = await start({ store, background: false })
          await app.orThrow.shops.create({ name: "Atelier Lac", currency: "EUR", time_zone: "Europe/Paris" })
          await expect(createTestWorkshop({ store, empty: true })).rejects.toMatchObject({
            _tag: "EmptyingRefused",
            message: expect.stringContaining("The store has shops that these tests did not create")
          })
          expect(await app.orThrow.shops.list(null, 10)).toHaveLength(1)
          await app.stop()
        })
      )
    ))

  it("with a schema for each worker, one test's clock does not close another test's tickets", () =>
    runTest(
      Effect.flatMap(
        two((url, worker) => ({ url, schema: `test_${worker}` })),
        ({ first, second, state }) =>
          Effect.promise(async () => {
            expect(state).toBe("ready")
            expect(second.received.events).toHaveLength(3)
            await first.stop()
            await second.stop()
          })
      )
    ))
})
