import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import {
  type AuditAct,
  type AuditEntry,
  auditActs,
  Language,
  LoyaltyProgram,
  type ShopHead,
  ShopId,
  ShopInput,
  ShopPatch,
  type ShopRecord,
  toIso
} from "@workshop/core"
import { FailureBodyOf, SuccessBody, status201 } from "@workshop/core/http"
import { Schema } from "effect"

/** The shop that a path names. */
export const OfShop = Schema.Struct({ id: ShopId })

/** A shop with everything that can be set of it. */
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
type ShopSettings = typeof ShopSettings.Type

/** A shop as its owner and the operator see it. */
export const shopSettings = (shop: ShopRecord, { next_number }: Pick<ShopHead, "next_number">): ShopSettings => ({
  id: shop.id,
  name: shop.name,
  currency: shop.currency,
  decimals: shop.decimals,
  time_zone: shop.time_zone,
  tracking_base_url: shop.tracking_base_url,
  approved: shop.approved,
  active: shop.active,
  api_enabled: shop.api_enabled,
  program: shop.program,
  next_number,
  forbidden_words: shop.forbidden_words,
  allowed_words: shop.allowed_words,
  languages: shop.languages
})

const AuditView = Schema.Struct({
  id: Schema.String,
  created_at: Schema.String,
  actor: Schema.String,
  act: Schema.Literal(...(Object.keys(auditActs) as [AuditAct, ...Array<AuditAct>])),
  details: Schema.Record({ key: Schema.String, value: Schema.Unknown })
}).annotations({ identifier: "AuditEntry" })

/** An entry of the audit log as its shop's owner reads it. */
export const auditView = ({ id, created_at, actor, act, details }: AuditEntry) => ({
  id,
  created_at: toIso(created_at),
  actor,
  act,
  details
})

const NewShop = Schema.Struct({ shop: ShopSettings, key_id: Schema.String, key: Schema.String })

/** Shops and their settings: what the operator and the owner do (Specification, Sandbox). */
export class ShopsApi extends HttpApiGroup.make("shops")
  .add(
    HttpApiEndpoint.post("open", "/shops")
      .setPayload(ShopInput)
      .addSuccess(status201(SuccessBody(NewShop)))
  )
  .add(
    HttpApiEndpoint.get("read", "/shops/:id")
      .setPath(OfShop)
      .addSuccess(SuccessBody(ShopSettings))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.patch("change", "/shops/:id")
      .setPath(OfShop)
      .setPayload(ShopPatch)
      .addSuccess(SuccessBody(ShopSettings))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.get("audit", "/shops/:id/audit")
      .setPath(OfShop)
      .addSuccess(SuccessBody(Schema.Array(AuditView)))
      .addError(FailureBodyOf("NOT_FOUND"))
  ) {}
