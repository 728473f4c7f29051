/**
 * Entry `@workshop/core/internal`: the parts that the other packages of this project share, and that no embedder needs.
 * They may change in any release. It does not load `@effect/platform`, which takes half a second.
 *
 * @internal
 */

export { previewActs, type TicketActName, ticketActs } from "./decisions/previewActs.js"
export { isActive, keyHash, looksLikeKey, looksLikeTestKey, scopePresets } from "./domain/ApiKey.js"
export { displayName } from "./domain/Client.js"
export { DURATION, durationMs } from "./domain/Duration.js"
export { eventTypes } from "./domain/EventType.js"
export { DateOrDateTimeText, durationInWords, toIso, toIsoOrNull } from "./domain/Instant.js"
export { currentWindow, limitStatus } from "./domain/LimitWindow.js"
export { cardView, LoyaltyCard } from "./domain/LoyaltyCard.js"
export { distance, nearestName } from "./domain/NearestName.js"
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
  optionRefusal
} from "./domain/OptionChecks.js"
export { countedAddress, IPV6_PREFIX, isNetwork } from "./domain/PublicAddress.js"
export { quoteShell } from "./domain/quoteShell.js"
export { SIGNATURE_HEADER, signatureHeader, signingSecrets } from "./domain/Signature.js"
export { optional } from "./domain/Text.js"
export { numberLabel, ticketView } from "./domain/Ticket.js"
export { nextDeadline } from "./domain/TicketLifecycle.js"
export { TrackingCodeText, trackingUrl } from "./domain/TrackingCode.js"
export { hasSecretPrefix, overlapEnd } from "./domain/Webhook.js"
export { makeWordList } from "./domain/WordList.js"
export { errorCodes, failureRows, repeatedField } from "./http/ErrorTable.js"
export { bodyText, isHeaderRepeated, type Page } from "./http/HttpMessage.js"
export { escapeHtml } from "./http/tracking/Html.js"
export { TestKeys } from "./ports/TestKeys.js"
export { isOwnHeader } from "./ports/WebhookSender.js"
export { addressUse } from "./services/CachedRateLimits.js"
export { ClockAdvance, ClockMove, type ClockState, type NextDue, SandboxClock } from "./services/clock/ClockAdvance.js"
export { ClockComparison, warnIfDataAhead } from "./services/clock/ClockRepair.js"
export { unavailableCells } from "./services/observe/Readiness.js"
export { CONNECTION_ENDED } from "./services/pool/PoolClient.js"
export {
  allClientsInUse,
  clientsInUse,
  isNoClient,
  poolExhaustion,
  poolsExhausted,
  recordExhaustion
} from "./services/pool/PoolExhaustion.js"
export { promiseOptions } from "./services/promise/PromiseOptions.js"
export { shopFields } from "./services/Shops.js"
export { isStopped, WorkshopStopped } from "./services/WorkshopStopped.js"
