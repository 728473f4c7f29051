/** Entry `@workshop/core/promise`: the workshop by plain values and promises, for teams without Effect. */

export type { Client, LoyaltyCard, Ticket } from "@workshop/client"
export type { ClientNotification } from "./domain/Notification.js"
export { type AnyRefusal, isRefusal, type RefusalResponse, refusalResponse } from "./http/refusalResponse.js"
export { TransactionRefused } from "./ports/StorePorts.js"
export type { CommittedEvent } from "./services/CommittedEvents.js"
export type { PlainCaller, PlainShop, PlainTicket, PlainTicketEdit, PlainTicketQuery } from "./services/PlainInputs.js"
export { type OrThrow, type Result, unwrap } from "./services/PromiseApi.js"
export {
  type CheckedText,
  type ForbiddenText,
  type LogLine,
  OptionRefused,
  type PromiseOptions,
  type RetentionOption
} from "./services/PromiseOptions.js"
export type { PlainImport, PlainImportRow } from "./services/PromiseTransfers.js"
export {
  type PgClientLike,
  type PromiseWorkshop,
  type Readiness,
  type ServicesWithin,
  start,
  type Within,
  type WorkshopServices
} from "./services/PromiseWorkshop.js"
