import { Either, Schema } from "effect"
import * as Cursor from "../domain/Cursor.js"
import { ClientId, type ShopId, type TicketId } from "../domain/Identifier.js"
import { DateOrDateTimeText, type Instant, toIso } from "../domain/Instant.js"
import { InvalidInput } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import { PhoneInQuery } from "../domain/Phone.js"
import { Text } from "../domain/Text.js"
import { TicketState } from "../domain/TicketLifecycle.js"
import { TicketNumber } from "../domain/TicketNumber.js"
import type { SeenTicket, TicketFilter, TicketOrder } from "../ports/Reads.js"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const digits = Schema.String.pipe(Schema.pattern(/^\d{1,15}$/, { message: () => "must be a whole number" }))

/** A whole number written in a query or a path. */
export const wholeNumber = <A extends number>(schema: Schema.Schema<A, number>) =>
  Schema.transform(digits, schema, { strict: true, decode: Number, encode: String })

const states = Schema.transform(Schema.String, Schema.NonEmptyArray(TicketState), {
  strict: true,
  decode: (text) =>
    text.split(",").map((state) => state.trim()) as unknown as readonly [TicketState, ...Array<TicketState>],
  encode: (list) => list.join(",")
})

const PageSize = Schema.Int.pipe(
  Schema.between(Limits.page_min, Limits.page_max, {
    message: () => `must be a whole number from ${Limits.page_min} to ${Limits.page_max}`
  })
)

const common = {
  client_id: optional(ClientId),
  phone: optional(PhoneInQuery),
  external_ref: optional(Text(Limits.external_ref_characters)),
  created_after: optional(DateOrDateTimeText),
  created_before: optional(DateOrDateTimeText),
  updated_since: optional(DateOrDateTimeText),
  cursor: optional(
    Schema.String.pipe(Schema.maxLength(Limits.url_characters, { message: () => "is not a cursor of this list" }))
  )
}

/** Which tickets to list, from which place, how many at once (spec §4), as a query string says it. */
export const TicketQuery = Schema.Struct({
  state: optional(states).annotations({ description: "One or more states, comma separated" }),
  number: optional(wholeNumber(TicketNumber)),
  limit: optional(wholeNumber(PageSize)),
  ...common
}).pipe(Schema.brand("TicketQuery"))
export type TicketQuery = typeof TicketQuery.Type

/** The same as JSON says it: states as a list, numbers as numbers. */
export const TicketQueryJson = Schema.Struct({
  state: optional(Schema.NonEmptyArray(TicketState)),
  number: optional(TicketNumber),
  limit: optional(PageSize),
  ...common
}).pipe(Schema.brand("TicketQuery"))

/** A query as the store reads it. */
export interface ReadQuery {
  readonly filter: TicketFilter
  readonly order: TicketOrder
  readonly limit: number
  readonly binding: Cursor.CursorBinding
}

const refusedCursor = new InvalidInput({
  issues: [
    {
      field: "cursor",
      message: "is not a cursor of this list; start again without it, or send it with the filters it came from"
    }
  ]
})

const placeOf = ({ record }: SeenTicket, order: TicketOrder): string =>
  order._tag === "Changes" ? String(record.change_seq) : `${record.created_at} ${record.id}`

const orderAt = (updated_since: Instant | undefined, place: string | null): TicketOrder => {
  if (updated_since !== undefined)
    return { _tag: "Changes", since: updated_since, after: place === null ? null : Number(place) }
  const [created_at, id] = place?.split(" ") ?? []
  return {
    _tag: "Newest",
    after: created_at === undefined || id === undefined ? null : { created_at: Number(created_at), id: id as TicketId }
  }
}

/** The query as the store reads it; a cursor of another shop, of other filters or a damaged one is refused (contract §1). */
export const read = (shop_id: ShopId, query: TicketQuery): Either.Either<ReadQuery, InvalidInput> => {
  const { cursor, limit, updated_since, state, ...rest } = query
  const filter = state === undefined ? rest : { ...rest, state: [...new Set(state)].sort() }
  const binding = {
    shop_id,
    filters: Object.entries({ ...filter, updated_since })
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }
  const place = cursor === undefined ? null : Cursor.decode(binding, cursor)
  if (cursor !== undefined && place === null) return Either.left(refusedCursor)
  return Either.right({ filter, order: orderAt(updated_since, place), limit: limit ?? Limits.page_default, binding })
}

/** What an answer says of the page besides its tickets (contract §1). */
export interface PageMeta {
  readonly has_more: boolean
  readonly next_cursor: string | null
  /** The value to send as `updated_since` next time; only where this time one was sent. */
  readonly synced_until?: string
}

/** The page's tickets out of one more than fit, and what to say of them. */
export const page = (
  { order, limit, binding }: ReadQuery,
  found: ReadonlyArray<SeenTicket>
): { readonly tickets: ReadonlyArray<SeenTicket>; readonly meta: PageMeta } => {
  const tickets = found.slice(0, limit)
  const last = tickets.at(-1)
  const has_more = found.length > limit
  const next_cursor = has_more && last !== undefined ? Cursor.encode(binding, placeOf(last, order)) : null
  if (order._tag === "Newest") return { tickets, meta: { has_more, next_cursor } }
  return { tickets, meta: { has_more, next_cursor, synced_until: toIso(last?.record.updated_at ?? order.since) } }
}
