import { HttpApp } from "@effect/platform"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Schema } from "effect"
import { expect, it } from "vitest"
import type { TicketInput } from "../../src/decisions/createTicket.js"
import { httpApp } from "../../src/http.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { Caller } from "../../src/services/Caller.js"
import * as Profanity from "../../src/services/Profanity.js"
import { ShopInput, Shops } from "../../src/services/Shops.js"
import { Tickets } from "../../src/services/Tickets.js"
import * as Workshop from "../../src/services/Workshop.js"

it("a decorator of Tickets sees the moves of the API, and a repeated move only once (docs/embed-effect.md)", async () => {
  const moves: Array<readonly [mover: string, status: string]> = []
  const recorded = Layer.effect(
    Tickets,
    Effect.map(Tickets, (tickets) =>
      Tickets.make({
        ...tickets,
        changeStatus: (caller, id, status, key) =>
          Effect.tap(tickets.changeStatus(caller, id, status, key), ({ replayed }) => {
            if (!replayed) moves.push([caller.caller_id, status])
          })
      })
    )
  )
  const services = recorded.pipe(
    Layer.provideMerge(Workshop.layer),
    Layer.provideMerge(MemoryStore.layer),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layer)
  )
  await Effect.gen(function* () {
    const settings = { name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
    const { id: shop_id } = yield* Shops.create(Schema.decodeSync(ShopInput)(settings))
    const scopes = ["tickets:write"] as const
    const amira = Schema.decodeSync(Caller)({ shop_id, caller_id: "amira", scopes, via: "api" })
    const { data } = yield* Tickets.create(amira, { service: "Hem" } as TicketInput)
    const app = yield* httpApp({ authenticate: () => Effect.succeed(amira) })
    const handler = HttpApp.toWebHandlerRuntime(yield* Effect.runtime())(app)
    const headers = { "content-type": "application/json", "idempotency-key": "one" }
    const move = () =>
      handler(
        new Request(`http://a.test/v1/tickets/${data.id}/status`, {
          method: "POST",
          headers,
          body: '{"status":"ready"}'
        })
      )
    for (let times = 0; times < 2; times++) expect((yield* Effect.promise(move)).status).toBe(200)
  }).pipe(Effect.provide(services), Effect.runPromise)
  expect(moves).toEqual([["amira", "ready"]])
})
