import { layer as memoryStore } from "@workshop/store-memory"
import { Cause, Effect, Exit, Layer, Schema } from "effect"
import { StampCount } from "../../src/decisions/giveStamps.js"
import { IdempotencyKey } from "../../src/decisions/Idempotency.js"
import { QuoteInput } from "../../src/decisions/quotes.js"
import { KeyInput, ShopPatch } from "../../src/decisions/shopSettings.js"
import type { KeyId, ShopId, TicketId } from "../../src/domain/Identifier.js"
import { ENTROPY_BYTES, makeIdentifier } from "../../src/domain/Moment.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { ProfanityFilter } from "../../src/ports/ProfanityFilter.js"
import { Store, type StorePorts } from "../../src/ports/StorePorts.js"
import { ApiKeyCache } from "../../src/services/ApiKeyCache.js"
import { Audit } from "../../src/services/Audit.js"
import { Closer } from "../../src/services/background/Closer.js"
import type { Caller } from "../../src/services/Caller.js"
import { ClientInput, Clients } from "../../src/services/Clients.js"
import { DeliveryHistory } from "../../src/services/DeliveryHistory.js"
import { Keys } from "../../src/services/Keys.js"
import { Loyalty } from "../../src/services/Loyalty.js"
import { Offers } from "../../src/services/Offers.js"
import { Quotes } from "../../src/services/Quotes.js"
import { ShopInput, Shops } from "../../src/services/Shops.js"
import { TicketQuery } from "../../src/services/TicketQuery.js"
import { Tickets } from "../../src/services/Tickets.js"
import { Webhooks } from "../../src/services/Webhooks.js"
import { SettableClock } from "../../src/testing/SettableClock.js"

/** Pauses before and after each command, for different numbers of turns, so that concurrent commands interleave. */
const jittery = Layer.effect(
  Store,
  Effect.map(Store, ({ transact }) => {
    let turn = 0
    const pause = Effect.suspend(() => {
      turn = (turn * 5 + 3) % 11
      return Effect.repeatN(Effect.yieldNow(), turn)
    })
    return Store.of({ transact: (command) => Effect.zipLeft(Effect.zipRight(pause, transact(command)), pause) })
  })
)

const mild = Layer.succeed(ProfanityFilter, {
  find: (texts) =>
    Effect.succeed(texts.flatMap(([field, text]) => (text.includes("damn") ? [{ field, word: "damn" }] : [])))
})

const services = Layer.mergeAll(
  Tickets.Default,
  Clients.Default,
  Loyalty.Default,
  Offers.Default,
  Quotes.Default,
  Closer.Default,
  Keys.Default,
  Webhooks.Default,
  DeliveryHistory.Default,
  Audit.Default
).pipe(Layer.provideMerge(Shops.Default), Layer.provideMerge(ApiKeyCache.Default))

/** The services that a test can use. */
export type Workshop = Layer.Layer.Success<typeof services> | StorePorts | Entropy

/** The whole service over a memory store of its own. `calm` leaves out the pauses, for tests that do one thing at a time. */
export const workshopLayer = (clock: SettableClock, seed = 1, calm = false): Layer.Layer<Workshop> =>
  services.pipe(
    Layer.provideMerge(mild),
    Layer.provideMerge(calm ? memoryStore : Layer.provideMerge(jittery, memoryStore)),
    Layer.provideMerge(Entropy.layerSeeded(seed)),
    Layer.provideMerge(clock.layer)
  )

/** Runs a test's body on its own workshop, with a clock that moves only when the test moves it. */
export const inWorkshop =
  <A, E>(body: (clock: SettableClock) => Effect.Effect<A, E, Workshop>, seed = 1) =>
  async (): Promise<void> => {
    const clock = new SettableClock()
    const exit = await Effect.runPromiseExit(
      body(clock).pipe(Effect.provide(workshopLayer(clock, seed)), Effect.withClock(clock))
    )
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  }

/** An API caller of a shop with its own key. */
export const callerOf = (shop_id: ShopId): Effect.Effect<Caller, never, Entropy> =>
  Effect.map(Entropy.draw(ENTROPY_BYTES), (entropy) => ({
    shop_id,
    caller_id: makeIdentifier<KeyId>({ now: 1, entropy }, 0),
    scopes: ["tickets:read", "tickets:write", "clients:read", "loyalty:write"] as const,
    via: "api" as const
  }))

export const shopInput = (input: Partial<typeof ShopInput.Encoded> = {}) =>
  Schema.decodeSync(ShopInput)({
    name: "Atelier",
    currency: "TND",
    decimals: 3,
    time_zone: "Africa/Tunis",
    tracking_base_url: "https://t.example/",
    ...input
  })

/** Opens a shop whose programme is on, and returns a caller of it. */
export const openShop = Effect.fnUntraced(function* (input: Partial<typeof ShopInput.Encoded> = {}) {
  const shops = yield* Shops
  const { id } = yield* shops.create(shopInput(input))
  yield* shops.change(id, shopPatch({ program: { active: true, reward_label: "A hem" } }))
  return yield* callerOf(id)
})

export const openClient = (phone: string, hide_name = false) =>
  Effect.flatMap(Clients, (clients) =>
    clients.register(Schema.decodeSync(ClientInput)({ given_name: "Amira", family_name: "Baccar", phone, hide_name }))
  )

/** A client who has been at the shop's counter. */
export const regular = Effect.fnUntraced(function* ({ shop_id }: Caller, phone = "+21620123456") {
  const { id } = yield* openClient(phone)
  yield* (yield* Clients).visit(id, shop_id)
  return id
})

export const shopPatch = Schema.decodeSync(ShopPatch)
export const key = Schema.decodeSync(IdempotencyKey)
export const stamps = Schema.decodeSync(StampCount)
export const quote = Schema.decodeSync(QuoteInput)
export const query = Schema.decodeSync(TicketQuery)
export const keyInput = (name: string) => Schema.decodeSync(KeyInput)({ name, scopes: ["tickets:read"] })
export const ticketId = (ticket: { readonly id: string }) => ticket.id as TicketId

/** The tag of the refusal with which an effect fails, or null if it succeeds. */
export const refusalOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onFailure: ({ _tag }): string | null => _tag, onSuccess: () => null })

/** The seed of every random test of this run, which `TEST_SEED=…` replaces. */
export const SEED = Number(process.env.TEST_SEED ?? 20_261_120)
