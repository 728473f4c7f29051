/**
 * Entry `@workshop/core`: the services of the workshop as Effect layers, for programs that embed them with Effect. It
 * has the services, their inputs, results and errors, and the ports that an embedding program provides. Programs without
 * Effect use `@workshop/core/promise`, and authors of a store `@workshop/core/store`.
 *
 * @example
 * ```ts
 * import { Tickets, Workshop } from "@workshop/core"
 * ```
 *
 * @packageDocumentation
 */

// The services, and the layer that provides all of them.

export { Actor } from "./services/Actor.js"
export { Audit } from "./services/Audit.js"
export { appCaller, Caller } from "./services/Caller.js"
export { Clients } from "./services/Clients.js"
export { CommittedChanges, CommittedEvents } from "./services/CommittedEvents.js"
export { DeliveryHistory } from "./services/DeliveryHistory.js"
export { Imports } from "./services/Imports.js"
export { Keys } from "./services/Keys.js"
export { Loyalty } from "./services/Loyalty.js"
export { Offers } from "./services/Offers.js"
export { Progress } from "./services/Progress.js"
export { Quotes } from "./services/Quotes.js"
export { Shops } from "./services/Shops.js"
export { Tickets } from "./services/Tickets.js"
export { Webhooks } from "./services/Webhooks.js"
export * as Workshop from "./services/Workshop.js"

// The inputs of the services, as schemas that decode them.

export { TicketInput } from "./decisions/createTicket.js"
export { TicketEdit } from "./decisions/editTicket.js"
export { StampCount } from "./decisions/giveStamps.js"
export { IdempotencyKey } from "./decisions/Idempotency.js"
export { ImportRow } from "./decisions/importTickets.js"
export { QuoteInput } from "./decisions/quotes.js"
export { KeyInput, ShopPatch } from "./decisions/shopSettings.js"
export { DelayInput, PartInput, PhotoInput } from "./decisions/ticketProgress.js"
export { ClientCorrection, ClientInput } from "./services/Clients.js"
export { OwnerPage, ReplayInput } from "./services/DeliveryHistory.js"
export type { ImportLine, ImportOptions } from "./services/Imports.js"
export { ShopInput } from "./services/Shops.js"
export { TicketQuery, TicketQueryJson } from "./services/TicketQuery.js"

// The results of the services, and the values in them.

export type { ImportResult } from "./decisions/importTickets.js"
export { type ApiKeyRecord, Scope } from "./domain/ApiKey.js"
export { type AuditAct, type AuditEntry, auditActs, NO_SHOP } from "./domain/AuditEntry.js"
export { TimeZone } from "./domain/CalendarDay.js"
export type { ClientAccount } from "./domain/Client.js"
export { Event, type EventRecord } from "./domain/Event.js"
export { type EventType, eventTypes } from "./domain/EventType.js"
export { CallerId, ClientId, EventId, KeyId, OfferId, ShopId, TicketId } from "./domain/Identifier.js"
export type { Instant } from "./domain/Instant.js"
export { Language } from "./domain/Language.js"
export { LoyaltyProgram } from "./domain/LoyaltyCard.js"
export type { NotificationRecord } from "./domain/Notification.js"
export type { OfferRecord, OfferStatus } from "./domain/Offer.js"
export { internationalPhone, Phone } from "./domain/Phone.js"
export type { ShopRecord } from "./domain/Shop.js"
export { type NotifiedChannel, Part, Ticket, TicketNumber, TicketType } from "./domain/Ticket.js"
export type { ChangeAuthor, TicketChange } from "./domain/TicketChange.js"
export { AbandonReason, TicketState } from "./domain/TicketLifecycle.js"
export { type NoticeKind, type NoticeRecord, WebhookOffReason } from "./domain/Webhook.js"
export type { ClientExport, ClientShopExport } from "./services/ClientRecords.js"
export type { BadRow, ExportedRow, ImportReport } from "./services/Imports.js"

// The refusals of the services, and the failures of their store.

export { IdempotencyKeyReused } from "./decisions/Idempotency.js"
export type { Refusal } from "./decisions/Refusal.js"
export { KeyNotFound, TooManyKeys } from "./domain/ApiKey.js"
export { ClientNotFound } from "./domain/Client.js"
export { ForbiddenWord } from "./domain/ForbiddenWord.js"
export { InvalidInput, type Issue, inputIssues } from "./domain/InvalidInput.js"
export { LimitReached, type LimitStatus } from "./domain/LimitWindow.js"
export { LoyaltyOff, NoReward } from "./domain/LoyaltyCard.js"
export { OfferClosed, OfferNotFound } from "./domain/Offer.js"
export { OptionRefused } from "./domain/OptionChecks.js"
export { ShopNotFound } from "./domain/Shop.js"
export { QuoteClosed, TicketNotFound } from "./domain/Ticket.js"
export {
  InvalidTransition,
  type MoveRefusal,
  type RefusedMove,
  ReopenWindowPassed,
  SameState,
  TicketAbandoned,
  type TicketPresent
} from "./domain/TicketLifecycle.js"
export { WebhookNotSet } from "./domain/Webhook.js"
export { StoreUnavailable, TransactionRefused } from "./ports/StorePorts.js"

// For programs that choose the parts of the service: the ports that they provide, and their defaults.

export { defaultLimits, Limits, type LimitsByPolicy, Policies, type PolicyName } from "./domain/Limits.js"
export type { ClientNotification } from "./domain/Notification.js"
export { Entropy } from "./ports/Entropy.js"
export { ClientNotifier, NotificationFailed, OwnerNotifier } from "./ports/Notifiers.js"
export { PolicyLimits } from "./ports/PolicyLimits.js"
export { ProfanityFilter } from "./ports/ProfanityFilter.js"
export { type StorePorts, Transactions } from "./ports/StorePorts.js"
export { TrackingPages } from "./ports/TrackingPages.js"
export * as Notifiers from "./services/background/DefaultNotifiers.js"
export * as Profanity from "./services/Profanity.js"

// For programs that deliver webhooks, and for authors of a sender.

export { type SendError, SendResult, sendErrors, type Timings } from "./domain/Webhook.js"
export {
  allowsAddress,
  parseWebhookAddress,
  productionAddresses,
  sandboxAddresses,
  type WebhookAddress,
  type WebhookAddressPolicy
} from "./domain/WebhookAddress.js"
export { WebhookPolicy } from "./ports/WebhookPolicy.js"
export { REQUEST_HEADERS, type WebhookPost, WebhookSender } from "./ports/WebhookSender.js"

// For programs that run the background work themselves.

export { Closer } from "./services/background/Closer.js"
export type { AttemptOptions } from "./services/background/DeliveryAttempt.js"
export { Dispatcher, type DispatcherOptions } from "./services/background/Dispatcher.js"
export { NotificationSender } from "./services/background/NotificationSender.js"

// For programs that serve the API: the caches that its routes need, metrics and readiness.

export { type Probe, Probes, probe, type UnavailableCell } from "./ports/Probes.js"
export { ApiKeyCache } from "./services/ApiKeyCache.js"
export { CachedRateLimits } from "./services/CachedRateLimits.js"
export { EXPOSITION_TYPE, scrape, scrapeAll } from "./services/observe/Exposition.js"
export { notReadyReason } from "./services/observe/Readiness.js"

// For programs with their own database: transactions on its pool.

export { type Begin, beginOn, ownTransaction, type PoolClientLike } from "./services/pool/OwnTransaction.js"
export { type BorrowedClient, type PoolOf, withClient } from "./services/pool/PoolClient.js"
