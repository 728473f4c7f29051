/**
 * Entry `@workshop/core/adapter`: the parts of which an adapter, such as a server or a command line, is built. Few
 * embedders need it.
 */

export { previewActs, type TicketActName, ticketActs } from "./decisions/previewActs.js"
export { isActive, keyHash, looksLikeKey, looksLikeTestKey, scopePresets } from "./domain/ApiKey.js"
export { NO_SHOP } from "./domain/AuditEntry.js"
export { displayName } from "./domain/Client.js"
export { DURATION, durationMs } from "./domain/Duration.js"
export { eventTypes } from "./domain/EventType.js"
export { DateOrDateTimeText, durationInWords, toIso, toIsoOrNull } from "./domain/Instant.js"
export { currentWindow, limitStatus } from "./domain/LimitWindow.js"
export { cardView, LoyaltyCard } from "./domain/LoyaltyCard.js"
export { distance, nearestName } from "./domain/NearestName.js"
export { countedAddress, IPV6_PREFIX, isNetwork } from "./domain/PublicAddress.js"
export { SIGNATURE_HEADER, signatureHeader, signingSecrets } from "./domain/Signature.js"
export { optional } from "./domain/Text.js"
export { numberLabel, ticketView } from "./domain/Ticket.js"
export { nextDeadline } from "./domain/TicketLifecycle.js"
export { TrackingCodeText, trackingUrl } from "./domain/TrackingCode.js"
export { beginsAsSecret, overlapEnd } from "./domain/Webhook.js"
export { makeWordList } from "./domain/WordList.js"
export { type Check, Checks, Rejected, runChecks } from "./http/Checks.js"
export { BodyLimit, EmptyBody, type GroupHandlers, router, routes } from "./http/Endpoint.js"
export { FailureBodyOf, RepeatableMeta, SuccessBody, SuccessBodyWithMeta, status201 } from "./http/Envelope.js"
export { errorCodes, failureRows, givenTwice } from "./http/ErrorTable.js"
export {
  bodyCheck,
  endpointHandler,
  headCheck,
  refusalCheck,
  routeCheck,
  validationCheck
} from "./http/endpointChecks.js"
export { bodyText, isHeaderRepeated, type Page } from "./http/HttpMessage.js"
export { mountOptions } from "./http/Mount.js"
export { newContext } from "./http/Pipeline.js"
export { respond, respondToCause } from "./http/respond.js"
export { createdTicketResponse } from "./http/successResponse.js"
export { escapeHtml } from "./http/tracking/Html.js"
export { isOwnHeader } from "./ports/WebhookSender.js"
export { addressUse } from "./services/CachedRateLimits.js"
export { ClockAdvance, ClockMove, type ClockState, type NextDue, SandboxClock } from "./services/clock/ClockAdvance.js"
export { ClockComparison, dataAhead } from "./services/clock/ClockRepair.js"
export { unavailableCells } from "./services/observe/Readiness.js"
export { shopFields } from "./services/Shops.js"
