import { type CallerId, Entropy, IdempotencyKey, type ShopId, TicketInput } from "@workshop/core"
import { DAY_MS, Store } from "@workshop/core/store"
import { PgStore } from "@workshop/store-pg"
import { Effect, Layer, Schema } from "effect"
import { createTicket, ticketDefaults } from "../../../packages/core/dist/decisions/createTicket.js"
import { makeIdempotent } from "../../../packages/core/dist/decisions/Idempotency.js"
import { freshCaller, openShop } from "../../../packages/core/dist/testing/Fixtures.js"
import { SettableClock } from "../../../packages/core/dist/testing/SettableClock.js"

/** The number of shops that create tickets. */
export const SHOPS = 50
/** The number of creates in flight. */
export const IN_FLIGHT = 64

/**
 * The creates after which the clock moves by a day, because a shop may create only 150 tickets an hour and 600 a day
 * (Specification, Limits).
 */
const CREATES_A_DAY = SHOPS * 100

/** The ticket that the service and the PL/pgSQL function create. */
export const TICKET = {
  service: "Resoling",
  item: "Brown boots",
  price_minor: 45_000,
  external_ref: "web-1001"
} as const

const input = Schema.decodeSync(TicketInput)(TICKET)

/** A shop that creates tickets, and the key that it uses. */
export interface Creator {
  readonly shop_id: ShopId
  readonly caller_id: CallerId
}

/** A clock whose wall time the benchmark moves, and whose durations are real. */
export class BenchClock extends SettableClock {
  override unsafeCurrentTimeNanos(): bigint {
    return process.hrtime.bigint()
  }
}

/** The Postgres store on a database. */
export const storeLayer = (url: string, clock: BenchClock) =>
  PgStore.layer({ url }).pipe(Layer.provideMerge(Layer.merge(Entropy.layer, clock.layer)))

/** Opens the shops. */
export const creators = Effect.replicateEffect(
  Effect.gen(function* () {
    const { id } = yield* openShop()
    return { shop_id: id, caller_id: yield* freshCaller } satisfies Creator
  }),
  SHOPS
)

/** The command that creates a ticket, with its own `Idempotency-Key`. */
export const createCommand = ({ shop_id, caller_id }: Creator, count: number) => {
  const key = Schema.decodeSync(IdempotencyKey)(`create-${count}`)
  return makeIdempotent(
    { caller_id, operation: "tickets.create", key, request: input, defaults: ticketDefaults },
    createTicket(shop_id, input, { via: "api", foundWords: [] })
  )
}

/** An effect that creates a ticket of the next shop with a new key each time that it runs. */
export const createNext = (all: ReadonlyArray<Creator>, clock: BenchClock) =>
  Effect.map(Store, ({ transact }) => {
    let count = 0
    return Effect.suspend(() => {
      if (++count % CREATES_A_DAY === 0) clock.advance(DAY_MS)
      return transact(createCommand(all[count % all.length]!, count))
    })
  })
