import type * as Named from "@workshop/client"
import { Clock, type Context, Effect } from "effect"
import type { Command, Outcome } from "../decisions/Command.js"
import {
  changeStatus as changeStatusOf,
  recordNotified as recordNotifiedOf,
  type ShopChannel
} from "../decisions/changeStatus.js"
import { createTicket, type TicketInput, ticketDefaults } from "../decisions/createTicket.js"
import {
  type IdempotencyKey,
  type Idempotent,
  type IdempotentResult,
  makeIdempotent
} from "../decisions/Idempotency.js"
import { ticketTextsOf } from "../domain/ForbiddenWord.js"
import type { TicketId } from "../domain/Identifier.js"
import { toIso } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import type { ShopRecord } from "../domain/Shop.js"
import { numberLabel, type Ticket, TicketNotFound, ticketView } from "../domain/Ticket.js"
import { historyView } from "../domain/TicketChange.js"
import type { TicketStatus } from "../domain/TicketLifecycle.js"
import { PolicyLimits } from "../ports/PolicyLimits.js"
import { ProfanityFilter } from "../ports/ProfanityFilter.js"
import { Reads, Store } from "../ports/StorePorts.js"
import type { SeenTicket } from "../ports/TicketList.js"
import { TrackingPages } from "../ports/TrackingPages.js"
import { asCaller, type Caller, callerLimits } from "./Caller.js"
import { pageOf, parseTicketQuery, type TicketQuery } from "./TicketQuery.js"

/** Another ticket with the same number (Specification, Lists and sync). */
export interface TicketSummary extends Named.TicketSummary {}

const summaryOf = ({ record }: SeenTicket): TicketSummary => ({
  id: record.id,
  number: record.number,
  number_label: numberLabel(record.number),
  state: record.state,
  created_at: toIso(record.created_at)
})

const historyOf = ({ record }: SeenTicket) => historyView(record.history)

/** Runs a command on a ticket; with a key, a repetition gets the first result (Specification, Endpoints). */
const runIdempotent =
  (store: Context.Tag.Service<Store>) =>
  <E>(command: Command<Ticket, E>, key: IdempotencyKey | undefined, use: Omit<Idempotent, "key">) =>
    key === undefined
      ? Effect.map(
          store.transact(command),
          ({ result, limitStatuses }): Outcome<IdempotentResult<Ticket>> => ({
            result: { data: result, replayed: false },
            limitStatuses
          })
        )
      : store.transact(makeIdempotent({ key, ...use }, command))

const resultOf = <A>({ result }: Outcome<A>): A => result

/** Reads one ticket, and returns the result of `select`. */
const ticketReader =
  (reads: Context.Tag.Service<Reads>) =>
  <A>({ shop_id }: Caller, id: TicketId, select: (shop: ShopRecord, ticket: SeenTicket) => A) =>
    Effect.flatMap(reads.ticket(shop_id, id), ({ shop, tickets: [ticket] }) =>
      ticket === undefined ? Effect.fail(new TicketNotFound()) : Effect.succeed(select(shop, ticket))
    )

/** The tickets of a shop: creating, reading, moving and correcting them (Specification, States; Endpoints). */
export class Tickets extends Effect.Service<Tickets>()("@workshop/core/Tickets", {
  accessors: true,
  effect: Effect.gen(function* () {
    const store = yield* Store
    const reads = yield* Reads
    const profanity = yield* ProfanityFilter
    const limits = yield* PolicyLimits
    const pages = yield* TrackingPages

    const view = (shop: ShopRecord, { record, client }: SeenTicket): Ticket =>
      ticketView(record, shop, client, pages.base_url)

    /**
     * Creates a ticket in the state `workshop`. With an idempotency key, a repetition returns the first ticket as it
     * was. The app may call it without a key (Specification, Endpoints; Idempotency).
     */
    const create = Effect.fnUntraced(function* create(caller: Caller, input: TicketInput, key?: IdempotencyKey) {
      const { shop_id, caller_id, via } = caller
      const foundWords = yield* profanity.find(ticketTextsOf(input))
      const options = { via, foundWords, bounds: callerLimits(caller, limits) }
      const command = asCaller(caller, createTicket(shop_id, input, options))
      const use = { caller_id, operation: "tickets.create", request: input, defaults: ticketDefaults }
      const { result, limitStatuses } = yield* runIdempotent(store)(command, key, use)
      return { data: result.data, replayed: result.replayed, limitStatuses }
    })

    const readTicket = ticketReader(reads)

    /** One ticket; a ticket of another shop is not found (Specification, Endpoints). */
    const byId = (caller: Caller, id: TicketId) => readTicket(caller, id, view)

    /** The changes of a ticket with their authors, oldest first: at most `ServiceLimits.history_changes`. The history of an imported ticket begins after the import. */
    const history = (caller: Caller, id: TicketId) => readTicket(caller, id, (_, ticket) => historyOf(ticket))

    /** A page of tickets: newest first, or with `updated_since` in the order of changes (Specification, Lists and sync). */
    const list = Effect.fnUntraced(function* list({ shop_id }: Caller, query: TicketQuery) {
      const parsed = yield* parseTicketQuery(shop_id, query)
      const now = yield* Clock.currentTimeMillis
      const listedTickets = yield* reads.tickets(shop_id, parsed.filter, parsed.order, parsed.limit + 1)
      const { tickets, meta } = pageOf(parsed, listedTickets, now)
      return { data: tickets.map((ticket) => view(listedTickets.shop, ticket)), meta }
    })

    /** The newest open ticket with a number, or else the newest, and the others that have it (Specification, Endpoints). */
    const byNumber = Effect.fnUntraced(function* byNumber({ shop_id }: Caller, number: number) {
      const ticketsOfNumber = yield* reads.ticketsOfNumber(shop_id, number, Limits.others_max)
      const [first, ...rest] = ticketsOfNumber.tickets
      if (first === undefined) return yield* new TicketNotFound()
      return { data: view(ticketsOfNumber.shop, first), others: rest.map(summaryOf) }
    })

    /**
     * Moves a ticket by the table of moves. With an idempotency key, a repetition returns the ticket as it was
     * (Specification, States; Idempotency).
     */
    const changeStatus = (caller: Caller, id: TicketId, status: TicketStatus, key?: IdempotencyKey) =>
      runIdempotent(store)(
        asCaller(caller, changeStatusOf(caller.shop_id, id, status, callerLimits(caller, limits))),
        key,
        { caller_id: caller.caller_id, operation: "tickets.status", request: { id, status } }
      ).pipe(Effect.map(resultOf))

    /**
     * Records that the shop notified the client. With an idempotency key, a repetition records nothing (Specification,
     * Endpoints; Idempotency).
     */
    const recordNotified = (caller: Caller, id: TicketId, channel: ShopChannel, key?: IdempotencyKey) =>
      runIdempotent(store)(
        asCaller(caller, recordNotifiedOf(caller.shop_id, id, channel, callerLimits(caller, limits))),
        key,
        { caller_id: caller.caller_id, operation: "tickets.notified", request: { id, channel } }
      ).pipe(Effect.map(resultOf))

    return { create, byId, list, byNumber, history, changeStatus, recordNotified }
  })
}) {}
