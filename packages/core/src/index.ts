/**
 * Entry `@workshop/core`: the services of the workshop as Effect layers, their inputs, results and errors, and the
 * ports that they need.
 */

export { TicketInput } from "./decisions/createTicket.js"
export { TicketEdit } from "./decisions/editTicket.js"
export { StampCount } from "./decisions/giveStamps.js"
export { IdempotencyKey, IdempotencyKeyReused } from "./decisions/Idempotency.js"
export type { ImportResult } from "./decisions/importTickets.js"
export { ImportRow } from "./decisions/importTickets.js"
export { QuoteInput } from "./decisions/quotes.js"
export type { Refusal } from "./decisions/Refusal.js"
export { KeyInput, ShopPatch } from "./decisions/shopSettings.js"
export { DelayInput, PartInput, PhotoInput } from "./decisions/ticketProgress.js"
export { type ApiKeyRecord, KeyNotFound, Scope, TooManyKeys } from "./domain/ApiKey.js"
export { type AuditAct, type AuditEntry, auditActs, NO_SHOP } from "./domain/AuditEntry.js"
export { TimeZone } from "./domain/CalendarDay.js"
export type { ClientAccount } from "./domain/Client.js"
export { ClientNotFound } from "./domain/Client.js"
export { Event, type EventRecord } from "./domain/Event.js"
export { type EventType, eventTypes } from "./domain/EventType.js"
export { ForbiddenWord } from "./domain/ForbiddenWord.js"
export { CallerId, ClientId, EventId, KeyId, OfferId, ShopId, TicketId } from "./domain/Identifier.js"
export type { Instant } from "./domain/Instant.js"
export { InvalidInput, type Issue, inputIssues } from "./domain/InvalidInput.js"
export { Language } from "./domain/Language.js"
export { defaultLimits, Limits, type LimitsByPolicy, Policies, type PolicyName } from "./domain/Limits.js"
export { LimitReached, type LimitStatus } from "./domain/LimitWindow.js"
export { LoyaltyOff, LoyaltyProgram, NoReward } from "./domain/LoyaltyCard.js"
export type { ClientNotification, NotificationRecord } from "./domain/Notification.js"
export type { OfferRecord, OfferStatus } from "./domain/Offer.js"
export { OfferClosed, OfferNotFound } from "./domain/Offer.js"
export { OptionRefused } from "./domain/OptionChecks.js"
export { internationalPhone, Phone } from "./domain/Phone.js"
export type { ShopRecord } from "./domain/Shop.js"
export { ShopNotFound } from "./domain/Shop.js"
export {
  type NotifiedChannel,
  Part,
  QuoteClosed,
  Ticket,
  TicketNotFound,
  TicketNumber,
  TicketType
} from "./domain/Ticket.js"
export type { ChangeAuthor, TicketChange } from "./domain/TicketChange.js"
export {
  AbandonReason,
  InvalidTransition,
  type MoveRefusal,
  type RefusedMove,
  ReopenWindowPassed,
  SameState,
  TicketAbandoned,
  type TicketPresent,
  TicketState
} from "./domain/TicketLifecycle.js"
export {
  type NoticeKind,
  type NoticeRecord,
  type SendError,
  SendResult,
  sendErrors,
  type Timings,
  WebhookNotSet,
  WebhookOffReason
} from "./domain/Webhook.js"
export {
  allowsAddress,
  parseWebhookAddress,
  productionAddresses,
  sandboxAddresses,
  type WebhookAddress,
  type WebhookAddressPolicy
} from "./domain/WebhookAddress.js"
export { Entropy } from "./ports/Entropy.js"
export { ClientNotifier, NotificationFailed, OwnerNotifier } from "./ports/Notifiers.js"
export { PolicyLimits } from "./ports/PolicyLimits.js"
export { type Probe, Probes, probe, type UnavailableCell } from "./ports/Probes.js"
export { ProfanityFilter } from "./ports/ProfanityFilter.js"
export { type StorePorts, StoreUnavailable, TransactionRefused, Transactions } from "./ports/StorePorts.js"
export { TrackingPages } from "./ports/TrackingPages.js"
export { WebhookPolicy } from "./ports/WebhookPolicy.js"
export { REQUEST_HEADERS, type WebhookPost, WebhookSender } from "./ports/WebhookSender.js"
export { Actor } from "./services/Actor.js"
export { ApiKeyCache } from "./services/ApiKeyCache.js"
export { Audit } from "./services/Audit.js"
export { Closer } from "./services/background/Closer.js"
export * as Notifiers from "./services/background/DefaultNotifiers.js"
export type { AttemptOptions } from "./services/background/DeliveryAttempt.js"
export { Dispatcher, type DispatcherOptions } from "./services/background/Dispatcher.js"
export { NotificationSender } from "./services/background/NotificationSender.js"
export { CachedRateLimits } from "./services/CachedRateLimits.js"
export { appCaller, Caller } from "./services/Caller.js"
export type { ClientExport, ClientShopExport } from "./services/ClientRecords.js"
export { ClientCorrection, ClientInput, Clients } from "./services/Clients.js"
export { CommittedChanges, CommittedEvents } from "./services/CommittedEvents.js"
export { DeliveryHistory, OwnerPage, ReplayInput } from "./services/DeliveryHistory.js"
export type { BadRow, ExportedRow, ImportLine, ImportOptions, ImportReport } from "./services/Imports.js"
export { Imports } from "./services/Imports.js"
export { Keys } from "./services/Keys.js"
export { Loyalty } from "./services/Loyalty.js"
export { Offers } from "./services/Offers.js"
export { EXPOSITION_TYPE, scrape, scrapeAll } from "./services/observe/Exposition.js"
export { notReadyReason } from "./services/observe/Readiness.js"
export * as Profanity from "./services/Profanity.js"
export { Progress } from "./services/Progress.js"
export { type Begin, beginOn, ownTransaction, type PoolClientLike } from "./services/pool/OwnTransaction.js"
export { type BorrowedClient, type PoolOf, withClient } from "./services/pool/PoolClient.js"
export { Quotes } from "./services/Quotes.js"
export { ShopInput, Shops } from "./services/Shops.js"
export { TicketQuery, TicketQueryJson } from "./services/TicketQuery.js"
export { Tickets } from "./services/Tickets.js"
export { Webhooks } from "./services/Webhooks.js"
export * as Workshop from "./services/Workshop.js"
