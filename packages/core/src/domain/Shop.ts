import { Schema } from "effect"
import { Scope } from "./ApiKey.js"
import type { TimeZone } from "./CalendarDay.js"
import type { ShopId } from "./Identifier.js"
import type { Instant } from "./Instant.js"
import type { Language } from "./Language.js"
import { Limits, ServiceLimits } from "./Limits.js"
import type { LimitWindow } from "./LimitWindow.js"
import type { LoyaltyProgram } from "./LoyaltyCard.js"
import { IDENTIFIERS_PER_MS } from "./Moment.js"
import { RefusalOf } from "./RefusalOf.js"

/** A shop's settings. */
export interface ShopRecord {
  /** The shop's id, which a caller names as `shop_id`. */
  readonly id: ShopId
  /** The name that clients see. */
  readonly name: string
  /** The code of the currency, such as `EUR`. */
  readonly currency: string
  /** How many decimals amounts have. */
  readonly decimals: number
  /** The IANA time zone in which the shop's days begin. */
  readonly time_zone: TimeZone
  /** The address of the shop's own tracking pages; null for the workshop's pages. */
  readonly tracking_base_url: string | null
  /** Whether the shop is approved; otherwise requests get `SHOP_NOT_APPROVED`. */
  readonly approved: boolean
  /** Whether the account is open; otherwise requests get `ACCOUNT_DEACTIVATED`. */
  readonly active: boolean
  /** Whether the API is switched on for this shop; otherwise requests get `API_DISABLED` (Specification, Requests and responses). */
  readonly api_enabled: boolean
  /** The loyalty program. */
  readonly program: LoyaltyProgram
  /** Words that this shop forbids in addition to the embedder's list (Specification, Errors). */
  readonly forbidden_words: ReadonlyArray<string>
  /** Words and phrases of the embedder's list that this shop allows. */
  readonly allowed_words: ReadonlyArray<string>
  /** The languages whose default words are refused in this shop's texts; an empty list refuses none. */
  readonly languages: ReadonlyArray<Language>
  /** When the shop was created, in milliseconds since 1970. */
  readonly created_at: Instant
}

/** The counters that a shop's commands increase, in one narrow row, whose lock makes the commands run one after another. */
export interface ShopHead {
  /** The shop whose counters these are. */
  readonly shop_id: ShopId
  /** The number of the next ticket. After 9999 the numbers begin again at 1. */
  readonly next_number: number
  /** The `change_seq` that the next change of a ticket gets. */
  readonly change_seq: number
  /** The `seq` of the next event. */
  readonly event_seq: number
  /** The instant of the latest command; the next command never has an earlier one (Specification, Lists and sync). */
  readonly last_recorded_at: Instant
  /**
   * How many identifiers were made at `last_recorded_at`, including those of the milliseconds by which they are ahead of it. The next ones
   * continue from there, so that a shop's identifiers increase in the order in which they were made (Specification, Lists and sync).
   */
  readonly id_counter: number
  /** The uses of the policy `tickets_per_hour`, for tickets of the app and the API together. */
  readonly tickets_per_hour: LimitWindow
  /** The uses of the policy `tickets_per_day`, for tickets of the app and the API together. */
  readonly tickets_per_day: LimitWindow
}

/** No such shop. */
export class ShopNotFound extends RefusalOf("ShopNotFound", "There is no such shop") {}

/** The shop behind a key, with the key's scopes (Specification, Keys and scopes). */
export const ShopView = Schema.Struct({
  id: Schema.String.annotations({ jsonSchema: { type: "string", format: "uuid" } }),
  name: Schema.String,
  currency: Schema.String,
  decimals: Schema.Int,
  time_zone: Schema.String,
  scopes: Schema.Array(Scope)
}).annotations({ identifier: "Shop", description: "The shop behind the key" })
export type ShopView = typeof ShopView.Type

/**
 * How many milliseconds the shop's identifiers are ahead of the instants at which they are made: 0, unless a millisecond was full or the
 * shop's time was set back. It never decreases, so no identifier of the shop was ever further ahead.
 */
export const identifiersAhead_ms = ({ id_counter }: ShopHead): number => Math.floor(id_counter / IDENTIFIERS_PER_MS)

const endedWindow: LimitWindow = { used: 0, resets_at: 0 }

/** The head of a new shop. */
export const newShopHead = (shop_id: ShopId): ShopHead => ({
  shop_id,
  next_number: 1,
  change_seq: 1,
  event_seq: 1,
  last_recorded_at: 0,
  id_counter: 0,
  tickets_per_hour: endedWindow,
  tickets_per_day: endedWindow
})

/**
 * The latest `client_list_of_shop_max` rows of each shop for which `isShown` is true, of the first
 * `client_list_shops_max` shops by id, in the given order, which is by age. A shop with many offers or notifications to
 * a client can therefore not fill the client's lists or the memory of the process.
 */
export const latestOfShops = <Row extends { readonly shop_id: ShopId }>(
  rows: ReadonlyArray<Row>,
  isShown: (row: Row) => boolean = () => true
): ReadonlyArray<Row> => {
  const shops = new Set([...new Set(rows.map(({ shop_id }) => shop_id))].sort().slice(0, Limits.client_list_shops_max))
  const counts = new Map<ShopId, number>()
  return rows
    .toReversed()
    .filter((row) => shops.has(row.shop_id) && isShown(row))
    .filter(({ shop_id }) => {
      const count = (counts.get(shop_id) ?? 0) + 1
      counts.set(shop_id, count)
      return count <= Limits.client_list_of_shop_max
    })
    .reverse()
}

/** The shops whose latest instant is after a given one. */
export interface ShopsAhead {
  /** The number of these shops. */
  readonly count: number
  /** The first of them, ordered by id: at most `ServiceLimits.data_ahead_named`. */
  readonly first: ReadonlyArray<ShopId>
}

/** Merges the results of several cells. */
export const mergeShopsAhead = (cells: ReadonlyArray<ShopsAhead>): ShopsAhead => ({
  count: cells.reduce((sum, { count }) => sum + count, 0),
  first: cells
    .flatMap(({ first }) => first)
    .toSorted()
    .slice(0, ServiceLimits.data_ahead_named)
})
