import { type Context, Effect } from "effect"
import {
  eraseEvents,
  eraseIdempotencyRecords,
  eraseRecords,
  eraseTickets,
  forgetClient,
  type PersonRecords
} from "../decisions/eraseClient.js"
import type { ClientAccount } from "../domain/Client.js"
import type { AttemptRecord, SentEvent } from "../domain/Delivery.js"
import type { IdempotencyRecord, IdempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { ClientId, ShopId } from "../domain/Identifier.js"
import { type Instant, toIso, toIsoOrNull } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import type { CardRecord, LedgerEntry } from "../domain/LoyaltyCard.js"
import type { NotificationRecord } from "../domain/Notification.js"
import type { OfferRecord } from "../domain/Offer.js"
import type { Person } from "../domain/Person.js"
import type { ShopNotFound, ShopRecord } from "../domain/Shop.js"
import { type Ticket, ticketView } from "../domain/Ticket.js"
import { PersonalData, type PersonShopData, Reads, Store, type StoreUnavailable } from "../ports/StorePorts.js"
import { TrackingPages } from "../ports/TrackingPages.js"
import { makeAuditedCommandRunner, makeCommandRunner } from "./CommandRunner.js"

const { erasure_batch_rows, erasure_batch_events } = ServiceLimits

const chunksOf = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / erasure_batch_rows) }, (_, i) =>
    items.slice(i * erasure_batch_rows, (i + 1) * erasure_batch_rows)
  )

/** The entry of an erasure in the audit log. */
const entryOf =
  ({ client_id }: Person) =>
  () =>
    ({ act: "client.erased", details: { client_id } }) as const

/** Splits the offers and notifications into the parts that one command erases. */
const recordsOf = ({ offers, notifications }: PersonRecords): ReadonlyArray<PersonRecords> => [
  ...chunksOf(offers).map((chunk) => ({ offers: chunk, notifications: [] })),
  ...chunksOf(notifications).map((chunk) => ({ offers: [], notifications: chunk }))
]

const withIsoDate = <Row extends { readonly created_at: Instant }>({ created_at, ...row }: Row) => ({
  ...row,
  created_at: toIso(created_at)
})

/** The data of a client in a shop, as exported for the client. Instants are ISO 8601 in UTC. */
export interface ClientShopExport {
  /** The shop that has these data. */
  readonly shop_id: ShopId
  /** The name of the shop, for the client. */
  readonly shop_name: string
  /** When the client became known to the shop; null if they are not known to it. */
  readonly known_at: string | null
  /** When the client blocked the shop; null if they did not. */
  readonly blocked_at: string | null
  /** The client's card; null if they have none in this shop. */
  readonly loyalty_card: (Omit<CardRecord, "updated_at"> & { readonly updated_at: string | null }) | null
  /** The entries of the card's ledger. */
  readonly loyalty_ledger: ReadonlyArray<Omit<LedgerEntry, "created_at"> & { readonly created_at: string }>
  /** The client's tickets, and those with their phone number, in the form of the API with `client_id`. */
  readonly tickets: ReadonlyArray<Ticket & { readonly client_id: ClientId | null }>
  /** The offers of tickets to the client's phone number. */
  readonly offers: ReadonlyArray<
    Omit<OfferRecord, "created_at" | "answered_at"> & {
      readonly created_at: string
      readonly answered_at: string | null
    }
  >
  /** The notifications that the shop sent to the client. */
  readonly notifications: ReadonlyArray<Omit<NotificationRecord, "created_at"> & { readonly created_at: string }>
  /** The events about these tickets and this client, as webhooks carry them. */
  readonly events: ReadonlyArray<unknown>
  /** The attempts to deliver these events, with the start of each response. */
  readonly delivery_attempts: ReadonlyArray<
    Pick<AttemptRecord, "event_id" | "n" | "status" | "error" | "head"> & { readonly started_at: string }
  >
  /** The stored requests and responses that contain data of the client. */
  readonly idempotency_records: ReadonlyArray<
    Pick<IdempotencyRecord, "operation" | "key"> & {
      readonly request: string
      readonly response: unknown
      readonly expires_at: string
    }
  >
}

const toShopPart = (
  shop: ShopRecord,
  { link, card, ledger, offers, notifications, tickets }: PersonShopData,
  sent: ReadonlyArray<SentEvent>,
  idempotencyRecords: ReadonlyArray<IdempotencyRecord>,
  tracking_base_url: string | null
): ClientShopExport => ({
  shop_id: shop.id,
  shop_name: shop.name,
  known_at: toIsoOrNull(link?.known_at ?? null),
  blocked_at: toIsoOrNull(link?.blocked_at ?? null),
  loyalty_card: card === null ? null : { ...card, updated_at: toIsoOrNull(card.updated_at) },
  loyalty_ledger: ledger.map(withIsoDate),
  tickets: tickets.map((ticket) => ({
    ...ticketView(ticket, shop, null, tracking_base_url),
    client_id: ticket.client_id
  })),
  offers: offers.map((offer) => ({ ...withIsoDate(offer), answered_at: toIsoOrNull(offer.answered_at) })),
  notifications: notifications.map(withIsoDate),
  events: sent.map(({ event }) => JSON.parse(event.body) as unknown),
  delivery_attempts: sent.flatMap(({ attempts }) =>
    attempts.map(({ event_id, n, started_at, status, error, head }) => ({
      event_id,
      n,
      started_at: toIso(started_at),
      status,
      error,
      head
    }))
  ),
  idempotency_records: idempotencyRecords.map(({ operation, key, fingerprint, response, expires_at }) => ({
    operation,
    key,
    request: fingerprint,
    response: JSON.parse(response) as unknown,
    expires_at: toIso(expires_at)
  }))
})

/** Everything that is stored about one client, for export. */
export interface ClientExport {
  /** The fields of the client's account. */
  readonly account: Readonly<Record<string, unknown>>
  /** The data of each shop that has any of the client. */
  readonly shops: ReadonlyArray<ClientShopExport>
}

/** The person of an account. */
export const personOf = ({ id, given_name, family_name, phone }: ClientAccount): Person => ({
  client_id: id,
  names: [given_name, family_name],
  phones: [phone]
})

/** Dies if the shop does not exist, because the store itself named it. */
const ifShopExists = <A, R>(effect: Effect.Effect<A, ShopNotFound | StoreUnavailable, R>) =>
  Effect.catchTag(effect, "ShopNotFound", Effect.die)

/** Exports and erases the data of clients in all shops. */
export const makeClientRecords = Effect.gen(function* () {
  const personal = yield* PersonalData
  const reads = yield* Reads
  const store: Context.Tag.Service<Store> = yield* Store
  const run = makeCommandRunner(store)
  const runAudited = makeAuditedCommandRunner(store)

  const eventsOf = Effect.fnUntraced(function* <R>(
    shop_id: ShopId,
    person: Person,
    { tickets }: PersonShopData,
    use: (events: ReadonlyArray<SentEvent>) => Effect.Effect<unknown, StoreUnavailable, R>
  ) {
    const ids = tickets.map(({ id }) => id)
    const lastSeq = (yield* reads.shop(shop_id))?.head.event_seq ?? 0
    for (let from = 1; from < lastSeq; from += erasure_batch_events)
      yield* use(yield* personal.events(shop_id, person, ids, from))
  })

  const idempotencyRecordsOf = Effect.fnUntraced(function* <R>(
    shop_id: ShopId,
    person: Person,
    { tickets }: PersonShopData,
    use: (records: ReadonlyArray<IdempotencyRecord>) => Effect.Effect<unknown, StoreUnavailable, R>
  ) {
    const ids = tickets.map(({ id }) => id)
    let after: IdempotencyRecordKey | null = null
    do {
      const { records, next }: Effect.Effect.Success<ReturnType<typeof personal.idempotencyRecords>> =
        yield* personal.idempotencyRecords(shop_id, person, ids, after)
      yield* use(records)
      after = next
    } while (after !== null)
  })

  const exportOf = Effect.fnUntraced(function* (shop_id: ShopId, person: Person) {
    const shopData = yield* personal.readShopData(shop_id, person)
    const sent: Array<SentEvent> = []
    const idempotencyRecords: Array<IdempotencyRecord> = []
    yield* eventsOf(shop_id, person, shopData, (events) => Effect.sync(() => sent.push(...events)))
    yield* idempotencyRecordsOf(shop_id, person, shopData, (records) =>
      Effect.sync(() => idempotencyRecords.push(...records))
    )
    const shop = (yield* reads.shop(shop_id))?.shop
    return shop === undefined
      ? []
      : [toShopPart(shop, shopData, sent, idempotencyRecords, (yield* TrackingPages).base_url)]
  })

  /**
   * Erases a person from one shop. It erases offers, notifications and the link last, because a repetition finds the
   * shop by them.
   */
  const eraseFrom = Effect.fnUntraced(function* (shop_id: ShopId, person: Person) {
    const shopData = yield* personal.readShopData(shop_id, person)
    for (const some of chunksOf(shopData.tickets.map(({ id }) => id)))
      yield* ifShopExists(run(eraseTickets(shop_id, person, some)))
    yield* eventsOf(shop_id, person, shopData, (events) =>
      Effect.forEach(chunksOf(events.map(({ event }) => event.id)), (chunk) =>
        ifShopExists(run(eraseEvents(shop_id, person, chunk)))
      )
    )
    yield* idempotencyRecordsOf(shop_id, person, shopData, (records) =>
      Effect.forEach(chunksOf(records), (chunk) => ifShopExists(run(eraseIdempotencyRecords(shop_id, person, chunk))))
    )
    for (const part of recordsOf(shopData)) yield* ifShopExists(run(eraseRecords(shop_id, part)))
    yield* ifShopExists(runAudited(forgetClient(shop_id, person), entryOf(person)))
  })

  return {
    /** The data of a person in all shops. */
    exportOf: Effect.fnUntraced(function* (person: Person) {
      const shops = yield* personal.shops(person)
      return (yield* Effect.forEach(shops, (shop_id) => exportOf(shop_id, person))).flat()
    }),
    /** Erases a person from all shops, one after the other. Returns the shops. */
    eraseEverywhere: Effect.fnUntraced(function* (person: Person) {
      const shops = yield* personal.shops(person)
      yield* Effect.forEach(shops, (shop_id) => eraseFrom(shop_id, person))
      return shops
    })
  }
})
