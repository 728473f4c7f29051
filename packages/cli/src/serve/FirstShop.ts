import { Actor, KeyInput, Keys, type ShopId, ShopInput, Shops } from "@workshop/core"
import { hashKey, isActive, scopePresets } from "@workshop/core/internal"
import { Directory } from "@workshop/core/store"
import { Clock, Context, Effect, Schema } from "effect"
import { refuse } from "../CommandRefused.js"
import { CommandHints } from "../database/CommandHints.js"

/** True if the store has a shop. */
export const hasShops = Effect.flatMap(Directory, (directory) => directory.hasShops)

/** Names `workshop serve` as the actor in the audit log. */
const withServeActor = Effect.provideService(Actor, "workshop serve")

/** Opens a shop for trials, without a key. */
export const openShop = (name: string) =>
  withServeActor(
    Shops.create(Schema.decodeSync(ShopInput)({ name, currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }))
  )

/** The text of `--demo-key` for the key that a start creates; null for a random one. */
export class GivenKey extends Context.Reference<GivenKey>()("@workshop/cli/GivenKey", {
  defaultValue: (): string | null => null
}) {}

/** Creates a full-access key for a shop. The caller must print its text. */
export const makeKey = Effect.fnUntraced(function* (shop_id: ShopId, name: string) {
  const input = Schema.decodeSync(KeyInput)({ name, scopes: scopePresets.full })
  const { key } = yield* withServeActor(Keys.create(shop_id, input, (yield* GivenKey) ?? undefined))
  return key
})

/**
 * The line before the key that a start creates. If the user gave the key, the line does not say that the key is shown
 * only once.
 */
export const keyLine = Effect.map(GivenKey, (given) =>
  given === null ? "Its key is shown only this once:" : "Its key is the one that --demo-key gives:"
)

/** True if this process must open the first shop. If several processes start at the same time, only one gets true. */
export const claimFirstShop = Effect.flatMap(Directory, (directory) => directory.claimFirstShop)

/** The lines of a start that leaves the first shop to another process. */
export const linesIfAnotherProcessOpens = Effect.map(CommandHints, ({ command, condition }) => [
  `Another process is opening the first shop and will show its key. If that process ended before it showed the key, open a shop with this command${condition}:`,
  command("shop create --name 'My workshop' --currency EUR --time-zone Europe/Paris")
])

/** Opens the first shop of an empty store, for trials. Returns its key. */
export const openFirstShop = Effect.gen(function* () {
  const { id, name } = yield* openShop("My workshop")
  const key = yield* makeKey(id, "first")
  return { key, opening: `The shop ${name} is open. ${yield* keyLine}` }
})

/**
 * The shop of a given key; null if no shop has it yet. A revoked or expired key is refused, because it would never be
 * valid again.
 */
export const shopOfKey = Effect.fnUntraced(function* (key: string) {
  const record = yield* (yield* Directory).keyByHash(hashKey(key))
  if (record !== null && !isActive(record.key, yield* Clock.currentTimeMillis)) {
    return yield* refuse(
      "The key that --demo-key gives was revoked or has expired. Give another key, or start with new data."
    )
  }
  return record?.shop ?? null
})

/**
 * Refuses to start a sandbox on data that no sandbox created, because a sandbox gives out keys to every shop and moves
 * time permanently (Specification, Keys and scopes).
 */
export const refuseRealData = Effect.gen(function* () {
  const { isSandboxMade } = yield* Directory
  if ((yield* hasShops) && !(yield* isSandboxMade)) {
    return yield* refuse(
      "These data were not created by a sandbox, and a sandbox would give out keys to every shop and move time forward permanently. Choose other data with --data-dir or --database-url, use --store memory, or add --sandbox-on-real-data if you are sure."
    )
  }
})

/** The lines of a start without a sandbox on data that a sandbox created. */
export const linesIfSandboxData: ReadonlyArray<string> = [
  "A sandbox made these data, and its keys (wk_test_...) are refused here. Add --sandbox, or choose other data with --data-dir or --database-url."
]

/** The lines of a start that finds shops. */
export const linesIfShopsExist = Effect.gen(function* () {
  const { command, condition } = yield* CommandHints
  const { listShops } = yield* Directory
  // A failure is ignored, because the other cells must be served even if one is unavailable.
  const [first, second] = yield* Effect.orElseSucceed(listShops(null, 2), () => [])
  const shop = first === undefined || second !== undefined ? "SHOP" : first.id
  return [
    `The shops exist from an earlier start, and their keys cannot be shown again. List the shops and create another key with these commands${condition}:`,
    command("shop list"),
    command(`key create ${shop} --name Till`)
  ]
})

/** The next commands to try, as lines to paste into a shell. */
export const nextSteps = (base: string, opening: string, key: string): ReadonlyArray<string> => {
  const authorized = `-H 'Authorization: Bearer ${key}'`
  const ticket = JSON.stringify({
    service: "Resoling",
    item: "Brown boots",
    price_minor: 45_000,
    deposit_minor: 20_000
  })
  return [
    opening,
    `export WORKSHOP_KEY=${key}`,
    "Create a ticket, then list all tickets:",
    `curl -s ${base}/v1/tickets ${authorized} -H 'Idempotency-Key: first-ticket' -H 'Content-Type: application/json' -d '${ticket}'`,
    `curl -s '${base}/v1/tickets?limit=10' ${authorized}`
  ]
}
