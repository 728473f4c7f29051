/**
 * Entry `@workshop/core/internal`: the parts that the other packages of this project share, and that no embedder needs.
 * They may change in any release. It does not load `@effect/platform`, which takes half a second.
 *
 * @internal
 */

export { previewActs, type TicketActName, ticketActs } from "./decisions/previewActs.js"
export { hashKey, isActive, looksLikeKey, looksLikeTestKey, scopePresets } from "./domain/ApiKey.js"
export { displayName } from "./domain/Client.js"
export { DURATION, durationMs } from "./domain/Duration.js"
export { DateOrDateTimeText, durationInWords, toIso, toIsoOrNull } from "./domain/Instant.js"
export { currentWindow, limitStatusOf } from "./domain/LimitWindow.js"
export { cardView, LoyaltyCard } from "./domain/LoyaltyCard.js"
export { editDistance, findNearestName } from "./domain/NearestName.js"
export {
  acceptAny,
  type Complaint,
  findOptionRefusal,
  isObject,
  mustBeBoolean,
  mustBeFunction,
  mustBePositive,
  mustBeText,
  type OptionChecks,
  requireOptions
} from "./domain/OptionChecks.js"
export { IPV6_PREFIX, isNetwork, toCountedAddress } from "./domain/PublicAddress.js"
export { quoteShell } from "./domain/quoteShell.js"
export { SIGNATURE_HEADER, signatureHeader, signingSecrets } from "./domain/Signature.js"
export { optional } from "./domain/Text.js"
export { NUMBER_DIGITS, numberLabel, ticketView } from "./domain/Ticket.js"
export { nextDeadline } from "./domain/TicketLifecycle.js"
export { TrackingCodeText, trackingUrl } from "./domain/TrackingCode.js"
export { hasSecretPrefix, overlapEndOf } from "./domain/Webhook.js"
export { allowsHost, LOOPBACK_ADDRESSES, reachableAddresses } from "./domain/WebhookAddress.js"
export { errorCodes, failureRows, makeRepeatedIssue } from "./http/ErrorTable.js"
export { bodyText, isHeaderRepeated, type Page } from "./http/HttpMessage.js"
export { escapeHtml } from "./http/tracking/Html.js"
export { TestKeys } from "./ports/TestKeys.js"
export { isOwnHeader } from "./ports/WebhookSender.js"
export { addressUseOf } from "./services/CachedRateLimits.js"
export { ClockComparison, warnIfDataAhead } from "./services/clock/ClockRepair.js"
export { unavailableCells } from "./services/observe/Readiness.js"
export { CONNECTION_ENDED } from "./services/pool/PoolClient.js"
export {
  countClientsInUse,
  describeExhaustion,
  describeInUse,
  isNoClientError,
  poolsExhausted,
  recordExhaustion
} from "./services/pool/PoolExhaustion.js"
export { promiseOptions } from "./services/promise/PromiseOptions.js"
export { shopFields } from "./services/Shops.js"
export { isStopped } from "./services/WorkshopStopped.js"
