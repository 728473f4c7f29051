import { type ApiKeyRecord, KeyId, KeyInput, Keys, Limits, ShopId } from "@workshop/core"
import { scopePresets, toIso } from "@workshop/core/internal"
import type { Column } from "@workshop/core/internal/terminal"
import { keyView } from "@workshop/http-node/internal"
import { Clock, Effect } from "effect"
import { refuse } from "../CommandRefused.js"
import { CommandHints } from "../database/CommandHints.js"
import { flagsOf, yesFlag } from "../terminal/commands.js"
import { confirm } from "../terminal/confirm.js"
import { oneOf } from "../terminal/decoders.js"
import { formatDuration } from "../terminal/formatDuration.js"
import { rowsOutput, secretOutput, sentenceOutput } from "../terminal/Output.js"
import { group } from "../terminal/program.js"
import { decodeFields, type FlagFields, fieldFlag, givenFieldsOf, idFrom, idOf, ownerCommand } from "./ownerCommand.js"

/** A key to create, with the scopes of a preset or with named scopes. */
interface NewKey extends FlagFields {
  readonly shop: string
  readonly preset: keyof typeof scopePresets | null
  readonly scopes: ReadonlyArray<string>
}

const keyRow = (record: ApiKeyRecord) => {
  const { id, ...fields } = keyView(record)
  return { id, shop_id: record.shop_id, ...fields }
}

type Row = ReturnType<typeof keyRow>

const formatMinute = (at: string): string => at.slice(0, 16).replace("T", " ")

const columnsAt = (now: string): ReadonlyArray<Column<Row>> => [
  { title: "ID", cell: ({ id }) => id, isWhole: true },
  { title: "NAME", cell: ({ name }) => name },
  { title: "ENDS IN", cell: ({ last_four }) => last_four },
  { title: "SCOPES", cell: ({ scopes }) => scopes.join(" ") },
  { title: "CREATED", cell: ({ created_at }) => created_at.slice(0, 10) },
  { title: "LAST USED", cell: ({ last_used_at }) => (last_used_at === null ? "-" : formatMinute(last_used_at)) },
  {
    title: "EXPIRES",
    cell: ({ expires_at }) =>
      expires_at === null ? "-" : `${formatMinute(expires_at)}${expires_at <= now ? " (expired)" : ""}`
  },
  { title: "REVOKED", cell: ({ revoked_at }) => revoked_at?.slice(0, 10) ?? "-" }
]

const scopesOf = (preset: NewKey["preset"], scopes: NewKey["scopes"]) => {
  if (preset !== null && scopes.length > 0) {
    return Effect.fail(refuse("Give --preset or --scopes, not both."))
  }
  return Effect.succeed(scopes.length > 0 ? scopes : scopePresets[preset ?? "full"])
}

/** Creates a key. Its text is shown only once (Specification, Keys and scopes). */
export const createKey = Effect.fnUntraced(function* ({ shop, preset, scopes, ...fields }: NewKey) {
  const shop_id = yield* idFrom(ShopId, "a shop", shop)
  const input = yield* decodeFields(KeyInput, givenFieldsOf({ ...fields, scopes: yield* scopesOf(preset, scopes) }))
  const { record, key } = yield* Keys.create(shop_id, input)
  return secretOutput({ ...keyRow(record), key }, `The key ${record.name} (${record.id})`, key)
})

/** Lists all keys of a shop, including the revoked ones. */
export const listKeys = Effect.fnUntraced(function* (shop: string) {
  const id = yield* idFrom(ShopId, "a shop", shop)
  const records = yield* Keys.list(id)
  const { command, condition } = yield* CommandHints
  const remedy = `The shop has no API key yet. Create one with this command${condition}: ${command(`key create ${id} --name Till`)}`
  const now = toIso(yield* Clock.currentTimeMillis)
  return rowsOutput(records.map(keyRow), columnsAt(now), remedy)
})

/** Revokes a key, permanently. */
export const revokeKey = Effect.fnUntraced(function* (typed: string, isWanted: boolean) {
  const id = yield* idFrom(KeyId, "a key", typed)
  yield* confirm(`This permanently revokes the key ${id}. Requests with it will be refused.`, isWanted)
  const record = keyRow(yield* Keys.revoke(id))
  return sentenceOutput(
    record,
    `The key ${record.name} (ends in ${record.last_four}) is revoked. Every node refuses it within ${formatDuration(Limits.key_revocation_ms)}.`
  )
})

const own = flagsOf("key")
const field = fieldFlag("key")
const shop = idOf("shop")

/** `workshop key` (Specification, Commands): a shop's API keys. */
export const keyCommand = group(
  {
    name: "key",
    examples: ["workshop key create 0197... --name Till --preset full", "workshop key list 0197..."]
  },
  [
    ownerCommand({
      name: "create",
      description: "Create an API key, and show its text, which cannot be shown again",
      examples: [
        "workshop key create 0197... --name Till --preset full",
        "workshop key create 0197... --name Screen --scopes tickets:read,clients:read",
        "workshop key create 0197... --name Fair --preset read --expires-at 2027-01-31T12:00:00Z"
      ],
      options: {
        name: field("--name <text>", "A name for the key, such as Till."),
        preset: field(
          "--preset <preset>",
          "The key's scopes by a preset: full (all scopes, the default) or read.",
          oneOf(["full", "read"])
        ),
        scopes: own.repeatable(
          "--scopes <scope>",
          "The key's scopes instead of a preset, separated by commas: any of tickets:read, tickets:write, clients:read and loyalty:write."
        ),
        expires_at: field(
          "--expires-at <instant>",
          "When the key expires, such as 2027-01-31T12:00:00Z or 2027-01-31. By default it does not expire."
        ),
        shop
      },
      run: createKey
    }),
    ownerCommand({
      name: "list",
      description: "List a shop's API keys, including revoked ones",
      examples: ["workshop key list 0197..."],
      options: { shop },
      run: ({ shop }) => listKeys(shop)
    }),
    ownerCommand({
      name: "revoke",
      description: "Revoke a key permanently",
      examples: ["workshop key revoke 0197...", "workshop key revoke 0197... --yes"],
      options: { yes: yesFlag, key: idOf("key") },
      run: ({ key, yes }) => revokeKey(key, yes)
    })
  ]
)
