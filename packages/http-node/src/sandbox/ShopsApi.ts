import {
  Audit,
  type AuditAct,
  auditActs,
  KeyInput,
  Keys,
  Language,
  LoyaltyProgram,
  type ShopId,
  ShopPatch,
  type ShopRecord,
  Shops
} from "@workshop/core"
import { scopePresets, shopFields } from "@workshop/core/internal"
import type { GroupHandlers } from "@workshop/core/internal/http"
import { ServiceLimits, type ShopHead } from "@workshop/core/store"
import { Effect, Schema } from "effect"
import { creationEndpoint, dataOnly, endpoint, groupOf, shopEndpoint } from "./endpoints.js"
import { viewOf } from "./views.js"

/** A shop with all its settings. */
const ShopSettings = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  currency: Schema.String,
  decimals: Schema.Int,
  time_zone: Schema.String,
  tracking_base_url: Schema.NullOr(Schema.String),
  approved: Schema.Boolean,
  active: Schema.Boolean,
  api_enabled: Schema.Boolean,
  program: LoyaltyProgram,
  next_number: Schema.Int,
  forbidden_words: Schema.Array(Schema.String),
  allowed_words: Schema.Array(Schema.String),
  languages: Schema.Array(Language)
}).annotations({ identifier: "ShopSettings" })

/** The fields of a shop that its owner and the operator see. */
const settingsView = viewOf(ShopSettings)

const shopSettings = (shop: ShopRecord, { next_number }: Pick<ShopHead, "next_number">) =>
  settingsView({ ...shop, next_number })

const AuditView = Schema.Struct({
  id: Schema.String,
  created_at: Schema.String,
  actor: Schema.String,
  act: Schema.Literal(...(Object.keys(auditActs) as [AuditAct, ...Array<AuditAct>])),
  details: Schema.Record({ key: Schema.String, value: Schema.Unknown })
}).annotations({ identifier: "AuditEntry" })

/** The fields of an audit entry that the shop's owner sees. */
const auditView = viewOf(AuditView)

const NewShop = Schema.Struct({ shop: ShopSettings, key_id: Schema.String, key: Schema.String })

/** The body of a new shop. Unlike in the programming API, `decimals` is required. */
const ShopToOpen = Schema.Struct(shopFields).pipe(Schema.brand("ShopInput")).annotations({ identifier: "ShopInput" })

/** The endpoints of shops and their settings, which the operator and the owner manage (Specification, Sandbox). */
export class ShopsApi extends groupOf(
  "shops",
  ["Shops", "The operator manages shops"],
  creationEndpoint("openShop", "/shops", NewShop, [
    "Open a shop",
    "Creates a shop that is approved, is active and may use the API. The response has an API key with full access."
  ]).setPayload(ShopToOpen),
  endpoint("GET", "listShops", "/shops", Schema.Array(ShopSettings), [
    "List the shops",
    "Returns the shops oldest first."
  ]),
  shopEndpoint("GET", "readShop", "", ShopSettings, ["Read a shop's settings", "Returns all settings of the shop."]),
  shopEndpoint("PATCH", "changeShop", "", ShopSettings, [
    "Change a shop's settings",
    "Omitted fields keep their values. `next_number` is the number of the shop's next ticket."
  ]).setPayload(ShopPatch),
  shopEndpoint("GET", "listActs", "/audit", Schema.Array(AuditView), [
    "List what the owner and the operator did",
    "Returns the audit log. Each entry has the action, its actor and its time."
  ])
) {}

/** The maximum number of audit entries in a response, latest first. */
const MAX_AUDIT_ENTRIES = 1000

const firstKey = KeyInput.make({ name: "First key", scopes: scopePresets.full })

/** Handles the endpoints that open shops, and read and change their settings. */
export const shopsHandlers = Effect.gen(function* () {
  const shops = yield* Shops
  const keys = yield* Keys
  const audit = yield* Audit
  const settingsOf = (id: ShopId) => Effect.map(shops.byId(id), ({ shop, head }) => shopSettings(shop, head))
  const handlers: GroupHandlers<typeof ShopsApi, void> = {
    openShop: Effect.fnUntraced(function* ({ payload }) {
      const { id } = yield* shops.create(payload)
      const { record, key } = yield* keys.create(id, firstKey)
      return { status: 201, data: { shop: yield* settingsOf(id), key_id: record.id, key } }
    }),
    listShops: () =>
      Effect.flatMap(shops.list(null, ServiceLimits.list_max), (shopsList) =>
        Effect.map(
          Effect.forEach(shopsList, ({ id }) => settingsOf(id)),
          dataOnly
        )
      ),
    readShop: ({ path }) => Effect.map(settingsOf(path.id), dataOnly),
    changeShop: ({ path, payload }) =>
      Effect.map(shops.change(path.id, payload), ({ shop, head }) => dataOnly(shopSettings(shop, head))),
    listActs: ({ path }) =>
      Effect.zipRight(
        shops.byId(path.id),
        Effect.map(audit.list(path.id, null, MAX_AUDIT_ENTRIES), (entries) => dataOnly(entries.map(auditView)))
      )
  }
  return handlers
})
