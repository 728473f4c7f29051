import { type ApiKeyRecord, Audit, KeyInput, Keys, Shops, scopePresets, toIso, toIsoOrNull } from "@workshop/core"
import type { Handlers } from "@workshop/core/http"
import { Effect } from "effect"
import { keyInput } from "./KeysApi.js"
import type { SandboxApi } from "./SandboxApi.js"
import { auditView, shopSettings } from "./ShopsApi.js"

type All = Handlers<typeof SandboxApi, void>

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

const data = <A>(data: A) => ({ data })

/** How many entries of the audit log are listed, the latest first. */
const MOST_AUDITED = 1000

const firstKey = KeyInput.make({ name: "First key", scopes: scopePresets.full })

/** What the operator and a shop's owner do: the shop and its keys. */
export const ownerHandlers = Effect.gen(function* () {
  const shops = yield* Shops
  const keys = yield* Keys
  const audit = yield* Audit

  const shopHandlers: All["shops"] = {
    open: Effect.fnUntraced(function* ({ payload }) {
      const { id } = yield* shops.create(payload)
      const { record, key } = yield* keys.create(id, firstKey)
      const { shop, head } = yield* shops.byId(id)
      return { status: 201, data: { shop: shopSettings(shop, head), key_id: record.id, key } }
    }),
    read: ({ path }) => Effect.map(shops.byId(path.id), ({ shop, head }) => data(shopSettings(shop, head))),
    change: ({ path, payload }) =>
      Effect.map(shops.change(path.id, payload), ({ shop, head }) => data(shopSettings(shop, head))),
    audit: ({ path }) =>
      Effect.zipRight(
        shops.byId(path.id),
        Effect.map(audit.list(path.id, null, MOST_AUDITED), (entries) => data(entries.map(auditView)))
      )
  }
  const keyHandlers: All["keys"] = {
    list: ({ path }) => Effect.map(keys.list(path.id), (records) => data(records.map(keyView))),
    create: ({ path, payload }) =>
      Effect.map(keys.create(path.id, keyInput(payload)), ({ record, key }) => ({
        status: 201,
        data: { id: record.id, key }
      })),
    revoke: ({ path }) =>
      Effect.map(keys.revoke(path.id), ({ id, revoked_at }) => data({ id, revoked_at: toIsoOrNull(revoked_at) }))
  }
  return { shops: shopHandlers, keys: keyHandlers }
})
