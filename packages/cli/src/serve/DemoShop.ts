import {
  appCaller,
  type Caller,
  type ClientId,
  ClientInput,
  Clients,
  DelayInput,
  IdempotencyKey,
  Loyalty,
  PartInput,
  Progress,
  QuoteInput,
  Quotes,
  type ShopId,
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
import { toIso } from "@workshop/core/internal"
import { DAY_MS, Directory } from "@workshop/core/store"
import { Effect, Schema } from "effect"
import { CommandHints } from "../database/CommandHints.js"
import { GivenKey, keyLine, makeKey, openShop } from "./FirstShop.js"

/** The name by which a later start finds the demo shop again. */
const DEMO_NAME = "Demo workshop"

const AMIRA_PHONE = "+21620123456"
const KARIM_PHONE = "+21622345678"

const PAGE_SIZE = 500

const idOf = (ticket: Ticket) => Schema.decodeSync(TicketId)(ticket.id)

type Person = Omit<typeof ClientInput.Encoded, "phone">

/**
 * Opens an account with the first free phone number from `phone` on, because the database may contain other accounts.
 */
const register = (
  person: Person,
  phone: string
): Effect.Effect<{ readonly id: ClientId; readonly phone: string }, StoreUnavailable, Clients> =>
  Clients.register(Schema.decodeSync(ClientInput)({ ...person, phone })).pipe(
    Effect.map(({ id }) => ({ id, phone })),
    Effect.catchTag("InvalidInput", () => register(person, `+${Number(phone.slice(1)) + 1}`))
  )

const registerVisitor = Effect.fnUntraced(function* (shop_id: ShopId, person: Person, phone: string) {
  const account = yield* register(person, phone)
  yield* Clients.visit(account.id, shop_id)
  return account
})

const takeTickets = Effect.fnUntraced(function* (app: Caller, amira: ClientId, karim: ClientId) {
  const tickets = yield* Tickets
  const progress = yield* Progress
  const tomorrow = toIso((yield* Effect.clockWith((clock) => clock.currentTimeMillis)) + DAY_MS)
  const takeTicket = (input: typeof TicketInput.Encoded) =>
    Effect.map(tickets.create(app, Schema.decodeSync(TicketInput)(input)), ({ data }) => idOf(data))

  const boots = { item: "Brown boots", price_minor: 45_000, deposit_minor: 20_000 }
  const ready = yield* takeTicket({ service: "Resoling", ...boots, client_id: amira })
  yield* tickets.changeStatus(app, ready, "ready")
  const collected = yield* takeTicket({ service: "Hem", item: "Grey trousers", price_minor: 12_000, client_id: karim })
  yield* tickets.changeStatus(app, collected, "ready")
  yield* tickets.changeStatus(app, collected, "collected")
  const impossibleTicket = yield* takeTicket({ service: "Screen", item: "Phone", description: "Fell into the sea" })
  yield* tickets.changeStatus(app, impossibleTicket, "impossible")

  const coat = { item: "Winter coat", price_minor: 30_000, promised_at: tomorrow, client_id: amira }
  const quoted = yield* takeTicket({ service: "New lining", ...coat })
  const price = { price_minor: 38_000, note: "The sleeves need it too" }
  yield* (yield* Quotes).propose(app, quoted, Schema.decodeSync(QuoteInput)(price))
  const waiting = yield* takeTicket({ service: "Zip", item: "Suitcase", price_minor: 25_000, promised_at: tomorrow })
  yield* progress.recordPart(app, waiting, Schema.decodeSync(PartInput)({ label: "Zip, 60 cm", status: "ordered" }))
  const later = toIso(Date.parse(tomorrow) + 3 * DAY_MS)
  yield* progress.announceDelay(app, waiting, Schema.decodeSync(DelayInput)({ promised_at: later, reason: "The part" }))
  const items = [
    { label: "Curtains, left", price_minor: 20_000 },
    { label: "Curtains, right", price_minor: 20_000 }
  ]
  yield* takeTicket({ service: "Curtains", type: "prepare", items, price_minor: 40_000, external_ref: "web-1001" })
})

/**
 * Fills a shop with demo data: a programme, clients it knows, and tickets in every state except states that a ticket
 * reaches only as time passes.
 */
const fillWithDemoData = Effect.fnUntraced(function* (shop_id: ShopId) {
  const app = appCaller(shop_id)
  const program = {
    active: true,
    name: "Stamps",
    stamps_required: 10,
    stamps_per_ticket: 1,
    reward_label: "A free hem"
  }
  yield* Shops.change(shop_id, Schema.decodeSync(ShopPatch)({ program }))
  const amira = yield* registerVisitor(shop_id, { given_name: "Amira", family_name: "Ben Salah" }, AMIRA_PHONE)
  const hidden = { given_name: "Karim", family_name: "Trabelsi", hide_name: true }
  const karim = yield* registerVisitor(shop_id, hidden, KARIM_PHONE)
  yield* takeTickets(app, amira.id, karim.id)
  const [nine, key] = [Schema.decodeSync(StampCount)(9), Schema.decodeSync(IdempotencyKey)("demo")]
  yield* Loyalty.giveStamps(app, amira.id, nine, key)
  return amira.phone
})

const findEarlierShop = Effect.gen(function* () {
  const { listShops } = yield* Directory
  let after: ShopId | null = null
  for (;;) {
    const shops: ReadonlyArray<ShopRecord> = yield* listShops(after, PAGE_SIZE)
    const demoShop = shops.find(({ name }) => name === DEMO_NAME)
    if (demoShop !== undefined || shops.length < PAGE_SIZE) return demoShop
    after = shops.at(-1)?.id ?? null
  }
})

/** The demo shop, with a new key; null if the demo shop of an earlier start has the largest number of keys. */
interface DemoAccess {
  readonly key: string | null
  readonly opening: string
  /**
   * The number of a client who has a reward; null for a demo shop of an earlier start, because its clients may have
   * used their rewards.
   */
  readonly phone: string | null
}

const reuseShop = ({ id }: ShopRecord) =>
  Effect.gen(function* () {
    const key = yield* makeKey(id, "demo")
    const what =
      (yield* GivenKey) === null ? "Here is a new key for it, which is shown only this once:" : yield* keyLine
    return {
      key,
      phone: null,
      opening: `The shop ${DEMO_NAME} exists from an earlier start. ${what}`
    } satisfies DemoAccess
  }).pipe(
    Effect.catchTag("TooManyKeys", () =>
      Effect.map(CommandHints, ({ command, condition }): DemoAccess => {
        const statement = `The shop ${DEMO_NAME} exists from an earlier start, and already has as many keys as a shop may have.`
        const remedy = `To get a new key at the next start, list the shop's keys with the first of these commands, and revoke one with the second${condition}:`
        const commands = [command(`key list ${id}`), command("key revoke KEY")]
        return { key: null, phone: null, opening: [`${statement} ${remedy}`, ...commands].join("\n") }
      })
    )
  )

/** Opens the demo shop and fills it with demo data, or finds the demo shop of an earlier start. */
export const openDemoShop = Effect.gen(function* () {
  const earlierShop = yield* findEarlierShop
  if (earlierShop !== undefined) return yield* reuseShop(earlierShop)
  const { id } = yield* openShop(DEMO_NAME)
  const phone = yield* fillWithDemoData(id)
  // The key is created last, because a failure after it would leave a key that was never shown.
  const key = yield* makeKey(id, "demo")
  return { key, phone, opening: `The shop ${DEMO_NAME} is open. ${yield* keyLine}` }
}).pipe(
  // A refusal is a defect, because all inputs are constants of this module.
  Effect.catchAll((refusal) => (refusal._tag === "StoreUnavailable" ? Effect.fail(refusal) : Effect.die(refusal)))
)

/** Further commands to try in a new demo shop. */
export const demoSteps = (base: string, key: string, { phone }: Pick<DemoAccess, "phone">): ReadonlyArray<string> =>
  phone === null
    ? []
    : [
        "Look up a client who has a reward:",
        `curl -s '${base}/v1/clients?phone=${encodeURIComponent(phone)}' -H 'Authorization: Bearer ${key}'`
      ]
