import { Entropy, Profanity, ShopInput, Shops, type TicketId } from "@workshop/core"
import { pipeline, workshopRoutes } from "@workshop/core/http"
import { bodyText } from "@workshop/core/internal"
import { start } from "@workshop/core/promise"
import { Reads } from "@workshop/core/store"
import { PgStore } from "@workshop/store-pg"
import { Context, Effect, Exit, Layer, Logger, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { fetchRequest } from "../../../core/src/http/FetchMessage.js"
import { layer as services } from "../../../core/src/services/Workshop.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { testDatabase } from "../cluster/TestDatabase.js"

/** A new database on which `statement` was run. */
const databaseAfter = (statement: string) =>
  Effect.tap(testDatabase, ({ url }) => Effect.flatMap(openMigrationSession(url), ({ run }) => run(statement)))

const UNMIGRATED = "drop schema workshop cascade"
const BEHIND = "drop table shop_head cascade"
const REMEDY =
  /^The database does not have the workshop's schema in the version .*\. To create or update the schema, call migrate\(url\) of .*, or run workshop migrate\.$/

const SHOP = { name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
const someone = "019a0000-0000-7000-8000-000000000001"
const caller = { shop_id: someone, caller_id: someone, scopes: ["tickets:read"], via: "api" } as const

/** The errors of the Promise API for a write, a read and a rate-limited request. */
const refusalAt = (url: string) =>
  Effect.promise(async () => {
    const workshop = await start({ store: PgStore.layer({ url }), background: false })
    const results = [
      await workshop.shops.create(SHOP),
      await workshop.tickets.createInApp(caller, { service: "Hem" }),
      await workshop.tickets.list(caller, {}),
      await workshop.dispatcher.runOnce()
    ]
    await workshop.stop()
    return results.map((result) => (result.ok ? "ok" : result.refusal.message))
  })

const served = (url: string, log: Array<string>) =>
  Effect.gen(function* () {
    const result = yield* pipeline([yield* workshopRoutes({ validateResponses: false })])
    const request = new Request("http://shop.example/v1/shop", { headers: { authorization: "Bearer wk_live_none" } })
    return yield* result(fetchRequest(request, "unknown"))
  }).pipe(
    Effect.provide(services),
    Effect.provide(Layer.mergeAll(PgStore.layer({ url }), Profanity.layer).pipe(Layer.provideMerge(Entropy.layer))),
    Effect.provide(
      Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => void log.push(String(message)))
      )
    )
  )

/** The timeout is long because the first test of a run waits for the server's start. */
describe("a database without the schema that the program needs", { timeout: 30_000 }, () => {
  it("the Promise API starts on a database without the schema, and every call fails with an error that names the schema and the remedy", async () => {
    const messages = await Effect.runPromise(
      Effect.scoped(Effect.flatMap(databaseAfter(UNMIGRATED), ({ url }) => refusalAt(url)))
    )
    expect(messages.slice(0, 3)).toEqual(Array(3).fill(expect.stringMatching(REMEDY)))
  })

  it("if the schema's name is misspelt, every error and the log name that schema and the schema with the tables, before they advise to migrate", async () => {
    const { answers: results, reason } = await Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(testDatabase, ({ url }) =>
          Effect.promise(async () => {
            const workshop = await start({ store: PgStore.layer({ url, schema: "wrkshop" }), background: false })
            const results = [await workshop.shops.create(SHOP), await workshop.tickets.list(caller, {})]
            const { reason } = (await workshop.ready()) as { readonly reason: string }
            await workshop.stop()
            return { answers: results, reason }
          })
        )
      )
    )
    const named =
      /^The database has the workshop's tables in workshop, but not in the schema wrkshop\. Check the store's schema\. To begin in this schema without data, .*workshop migrate\.$/
    for (const result of results)
      expect(result).toMatchObject({
        ok: false,
        refusal: { _tag: "StoreUnavailable", message: expect.stringMatching(named) }
      })
    expect(reason).toMatch(named)
  })

  it("the Effect API reports an older schema with the same message", async () => {
    const refusal = await Effect.runPromise(
      Effect.gen(function* () {
        const { url } = yield* databaseAfter(BEHIND)
        const store = Layer.mergeAll(PgStore.layer({ url }), Profanity.layer).pipe(Layer.provideMerge(Entropy.layer))
        return yield* Effect.flip(Shops.create(Schema.decodeSync(ShopInput)(SHOP))).pipe(
          Effect.provide(Layer.provide(services, store))
        )
      }).pipe(Effect.scoped)
    )
    expect(refusal).toMatchObject({ _tag: "StoreUnavailable", message: expect.stringMatching(REMEDY) })
  })

  it("without the schema, a request gets a 503 without details, and the log has the reason (Specification, Errors)", async () => {
    const log: Array<string> = []
    const departure = await Effect.runPromise(
      Effect.scoped(Effect.flatMap(databaseAfter(UNMIGRATED), ({ url }) => served(url, log)))
    )
    const body = bodyText(departure)
    expect([departure.status, JSON.parse(body).error.code]).toEqual([503, "UNAVAILABLE"])
    expect(body).not.toMatch(/schema|migrat|relation/i)
    expect(log).toContainEqual(
      expect.stringMatching(/^The response to a request is 503: .*run workshop migrate.*"workshop\.rate_limit"/)
    )
  })

  it("the errors for a database that refuses the user or does not exist do not mention a missing schema", async () => {
    const messages = await Effect.runPromise(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const elsewhere = yield* refusalAt(url.replace(/[^/]*$/, "nowhere"))
        const stranger = yield* refusalAt(url.replace(/\/\/[^@]*@/, "//stranger:wrong@"))
        return [elsewhere[0], stranger[0]]
      }).pipe(Effect.scoped)
    )
    expect(messages).toEqual([
      expect.stringMatching(/^The database does not exist\. Check /),
      expect.stringMatching(/^The database refused the user\. Check /)
    ])
  })

  it("an invalid statement is a defect, not an unavailable store (SQLSTATE 22 and 42)", async () => {
    const exits = await Effect.runPromise(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const context = yield* Layer.build(
          services.pipe(Layer.provideMerge(PgStore.layer({ url })), Layer.provide(Profanity.layer))
        )
        const { id: shop } = yield* Context.get(context, Shops).create(Schema.decodeSync(ShopInput)(SHOP))
        const reads = Context.get(context, Reads)
        const list = (limit: number, id: string) =>
          reads.tickets(shop, {}, { _tag: "Newest", after: id as TicketId }, limit)
        return [yield* Effect.exit(list(-1, someone)), yield* Effect.exit(list(1, "no uuid"))]
      }).pipe(Effect.scoped, Effect.provide(Entropy.layer))
    )
    expect(exits.map((exit) => Exit.isFailure(exit) && exit.cause._tag)).toEqual(["Die", "Die"])
  })
})
