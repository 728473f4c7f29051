/**
 * Entry `@workshop/core/promise`: for programs without Effect that embed the workshop. It has `start`, whose services
 * take plain values and return promises, the types of their inputs and results, and functions for refusals.
 *
 * @example
 * ```ts
 * import * as Workshop from "@workshop/core/promise"
 * ```
 *
 * @packageDocumentation
 */

export type { Client, LoyaltyCard, Ticket } from "@workshop/client"
export type { ShopSnapshot } from "./decisions/ChangeSet.js"
export type { RewardRedeemed, StampsGiven } from "./decisions/giveStamps.js"
export type { IdempotentResult } from "./decisions/Idempotency.js"
export type { ApiKeyRecord } from "./domain/ApiKey.js"
export type { AuditEntry } from "./domain/AuditEntry.js"
export type { ClientAccount, ClientView } from "./domain/Client.js"
export type { EventRecord } from "./domain/Event.js"
export type { LimitStatus } from "./domain/LimitWindow.js"
export type { ClientNotification, NotificationRecord } from "./domain/Notification.js"
export type { OfferRecord } from "./domain/Offer.js"
export { OptionRefused } from "./domain/OptionChecks.js"
export { internationalPhone } from "./domain/Phone.js"
export type { ShopRecord } from "./domain/Shop.js"
export type { ChangeAuthor, TicketChange } from "./domain/TicketChange.js"
export type { TicketStatus } from "./domain/TicketLifecycle.js"
export type { NoticeRecord, WebhookStatus } from "./domain/Webhook.js"
export type { ErrorCode } from "./http/ErrorTable.js"
export { type AnyRefusal, isRefusal, type RefusalResponse, refusalResponse } from "./http/refusalResponse.js"
export { type DataOf, type SuccessResponse, successResponse } from "./http/successResponse.js"
export { type LoggedDelivery, TransactionRefused } from "./ports/StorePorts.js"
export type { ClientExport, ClientShopExport } from "./services/ClientRecords.js"
export type { CommittedEvent } from "./services/CommittedEvents.js"
export { type BorrowedClient, type PoolOf, withClient } from "./services/pool/PoolClient.js"
export type * from "./services/promise/PlainInputs.js"
export { type OrThrow, unwrap } from "./services/promise/PromiseApi.js"
export type {
  CheckedText,
  ForbiddenText,
  LogLine,
  PromiseOptions,
  RetentionOption
} from "./services/promise/PromiseOptions.js"
export type { PlainImport, PlainImportRow, PlainImportRows } from "./services/promise/PromiseTransfers.js"
export {
  type ActorServices,
  type PgClientLike,
  type PromiseWorkshop,
  type Readiness,
  start,
  type TransactionServices,
  type WithinResult,
  type WorkshopServices
} from "./services/promise/PromiseWorkshop.js"
export type { Result } from "./services/promise/toPromise.js"
export { WorkshopStopped } from "./services/WorkshopStopped.js"
