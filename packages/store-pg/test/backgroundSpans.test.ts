import {
  Caller,
  Dispatcher,
  Entropy,
  NotificationSender,
  Notifiers,
  Profanity,
  parseWebhookAddress,
  productionAddresses,
  SendResult,
  ShopInput,
  Shops,
  TicketInput,
  Tickets,
  WebhookSender,
  Webhooks,
  Workshop
} from "@workshop/core"
import { Deferred, Effect, FiberRef, Layer, Option, Schema, Tracer } from "effect"
import { expect, it } from "vitest"
import { until } from "../../../test/until.js"
import { layer as migrated } from "../src/MigratedStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { runTest } from "./nodes/Node.js"

/**
 * Starts a workshop within a span `own`, creates a ticket, and waits until its webhook is sent and `enough` statements
 * have spans without a parent. Returns the number of `own` spans and those statements.
 */
const orphans = (quiet: (background: typeof Workshop.background) => typeof Workshop.background, enough: number) =>
  runTest(
    Effect.gen(function* () {
      const { url } = yield* testDatabase
      const spans: Array<Tracer.Span> = []
      let own = 0
      const statements = () =>
        spans
          .map(({ attributes }) => String(attributes.get("db.query.text")))
          // The schema check belongs to the start, but may end after it.
          .filter((text) => !text.includes("workshop schema"))
      const native = yield* Effect.tracer
      const tracer = Tracer.make({
        context: native.context,
        span: (name, parent, ...rest) => {
          const span = native.span(name, parent, ...rest)
          if (Option.isNone(parent) && name === "sql.execute") spans.push(span)
          if (name === "own") own++
          return span
        }
      })
      const sent = yield* Deferred.make<void>()
      const sender = Layer.succeed(WebhookSender, {
        send: () => Effect.as(Deferred.succeed(sent, undefined), SendResult.responded(200))
      })
      const layer = quiet(Workshop.background).pipe(
        Layer.provide(Dispatcher.layer()),
        Layer.provide(NotificationSender.Default),
        Layer.provide(Layer.merge(sender, Notifiers.layer)),
        Layer.provideMerge(Workshop.layer),
        Layer.provideMerge(migrated({ url })),
        Layer.provideMerge(Profanity.layer),
        Layer.provideMerge(Entropy.layer),
        Layer.provideMerge(Layer.setTracer(tracer))
      )
      yield* Effect.gen(function* () {
        spans.length = 0
        const settings = { name: "Needle", currency: "TND", time_zone: "Africa/Tunis" }
        const { id: shop_id } = yield* Shops.create(Schema.decodeSync(ShopInput)(settings))
        yield* Webhooks.set(shop_id, yield* parseWebhookAddress("https://erp.example/hook", productionAddresses))
        const caller = Schema.decodeSync(Caller)({ shop_id, caller_id: "till", scopes: ["tickets:write"], via: "api" })
        yield* Tickets.create(caller, Schema.decodeSync(TicketInput)({ service: "Hem" }))
        yield* Deferred.await(sent)
        yield* until("spans", Effect.sync(statements), ({ length }) => length >= enough)
      }).pipe(Effect.withSpan("own"), Effect.provide(layer))
      return { own, statements: statements() }
    })
  )

it("background work makes spans without a parent, and turning its tracer off leaves only the program's own spans (docs/embed-effect.md)", async () => {
  const loud = await orphans((background) => background, 1)
  expect(loud).toMatchObject({ own: 1 })
  expect(loud.statements).not.toEqual([])
  const quiet = Layer.locally(FiberRef.currentTracerEnabled, false)
  expect(await orphans((background) => background.pipe(quiet), 0)).toEqual({ own: 1, statements: [] })
}, 60_000)
