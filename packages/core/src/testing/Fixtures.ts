import { Effect, Either, Schema } from "effect"
import { type ChangeSet, type ShopSnapshot, toUnchangedDecision } from "../decisions/ChangeSet.js"
import { type Command, makeCommand } from "../decisions/Command.js"
import { createTicket, TicketInput } from "../decisions/createTicket.js"
import type * as Loads from "../decisions/Load.js"
import type { Change } from "../decisions/ShopState.js"
import { TimeZone } from "../domain/CalendarDay.js"
import type { ClientAccount } from "../domain/Client.js"
import type { CallerId, ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import { ENTROPY_BYTES, makeIdentifier, type ShopMoment } from "../domain/Moment.js"
import { Phone } from "../domain/Phone.js"
import type { ShopRecord } from "../domain/Shop.js"
import type { TicketRecord } from "../domain/Ticket.js"
import { makeTrackingCode } from "../domain/TrackingCode.js"
import { Entropy } from "../ports/Entropy.js"
import { Directory, Reads, Store } from "../ports/StorePorts.js"
import { makeCommandRunner } from "../services/CommandRunner.js"
import { SettableClock } from "./SettableClock.js"

/** A new identifier. */
export const makeId = <Id extends string>(): Effect.Effect<Id, never, Entropy> =>
  Effect.flatMap(Effect.clock, (clock) =>
    Effect.map(Entropy.draw(ENTROPY_BYTES), (entropy) =>
      makeIdentifier<Id>({ now: clock.unsafeCurrentTimeMillis(), entropy }, 0)
    )
  )

/** The id of a new caller. */
export const freshCaller: Effect.Effect<CallerId, never, Entropy> = makeId<CallerId>()

/** A random Tunisian mobile number. */
export const freshPhone: Effect.Effect<Phone, never, Entropy> = Effect.map(Entropy.draw(4), (bytes) =>
  Schema.decodeSync(Phone)(`+2162${String(new DataView(bytes.buffer).getUint32(0) % 10_000_000).padStart(7, "0")}`)
)

/** Opens a new shop with an active programme. */
export const openShop = Effect.fnUntraced(function* (settings: Partial<ShopRecord> = {}) {
  const clock = yield* SettableClock.current
  const shop: ShopRecord = {
    id: yield* makeId<ShopId>(),
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

/** Opens a client's account with a new number. */
export const openAccount = Effect.fnUntraced(function* (person: Partial<ClientAccount> = {}) {
  const clock = yield* SettableClock.current
  const account: ClientAccount = {
    id: yield* makeId<ClientId>(),
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
export const runCommand = <A, E>(command: Command<A, E>) =>
  Effect.flatMap(Store, (store) => makeCommandRunner(store)(command))

/** A command whose changes `gather` adds, and whose result is the moment at which it ran. */
export const makeChanges = (
  shop_id: ShopId,
  gather: (changes: ChangeSet, moment: ShopMoment, loaded: ShopSnapshot) => void
): Command<ShopMoment> =>
  makeCommand(shop_id, {}, (loaded, changes, moment) => {
    gather(changes, moment, loaded)
    return changes.toDecision(moment)
  })

/** A command with exactly these changes, without its own `HeadPut`. */
export const putChanges = (shop_id: ShopId, ...changes: ReadonlyArray<Change>): Command<void> => ({
  shop_id,
  loadRequests: [],
  run: () => Either.right({ result: undefined, changes, limitStatuses: [] })
})

/** A ticket's row without the fields that a command sets. */
export type TestTicketRow = Partial<
  Omit<TicketRecord, "shop_id" | "id" | "updated_at" | "change_seq" | "tracking_code">
>

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
const finalRow = (state: TestTicketRow["state"], now: number): TestTicketRow => {
  if (state === "collected") return { collected_at: now, outcome: "ready" }
  return state === "abandoned" ? { abandoned_at: now, abandon_reason: "no_news" } : {}
}

/**
 * Creates at most 200 tickets in the given states, without the usual acts, in one command and so in one millisecond.
 * Returns the saved rows.
 */
export const putTickets = (shop_id: ShopId, rows: ReadonlyArray<TestTicketRow>): Command<ReadonlyArray<TicketRecord>> =>
  makeCommand(shop_id, {}, (loaded, changes, moment) => {
    const placed = rows.map((row, i) => {
      const entropy = moment.entropy.map((byte, at) => (at === ENTROPY_BYTES - 1 ? byte + i : byte))
      const tracking_code = makeTrackingCode({ ...moment, entropy })
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
    return changes.toDecision<ReadonlyArray<TicketRecord>>(placed)
  })

/** Decodes a valid ticket input. */
export const ticketInput = (input: typeof TicketInput.Encoded = { service: "Hem" }): TicketInput =>
  Schema.decodeSync(TicketInput)(input)

/** Creates a ticket with the command of the API. */
export const createTestTicket = (shop_id: ShopId, input?: typeof TicketInput.Encoded) =>
  createTicket(shop_id, ticketInput(input), { via: "api", foundWords: [] })

/** Creates a ticket and returns its id. */
export const newTicket = (shop_id: ShopId) =>
  Effect.map(runCommand(createTestTicket(shop_id)), ({ id }) => id as TicketId)

/** The ids of a shop's events in their order. */
export const readEvents = (shop_id: ShopId) =>
  Effect.flatMap(Reads, (reads) => Effect.map(reads.events(shop_id), (events) => events.map(({ id }) => id)))

/** The first page of a list, newest first. */
export const FIRST_PAGE = { _tag: "Newest", after: null } as const

/** A command that returns the row of a load. */
export const readLoad = <L, E>(shop_id: ShopId, load: Loads.Load<L, E>): Command<L, E> => ({
  shop_id,
  loadRequests: load.loadRequests,
  run: (state) => Either.flatMap(load.read(state), toUnchangedDecision)
})

/** The notice that a webhook is failing. */
export const failingNotice = {
  kind: "webhook_failing",
  url: "https://shop.example/hook",
  off_reason: null,
  failures_in_row: 7,
  first_failure_at: 12_345
} as const
