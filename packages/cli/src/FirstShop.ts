import { Actor, isActive, KeyInput, Keys, keyHash, type ShopId, ShopInput, Shops, scopePresets } from "@workshop/core"
import { Directory } from "@workshop/core/store"
import { Clock, Context, Effect, Schema } from "effect"
import { CommandRefused } from "./CommandRefused.js"
import { CommandHints } from "./terminal/CommandHints.js"

/** Whether the store has a shop already: then its keys were shown when they were made. */
export const hasShops = Effect.gen(function* () {
  const { listShops } = yield* Directory
  return (yield* listShops(null, 1)).length > 0
})

/** Who acts, for the audit log. */
const asServe = Effect.provideService(Actor, "workshop serve")

/** Opens a shop to try things in. It has no key yet. */
export const openShop = (name: string) =>
  asServe(Shops.create(Schema.decodeSync(ShopInput)({ name, currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })))

/** The text of `--demo-key` for the key that a start makes; null for a random one. */
export class GivenKey extends Context.Reference<GivenKey>()("@workshop/cli/GivenKey", {
  defaultValue: (): string | null => null
}) {}

/** Makes a full-access key for a shop; its text is for the caller to print, at once. */
export const makeKey = Effect.fnUntraced(function* (shop_id: ShopId, name: string) {
  const input = Schema.decodeSync(KeyInput)({ name, scopes: scopePresets.full })
  const { key } = yield* asServe(Keys.create(shop_id, input, (yield* GivenKey) ?? undefined))
  return key
})

/** What is said of the key that a start makes: one that was given is known to whoever gave it. */
export const aboutKey = Effect.map(GivenKey, (given) =>
  given === null ? "Its key is shown this once:" : "Its key is that of --demo-key:"
)

/** Opens the shop that a newcomer finds: an empty store would have nothing to try. Returns its key. */
export const openFirstShop = Effect.gen(function* () {
  const { id, name } = yield* openShop("My workshop")
  const key = yield* makeKey(id, "first")
  return { key, opening: `The shop ${name} is open. ${yield* aboutKey}` }
})

/** The shop that a given key opens; null where it opens none yet. One that was revoked or expired would open nothing again. */
export const shopOfKey = Effect.fnUntraced(function* (key: string) {
  const found = yield* (yield* Directory).keyByHash(keyHash(key))
  if (found !== null && !isActive(found.key, yield* Clock.currentTimeMillis)) {
    return yield* new CommandRefused({
      message: "The key of --demo-key was revoked or has expired: give another, or begin with new data."
    })
  }
  return found?.shop ?? null
})

/** A sandbox gives out keys to every shop and moves time for good, so it takes no data that no sandbox made (Specification, Keys and scopes). */
export const refuseRealData = Effect.gen(function* () {
  const { isSandboxMade } = yield* Directory
  if ((yield* hasShops) && !(yield* isSandboxMade)) {
    return yield* new CommandRefused({
      message:
        "No sandbox made the data there, and one would give out keys to every shop and move time for good: name other data with --data-dir or --database-url, use --store memory, or, if you mean it, add --sandbox-on-real-data."
    })
  }
})

/** An empty store that a sandbox begins is a sandbox's from then on. */
export const claimForSandbox = Effect.gen(function* () {
  if (!(yield* hasShops)) yield* (yield* Directory).markSandboxMade
})

/** What to say without a sandbox where a sandbox made the data. */
export const madeBySandbox: ReadonlyArray<string> = [
  "A sandbox made these data, and its keys (wk_test_...) are refused here: add --sandbox, or begin with new data by --data-dir or --database-url."
]

/** What to say where the shops are there already. */
export const stillThere = Effect.gen(function* () {
  const { command, condition } = yield* CommandHints
  const [first, second] = yield* (yield* Directory).listShops(null, 2)
  const shop = first === undefined || second !== undefined ? "SHOP" : first.id
  return [
    `The shops of last time are there. Keys are shown once; these list the shops, and make another key for one${condition}:`,
    command("shop list"),
    command(`key create ${shop} --name Till`)
  ]
})

/** What to try next, as lines to paste into a shell. */
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
    "Create a ticket, then list what there is:",
    `curl -s ${base}/v1/tickets ${authorized} -H 'Idempotency-Key: first-ticket' -H 'Content-Type: application/json' -d '${ticket}'`,
    `curl -s '${base}/v1/tickets?limit=10' ${authorized}`
  ]
}
