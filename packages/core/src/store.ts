export { type AgendaEntry, type AgendaKind, type AwaitedAttempt, agendaOf } from "./decisions/agenda.js"
export { type Command, type Decision, decide, execute, type HeldShop, type Outcome } from "./decisions/Command.js"
export type { LoadRequest } from "./decisions/Load.js"
export { apply, type Change, loadState, type ReadMap, type ShopState } from "./decisions/ShopState.js"
export { type TicketActName, ticketActs, ticketMoves } from "./decisions/ticketMoves.js"
export { useUpTickets } from "./decisions/useUpTickets.js"
export { asSeen, type Client, type ClientLink, displayName, isVisible, visibleLink } from "./domain/Client.js"
export {
  type ClaimRank,
  claimOrder,
  compareClaims,
  deliveryState,
  type EventRange,
  matchesReplayFilter,
  presentSchedule,
  type ReplayFilter,
  type ReplayRecord
} from "./domain/Delivery.js"
export { type IdempotencyRecord, type IdempotencyRecordKey, idempotencyRecordKey } from "./domain/IdempotencyRecord.js"
export { isUuid } from "./domain/Identifier.js"
export {
  currentWindow,
  giveBackUses,
  type LimitUse,
  type LimitWindow,
  type LimitWindows,
  limitStatus,
  peekLimit,
  useLimits
} from "./domain/LimitWindow.js"
export {
  blankCard,
  type CardRecord,
  cardView,
  type LedgerEntry,
  LoyaltyCard,
  type StampCountKey,
  stampCountKey,
  stampCountOf
} from "./domain/LoyaltyCard.js"
export { ENTROPY_BYTES, IDENTIFIERS_PER_MS, type Moment } from "./domain/Moment.js"
export { addressed, type Message, type MessageRecord } from "./domain/Notification.js"
export { offersShown, shownWhileBlocked } from "./domain/Offer.js"
export {
  type Complaint,
  checkedOptions,
  isAny,
  isBoolean,
  isFunction,
  isObject,
  isPositive,
  isText,
  type OptionChecks,
  OptionRefused,
  refusedOption
} from "./domain/OptionChecks.js"
export type { Person } from "./domain/Person.js"
export { firstHead, latestOfShops, type ShopsAhead } from "./domain/Shop.js"
export { signatureHeader, signingSecrets } from "./domain/Signature.js"
export { preferredByNumber } from "./domain/Ticket.js"
export { closure, closureMoves, isOpen, nextDeadline, openStates } from "./domain/TicketLifecycle.js"
export { type TrackedTicket, trackedFields, trackedShopFields, trackedTicket } from "./domain/TrackedTicket.js"
export { acknowledges } from "./domain/Webhook.js"
export {
  type Cell,
  CellAccess,
  type CellDirectory,
  type DeliveryTurn,
  type NumberedClaims,
  type StaleCopies,
  TURNS_PER_CLAIM
} from "./ports/CellPorts.js"
export {
  type Announcement,
  AuditLog,
  type Belonging,
  type Claim,
  Closures,
  type CountedClient,
  Deliveries,
  DeliveryLog,
  Directory,
  type DueClosure,
  type EventPart,
  type HeldAnswers,
  type HeldData,
  type ListedTickets,
  type LoggedDelivery,
  Messages,
  narrowest,
  noTransactions,
  type OpenReplay,
  OpenTransaction,
  PersonalData,
  RateLimits,
  Reads,
  type SeenTicket,
  type SeenTickets,
  Store,
  type TicketFilter,
  type TicketOrder,
  WholeData
} from "./ports/StorePorts.js"
export { auditEntry } from "./services/Audit.js"
export { logBackgroundFailure } from "./services/BackgroundFailure.js"
export { type CellsOptions, cellPorts } from "./services/Cells.js"
export { CONNECTION_ENDED } from "./services/PoolClient.js"
