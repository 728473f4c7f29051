import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { KeyId, KeyInput, optional, Scope, scopePresets } from "@workshop/core"
import { FailureBodyOf, SuccessBody, status201 } from "@workshop/core/http"
import { Schema } from "effect"
import { OfShop } from "./ShopsApi.js"

/** A new key's name, with its scopes or the name of a preset (Specification, Keys and scopes). */
const KeyRequest = Schema.Struct({
  name: KeyInput.from.fields.name,
  scopes: optional(KeyInput.from.fields.scopes),
  preset: optional(Schema.Literal("full", "read")),
  expires_at: KeyInput.from.fields.expires_at
})
  .pipe(
    Schema.filter(({ scopes, preset }) => {
      if ((scopes ?? preset ?? null) === null)
        return { path: ["scopes"], message: "is required where no preset is given" }
      return (scopes ?? null) === null || (preset ?? null) === null
        ? true
        : { path: ["preset"], message: "must be left out where scopes are given" }
    })
  )
  .annotations({ identifier: "SandboxKeyInput" })

/** The key that a request asks for; its scopes or its preset is there. */
export const keyInput = ({ name, scopes, preset, expires_at }: typeof KeyRequest.Type): KeyInput =>
  KeyInput.make({ name, scopes: scopes ?? scopePresets[preset ?? "full"], expires_at: expires_at ?? null })

const KeyView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Scope),
  last_four: Schema.String,
  created_at: Schema.String,
  revoked_at: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.String),
  last_used_at: Schema.NullOr(Schema.String)
}).annotations({ identifier: "ApiKey" })

const NewKey = Schema.Struct({ id: Schema.String, key: Schema.String })
const RevokedKey = Schema.Struct({ id: Schema.String, revoked_at: Schema.NullOr(Schema.String) })

/** A shop's API keys: what its owner does in the app (Specification, Sandbox). */
export class KeysApi extends HttpApiGroup.make("keys")
  .add(
    HttpApiEndpoint.get("list", "/shops/:id/keys")
      .setPath(OfShop)
      .addSuccess(SuccessBody(Schema.Array(KeyView)))
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .add(
    HttpApiEndpoint.post("create", "/shops/:id/keys")
      .setPath(OfShop)
      .setPayload(KeyRequest)
      .addSuccess(status201(SuccessBody(NewKey)))
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
  )
  .add(
    HttpApiEndpoint.del("revoke", "/keys/:id")
      .setPath(Schema.Struct({ id: KeyId }))
      .addSuccess(SuccessBody(RevokedKey))
      .addError(FailureBodyOf("NOT_FOUND"))
  ) {}
