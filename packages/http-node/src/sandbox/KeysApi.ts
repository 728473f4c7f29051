import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { type ApiKeyRecord, KeyId, KeyInput, Keys, Scope } from "@workshop/core"
import {
  FailureBodyOf,
  type GroupHandlers,
  optional,
  SuccessBody,
  scopePresets,
  status201,
  toIso,
  toIsoOrNull
} from "@workshop/core/adapter"
import { Effect, Schema } from "effect"
import { data, described, endpoint, OfShop, shopEndpoint, titled } from "./endpoints.js"

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
const keyInput = ({ name, scopes, preset, expires_at }: typeof KeyRequest.Type): KeyInput =>
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
const KeyText = Schema.Struct({
  id: Schema.String,
  key: Schema.NullOr(Schema.String).annotations({
    description: "The key's text where this process made it, so that it still knows it; else null"
  })
})
const OfKey = Schema.Struct({ id: KeyId })
const RevokedKey = Schema.Struct({ id: Schema.String, revoked_at: Schema.NullOr(Schema.String) })

/** A shop's API keys: what its owner does in the app (Specification, Sandbox). */
export class KeysApi extends HttpApiGroup.make("keys")
  .add(
    shopEndpoint("GET", "list", "/keys", Schema.Array(KeyView), [
      "listKeys",
      "List a shop's keys",
      "Revoked keys too, without their texts."
    ])
  )
  .add(
    HttpApiEndpoint.post("create", "/shops/:id/keys")
      .setPath(OfShop)
      .setPayload(KeyRequest)
      .addSuccess(status201(SuccessBody(NewKey)))
      .addError(FailureBodyOf("NOT_FOUND"))
      .addError(FailureBodyOf("CONFLICT"))
      .annotateContext(
        described(
          "createKey",
          "Create a key",
          "With `scopes`, or with a `preset`: `full` has all rights, `read` those that change nothing. The shop may have five active keys."
        )
      )
  )
  .add(
    endpoint("GET", "text", "/keys/:id/text", KeyText, [
      "readKeyText",
      "Read a key's text",
      "For a tester who lost it. A server without a sandbox keeps none."
    ]).setPath(OfKey)
  )
  .add(
    endpoint("DELETE", "revoke", "/keys/:id", RevokedKey, [
      "revokeKey",
      "Revoke a key",
      "It stops working within a minute, for good."
    ])
      .setPath(OfKey)
      .addError(FailureBodyOf("NOT_FOUND"))
  )
  .annotateContext(titled("Keys", "An owner manages API keys")) {}

const keyView = ({ id, name, scopes, last_four, ...at }: ApiKeyRecord) => ({
  id,
  name,
  scopes,
  last_four,
  created_at: toIso(at.created_at),
  revoked_at: toIsoOrNull(at.revoked_at),
  expires_at: toIsoOrNull(at.expires_at),
  last_used_at: toIsoOrNull(at.last_used_at)
})

/** Lists, makes and revokes keys. */
export const keysHandlers = Effect.map(
  Keys,
  (keys): GroupHandlers<typeof KeysApi, void> => ({
    list: ({ path }) => Effect.map(keys.list(path.id), (records) => data(records.map(keyView))),
    text: ({ path }) => Effect.succeed(data({ id: path.id, key: keys.knownText(path.id) })),
    create: ({ path, payload }) =>
      Effect.map(keys.create(path.id, keyInput(payload)), ({ record, key }) => ({
        status: 201,
        ...data({ id: record.id, key })
      })),
    revoke: ({ path }) =>
      Effect.map(keys.revoke(path.id), ({ id, revoked_at }) => data({ id, revoked_at: toIsoOrNull(revoked_at) }))
  })
)
