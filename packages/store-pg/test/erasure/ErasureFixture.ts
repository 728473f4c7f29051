import {
  appCaller,
  type Caller,
  type CallerId,
  type ClientId,
  ClientInput,
  Clients,
  DelayInput,
  IdempotencyKey,
  Loyalty,
  Offers,
  PartInput,
  PhotoInput,
  Progress,
  QuoteInput,
  Quotes,
  ShopInput,
  ShopPatch,
  Shops,
  type StampCount,
  type TicketId,
  TicketInput,
  Tickets,
  Webhooks
} from "@workshop/core"
import { Deliveries } from "@workshop/core/store"
import { Effect, Schema } from "effect"
import type { WebhookAddress } from "../../../core/src/domain/WebhookAddress.js"
import { record, statusResult } from "../../../core/src/testing/TestDispatcher.js"

export const PHONE = "+21620123456"

/** Texts that identify the person. A case-insensitive search must find none of them after the erasure. */
export const NEEDLES = ["amira", "ben salah", "benslama", PHONE, "21620123456", "20123456", "20 123 456", "20-123-456"]

const shop = Schema.decodeSync(ShopInput)({
  name: "Atelier Lac",
  currency: "TND",
  decimals: 3,
  time_zone: "Africa/Tunis",
  tracking_base_url: "https://t.example/"
})

const text = Schema.decodeUnknownSync(TicketInput)
export const idempotencyKey = Schema.decodeSync(IdempotencyKey)

/** A ticket with the client's name or number in every free-text field. */
export const chatty = (client_id: string) =>
  text({
    service: "Hem for AMIRA",
    item: "Coat of Mrs Ben Salah",
    description: "Amira Ben Salah, call 20 123 456 or 0021620123456",
    items: [
      { label: "Coat (amira)", service: "Hem", price_minor: 30_000 },
      { label: "Scarf", service: "Wash, tel. 20-123-456" }
    ],
    external_ref: `AMIRA ${PHONE}`,
    client_id,
    price_minor: 45_000
  })

const openShop = Effect.gen(function* () {
  const shops = yield* Shops
  const { id } = yield* shops.create(shop)
  yield* shops.change(id, Schema.decodeSync(ShopPatch)({ program: { active: true, reward_label: "A hem" } }))
  yield* (yield* Webhooks).set(id, "https://shop.example.com/hook" as WebhookAddress)
  return appCaller(id)
})

const register = (given_name: string, family_name: string, phone: string) =>
  Effect.map(
    Effect.flatMap(Clients, (clients) =>
      clients.register(Schema.decodeSync(ClientInput)({ given_name, family_name, phone }))
    ),
    ({ id }) => id
  )

/**
 * Delivers all due webhooks. The receiver's response repeats the request body, so that the delivery log contains
 * personal data too.
 */
const deliver = Effect.gen(function* () {
  const { claim } = yield* Deliveries
  const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  for (let claims = yield* claim(now, 50); claims.length > 0; claims = yield* claim(now, 50))
    for (const delivery of claims)
      yield* record(delivery, { ...statusResult(200), head: `HTTP/1.1 200 OK\n\n${delivery.body}` })
})

/** The callers, clients and tickets that {@link story} creates. */
export interface Cast {
  readonly caller: Caller
  readonly otherCaller: Caller
  readonly amira: ClientId
  readonly karim: ClientId
  readonly linked: TicketId
  readonly offered: TicketId
  readonly accepted: TicketId
  readonly karims: TicketId
}

/** Fills two shops with every kind of record about a client, Amira, and with records about another client, Karim. */
export const story = Effect.gen(function* () {
  const [tickets, progress, quotes, clients, loyalty, offers] = [
    yield* Tickets,
    yield* Progress,
    yield* Quotes,
    yield* Clients,
    yield* Loyalty,
    yield* Offers
  ]
  const [caller, otherCaller] = [yield* openShop, yield* openShop]
  const amira = yield* register("Amira", "Ben Salah", PHONE)
  const karim = yield* register("Karim", "Trabelsi", "+21655999888")
  for (const { shop_id } of [caller, otherCaller]) yield* clients.visit(karim, shop_id)
  yield* clients.visit(amira, caller.shop_id)

  const linked = (yield* tickets.create(caller, chatty(amira), idempotencyKey("till-1"))).data.id as TicketId
  yield* progress.attachPhoto(
    caller,
    linked,
    Schema.decodeSync(PhotoInput)({ photo_url: "https://p.example/amira.jpg" })
  )
  yield* progress.announceDelay(
    caller,
    linked,
    Schema.decodeSync(DelayInput)({ promised_at: "2026-12-24T10:00:00Z", reason: "Amira is away" })
  )
  yield* progress.recordPart(
    caller,
    linked,
    Schema.decodeSync(PartInput)({ label: "Zip for Amira", status: "ordered" })
  )
  yield* quotes.propose(
    caller,
    linked,
    Schema.decodeSync(QuoteInput)({ price_minor: 50_000, note: "Mrs Ben Salah asked" })
  )
  yield* deliver
  yield* tickets.changeStatus(caller, linked, "ready")
  const offered = (yield* tickets.create(
    caller,
    text({ service: "Wash", client_phone: PHONE }),
    idempotencyKey("till-2")
  )).data.id as TicketId
  const karims = (yield* tickets.create(
    caller,
    text({ service: "Zip", description: "red", client_id: karim }),
    idempotencyKey("k")
  )).data.id as TicketId
  yield* loyalty.giveStamps(caller, amira, 2 as StampCount, idempotencyKey(`stamps ${PHONE}`))

  const sold = yield* tickets.create(
    otherCaller,
    text({ service: "Hem", client_phone: PHONE }),
    idempotencyKey("till 20123456")
  )
  const accepted = sold.data.id as TicketId
  const [offer] = (yield* offers.ofClient(amira)).filter(({ shop_id }) => shop_id === otherCaller.shop_id)
  yield* offers.accept(amira, offer!.id)
  yield* (yield* Webhooks).disable(otherCaller.shop_id)
  // The app uses a client's phone number as the caller id.
  yield* tickets.changeStatus({ ...otherCaller, caller_id: PHONE as CallerId }, accepted, "impossible")
  return { caller, otherCaller, amira, karim, linked, offered, accepted, karims } satisfies Cast
})
