/** Entry `@workshop/core/store`: what a store implements: its ports, commands and changes, the records that it keeps, and the rules that every store shares. */

export type { Change } from "./decisions/Change.js"
export { type Command, type Decision, decide, execute, type HeldShop, type Outcome } from "./decisions/Command.js"
export type { LoadRequest } from "./decisions/Load.js"
export { apply, loadState, type ReadMap, type ShopState } from "./decisions/ShopState.js"
export { type TicketActName, ticketActs, ticketMoves } from "./decisions/ticketMoves.js"
export { acknowledges } from "./domain/Attempt.js"
export { type ClaimRank, claimOrder, compareClaims } from "./domain/ClaimOrder.js"
export { asSeen, type Client, type ClientLink, displayName, isVisible, visibleLink } from "./domain/Client.js"
export { deliveryState, presentSchedule } from "./domain/Delivery.js"
export { type IdempotencyRecord, type IdempotencyRecordKey, idempotencyRecordKey } from "./domain/IdempotencyRecord.js"
export { latestOfShops } from "./domain/LatestOfShops.js"
export { giveBackUses, type LimitUse, type LimitWindows, peekLimit, useLimits } from "./domain/LimitUse.js"
export type { LimitWindow } from "./domain/LimitWindow.js"
export { blankCard, type CardRecord, cardView, type LedgerEntry, LoyaltyCard } from "./domain/LoyaltyCard.js"
export type { Message, MessageRecord } from "./domain/Message.js"
export { ENTROPY_BYTES, IDENTIFIERS_PER_MS, type Moment } from "./domain/Moment.js"
export { offersShown, shownWhileBlocked } from "./domain/Offer.js"
export type { Person } from "./domain/Person.js"
export { type EventRange, matchesReplayFilter, type ReplayFilter, type ReplayRecord } from "./domain/Replay.js"
export { firstHead } from "./domain/Shop.js"
export { type StampCountKey, stampCountKey } from "./domain/StampCount.js"
export { closure, closureMoves, isOpen, nextDeadline, openStates } from "./domain/TicketLifecycle.js"
export { meantFirst } from "./domain/TicketNumber.js"
export { type TrackedTicket, trackedFields, trackedShopFields, trackedTicket } from "./domain/TrackedTicket.js"
export { AuditLog } from "./ports/AuditLog.js"
export { Closures, type DueClosure } from "./ports/Closures.js"
export { type Claim, Deliveries, type OpenReplay } from "./ports/Deliveries.js"
export { DeliveryLog, type LoggedDelivery } from "./ports/DeliveryLog.js"
export { type Belonging, Directory, TRACKED_MOST } from "./ports/Directory.js"
export { Messages } from "./ports/Messages.js"
export { type HeldAnswers, type HeldData, PersonalData } from "./ports/PersonalData.js"
export { RateLimits } from "./ports/RateLimits.js"
export {
  type CountedClient,
  type EventPart,
  type ListedTickets,
  narrowest,
  Reads,
  type SeenTicket,
  type SeenTickets,
  type TicketFilter,
  type TicketOrder
} from "./ports/Reads.js"
export { readClock } from "./ports/readClock.js"
export { Store } from "./ports/Store.js"
