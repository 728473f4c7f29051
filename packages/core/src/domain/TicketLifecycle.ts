import { Data, Either, Schema } from "effect"
import type { EventType } from "./EventType.js"
import { HOUR_MS, type Instant } from "./Instant.js"
import { Limits } from "./Limits.js"

/** The state of a ticket (Specification, States). */
export const TicketState = Schema.Literal("workshop", "ready", "impossible", "collected", "abandoned").annotations({
  identifier: "TicketState"
})
/** One of the states in {@link TicketState}. */
export type TicketState = typeof TicketState.Type

/** The statuses that a request may set (Specification, Endpoints). */
export const TicketStatus = Schema.Literal("ready", "impossible", "workshop", "collected").annotations({
  identifier: "TicketStatus"
})
/** One of the statuses in {@link TicketStatus}. */
export type TicketStatus = typeof TicketStatus.Type

/**
 * Why the service closed a ticket: it was ready and nobody collected it, or it was in the workshop without news (Specification, Resources).
 */
export const AbandonReason = Schema.Literal("uncollected", "no_news").annotations({ identifier: "AbandonReason" })
/** `uncollected` or `no_news`. */
export type AbandonReason = typeof AbandonReason.Type

/** A move that a request makes. */
export interface StatusMove {
  readonly from: TicketState
  readonly to: TicketStatus
  readonly event: EventType
  /** Whether the move notifies the client (Specification, States). */
  readonly notifies_client: boolean
  /** Whether the move earns the ticket's stamps, if it has not earned them yet (Specification, Clients and loyalty). */
  readonly earns_stamps: boolean
  /** How long after the collection the move is still accepted. */
  readonly within_ms?: number
  /** The field that is set to the instant of the move. */
  readonly dates?: "ready_at" | "collected_at"
  /** The outcome that the ticket gets. */
  readonly outcome?: "ready" | "impossible"
  /** The fields that the move clears. */
  readonly clears?: ReadonlyArray<keyof MovedFields>
}

/** The fields of a ticket that its moves set and clear. */
export interface MovedFields {
  readonly ready_at: Instant | null
  readonly collected_at: Instant | null
  readonly outcome: "ready" | "impossible" | null
}

/** A move that the service makes by itself. */
export interface ClosureMove {
  readonly from: TicketState
  readonly reason: AbandonReason
  /** The field of the ticket from which the period counts. */
  readonly counts_from: "ready_at" | "shop_changed_at"
  readonly after_ms: number
}

const withoutEffects = { notifies_client: false, earns_stamps: false } as const
/**
 * The moves back to the workshop clear the result of the work, but not the time at which the client was notified
 * (Specification, States).
 */
const reopened = {
  to: "workshop",
  event: "ticket.reopened",
  ...withoutEffects,
  clears: ["ready_at", "collected_at", "outcome"]
} as const
const collected = { to: "collected", event: "ticket.collected", dates: "collected_at", notifies_client: false } as const

/** Every move that a request can make; all others are refused (Specification, States). */
export const statusMoves = [
  {
    from: "workshop",
    to: "ready",
    event: "ticket.ready",
    notifies_client: true,
    earns_stamps: true,
    dates: "ready_at"
  },
  { from: "workshop", to: "impossible", event: "ticket.impossible", notifies_client: true, earns_stamps: false },
  { from: "ready", ...collected, outcome: "ready", earns_stamps: true },
  { from: "impossible", ...collected, outcome: "impossible", earns_stamps: false },
  { from: "ready", ...reopened },
  { from: "impossible", ...reopened },
  { from: "collected", ...reopened, within_ms: Limits.reopen_window_ms }
] as const satisfies ReadonlyArray<StatusMove>

/** A row of {@link statusMoves}. */
export type TableMove = (typeof statusMoves)[number]

/** Both automatic closures. `impossible` never closes automatically (Specification, States). */
export const closureMoves = [
  { from: "ready", reason: "uncollected", counts_from: "ready_at", after_ms: Limits.closure_ms },
  { from: "workshop", reason: "no_news", counts_from: "shop_changed_at", after_ms: Limits.closure_ms }
] as const satisfies ReadonlyArray<ClosureMove>

/** The fields that a move sets and clears, from its row (Specification, States). */
export const fieldsOfMove = ({ dates, outcome, clears = [] }: StatusMove, now: Instant): Partial<MovedFields> => ({
  ...Object.fromEntries(clears.map((field) => [field, null])),
  ...(dates !== undefined && { [dates]: now }),
  ...(outcome !== undefined && { outcome })
})

/** The dates that moves and closures set, in chronological order. */
export const stateDates = ["ready_at", "collected_at", "abandoned_at"] as const
/** A field of {@link stateDates}. */
export type StateDate = (typeof stateDates)[number]

/** The sets of dates that tickets in each state have, by the moves and closures that lead from a new ticket to the state. */
const dateSets = new Map<TicketState, ReadonlyArray<ReadonlyArray<StateDate>>>()

const addDateSet = (state: TicketState, dates: ReadonlyArray<StateDate>): void => {
  const existing = dateSets.get(state) ?? []
  if (existing.some((set) => set.join() === dates.join())) return
  dateSets.set(state, [...existing, dates])
  const moves: ReadonlyArray<StatusMove> = statusMoves.filter(({ from }) => from === state)
  for (const { to, dates: sets, clears = [] } of moves) {
    const cleared: ReadonlyArray<string> = clears
    addDateSet(
      to,
      stateDates.filter((date) => date === sets || (dates.includes(date) && !cleared.includes(date)))
    )
  }
  if (closureMoves.some(({ from }) => from === state)) addDateSet("abandoned", [...dates, "abandoned_at"])
}

addDateSet("workshop", [])

/** Whether a ticket in a state always has a date, may have it, or never has it (Specification, States). */
export const dateInState = (state: TicketState, date: StateDate): "always" | "sometimes" | "never" => {
  const sets = dateSets.get(state) ?? []
  const datesWith = sets.filter((dates) => dates.includes(date))
  return datesWith.length === 0 ? "never" : datesWith.length === sets.length ? "always" : "sometimes"
}

/** States in which the item is still in the shop; `by-number` prefers them (Specification, Lists and sync). */
export const openStates = ["workshop", "ready", "impossible"] as const satisfies ReadonlyArray<TicketState>

/** Whether the item is still in the shop. */
export const isOpen = (state: TicketState): boolean => (openStates as ReadonlyArray<TicketState>).includes(state)

/**
 * The current state of a ticket. A refusal contains it, so that a till can show it without another read (Specification, Requests and
 * responses).
 */
export interface TicketPresent {
  /** The ticket's state at the time of the refusal. */
  readonly state: TicketState
  /** When the ticket last changed, in milliseconds since 1970. */
  readonly updated_at: Instant
}

/** The fields of a ticket that its moves depend on. */
export interface TicketStatusFacts extends TicketPresent {
  /** When the ticket became ready, in milliseconds since 1970; null if it is not. */
  readonly ready_at: Instant | null
  /** When the item was collected, in milliseconds since 1970; null if it was not. */
  readonly collected_at: Instant | null
  /** The instant of the shop's last act on the ticket, in milliseconds since 1970. */
  readonly shop_changed_at: Instant
}

const isInTime = (move: StatusMove, ticket: TicketStatusFacts, now: Instant): boolean =>
  move.within_ms === undefined || (ticket.collected_at !== null && now <= ticket.collected_at + move.within_ms)

const movesFrom = (ticket: TicketStatusFacts, now: Instant): ReadonlyArray<TableMove> =>
  statusMoves.filter((move) => move.from === ticket.state && isInTime(move, ticket, now))

/** The ticket does not accept the move. `allowed` lists the statuses that it would accept now (Specification, Errors). */
export interface RefusedMove extends TicketPresent {
  /** The ticket's state. */
  readonly from: TicketState
  /** The status that the caller wanted to set. */
  readonly to: TicketStatus
  /** The statuses that the ticket accepts now; empty if it accepts none. */
  readonly allowed: ReadonlyArray<TicketStatus>
}

const allowedMessage = ({ allowed }: Pick<RefusedMove, "allowed">) =>
  allowed.length === 0 ? "" : `. It accepts ${allowed.join(" or ")}.`

/** The ticket is already in that state. */
export class SameState extends Data.TaggedError("SameState")<RefusedMove> {
  /** The problem, as a sentence for people. */
  override get message() {
    return `The ticket is already ${this.from}${allowedMessage(this)}`
  }
}

/** The table of moves has no move from the ticket's state to the status. */
export class InvalidTransition extends Data.TaggedError("InvalidTransition")<RefusedMove> {
  /** The problem, as a sentence for people. */
  override get message() {
    return `A ticket that is ${this.from} cannot become ${this.to}${allowedMessage(this)}`
  }
}

/** The ticket was collected too long ago to be reopened. */
export class ReopenWindowPassed extends Data.TaggedError("ReopenWindowPassed")<RefusedMove> {
  /** The problem, as a sentence for people. */
  override get message() {
    return `The ticket was collected more than ${Limits.reopen_window_ms / HOUR_MS} hours ago, so it can no longer be changed`
  }
}

/** The service has closed the ticket, and it accepts no changes. */
export class TicketAbandoned extends Data.TaggedError("TicketAbandoned")<
  TicketPresent & Partial<Omit<RefusedMove, keyof TicketPresent>>
> {
  /** The problem, as a sentence for people. */
  override get message() {
    return "The ticket is abandoned, so it can no longer be changed. Create a new ticket."
  }
}

/** The reasons for which a ticket refuses a status. */
export type MoveRefusal = SameState | InvalidTransition | ReopenWindowPassed | TicketAbandoned

/** The move that a status makes, or the refusal (Specification, States). */
export const moveTo = (
  ticket: TicketStatusFacts,
  to: TicketStatus,
  now: Instant
): Either.Either<TableMove, MoveRefusal> => {
  const moves = movesFrom(ticket, now)
  const allowedMove = moves.find((move) => move.to === to)
  if (allowedMove !== undefined) return Either.right(allowedMove)
  const { state, updated_at } = ticket
  const refused: RefusedMove = { from: state, to, allowed: moves.map((move) => move.to), state, updated_at }
  if (ticket.state === "abandoned") return Either.left(new TicketAbandoned(refused))
  const expired = statusMoves.some((move) => move.from === ticket.state && !isInTime(move, ticket, now))
  if (expired) return Either.left(new ReopenWindowPassed(refused))
  return Either.left(ticket.state === to ? new SameState(refused) : new InvalidTransition(refused))
}

/** The automatic closure that a ticket waits for, and the instant at which it is due; null if there is none (Specification, States). */
export const closure = (
  ticket: TicketStatusFacts
): { readonly due_at: Instant; readonly reason: AbandonReason } | null => {
  const move = closureMoves.find((row) => row.from === ticket.state)
  if (move === undefined) return null
  const since = ticket[move.counts_from]
  return since === null ? null : { due_at: since + move.after_ms, reason: move.reason }
}

/** The next event of a ticket that time alone causes: its automatic closure, or the end of the period in which it may be reopened. */
export interface TicketDeadline {
  readonly at: Instant
  readonly kind: "closure" | "reopen_end"
}

/** The next deadline of a ticket at `now` or later; null if there is none. */
export const nextDeadline = (ticket: TicketStatusFacts, now: Instant): TicketDeadline | null => {
  const nextClosure = closure(ticket)
  if (nextClosure !== null) return { at: nextClosure.due_at, kind: "closure" }
  const moves: ReadonlyArray<StatusMove> = movesFrom(ticket, now)
  const within_ms = moves.find((move) => move.within_ms !== undefined)?.within_ms
  return within_ms === undefined || ticket.collected_at === null
    ? null
    : { at: ticket.collected_at + within_ms, kind: "reopen_end" }
}
