import {
  Actor,
  appOf,
  type Caller,
  type ClientId,
  ClientInput,
  Clients,
  DelayInput,
  IdempotencyKey,
  KeyInput,
  Keys,
  Loyalty,
  PartInput,
  Progress,
  QuoteInput,
  Quotes,
  type ShopId,
  ShopInput,
  ShopPatch,
  type ShopRecord,
  Shops,
  StampCount,
  type StoreUnavailable,
  type Ticket,
  TicketId,
  TicketInput,
  Tickets
} from "@workshop/core"
import { isActive, keyHash, scopePresets, toIso } from "@workshop/core/adapter"
import { DAY_MS, Directory } from "@workshop/core/store"
import { Clock, Context, Effect, Schema } from "effect"
import { refuse } from "./CommandRefused.js"
import { CommandHints } from "./StoreChoice.js"

/** Whether the store has a shop already: then its keys were shown when they were made. */
export const hasShops = Effect.flatMap(Directory, (directory) => directory.hasShops)

/** The actor of a start, for the audit log. */
const asServe = Effect.provideService(Actor, "workshop serve")

/** Opens a shop to try things in. It has no key yet. */
const openShop = (name: string) =>
  asServe(Shops.create(Schema.decodeSync(ShopInput)({ name, currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })))

/** The text of `--demo-key` for the key that a start makes; null for a random one. */
export class GivenKey extends Context.Reference<GivenKey>()("@workshop/cli/GivenKey", {
  defaultValue: (): string | null => null
}) {}

/** Makes a full-access key for a shop; its text is for the caller to print, at once. */
const makeKey = Effect.fnUntraced(function* (shop_id: ShopId, name: string) {
  const input = Schema.decodeSync(KeyInput)({ name, scopes: scopePresets.full })
  const { key } = yield* asServe(Keys.create(shop_id, input, (yield* GivenKey) ?? undefined))
  return key
})

/** The line before the key that a start makes. A key that was given is not called secret, because its giver knows it. */
const aboutKey = Effect.map(GivenKey, (given) =>
  given === null ? "Its key is shown this once:" : "Its key is that of --demo-key:"
)

/** Whether this process is to open the first shop. Of several that start together, one is. */
export const claimFirstShop = Effect.flatMap(Directory, (directory) => directory.claimFirstShop)

/** The lines of a start that leaves the first shop to another process. */
export const anotherOpens = Effect.map(CommandHints, ({ command, condition }) => [
  `Another process opens the first shop, and shows its key. If it ended before it did, this opens one${condition}:`,
  command("shop create --name 'My workshop' --currency EUR --time-zone Europe/Paris")
])

/** Opens the shop that a newcomer finds: an empty store would have nothing to try. Returns its key. */
export const openFirstShop = Effect.gen(function* () {
  const { id, name } = yield* openShop("My workshop")
  const key = yield* makeKey(id, "first")
  return { key, opening: `The shop ${name} is open. ${yield* aboutKey}` }
})

/** The shop that a given key opens; null if it opens none yet. One that was revoked or expired would open nothing again. */
export const shopOfKey = Effect.fnUntraced(function* (key: string) {
  const found = yield* (yield* Directory).keyByHash(keyHash(key))
  if (found !== null && !isActive(found.key, yield* Clock.currentTimeMillis)) {
    return yield* refuse("The key of --demo-key was revoked or has expired: give another, or begin with new data.")
  }
  return found?.shop ?? null
})

/** A sandbox gives out keys to every shop and moves time permanently, so it takes no data that no sandbox made (Specification, Keys and scopes). */
export const refuseRealData = Effect.gen(function* () {
  const { isSandboxMade } = yield* Directory
  if ((yield* hasShops) && !(yield* isSandboxMade)) {
    return yield* refuse(
      "The data there were not created by a sandbox, and a sandbox would give out keys to every shop and move time permanently: name other data with --data-dir or --database-url, use --store memory, or add --sandbox-on-real-data if you are sure."
    )
  }
})

/** The lines of a start without a sandbox on data that a sandbox made. */
export const madeBySandbox: ReadonlyArray<string> = [
  "A sandbox made these data, and its keys (wk_test_...) are refused here: add --sandbox, or begin with new data by --data-dir or --database-url."
]

/** The lines of a start that finds shops. */
export const stillThere = Effect.gen(function* () {
  const { command, condition } = yield* CommandHints
  const { listShops } = yield* Directory
  // A cell that is away must not keep the others from being served.
  const [first, second] = yield* Effect.orElseSucceed(listShops(null, 2), () => [])
  const shop = first === undefined || second !== undefined ? "SHOP" : first.id
  return [
    `The shops of last time are there. Keys are shown once; these list the shops, and make another key for one${condition}:`,
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
    "Create a ticket, then list what there is:",
    `curl -s ${base}/v1/tickets ${authorized} -H 'Idempotency-Key: first-ticket' -H 'Content-Type: application/json' -d '${ticket}'`,
    `curl -s '${base}/v1/tickets?limit=10' ${authorized}`
  ]
}

/** By its name a later start finds the demo shop again. */
const NAME = "Demo workshop"

const AMIRA_PHONE = "+21620123456"
const KARIM_PHONE = "+21622345678"

const PAGE = 500

const idOf = (ticket: Ticket) => Schema.decodeSync(TicketId)(ticket.id)

type Person = Omit<typeof ClientInput.Encoded, "phone">

/** Opens an account under the first free number, counted from `phone`: the database may hold other people's accounts. */
const register = (
  person: Person,
  phone: string
): Effect.Effect<{ readonly id: ClientId; readonly phone: string }, StoreUnavailable, Clients> =>
  Clients.register(Schema.decodeSync(ClientInput)({ ...person, phone })).pipe(
    Effect.map(({ id }) => ({ id, phone })),
    Effect.catchTag("InvalidInput", () => register(person, `+${Number(phone.slice(1)) + 1}`))
  )

const meet = Effect.fnUntraced(function* (shop_id: ShopId, person: Person, phone: string) {
  const account = yield* register(person, phone)
  yield* Clients.visit(account.id, shop_id)
  return account
})

const takeTickets = Effect.fnUntraced(function* (app: Caller, amira: ClientId, karim: ClientId) {
  const tickets = yield* Tickets
  const progress = yield* Progress
  const tomorrow = toIso((yield* Effect.clockWith((clock) => clock.currentTimeMillis)) + DAY_MS)
  const take = (input: typeof TicketInput.Encoded) =>
    Effect.map(tickets.create(app, Schema.decodeSync(TicketInput)(input)), ({ data }) => idOf(data))

  const boots = { item: "Brown boots", price_minor: 45_000, deposit_minor: 20_000 }
  const ready = yield* take({ service: "Resoling", ...boots, client_id: amira })
  yield* tickets.changeStatus(app, ready, "ready")
  const collected = yield* take({ service: "Hem", item: "Grey trousers", price_minor: 12_000, client_id: karim })
  yield* tickets.changeStatus(app, collected, "ready")
  yield* tickets.changeStatus(app, collected, "collected")
  const impossible = yield* take({ service: "Screen", item: "Phone", description: "Fell into the sea" })
  yield* tickets.changeStatus(app, impossible, "impossible")

  const coat = { item: "Winter coat", price_minor: 30_000, promised_at: tomorrow, client_id: amira }
  const quoted = yield* take({ service: "New lining", ...coat })
  const price = { price_minor: 38_000, note: "The sleeves need it too" }
  yield* (yield* Quotes).propose(app, quoted, Schema.decodeSync(QuoteInput)(price))
  const waiting = yield* take({ service: "Zip", item: "Suitcase", price_minor: 25_000, promised_at: tomorrow })
  yield* progress.recordPart(app, waiting, Schema.decodeSync(PartInput)({ label: "Zip, 60 cm", status: "ordered" }))
  const later = toIso(Date.parse(tomorrow) + 3 * DAY_MS)
  yield* progress.announceDelay(app, waiting, Schema.decodeSync(DelayInput)({ promised_at: later, reason: "The part" }))
  const items = [
    { label: "Curtains, left", price_minor: 20_000 },
    { label: "Curtains, right", price_minor: 20_000 }
  ]
  yield* take({ service: "Curtains", type: "prepare", items, price_minor: 40_000, external_ref: "web-1001" })
})

/** Fills a shop with demo data: a programme, clients it knows, and tickets in every state that time alone does not bring about. */
const fillWithDemoData = Effect.fnUntraced(function* (shop_id: ShopId) {
  const app = appOf(shop_id)
  const program = {
    active: true,
    name: "Stamps",
    stamps_required: 10,
    stamps_per_ticket: 1,
    reward_label: "A free hem"
  }
  yield* Shops.change(shop_id, Schema.decodeSync(ShopPatch)({ program }))
  const amira = yield* meet(shop_id, { given_name: "Amira", family_name: "Ben Salah" }, AMIRA_PHONE)
  const hidden = { given_name: "Karim", family_name: "Trabelsi", hide_name: true }
  const karim = yield* meet(shop_id, hidden, KARIM_PHONE)
  yield* takeTickets(app, amira.id, karim.id)
  const [nine, key] = [Schema.decodeSync(StampCount)(9), Schema.decodeSync(IdempotencyKey)("demo")]
  yield* Loyalty.giveStamps(app, amira.id, nine, key)
  return amira.phone
})

const earlierShop = Effect.gen(function* () {
  const { listShops } = yield* Directory
  let after: ShopId | null = null
  for (;;) {
    const shops: ReadonlyArray<ShopRecord> = yield* listShops(after, PAGE)
    const found = shops.find(({ name }) => name === NAME)
    if (found !== undefined || shops.length < PAGE) return found
    after = shops.at(-1)?.id ?? null
  }
})

/** The demo shop, with a new key; null if the demo shop of an earlier start has as many keys as it may have. */
interface Demo {
  readonly key: string | null
  readonly opening: string
  /** The number of a client who has a reward; null for a demo shop of an earlier start, where much may have happened. */
  readonly phone: string | null
}

const reused = ({ id }: ShopRecord) =>
  Effect.gen(function* () {
    const key = yield* makeKey(id, "demo")
    const what = (yield* GivenKey) === null ? "A new key for it is shown this once:" : yield* aboutKey
    return { key, phone: null, opening: `The shop ${NAME} of an earlier start is there. ${what}` } satisfies Demo
  }).pipe(
    Effect.catchTag("TooManyKeys", () =>
      Effect.map(CommandHints, ({ command, condition }): Demo => {
        const there = `The shop ${NAME} of an earlier start is there, with all the keys that a shop may have.`
        const remedy = `The first command shows them, and the second, with the id of one, makes room for a new one${condition}:`
        const commands = [command(`key list ${id}`), command("key revoke KEY")]
        return { key: null, phone: null, opening: [`${there} ${remedy}`, ...commands].join("\n") }
      })
    )
  )

/** Opens the demo shop and fills it with demo data, or finds the one of an earlier start. */
export const demoShop = Effect.gen(function* () {
  const found = yield* earlierShop
  if (found !== undefined) return yield* reused(found)
  const { id } = yield* openShop(NAME)
  const phone = yield* fillWithDemoData(id)
  // The key comes last, so that no key is made that is not shown.
  const key = yield* makeKey(id, "demo")
  return { key, phone, opening: `The shop ${NAME} is open. ${yield* aboutKey}` }
}).pipe(
  // The inputs are written down above: a refusal would be a mistake in them.
  Effect.catchAll((refusal) => (refusal._tag === "StoreUnavailable" ? Effect.fail(refusal) : Effect.die(refusal)))
)

/** Further commands to try in a new demo shop. */
export const demoSteps = (base: string, { key, phone }: Demo): ReadonlyArray<string> =>
  phone === null
    ? []
    : [
        "Look up a client who has a reward:",
        `curl -s '${base}/v1/clients?phone=${encodeURIComponent(phone)}' -H 'Authorization: Bearer ${key}'`
      ]

/** Makes the shop that a start makes in an empty store. Returns its key. */
export const shopOfStart = (isDemo: boolean) =>
  isDemo ? Effect.map(demoShop, ({ key }) => key) : Effect.map(openFirstShop, ({ key }) => key)
