import {
  CachedRateLimits,
  type Instant,
  InvalidInput,
  type LimitStatus,
  Policies,
  type PolicyName,
  type ShopId,
  Shops
} from "@workshop/core"
import { currentWindow, isActive, limitStatusOf, toIso } from "@workshop/core/internal"
import type { GroupHandlers } from "@workshop/core/internal/http"
import { type Command, type LimitUse, RateLimits, Reads, Store } from "@workshop/core/store"
import { Effect, Either, Schema } from "effect"
import { dataOnly, groupOf, shopEndpoint } from "./endpoints.js"

/**
 * The limits of a shop, its keys and an address, in the order of the response. Limits of a client or a ticket are left
 * out.
 */
const SHOWN = [
  "requests_per_minute",
  "writes_per_minute",
  "tickets_per_hour",
  "tickets_per_day",
  "lookups_per_hour",
  "lookups_per_day",
  "unauthenticated_per_minute"
] as const satisfies ReadonlyArray<PolicyName>
type ShownPolicy = (typeof SHOWN)[number]

const ticketPolicies = ["tickets_per_hour", "tickets_per_day"] as const

const Gauge = Schema.Struct({
  name: Schema.Literal(...SHOWN),
  per: Schema.Literal("key", "shop", "address"),
  key_id: Schema.NullOr(Schema.String),
  limit: Schema.Int,
  used: Schema.Int,
  remaining: Schema.Int,
  resets_at: Schema.String
}).annotations({ identifier: "LimitGauge" })

const UseUp = Schema.Struct({ name: Schema.Literal(...SHOWN), use: Schema.Literal("up") }).annotations({
  identifier: "LimitUseInput"
})

/** The endpoints of a shop's limits, as gauges (Specification, Limits; Sandbox). */
export class LimitsApi extends groupOf(
  "limits",
  ["Limits", "How much of each of a shop's limits is used"],
  shopEndpoint("GET", "listLimits", "/limits", Schema.Array(Gauge), [
    "Read the limits",
    "Returns how much of each limit is used, and when it resets. The limits are those of each active key, of the shop, and of the address that last sent a request without a valid key."
  ]),
  shopEndpoint("POST", "useUpLimit", "/limits", Schema.Array(Gauge), [
    "Use up a limit",
    "Requests that count against the limit are refused until it resets. A limit per key is used up for every active key."
  ]).setPayload(UseUp)
) {}

/** A limit with its current status. */
export interface LimitGauge {
  readonly key_id: string | null
  readonly status: LimitStatus
}

/** The uses that count against a limit: one for each key, or one for the shop or the address. */
const usesOf =
  (subjects: {
    readonly keys: ReadonlyArray<string>
    readonly shop_id: ShopId
    readonly time_zone: LimitUse["time_zone"]
    readonly address: string
  }) =>
  (policy: ShownPolicy): ReadonlyArray<LimitUse> => {
    const { per } = Policies[policy]
    if (per === "key") return subjects.keys.map((subject) => ({ policy, subject, time_zone: null }))
    const subject = per === "shop" ? subjects.shop_id : subjects.address
    return [{ policy, subject, time_zone: per === "shop" ? subjects.time_zone : null }]
  }

/** Uses up a limit on a shop's tickets, as if the tickets had been created. */
const useUpTickets = (shop_id: ShopId, policy: (typeof ticketPolicies)[number]): Command<void> => ({
  shop_id,
  loadRequests: [],
  run: ({ shop, head }, { now }) => {
    const { resets_at } = currentWindow(head[policy], policy, now, shop.time_zone)
    const row = { ...head, [policy]: { used: Policies[policy].limit, resets_at } }
    return Either.right({ result: undefined, changes: [{ _tag: "HeadPut", row }], limitStatuses: [] })
  }
})

/** Reads and uses up the limits of a shop. `address` returns the address of the last request without a valid key. */
export const shopLimits = (address: () => string) =>
  Effect.gen(function* () {
    const reads = yield* Reads
    const shops = yield* Shops
    const store = yield* Store
    const limits = yield* RateLimits
    const cachedLimits = yield* CachedRateLimits

    const usesIn = Effect.fnUntraced(function* (shop_id: ShopId, now: Instant) {
      const { shop, head } = yield* shops.byId(shop_id)
      const keys = (yield* reads.keys(shop_id)).filter((key) => isActive(key, now)).map(({ id }) => id)
      return { shop, head, uses: usesOf({ keys, shop_id, time_zone: shop.time_zone, address: address() }) }
    })

    const gauges = Effect.fnUntraced(function* (shop_id: ShopId) {
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const { shop, head, uses } = yield* usesIn(shop_id, now)
      const gauges: Array<LimitGauge> = []
      for (const policy of SHOWN) {
        if (policy === "tickets_per_hour" || policy === "tickets_per_day") {
          const window = currentWindow(head[policy], policy, now, shop.time_zone)
          gauges.push({ key_id: null, status: limitStatusOf(window, policy) })
        } else
          for (const use of uses(policy))
            gauges.push({
              key_id: Policies[policy].per === "key" ? use.subject : null,
              status: yield* limits.peek(use, now)
            })
      }
      return gauges
    })

    const useUp = Effect.fnUntraced(function* (shop_id: ShopId, policy: ShownPolicy) {
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const { uses } = yield* usesIn(shop_id, now)
      const ticketPolicy = ticketPolicies.find((name) => name === policy)
      if (ticketPolicy !== undefined) return yield* store.transact(useUpTickets(shop_id, ticketPolicy))
      if (uses(policy).length === 0)
        return yield* new InvalidInput({
          issues: [{ field: "name", message: "is a limit per key, but the shop has no active key; create a key first" }]
        })
      for (const use of uses(policy)) {
        const { remaining } = yield* limits.peek(use, now)
        // Uses the limit once more than is left, because the refusal makes this process cache that the limit is used
        // up.
        const useUp = Effect.forEach(Array.from({ length: remaining + 1 }), () => cachedLimits.take([use], now), {
          discard: true
        })
        yield* Effect.catchTag(useUp, "LimitReached", () => Effect.void)
      }
    })
    return { gauges, useUp }
  })

const view = ({ key_id, status: { policy, limit, remaining, resets_at } }: LimitGauge): typeof Gauge.Type => ({
  name: policy as ShownPolicy,
  per: Policies[policy as ShownPolicy].per,
  key_id,
  limit,
  used: limit - remaining,
  remaining,
  resets_at: toIso(resets_at)
})

/** Handles the endpoints of limits. */
export const limitsHandlers = ({ gauges, useUp }: Effect.Effect.Success<ReturnType<typeof shopLimits>>) => {
  const respondWithGauges = (id: ShopId) => Effect.map(gauges(id), (statuses) => dataOnly(statuses.map(view)))
  const handlers: GroupHandlers<typeof LimitsApi, void> = {
    listLimits: ({ path }) => respondWithGauges(path.id),
    useUpLimit: ({ path, payload }) => Effect.zipRight(useUp(path.id, payload.name), respondWithGauges(path.id))
  }
  return handlers
}
