import { Either, Schema } from "effect"
import type { Decision } from "../../src/decisions/ChangeSet.js"
import { type Command, execute } from "../../src/decisions/Command.js"
import { changeStatus, closeTicket } from "../../src/decisions/changeStatus.js"
import { recordVisit } from "../../src/decisions/clientLink.js"
import { createTicket, TicketInput } from "../../src/decisions/createTicket.js"
import { type Change, emptyShopState, type ShopState } from "../../src/decisions/ShopState.js"
import type { TimeZone } from "../../src/domain/CalendarDay.js"
import type { ClientAccount } from "../../src/domain/Client.js"
import type { ClientId, KeyId, OfferId, ShopId, TicketId } from "../../src/domain/Identifier.js"
import type { LoyaltyProgram } from "../../src/domain/LoyaltyCard.js"
import type { Moment } from "../../src/domain/Moment.js"
import type { OfferRecord } from "../../src/domain/Offer.js"
import type { Phone } from "../../src/domain/Phone.js"
import { newShopHead, type ShopRecord } from "../../src/domain/Shop.js"
import type { Ticket, TicketRecord } from "../../src/domain/Ticket.js"
import type { TicketState, TicketStatus } from "../../src/domain/TicketLifecycle.js"

/** Durations in milliseconds, written out rather than imported from the service. */
export const SECOND = 1000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

/** The start of every test shop's clock: 2026-03-02T09:00:00.000Z, a Monday. */
export const START = 1_772_442_000_000

const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`
/** The one shop of these tests. */
export const SHOP = uuid(1) as ShopId
/** Two of its API keys. */
export const KEY = uuid(11) as KeyId
export const OTHER_KEY = uuid(12) as KeyId
/** An identifier that does not exist. */
export const NOBODY = uuid(99)

const account = (n: number, given_name: string, family_name: string, hide_name: boolean): ClientAccount => ({
  id: uuid(n) as ClientId,
  given_name,
  family_name,
  phone: `+216201234${n}` as Phone,
  hide_name,
  created_at: START - 400 * DAY
})
/** Two account holders; no shop knows them until they visit it or accept its offer. */
export const AMIRA = account(21, "Amira", "Ben Salah", false)
export const KARIM = account(22, "Karim", "Trabelsi", true)
/** A number that no account holds. */
export const NOBODYS_PHONE = "+21620999999" as Phone

const bytes = (n: number) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255]
const spread = (n: number) => [(n * 73 + 41) & 255, (n * 151 + 7) & 255]
/** A moment at `now`, whose entropy depends only on `draw`, so that each draw gives other identifiers. */
export const momentAt = (now: number, draw = 0): Moment => ({
  now,
  entropy: Uint8Array.from([
    ...[...spread(draw), ...bytes(draw), ...spread(draw + 7)],
    ...[...spread(draw + 13), ...bytes(draw), ...spread(draw + 21)],
    ...[(draw * 37) & 255, ...bytes(draw)]
  ])
})

const text = Schema.decodeUnknownSync(TicketInput)
/** A shop's input for a new ticket, decoded as the service decodes it. */
export const ticketInput = (fields: Record<string, unknown> = {}): TicketInput => text({ service: "Hem", ...fields })

/** An active loyalty programme: a reward costs five stamps, and a ticket earns one. */
export const PROGRAM: LoyaltyProgram = {
  active: true,
  name: "Thimble card",
  stamps_required: 5,
  stamps_per_ticket: 1,
  reward_label: "A free hem"
}

const emptySlice = (settings: Partial<ShopRecord>): ShopState => {
  const accounts = [AMIRA, KARIM]
  return emptyShopState({
    shop: {
      id: SHOP,
      name: "Fil d'Or",
      currency: "TND",
      decimals: 3,
      time_zone: "Africa/Tunis" as TimeZone,
      tracking_base_url: "https://track.example.com/",
      approved: true,
      active: true,
      api_enabled: true,
      program: { ...PROGRAM, active: false },
      forbidden_words: [],
      allowed_words: [],
      languages: ["en", "fr"],
      created_at: START - 500 * DAY,
      ...settings
    },
    head: newShopHead(SHOP),
    webhook: null,
    events: { get: () => undefined, rewrite: () => {} },
    replayable: () => ({ events: [], last_seq: 0 }),
    accounts: new Map(accounts.map((row) => [row.id, row])),
    holders: new Map(accounts.map((row) => [row.phone, row]))
  })
}

/** An event as a receiver reads it. */
export interface SentEvent {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly data: { readonly ticket?: Ticket; readonly [field: string]: unknown }
}

/** One shop with a clock that the test sets; every command gets new entropy. */
export class TestShop {
  readonly slice: ShopState
  now = START
  #draws = 0
  #changes: Array<Change> = []
  #last: Decision<unknown> = { result: undefined, changes: [], limitStatuses: [] }

  constructor(settings: Partial<ShopRecord> = {}) {
    this.slice = emptySlice(settings)
  }

  /** Advances the clock. */
  wait(ms: number): this {
    this.now += ms
    return this
  }

  /** Runs a command, applies its changes to the slice, and returns its result. Fails if a refusal changes the slice. */
  tries<A, E>(command: Command<A, E>): Either.Either<A, E> {
    const before = snapshot(this.slice)
    const decision = execute(command, this.slice, momentAt(this.now, this.#draws++))
    if (Either.isLeft(decision)) {
      if (JSON.stringify(before) !== JSON.stringify(snapshot(this.slice)))
        throw new Error("A refusal changed something")
      return Either.left(decision.left)
    }
    this.#last = decision.right
    this.#changes.push(...decision.right.changes)
    return Either.right(decision.right.result)
  }

  /** Runs a command that must succeed, and returns its result. */
  does<A, E>(command: Command<A, E>): A {
    const outcome = this.tries(command)
    if (Either.isLeft(outcome)) throw new Error(`Refused: ${JSON.stringify(outcome.left)}`)
    return outcome.right
  }

  /** Runs a command that must be refused, and returns its refusal. */
  refuses<A, E>(command: Command<A, E>): E {
    const outcome = this.tries(command)
    if (Either.isRight(outcome)) throw new Error(`Accepted: ${JSON.stringify(outcome.right)}`)
    return outcome.left
  }

  /** The last command that succeeded. */
  get last(): Decision<unknown> {
    return this.#last
  }

  /** The rows of this kind among the given changes, by default those of the last command. */
  rows<T extends Change["_tag"]>(tag: T, changes = this.#last.changes): ReadonlyArray<RowOf<T>> {
    return changes.flatMap((change) => (change._tag === tag ? [change.row as RowOf<T>] : []))
  }
  everyRow<T extends Change["_tag"]>(tag: T): ReadonlyArray<RowOf<T>> {
    return this.rows(tag, this.#changes)
  }

  /** The events of the last command. */
  get events(): ReadonlyArray<SentEvent> {
    return this.rows("EventRaised").map(({ body }) => JSON.parse(body) as SentEvent)
  }
  get eventTypes(): ReadonlyArray<string> {
    return this.events.map(({ type }) => type)
  }

  record(id: string): TicketRecord {
    const record = this.slice.tickets.get(id as TicketId)
    if (record === undefined) throw new Error(`No ticket ${id}`)
    return record
  }

  create(fields: Record<string, unknown> = {}, via: "app" | "api" = "api"): TicketId {
    return this.does(createTicket(SHOP, ticketInput(fields), { via, foundWords: [] })).id as TicketId
  }

  /** The offer that the last create made. */
  get offer(): OfferRecord & { readonly id: OfferId } {
    const row = this.rows("OfferPut").at(-1)
    if (row === undefined) throw new Error("No offer was made")
    return row
  }

  moves(id: TicketId, ...statuses: ReadonlyArray<TicketStatus>): void {
    for (const status of statuses) this.does(changeStatus(SHOP, id, status))
  }

  /** Makes a client known by a visit. */
  meets({ id }: ClientAccount): ClientId {
    this.does(recordVisit(SHOP, id))
    return id
  }

  /** Creates a ticket in a state by its commands, at the current instant or, if it is closed, after sixty days. */
  ticketIn(state: TicketState, fields: Record<string, unknown> = {}): TicketId {
    const id = this.create(fields)
    if (state === "abandoned") {
      this.wait(60 * DAY).does(closeTicket(SHOP, id))
      return id
    }
    const path = {
      workshop: [],
      ready: ["ready"],
      impossible: ["impossible"],
      collected: ["ready", "collected"]
    } as const
    this.moves(id, ...path[state])
    return id
  }
}

type RowOf<T extends Change["_tag"]> = Extract<Change, { readonly _tag: T }>["row"]

/** A shop's data as plain values, to compare before and after. */
export const snapshot = ({ accounts, holders, ...own }: ShopState): unknown =>
  Object.fromEntries(
    Object.entries(own).map(([name, part]) => [name, part instanceof Map ? [...part.entries()] : part])
  )
