import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Schema, TestClock, TestContext } from "effect"
import { expect, it } from "vitest"
import { TicketInput } from "../../src/decisions/createTicket.js"
import type { TicketId } from "../../src/domain/Identifier.js"
import { Sent } from "../../src/domain/Webhook.js"
import type { WebhookAddress } from "../../src/domain/WebhookAddress.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { ClientNotifier } from "../../src/ports/Notifiers.js"
import { WebhookSender } from "../../src/ports/WebhookSender.js"
import { Caller } from "../../src/services/Caller.js"
import { Dispatcher } from "../../src/services/Dispatcher.js"
import { NotificationSender } from "../../src/services/NotificationSender.js"
import * as Notifiers from "../../src/services/Notifiers.js"
import * as Profanity from "../../src/services/Profanity.js"
import { ShopInput, Shops } from "../../src/services/Shops.js"
import { Tickets } from "../../src/services/Tickets.js"
import { Webhooks } from "../../src/services/Webhooks.js"
import * as Workshop from "../../src/services/Workshop.js"

const DAY_MS = 86_400_000

it("under the TestClock the background work wakes when something is due: 61 days take an instant, and each act has its own time", async () => {
  const done: Array<readonly [what: string, day: number]> = []
  const note = (what: string) =>
    Effect.map(
      Effect.clockWith((clock) => clock.currentTimeMillis),
      (now) => void done.push([what, now / DAY_MS])
    )
  const layer = Workshop.background.pipe(
    Layer.provide(Layer.merge(Dispatcher.layer(), NotificationSender.Default)),
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(WebhookSender, {
          send: ({ body }) => Effect.as(note(JSON.parse(body).type), Sent.answered(200))
        }),
        Layer.succeed(ClientNotifier, { notify: ({ type }) => note(`notified of ${type}`) }),
        Notifiers.logOwner
      )
    ),
    Layer.provideMerge(Workshop.layer),
    Layer.provideMerge(MemoryStore.layer),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layerSeeded(7))
  )
  await Effect.gen(function* () {
    const shop = yield* Shops.create(
      Schema.decodeSync(ShopInput)({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
    )
    yield* Webhooks.set(shop.id, "https://erp.example/hook" as WebhookAddress)
    const caller = Schema.decodeSync(Caller)({
      shop_id: shop.id,
      caller_id: "a",
      scopes: ["tickets:write"],
      via: "api"
    })
    const input = Schema.decodeSync(TicketInput)({ service: "Hem", client_phone: "+33612345678" })
    const { data } = yield* Tickets.create(caller, input)
    yield* TestClock.adjust("1 day")
    yield* Tickets.changeStatus(caller, data.id as TicketId, "ready")
    yield* TestClock.adjust("61 days")
  }).pipe(Effect.provide(layer), Effect.scoped, Effect.provide(TestContext.TestContext), Effect.runPromise)
  expect(done).toEqual([
    ["ticket.created", 0],
    ["ticket.ready", 1],
    ["notified of ticket.ready", 1],
    ["ticket.abandoned", 61]
  ])
})
