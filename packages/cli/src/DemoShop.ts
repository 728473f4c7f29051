import { StampCount } from "@workshop/core/decisions/giveStamps"
import { IdempotencyKey } from "@workshop/core/decisions/Idempotency"
import { DelayInput, PartInput } from "@workshop/core/decisions/keepTicketNews"
import { ShopPatch } from "@workshop/core/decisions/ownShop"
import { QuoteInput } from "@workshop/core/decisions/quoteTicket"
import { TicketInput } from "@workshop/core/decisions/TicketInput"
import { TicketId } from "@workshop/core/domain/Identifier"
import { DAY_MS, toIso } from "@workshop/core/domain/Instant"
import type { Ticket } from "@workshop/core/domain/Ticket"
import { ClientInput, Clients } from "@workshop/core/services/Clients"
import { Loyalty } from "@workshop/core/services/Loyalty"
import { Progress } from "@workshop/core/services/Progress"
import { Quotes } from "@workshop/core/services/Quotes"
import { Shops } from "@workshop/core/services/Shops"
import { Tickets } from "@workshop/core/services/Tickets"
import { Effect, Schema } from "effect"
import type { FirstShop } from "./FirstShop.js"

/** A demo client whom the shop knows. */
export const KNOWN_PHONE = "+21620123456"

const idOf = (ticket: Ticket) => Schema.decodeSync(TicketId)(ticket.id)

const meetClients = Effect.fnUntraced(function* ({ app }: FirstShop) {
  const clients = yield* Clients
  const meet = Effect.fnUntraced(function* (person: typeof ClientInput.Encoded) {
    const { id } = yield* clients.register(Schema.decodeSync(ClientInput)(person))
    yield* clients.visit(id, app.shop_id)
    return id
  })
  return {
    amira: yield* meet({ given_name: "Amira", family_name: "Ben Salah", phone: KNOWN_PHONE }),
    karim: yield* meet({ given_name: "Karim", family_name: "Trabelsi", phone: "+21622345678", hide_name: true })
  }
})

const takeTickets = Effect.fnUntraced(function* (
  { app }: FirstShop,
  { amira, karim }: Record<"amira" | "karim", string>
) {
  const tickets = yield* Tickets
  const progress = yield* Progress
  const tomorrow = toIso((yield* Effect.clockWith((clock) => clock.currentTimeMillis)) + DAY_MS)
  const take = (input: typeof TicketInput.Encoded) =>
    Effect.map(tickets.create(app, Schema.decodeSync(TicketInput)(input)), ({ data }) => idOf(data))

  const boots = { item: "Brown boots", price_minor: 45_000, deposit_minor: 20_000 }
  const ready = yield* take({ service: "Resoling", ...boots, client_id: amira })
  yield* tickets.changeStatus(app, ready, "ready")
  const collected = yield* take({ service: "Hem", item: "Grey trousers", price_minor: 12_000, client_id: karim })
  yield* tickets.changeStatus(app, collected, "ready")
  yield* tickets.changeStatus(app, collected, "collected")
  const impossible = yield* take({ service: "Screen", item: "Phone", description: "Fell into the sea" })
  yield* tickets.changeStatus(app, impossible, "impossible")

  const coat = { item: "Winter coat", price_minor: 30_000, promised_at: tomorrow, client_id: amira }
  const quoted = yield* take({ service: "New lining", ...coat })
  const price = { price_minor: 38_000, note: "The sleeves need it too" }
  yield* (yield* Quotes).propose(app, quoted, Schema.decodeSync(QuoteInput)(price))
  const waiting = yield* take({ service: "Zip", item: "Suitcase", price_minor: 25_000, promised_at: tomorrow })
  yield* progress.recordPart(app, waiting, Schema.decodeSync(PartInput)({ label: "Zip, 60 cm", status: "ordered" }))
  const later = toIso(Date.parse(tomorrow) + 3 * DAY_MS)
  yield* progress.announceDelay(app, waiting, Schema.decodeSync(DelayInput)({ promised_at: later, reason: "The part" }))
  const items = [
    { label: "Curtains, left", price_minor: 20_000 },
    { label: "Curtains, right", price_minor: 20_000 }
  ]
  yield* take({ service: "Curtains", type: "prepare", items, price_minor: 40_000, external_ref: "web-1001" })
})

/** Furnishes the first shop: a programme, clients it knows, and tickets in every state that time alone does not bring about. */
export const furnish = Effect.fnUntraced(
  function* (first: FirstShop) {
    const { shop_id } = first.app
    const program = {
      active: true,
      name: "Stamps",
      stamps_required: 10,
      stamps_per_ticket: 1,
      reward_label: "A free hem"
    }
    yield* (yield* Shops).change(shop_id, Schema.decodeSync(ShopPatch)({ program }))
    const clients = yield* meetClients(first)
    yield* takeTickets(first, clients)
    const [nine, key] = [Schema.decodeSync(StampCount)(9), Schema.decodeSync(IdempotencyKey)("demo")]
    yield* (yield* Loyalty).giveStamps(first.app, clients.amira, nine, key)
  },
  // Its inputs are written down above: a refusal would be a mistake in them.
  Effect.orDie
)

/** What else there is to try in the furnished shop. */
export const demoSteps = (base: string, { key }: FirstShop): ReadonlyArray<string> => [
  "Look a client up who has a reward to use:",
  `curl -s '${base}/v1/clients?phone=${encodeURIComponent(KNOWN_PHONE)}' -H 'Authorization: Bearer ${key}'`
]
