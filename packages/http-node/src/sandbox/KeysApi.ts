import { KeyId, KeyInput, Keys, Scope } from "@workshop/core"
import { optional, scopePresets } from "@workshop/core/internal"
import { FailureBodyOf, type GroupHandlers } from "@workshop/core/internal/http"
import { Effect, Schema } from "effect"
import { creationEndpoint, dataOnly, endpoint, groupOf, OfShop, shopEndpoint } from "./endpoints.js"
import { viewOf } from "./views.js"

/** A new key's name, with its scopes or the name of a preset (Specification, Keys and scopes). */
const KeyRequest = Schema.Struct({
  name: KeyInput.from.fields.name,
  scopes: optional(KeyInput.from.fields.scopes),
  preset: optional(Schema.Literal("full", "read")),
  expires_at: KeyInput.from.fields.expires_at
})
  .pipe(
    Schema.filter(({ scopes, preset }) => {
      if ((scopes ?? preset ?? null) === null) return { path: ["scopes"], message: "is required if no preset is given" }
      return (scopes ?? null) === null || (preset ?? null) === null
        ? true
        : { path: ["preset"], message: "must be absent if scopes are given" }
    })
  )
  .annotations({ identifier: "SandboxKeyInput" })

/** Converts a valid request, which has either scopes or a preset. */
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
    description: "The key's text if this process created the key, otherwise null"
  })
})
const OfKey = Schema.Struct({ id: KeyId })
const RevokedKey = Schema.Struct({ id: Schema.String, revoked_at: Schema.NullOr(Schema.String) })

/** The endpoints of a shop's API keys, which its owner manages in the app (Specification, Sandbox). */
export class KeysApi extends groupOf(
  "keys",
  ["Keys", "An owner manages API keys"],
  shopEndpoint("GET", "listKeys", "/keys", Schema.Array(KeyView), [
    "List a shop's keys",
    "Returns all keys, including revoked ones, without their texts."
  ]),
  creationEndpoint("createKey", "/shops/:id/keys", NewKey, [
    "Create a key",
    "Send `scopes`, or a `preset`: `full` has all scopes, and `read` has the scopes that change nothing. A shop may have five active keys."
  ])
    .setPath(OfShop)
    .setPayload(KeyRequest)
    .addError(FailureBodyOf("NOT_FOUND"))
    .addError(FailureBodyOf("CONFLICT")),
  endpoint("GET", "readKeyText", "/keys/:id/text", KeyText, [
    "Read a key's text",
    "Returns the text of a key that a tester has lost. Only a sandbox stores the texts of keys."
  ]).setPath(OfKey),
  endpoint("DELETE", "revokeKey", "/keys/:id", RevokedKey, [
    "Revoke a key",
    "The key stops working within a minute, and cannot be enabled again."
  ])
    .setPath(OfKey)
    .addError(FailureBodyOf("NOT_FOUND"))
) {}

/** The fields of a key that its owner sees, without the key's text. */
export const keyView = viewOf(KeyView)

const revokedKey = viewOf(RevokedKey)

/** Handles the endpoints that list, create and revoke keys. */
export const keysHandlers = Effect.map(
  Keys,
  (keys): GroupHandlers<typeof KeysApi, void> => ({
    listKeys: ({ path }) => Effect.map(keys.list(path.id), (records) => dataOnly(records.map(keyView))),
    readKeyText: ({ path }) => Effect.succeed(dataOnly({ id: path.id, key: keys.keyText(path.id) })),
    createKey: ({ path, payload }) =>
      Effect.map(keys.create(path.id, keyInput(payload)), ({ record, key }) => ({
        status: 201,
        ...dataOnly({ id: record.id, key })
      })),
    revokeKey: ({ path }) => Effect.map(keys.revoke(path.id), (key) => dataOnly(revokedKey(key)))
  })
)
