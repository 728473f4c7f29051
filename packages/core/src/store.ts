/**
 * Entry `@workshop/core/store`: for authors of a store. It has the ports that a store implements, their rows and
 * changes, and the decisions that a store runs with `decide` or `execute`.
 *
 * @example
 * ```ts
 * import { type Change, execute, Store } from "@workshop/core/store"
 * ```
 *
 * @packageDocumentation
 */

export type { Decision, ShopSnapshot } from "./decisions/ChangeSet.js"
export { type AuditedAct, type Command, decide, execute, type Outcome } from "./decisions/Command.js"
export type { LoadRequest, VisibleClient } from "./decisions/Load.js"
export {
  apply,
  type Change,
  emptyShopState,
  type LoadedSettings,
  type ReadMap,
  type ShopState
} from "./decisions/ShopState.js"
export { type ClientLink, type DisplayedClient, isBlocked, visibleClient, visibleLink } from "./domain/Client.js"
export {
  type AttemptRecord,
  type ClaimRank,
  claimOrder,
  compareClaims,
  type DeliveryRecord,
  type DeliveryState,
  deliveryState,
  type EventRange,
  matchesReplayFilter,
  presentSchedule,
  type Replayable,
  type ReplayFilter,
  type ReplayRecord,
  type SentEvent,
  type WaitingDelivery
} from "./domain/Delivery.js"
export { type IdempotencyRecord, type IdempotencyRecordKey, idempotencyRecordKey } from "./domain/IdempotencyRecord.js"
export { isUuid } from "./domain/Identifier.js"
export { DAY_MS, HOUR_MS, LAST_INSTANT, MINUTE_MS } from "./domain/Instant.js"
export { ServiceLimits } from "./domain/Limits.js"
export {
  giveBackUses,
  type LimitUse,
  type LimitWindow,
  type LimitWindows,
  peekLimit,
  takeEach
} from "./domain/LimitWindow.js"
export {
  blankCard,
  type CardRecord,
  type LedgerEntry,
  type StampLimitKey,
  stampLimitKey,
  stampLimitOf
} from "./domain/LoyaltyCard.js"
export { ENTROPY_BYTES, IDENTIFIERS_PER_MS, type Moment, type ShopMoment } from "./domain/Moment.js"
export {
  type DueNotification,
  type NotificationContacts,
  type NotificationReceiver,
  type QueuedNotification,
  withChannel
} from "./domain/Notification.js"
export { visibleOffers, visibleWhileBlocked } from "./domain/Offer.js"
export type { Person } from "./domain/Person.js"
export { latestOfShops, newShopHead, type ShopHead, type ShopsAhead } from "./domain/Shop.js"
export {
  type DelayRecord,
  type PartRecord,
  preferredByNumber,
  type QuoteRecord,
  type TicketItem,
  type TicketPolicy,
  type TicketRecord,
  type TicketWindows
} from "./domain/Ticket.js"
export type { TicketChangeRecord } from "./domain/TicketChange.js"
export { closure, closureMoves, isOpen, openStates, type TicketStatusFacts } from "./domain/TicketLifecycle.js"
export { type TrackedTicket, trackedFields, trackedShopFields, trackedTicket } from "./domain/TrackedTicket.js"
export { acknowledges, acknowledgingStatuses, isWebhookOn, type Webhook } from "./domain/Webhook.js"
export {
  type Cell,
  CellAccess,
  type CellDirectory,
  type DeliveryTurn,
  type NumberedClaims,
  type StaleCopies,
  TURNS_PER_CLAIM
} from "./ports/CellPorts.js"
export { type RunInSpan, type SpanAttributes, Tracing } from "./ports/Probes.js"
export { type RetentionWorker, StoreRetention } from "./ports/Retention.js"
export {
  AuditLog,
  type Claim,
  Closures,
  type CommitCallback,
  type CountedClient,
  Deliveries,
  DeliveryLog,
  Directory,
  type DueClosure,
  type EventPart,
  type IdempotencyRecordPage,
  type JoinedTransaction,
  type LoggedDelivery,
  NotificationQueue,
  noTransactions,
  type OpenReplay,
  OpenTransaction,
  type OwnedRef,
  PersonalData,
  type PersonShopData,
  RateLimits,
  Reads,
  SandboxData,
  Store
} from "./ports/StorePorts.js"
export {
  type ListedTickets,
  narrowestFilter,
  type SeenTicket,
  type SeenTickets,
  type TicketFilter,
  type TicketOrder
} from "./ports/TicketList.js"
export { auditEntry } from "./services/Audit.js"
export { logBackgroundFailure } from "./services/background/BackgroundFailure.js"
export { type CellsOptions, cellPorts } from "./services/cells/Cells.js"
