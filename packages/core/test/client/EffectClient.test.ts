import { FetchHttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { afterAll, expectTypeOf } from "vitest"
import { make } from "../../src/client/EffectClient.js"
import { TicketInput } from "../../src/decisions/createTicket.js"
import { IdempotencyKey } from "../../src/decisions/Idempotency.js"
import { TicketId } from "../../src/domain/Identifier.js"
import { startTestWorkshop } from "./startTestWorkshop.js"

const { workshop, key, fetch } = await startTestWorkshop({ seed: 5 })
afterAll(() => workshop.stop())

const layer = FetchHttpClient.layer.pipe(
  Layer.provide(
    Layer.succeed(FetchHttpClient.Fetch, async (input, init) => fetch(new Request(input as URL, init as RequestInit)))
  )
)

const client = make({ baseUrl: "http://127.0.0.1:4010/v1/", key: Redacted.make(key) })

describe("The Effect client", () => {
  it.effect(
    "the Effect client encodes requests and decodes responses with the schemas of the API (Specification, Endpoints)",
    () =>
      Effect.gen(function* () {
        const { tickets } = yield* client
        const { data, meta } = yield* tickets.create({
          payload: Schema.decodeSync(TicketInput)({ service: "Hem" }),
          headers: { "idempotency-key": Schema.decodeSync(IdempotencyKey)("one") }
        })
        expect(meta.replayed).toBe(false)
        const read = yield* tickets.byId({ path: { id: Schema.decodeSync(TicketId)(data.id) } })
        expect(read.data).toMatchObject({ service: "Hem", number: 1 })
      }).pipe(Effect.provide(layer))
  )

  it.effect(
    "the tag of a refusal is the code of its error, so that catchTag can handle it (Specification, Errors)",
    () =>
      Effect.gen(function* () {
        const { tickets, clients } = yield* client
        const { data } = yield* tickets.create({
          payload: Schema.decodeSync(TicketInput)({ service: "Hem" }),
          headers: { "idempotency-key": Schema.decodeSync(IdempotencyKey)("two") }
        })
        const id = Schema.decodeSync(TicketId)(data.id)
        const allowed = yield* tickets
          .changeStatus({ path: { id }, headers: {}, payload: { status: "collected" } })
          .pipe(
            Effect.as([]),
            Effect.catchTag("CONFLICT", ({ details }) => {
              expectTypeOf(details.reason).toExtend<string>()
              return Effect.succeed(details.allowed)
            })
          )
        expect(allowed).toEqual(["ready", "impossible"])
        const lost = yield* Effect.flip(clients.byId({ path: { id: data.id as never } }))
        expect(lost._tag).toBe("NOT_FOUND")
      }).pipe(Effect.provide(layer))
  )
})
