import { Effect, Either, Schema } from "effect"
import { type ChangeSet, type ShopSnapshot, unchanged } from "../decisions/ChangeSet.js"
import { type Command, makeCommand } from "../decisions/Command.js"
import { createTicket, TicketInput } from "../decisions/createTicket.js"
import type * as Loads from "../decisions/Load.js"
import type { Change } from "../decisions/ShopState.js"
import { TimeZone } from "../domain/CalendarDay.js"
import type { ClientAccount } from "../domain/Client.js"
import type { CallerId, ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import { ENTROPY_BYTES, identifier, type ShopMoment } from "../domain/Moment.js"
import { Phone } from "../domain/Phone.js"
import type { ShopRecord } from "../domain/Shop.js"
import type { TicketRecord } from "../domain/Ticket.js"
import { trackingCode } from "../domain/TrackingCode.js"
import { Entropy } from "../ports/Entropy.js"
import { Directory, Reads, Store } from "../ports/StorePorts.js"
import { commandRunner } from "../services/CommandRunner.js"
import { SettableClock } from "./SettableClock.js"

/** An identifier that no one else has. */
export const freshId = <Id extends string>(): Effect.Effect<Id, never, Entropy> =>
  Effect.flatMap(Effect.clock, (clock) =>
    Effect.map(Entropy.draw(ENTROPY_BYTES), (entropy) =>
      identifier<Id>({ now: clock.unsafeCurrentTimeMillis(), entropy }, 0)
    )
  )

/** The id of a caller that no one else has. */
export const freshCaller: Effect.Effect<CallerId, never, Entropy> = freshId<CallerId>()

/** A Tunisian mobile number that no one else has, as far as randomness goes. */
export const freshPhone: Effect.Effect<Phone, never, Entropy> = Effect.map(Entropy.draw(4), (bytes) =>
  Schema.decodeSync(Phone)(`+2162${String(new DataView(bytes.buffer).getUint32(0) % 10_000_000).padStart(7, "0")}`)
)

/** Opens a shop of its own, with its programme on. */
export const openShop = Effect.fnUntraced(function* (settings: Partial<ShopRecord> = {}) {
  const clock = yield* SettableClock.current
  const shop: ShopRecord = {
    id: yield* freshId<ShopId>(),
    name: "Atelier Lac",
    currency: "TND",
    decimals: 3,
    time_zone: Schema.decodeSync(TimeZone)("Africa/Tunis"),
    tracking_base_url: "https://t.example/",
    approved: true,
    active: true,
    api_enabled: true,
    program: { active: true, name: "Stamps", stamps_required: 10, stamps_per_ticket: 1, reward_label: "A hem" },
    forbidden_words: [],
    allowed_words: [],
    languages: ["en", "fr"],
    created_at: clock.unsafeCurrentTimeMillis(),
    ...settings
  }
  yield* (yield* Directory).createShop(shop)
  return shop
})

/** Opens a client's account with a number of its own. */
export const openAccount = Effect.fnUntraced(function* (person: Partial<ClientAccount> = {}) {
  const clock = yield* SettableClock.current
  const account: ClientAccount = {
    id: yield* freshId<ClientId>(),
    given_name: "Amira",
    family_name: "Ben Salah",
    phone: yield* freshPhone,
    hide_name: false,
    created_at: clock.unsafeCurrentTimeMillis(),
    ...person
  }
  yield* (yield* Directory).createClient(account)
  return account
})

/** Runs a command and returns its result. */
export const run = <A, E>(command: Command<A, E>) => Effect.flatMap(Store, (store) => commandRunner(store)(command))

/** A command that gathers its changes by hand; its result is the moment in which it ran. */
export const changing = (
  shop_id: ShopId,
  gather: (changes: ChangeSet, moment: ShopMoment, loaded: ShopSnapshot) => void
): Command<ShopMoment> =>
  makeCommand(shop_id, {}, (loaded, changes, moment) => {
    gather(changes, moment, loaded)
    return changes.decided(moment)
  })

/** Makes changes as they are, with no head of their own. */
export const putting = (shop_id: ShopId, ...changes: ReadonlyArray<Change>): Command<void> => ({
  shop_id,
  loadRequests: [],
  run: () => Either.right({ result: undefined, changes, limitStatuses: [] })
})

/** A ticket's row without what a command gives it. */
export type TicketRow = Partial<Omit<TicketRecord, "shop_id" | "id" | "updated_at" | "change_seq" | "tracking_code">>

const blankRow = (now: number) =>
  ({
    number: 1,
    state: "workshop",
    outcome: null,
    type: "repair",
    service: "Hem",
    item: null,
    description: null,
    items: [],
    price_minor: null,
    deposit_minor: null,
    before_minor: null,
    quote: null,
    promised_at: null,
    delay: null,
    part: null,
    client_id: null,
    client_phone: null,
    photo_url: null,
    created_at: now,
    ready_at: null,
    collected_at: null,
    abandoned_at: null,
    abandon_reason: null,
    notified_at: null,
    notified_channel: null,
    created_via: "api",
    external_ref: null,
    shop_changed_at: now,
    stamps_earned: false,
    moves_per_day: null,
    notifications_per_day: null,
    history: null
  }) as const

/** The fields that a ticket in a final state must have. */
const finalRow = (state: TicketRow["state"], now: number): TicketRow => {
  if (state === "collected") return { collected_at: now, outcome: "ready" }
  return state === "abandoned" ? { abandoned_at: now, abandon_reason: "no_news" } : {}
}

/**
 * Creates tickets as given, without the acts that would lead there, in one command and so in one millisecond:
 * at most 200 at once. It returns the rows as they were saved.
 */
export const placing = (shop_id: ShopId, rows: ReadonlyArray<TicketRow>): Command<ReadonlyArray<TicketRecord>> =>
  makeCommand(shop_id, {}, (loaded, changes, moment) => {
    const placed = rows.map((row, i) => {
      const entropy = moment.entropy.map((byte, at) => (at === ENTROPY_BYTES - 1 ? byte + i : byte))
      const tracking_code = trackingCode({ ...moment, entropy })
      const record = {
        ...blankRow(moment.recorded_at),
        ...finalRow(row.state, moment.recorded_at),
        ...row,
        shop_id,
        id: changes.newId<TicketId>(),
        tracking_code
      }
      changes.putTicket(record, null)
      const { head } = loaded
      return { ...record, updated_at: moment.recorded_at, change_seq: head.change_seq + i }
    })
    return changes.decided<ReadonlyArray<TicketRecord>>(placed)
  })

/** A ticket input that is known to be good. */
export const ticketInput = (input: typeof TicketInput.Encoded = { service: "Hem" }): TicketInput =>
  Schema.decodeSync(TicketInput)(input)

/** Creates a ticket as the API does. */
export const creating = (shop_id: ShopId, input?: typeof TicketInput.Encoded) =>
  createTicket(shop_id, ticketInput(input), { via: "api", foundWords: [] })

/** Creates a ticket and returns its id. */
export const newTicket = (shop_id: ShopId) => Effect.map(run(creating(shop_id)), ({ id }) => id as TicketId)

/** The ids of a shop's events in their order. */
export const eventsIn = (shop_id: ShopId) =>
  Effect.flatMap(Reads, (reads) => Effect.map(reads.events(shop_id), (events) => events.map(({ id }) => id)))

/** The first page of a list, newest first. */
export const NEWEST = { _tag: "Newest", after: null } as const

/** The row of a load, as the next command finds it. */
export const loaded = <L, E>(shop_id: ShopId, load: Loads.Load<L, E>): Command<L, E> => ({
  shop_id,
  loadRequests: load.loadRequests,
  run: (state) => Either.flatMap(load.read(state), unchanged)
})

/** The notice of a webhook that fails. */
export const warning = {
  kind: "webhook_failing",
  url: "https://shop.example/hook",
  off_reason: null,
  failures_in_row: 7,
  first_failure_at: 12_345
} as const
