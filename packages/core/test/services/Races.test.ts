import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"
import { DAY_MS } from "../../src/domain/Instant.js"
import { Closer } from "../../src/services/background/Closer.js"
import { Clients } from "../../src/services/Clients.js"
import { Loyalty } from "../../src/services/Loyalty.js"
import { Shops } from "../../src/services/Shops.js"
import { Tickets } from "../../src/services/Tickets.js"
import { Webhooks } from "../../src/services/Webhooks.js"
import { ticketInput } from "../../src/testing/Fixtures.js"
import { inWorkshop, key, openShop, query, regular, shopPatch, stamps, ticketId } from "./WorkshopFixture.js"

const at_once = { concurrency: "unbounded" } as const
const times = (n: number) => Array.from({ length: n }, (_, i) => i)

describe("Specification, Endpoints: a replayed POST /v1/tickets creates no duplicate", () => {
  it(
    "thirty requests at once with one key give one ticket and twenty-nine replays of it",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const create = tickets.create(caller, ticketInput({ service: "Hem" }), key("attempt 1"))
        const results = yield* Effect.forEach(times(30), () => create, at_once)
        expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1)
        expect(new Set(results.map(({ data }) => JSON.stringify(data))).size).toBe(1)
        expect((yield* tickets.list(caller, query({}))).data).toHaveLength(1)
        expect(yield* (yield* Webhooks).events(caller.shop_id)).toHaveLength(1)
      })
    )
  )

  it(
    "of two different requests at once with one key, one is refused",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const results = yield* Effect.forEach(
          ["Hem", "Zip"],
          (service) => Effect.either(tickets.create(caller, ticketInput({ service }), key("k"))),
          at_once
        )
        expect(results.map((result) => (Either.isLeft(result) ? result.left._tag : null)).sort()).toEqual([
          "IdempotencyKeyReused",
          null
        ])
        expect((yield* tickets.list(caller, query({}))).data).toHaveLength(1)
      })
    )
  )

  it(
    "tickets created at once have consecutive numbers, also from 9999 to 1",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        yield* (yield* Shops).change(caller.shop_id, shopPatch({ next_number: 9990 }))
        const tickets = yield* Tickets
        const made = yield* Effect.forEach(times(20), () => tickets.create(caller, ticketInput()), at_once)
        const numbers = made.map(({ data }) => data.number!)
        expect([...numbers].sort((a, b) => ((a + 9) % 9999) - ((b + 9) % 9999))).toEqual([
          9990, 9991, 9992, 9993, 9994, 9995, 9996, 9997, 9998, 9999, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
        ])
      })
    )
  )

  it(
    "of 200 creates at once 150 succeed in an hour, and a replay succeeds while the limit is used up",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const first = yield* tickets.create(caller, ticketInput(), key("first"))
        const results = yield* Effect.forEach(
          times(200),
          () => Effect.either(tickets.create(caller, ticketInput())),
          at_once
        )
        expect(results.filter(Either.isRight)).toHaveLength(149)
        const refusal = results.find(Either.isLeft)?.left
        expect(refusal?._tag === "LimitReached" ? refusal.decisive.policy : refusal).toBe("tickets_per_hour")
        const replay = yield* tickets.create(caller, ticketInput(), key("first"))
        expect([replay.replayed, replay.data, replay.limitStatuses]).toEqual([true, first.data, []])
      })
    )
  )
})

describe("Specification, States: concurrent moves", () => {
  it(
    "of ten moves to ready at once one succeeds, with one event, one notification and stamps earned once",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const client_id = yield* regular(caller)
        const tickets = yield* Tickets
        const { data } = yield* tickets.create(caller, ticketInput({ service: "Hem", client_id }))
        const results = yield* Effect.forEach(
          times(10),
          () => Effect.either(tickets.changeStatus(caller, ticketId(data), "ready")),
          at_once
        )
        const tags = results.map((result) => (Either.isLeft(result) ? result.left._tag : "moved")).sort()
        expect(tags).toEqual([...Array(9).fill("SameState"), "moved"])
        const events = (yield* (yield* Webhooks).events(caller.shop_id)).map(({ type }) => type)
        expect(events).toEqual(["ticket.created", "client.linked", "ticket.ready", "client.notified"])
        expect(yield* (yield* Clients).inbox(client_id)).toHaveLength(1)
        expect((yield* (yield* Loyalty).read(caller, client_id)).card).toMatchObject({ balance: 1, lifetime: 1 })
      })
    )
  )

  it(
    "of a collection and a closure at the same instant, exactly one succeeds",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const tickets = yield* Tickets
        const closer = yield* Closer
        const outcomes = new Set<string>()
        for (const first of times(12)) {
          const { data } = yield* tickets.create(caller, ticketInput())
          yield* tickets.changeStatus(caller, ticketId(data), "ready")
          clock.advance(60 * DAY_MS)
          const collect = Effect.either(tickets.changeStatus(caller, ticketId(data), "collected"))
          const pause = Effect.repeatN(Effect.yieldNow(), first)
          const [closed, collected] = yield* Effect.all(
            [closer.runOnce, first % 2 === 0 ? collect : Effect.zipRight(pause, collect)],
            at_once
          )
          const { state, abandon_reason, collected_at } = yield* tickets.byId(caller, ticketId(data))
          outcomes.add(state)
          expect([closed, Either.isRight(collected), abandon_reason, collected_at === null]).toEqual(
            state === "collected" ? [0, true, null, false] : [1, false, "uncollected", true]
          )
        }
        expect([...outcomes].sort()).toEqual(["abandoned", "collected"])
      })
    )
  )
})

describe("Specification, Endpoints: loyalty under parallel requests", () => {
  it(
    "of ten requests at once to redeem one reward, one succeeds",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const client_id = yield* regular(caller)
        const loyalty = yield* Loyalty
        yield* loyalty.giveStamps(caller, client_id, stamps(10), key("stamps"))
        const results = yield* Effect.forEach(
          times(10),
          (n) => Effect.either(loyalty.redeem(caller, client_id, key(`redeem ${n}`))),
          at_once
        )
        expect(results.filter(Either.isRight)).toHaveLength(1)
        expect(results.flatMap((result) => (Either.isLeft(result) ? [result.left._tag] : []))).toEqual(
          Array(9).fill("NoReward")
        )
        expect((yield* loyalty.read(caller, client_id)).card).toMatchObject({
          balance: 0,
          lifetime: 10,
          rewards_redeemed: 1
        })
      })
    )
  )

  it(
    "of concurrent requests for 5 and 10 stamps, with 5 of the day's 20 left, only the one for 5 succeeds",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const client_id = yield* regular(caller)
        const loyalty = yield* Loyalty
        yield* loyalty.giveStamps(caller, client_id, stamps(10), key("a"))
        yield* loyalty.giveStamps(caller, client_id, stamps(5), key("b"))
        const [ten, five] = yield* Effect.forEach(
          [10, 5],
          (count) => Effect.either(loyalty.giveStamps(caller, client_id, stamps(count), key(`c${count}`))),
          at_once
        )
        expect([ten, five].map((result) => result && Either.isRight(result))).toEqual([false, true])
        expect((yield* loyalty.read(caller, client_id)).card.lifetime).toBe(20)
      })
    )
  )

  it(
    "twenty equal requests for stamps at once add them once",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const client_id = yield* regular(caller)
        const loyalty = yield* Loyalty
        const give = loyalty.giveStamps(caller, client_id, stamps(3), key("k"))
        const results = yield* Effect.forEach(times(20), () => give, at_once)
        expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1)
        expect(new Set(results.map(({ data }) => data.card.balance))).toEqual(new Set([3]))
        expect((yield* loyalty.read(caller, client_id)).card.balance).toBe(3)
      })
    )
  )
})
