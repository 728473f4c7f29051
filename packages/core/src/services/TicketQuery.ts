import { Either, Schema } from "effect"
import * as Cursor from "../domain/Cursor.js"
import { ClientId, type ShopId, TicketId } from "../domain/Identifier.js"
import { DateOrDateTimeText, type Instant, InstantNumber, toIso } from "../domain/Instant.js"
import { InvalidInput } from "../domain/InvalidInput.js"
import { Limits } from "../domain/Limits.js"
import { PhoneInQuery } from "../domain/Phone.js"
import { optional, refuseUnknownFields, Text } from "../domain/Text.js"
import { TicketNumber } from "../domain/Ticket.js"
import { TicketState } from "../domain/TicketLifecycle.js"
import { TrackingCodeText } from "../domain/TrackingCode.js"
import type { ListedTickets, SeenTicket, TicketFilter, TicketOrder } from "../ports/TicketList.js"

const optionalParameter = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const digits = Schema.String.pipe(Schema.pattern(/^\d{1,15}$/, { message: () => "must be a whole number" }))

/** A whole number written in a query or a path. */
export const numberFromText = <A extends number>(schema: Schema.Schema<A, number>) =>
  Schema.transform(digits, schema, { strict: true, decode: Number, encode: String })

const StatesText = Schema.String.pipe(
  Schema.filter((text) => text.split(",", Limits.named_values_max + 1).length <= Limits.named_values_max, {
    message: () => `must have at most ${Limits.named_values_max} states`,
    jsonSchema: {}
  })
)

const states = Schema.transform(StatesText, Schema.NonEmptyArray(TicketState), {
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

const Reference = Text(Limits.external_ref_characters)
const CursorText = Schema.String.pipe(
  Schema.maxLength(Limits.url_characters, { message: () => "is not a cursor of this list" })
)

/** The filter, the order and the page of a list of tickets (Specification, Endpoints), as a query string has them. */
export const TicketQuery = Schema.Struct({
  state: optionalParameter(states).annotations({ description: "One or more states, separated by commas" }),
  number: optionalParameter(numberFromText(TicketNumber)),
  limit: optionalParameter(numberFromText(PageSize)),
  client_id: optionalParameter(ClientId),
  phone: optionalParameter(PhoneInQuery),
  external_ref: optionalParameter(Reference),
  tracking_code: optionalParameter(TrackingCodeText),
  created_after: optionalParameter(DateOrDateTimeText),
  created_before: optionalParameter(DateOrDateTimeText),
  updated_since: optionalParameter(DateOrDateTimeText),
  cursor: optionalParameter(CursorText)
})
  .pipe(Schema.brand("TicketQuery"))
  .annotations(refuseUnknownFields)
/** The filter, the order and the page of a list, which {@link TicketQuery} or {@link TicketQueryJson} has checked. */
export type TicketQuery = typeof TicketQuery.Type | typeof TicketQueryJson.Type

const SeveralStates = Schema.NonEmptyArray(TicketState).pipe(Schema.maxItems(Limits.named_values_max))

/** Some states, or one. */
const StateOrStates = Schema.transform(Schema.Unknown, SeveralStates, {
  strict: false,
  decode: (input) => (typeof input === "string" ? [input] : input),
  encode: (list) => list
}) as unknown as Schema.Schema<typeof SeveralStates.Type, TicketState | typeof SeveralStates.Encoded>

/**
 * The query as JSON: one state or a list, numbers instead of texts, and `null` for an absent field (Specification,
 * Errors).
 */
export const TicketQueryJson = Schema.Struct({
  state: optional(StateOrStates),
  number: optional(TicketNumber),
  limit: optional(PageSize),
  client_id: optional(ClientId),
  phone: optional(PhoneInQuery),
  external_ref: optional(Reference),
  tracking_code: optional(TrackingCodeText),
  created_after: optional(DateOrDateTimeText),
  created_before: optional(DateOrDateTimeText),
  updated_since: optional(DateOrDateTimeText),
  cursor: optional(CursorText)
})
  .pipe(Schema.brand("TicketQuery"))
  .annotations(refuseUnknownFields)

/** A query in the form that the store takes. */
export interface ParsedTicketQuery {
  readonly filter: TicketFilter
  readonly order: TicketOrder
  readonly limit: number
  readonly binding: Cursor.CursorBinding
}

const refusedCursor = new InvalidInput({
  issues: [
    {
      field: "cursor",
      message:
        "is not a cursor of this list; start again without it, or send it with the filters of the list that returned it"
    }
  ]
})

const cursorPositionOf = ({ record }: SeenTicket, order: TicketOrder): string =>
  order._tag === "Changes" ? String(record.change_seq) : `${record.created_at} ${record.id}`

const isTicketId = Schema.is(TicketId)
const isInstant = Schema.is(InstantNumber)

/** The number that `cursorPositionOf` wrote into a cursor; NaN for any other text. */
const parsePosition = (text: string): number => (String(Number(text)) === text ? Number(text) : Number.NaN)

/**
 * The order of a list that continues at the position of a cursor; null if no list has this position. It must be checked
 * although the cursor has a digest, because anybody can compute the digest.
 */
const orderAt = (updated_since: Instant | null, position: string | null): TicketOrder | null => {
  if (updated_since !== null) {
    const after = position === null ? null : parsePosition(position)
    return after === null || (Number.isSafeInteger(after) && after > 0)
      ? { _tag: "Changes", since: updated_since, after }
      : null
  }
  if (position === null) return { _tag: "Newest", after: null }
  const [instant = "", id, ...more] = position.split(" ")
  const created_at = parsePosition(instant)
  return isInstant(created_at) && isTicketId(id) && more.length === 0 ? { _tag: "Newest", after: id } : null
}

const isGiven = ([, value]: readonly [string, unknown]) => value !== undefined && value !== null

/**
 * The query in the form that the store takes. A cursor of another shop, of other filters, or a damaged one is refused (Specification, Lists
 * and sync).
 */
export const parseTicketQuery = (
  shop_id: ShopId,
  query: TicketQuery
): Either.Either<ParsedTicketQuery, InvalidInput> => {
  const { cursor = null, limit, updated_since = null, state, ...rest } = query
  const filters = Object.entries({ ...rest, state: state && [...new Set(state)].sort() }).filter(isGiven)
  const binding = {
    shop_id,
    filters: [...filters, ["updated_since", updated_since] as const]
      .filter(isGiven)
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }
  const position = cursor === null ? null : Cursor.decode(binding, cursor)
  const order = cursor !== null && position === null ? null : orderAt(updated_since, position)
  if (order === null) return Either.left(refusedCursor)
  const filter: TicketFilter = Object.fromEntries(filters)
  return Either.right({ filter, order, limit: limit ?? Limits.page_default, binding })
}

/** The fields of `meta` of a page (Specification, Lists and sync). */
export interface PageMeta {
  readonly has_more: boolean
  readonly next_cursor: string | null
  /** The `updated_since` for the next request, if this request had one. */
  readonly synced_until?: string
}

/**
 * The page's tickets and `meta`, from a read of one ticket more than the page has. There are also more if the read
 * stopped early: the next page begins with the first change that was not read. `synced_until` is never later than the
 * shop's last change, because the next change may have the same instant. It is also never later than `now`, the moment
 * of the read, because a future instant would hide all changes until then (Specification, Lists and sync).
 */
export const pageOf = (
  { order, limit, binding }: ParsedTicketQuery,
  { tickets: found, last_change_at, unread_from }: ListedTickets,
  now: Instant
): { readonly tickets: ReadonlyArray<SeenTicket>; readonly meta: PageMeta } => {
  const tickets = found.slice(0, limit)
  const lastTicket = tickets.at(-1)
  const isFull = found.length > limit
  const has_more = isFull || unread_from !== null
  const position = () =>
    isFull && lastTicket !== undefined ? cursorPositionOf(lastTicket, order) : String(unread_from!.change_seq - 1)
  const next_cursor = has_more ? Cursor.encode(binding, position()) : null
  if (order._tag === "Newest") return { tickets, meta: { has_more, next_cursor } }
  const syncedUntil =
    (isFull ? lastTicket?.record.updated_at : (unread_from?.updated_at ?? last_change_at)) ?? order.since
  return { tickets, meta: { has_more, next_cursor, synced_until: toIso(Math.min(syncedUntil, now)) } }
}
