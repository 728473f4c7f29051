import {
  Caller,
  ClientNotifier,
  Dispatcher,
  Entropy,
  NotificationSender,
  Notifiers,
  Profanity,
  SendResult,
  ShopInput,
  Shops,
  type StorePorts,
  TicketId,
  TicketInput,
  Tickets,
  WebhookSender,
  Webhooks,
  Workshop
} from "@workshop/core"
import { Effect, Layer, Schema, TestClock, TestContext } from "effect"
import { expect } from "vitest"
import type { WebhookAddress } from "../../src/domain/WebhookAddress.js"

const DAY_MS = 86_400_000

/** Moves the TestClock of a service with background work from a ticket's first day to its abandonment, on any store. */
export const sixtyOneDays = <E>(store: Layer.Layer<StorePorts, E, Entropy>): Effect.Effect<void, unknown> => {
  const done: Array<readonly [what: string, day: number]> = []
  const note = (message: string) =>
    Effect.map(
      Effect.clockWith((clock) => clock.currentTimeMillis),
      // On Postgres, the store's own retries advance the clock by some milliseconds.
      (now) => void done.push([message, Math.round(now / DAY_MS)])
    )
  const layer = Workshop.background.pipe(
    Layer.provide(Layer.merge(Dispatcher.layer(), NotificationSender.Default)),
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(WebhookSender, {
          send: ({ body }) => Effect.as(note(JSON.parse(body).type), SendResult.responded(200))
        }),
        Layer.succeed(ClientNotifier, { notify: ({ type }) => note(`notified of ${type}`) }),
        Notifiers.logOwner
      )
    ),
    Layer.provideMerge(Workshop.layer),
    Layer.provideMerge(store),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layerSeeded(7))
  )
  return Effect.gen(function* () {
    const shop = yield* Shops.create(
      Schema.decodeSync(ShopInput)({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
    )
    yield* Webhooks.set(shop.id, "https://erp.example/hook" as WebhookAddress)
    const scopes = ["tickets:read", "tickets:write"] as const
    const caller = Schema.decodeSync(Caller)({ shop_id: shop.id, caller_id: "a", scopes, via: "api" })
    const input = Schema.decodeSync(TicketInput)({ service: "Hem", client_phone: "+33612345678" })
    const { data } = yield* Tickets.create(caller, input)
    const id = Schema.decodeSync(TicketId)(data.id)
    yield* TestClock.adjust("1 day")
    yield* Tickets.changeStatus(caller, id, "ready")
    yield* TestClock.adjust("61 days")
    expect((yield* Tickets.byId(caller, id)).state).toBe("abandoned")
    expect(done).toEqual([
      ["ticket.created", 0],
      ["ticket.ready", 1],
      ["notified of ticket.ready", 1],
      ["ticket.abandoned", 61]
    ])
  }).pipe(Effect.provide(layer), Effect.scoped, Effect.provide(TestContext.TestContext))
}
