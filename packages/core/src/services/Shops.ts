import { Effect, Schema } from "effect"
import { changeShop, Languages, type ShopPatch } from "../decisions/shopSettings.js"
import { TimeZone } from "../domain/CalendarDay.js"
import type { ShopId } from "../domain/Identifier.js"
import { languagesIn } from "../domain/Language.js"
import { Limits, ServiceLimits } from "../domain/Limits.js"
import { noProgram } from "../domain/LoyaltyCard.js"
import { ENTROPY_BYTES, makeIdentifier } from "../domain/Moment.js"
import { Currency, Decimals, isKnownCurrency, usualDecimals } from "../domain/Money.js"
import { ShopNotFound, type ShopRecord } from "../domain/Shop.js"
import { optional, refuseUnknownFields, Text } from "../domain/Text.js"
import { WebLink } from "../domain/WebLink.js"
import { Entropy } from "../ports/Entropy.js"
import { Directory, type NotificationQueue, Reads, Store } from "../ports/StorePorts.js"
import { ApiKeyCache } from "./ApiKeyCache.js"
import { Audit } from "./Audit.js"
import { makeAuditedCommandRunner } from "./CommandRunner.js"
import { repairShopClock } from "./clock/ClockRepair.js"
import { firstShopOrCreate } from "./firstShop.js"

/** The fields of a new shop in the form that the sandbox accepts. */
export const shopFields = {
  name: Text(Limits.name_characters),
  currency: Currency,
  decimals: Decimals,
  time_zone: TimeZone,
  tracking_base_url: optional(WebLink),
  languages: optional(Languages)
}

/** The settings of a new shop. The default of `decimals` depends on its currency. */
export const ShopInput = Schema.Struct({ ...shopFields, decimals: optional(Decimals) })
  .pipe(
    Schema.filter(({ currency, decimals }) =>
      decimals == null && !isKnownCurrency(currency)
        ? {
            path: ["currency"],
            message: "must be a currency that this machine knows; for another currency, also give decimals"
          }
        : undefined
    ),
    Schema.brand("ShopInput")
  )
  .annotations({ identifier: "ShopInput", ...refuseUnknownFields })
/** A shop to open, whose fields {@link ShopInput} has checked. */
export type ShopInput = typeof ShopInput.Type

/** The settings that cannot be changed after the shop is created. */
const immutableFields = ["name", "currency", "decimals", "time_zone", "tracking_base_url"] as const

/** The details of a change for the audit log; a list of words is given as its length. */
const auditDetails = (patch: ShopPatch) =>
  Object.fromEntries(
    Object.entries(patch).map(([name, value]) => [
      name,
      name.endsWith("_words") && Array.isArray(value) ? value.length : value
    ])
  )

/** The shops and their settings, for owners and the operator. */
export class Shops extends Effect.Service<Shops>()("@workshop/core/Shops", {
  accessors: true,
  dependencies: [Audit.Default],
  effect: Effect.gen(function* () {
    const store = yield* Store
    const reads = yield* Reads
    const directory = yield* Directory
    const entropy = yield* Entropy
    const keyCache = yield* ApiKeyCache
    const audit = yield* Audit
    const run = makeAuditedCommandRunner(store)

    /** The shop's settings, head and webhook. */
    const byId = (id: ShopId) =>
      Effect.flatMap(reads.shop(id), (state) =>
        state === null ? Effect.fail(new ShopNotFound()) : Effect.succeed(state)
      )

    /** Creates a shop: approved, active and with the API switched on. */
    const create = Effect.fnUntraced(function* create(input: ShopInput) {
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const shop: ShopRecord = {
        id: makeIdentifier<ShopId>({ now, entropy: entropy.bytes(ENTROPY_BYTES) }, 0),
        name: input.name,
        currency: input.currency,
        decimals: input.decimals ?? usualDecimals(input.currency),
        time_zone: input.time_zone,
        tracking_base_url: input.tracking_base_url ?? null,
        approved: true,
        active: true,
        api_enabled: true,
        program: noProgram,
        forbidden_words: [],
        allowed_words: [],
        languages: input.languages ?? languagesIn(input.time_zone),
        created_at: now
      }
      yield* audit.record({ act: "shop.created", details: { name: shop.name } }, shop.id)
      yield* directory.createShop(shop)
      return shop
    })

    /** At most `limit` shops, oldest first; the next page is after the last one's id. */
    const list = (after: ShopId | null, limit: number) => directory.listShops(after, limit)

    /**
     * For a program with one shop: returns the first shop, or creates this one if there is none. Of several processes
     * that start at once, one creates it. An existing shop keeps its settings. If a setting that cannot be changed,
     * such as the currency, differs, a warning names it.
     */
    const firstOrCreate = (input: ShopInput) =>
      Effect.tap(firstShopOrCreate(directory, create(input)), (shop) => {
        const changedFields = immutableFields.filter((field) => input[field] != null && input[field] !== shop[field])
        return changedFields.length === 0
          ? Effect.void
          : Effect.logWarning(
              `The first shop already exists with settings that differ from those given to firstOrCreate. The shop's settings were not changed. The settings that differ are ${changedFields.join(", ")}`
            ).pipe(Effect.annotateLogs("shop_id", shop.id))
      })

    /** Changes a shop's settings. The changes apply to the shop's keys at once. */
    const change = Effect.fnUntraced(function* change(id: ShopId, patch: ShopPatch) {
      yield* byId(id)
      const changed = run(changeShop(id, patch), () => ({ act: "shop.changed", details: auditDetails(patch) }))
      return yield* Effect.ensuring(changed, keyCache.forget(id))
    })

    const ports = yield* Effect.context<Store | Reads | NotificationQueue>()
    /**
     * Sets the future instants of a shop, from a wrong clock or a sandbox, to the current time: see `repairShopClock`.
     */
    const repairClock = (id: ShopId) => Effect.zipRight(byId(id), Effect.provide(repairShopClock(id), ports))

    /** At most five of the shops that are more than ten seconds ahead of the clock; empty once all are repaired. */
    const shopsAhead = Effect.clockWith((clock) =>
      Effect.map(
        directory.shopsAhead(clock.unsafeCurrentTimeMillis() + ServiceLimits.data_ahead_max_ms),
        ({ first }) => first
      )
    )

    return { byId, create, firstOrCreate, list, change, repairClock, ahead: shopsAhead }
  })
}) {}
