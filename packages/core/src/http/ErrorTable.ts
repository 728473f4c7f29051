import type { Refusal } from "../decisions/Refusal.js"
import type { Scope } from "../domain/ApiKey.js"

/** Every code that a response may have, with its HTTP status and meaning (Specification, Errors). */
export const errorCodes = {
  VALIDATION_ERROR: { status: 400, meaning: "The body or a parameter is invalid. details.issues lists what to change" },
  UNAUTHENTICATED: { status: 401, meaning: "The key is missing, wrong, revoked or expired" },
  FORBIDDEN: {
    status: 403,
    meaning:
      "The key lacks the scope in details.scope. Without details, the sandbox refused the request, and the message says why"
  },
  SHOP_NOT_APPROVED: { status: 403, meaning: "The shop is not approved yet" },
  ACCOUNT_DEACTIVATED: { status: 403, meaning: "The shop is deactivated" },
  API_DISABLED: { status: 403, meaning: "The API is not switched on for this shop yet" },
  NOT_FOUND: {
    status: 404,
    meaning:
      "The shop has no such resource: the route is unknown, the ticket is another shop's, or the client is unknown to the shop or blocks it"
  },
  CONFLICT: {
    status: 409,
    meaning: "The request is not possible in the current state. details.reason gives the reason"
  },
  PROFANITY: { status: 422, meaning: "The text in details.field contains a forbidden word" },
  TOO_MANY_ATTEMPTS: { status: 429, meaning: "The limit in details.limit is used up. Wait RateLimit-Reset seconds" },
  INTERNAL: { status: 500, meaning: "The service failed. Report the Request-Id" },
  UNAVAILABLE: {
    status: 503,
    meaning:
      "The store cannot be reached or has no free connection, or the service has too many requests. Try again after Retry-After seconds"
  }
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>

/** A code of an error, by which a program distinguishes errors (Specification, Errors). */
export type ErrorCode = keyof typeof errorCodes

/** The embedder's authentication found no caller. The message is the embedder's own, and says how to sign in. */
export interface NotSignedIn {
  /** The name of the refusal. */
  readonly _tag: "NotSignedIn"
  /** The message of the response: how to sign in. */
  readonly message: string
  /** The response's `WWW-Authenticate`, such as `Basic realm="shop"`. */
  readonly challenge?: string | undefined
}

/** Why a request is refused before a service is called. */
export type AdmissionRefusal =
  | { readonly _tag: "Unauthenticated" }
  | { readonly _tag: "TestKeyElsewhere" }
  | NotSignedIn
  | { readonly _tag: "SandboxTokenWrong" }
  | { readonly _tag: "SandboxHostForeign" }
  | { readonly _tag: "SandboxSenderForeign" }
  | { readonly _tag: "SandboxDataReal" }
  | { readonly _tag: "AccountDeactivated" }
  | { readonly _tag: "ShopNotApproved" }
  | { readonly _tag: "ApiDisabled" }
  | { readonly _tag: "RouteNotFound" }
  | { readonly _tag: "ScopeMissing"; readonly scope: Scope }
  | InvalidRequest

/** A request that does not match the schemas of its endpoint. */
export interface InvalidRequest {
  /** The name of the refusal. */
  readonly _tag: "InvalidRequest"
  /** Everything that is wrong with the request; at least one issue. */
  readonly issues: ReadonlyArray<RequestIssue>
}

/** One error of a request: its part of the request, the field, and what to change (Specification, Errors). */
export interface RequestIssue {
  /** The part of the request with the problem. */
  readonly in: "body" | "query" | "path" | "header"
  /** The dotted path of the field, such as `items.1.label`. */
  readonly field: string
  /** The rule that the value breaks, to be read after the name of the field. */
  readonly message: string
}

/** Every reason why a request has no result. */
export type Failure =
  | Refusal
  | AdmissionRefusal
  | { readonly _tag: "StoreUnavailable" }
  /** The embedder has stopped the workshop; the message says what to change. */
  | { readonly _tag: "WorkshopStopped"; readonly message: string }
  /** Too many requests run, so this one would have to wait too long. */
  | { readonly _tag: "Overloaded" }
  /** The process should get no requests for now; the message says why. */
  | { readonly _tag: "NotReady"; readonly message: string }
  /** A bug. */
  | { readonly _tag: "InternalError"; readonly message: string }

interface Row {
  readonly code: ErrorCode
  /** The `details.reason` of a 409. */
  readonly reason?: string
  /** The message of the response, if the failure has none. */
  readonly message?: string
}

/** The code of each failure, and the reason or message of its response. */
export const failureRows = {
  Unauthenticated: {
    code: "UNAUTHENTICATED",
    message: "The API key is missing or not valid. Send a valid key as Authorization: Bearer <key>."
  },
  TestKeyElsewhere: {
    code: "UNAUTHENTICATED",
    message:
      "This is a sandbox test key (wk_test_…), but this server has no sandbox. Send a key that begins with wk_live_."
  },
  NotSignedIn: { code: "UNAUTHENTICATED" },
  SandboxHostForeign: {
    code: "FORBIDDEN",
    message:
      "Without a token, the sandbox accepts only requests to this machine's own address. Call 127.0.0.1 or localhost, or set WORKSHOP_SANDBOX_TOKEN and restart the server."
  },
  SandboxSenderForeign: {
    code: "FORBIDDEN",
    message:
      "Without a token, the sandbox refuses requests from a proxy or from another site's web page. Call it directly from this machine, or set WORKSHOP_SANDBOX_TOKEN and restart the server."
  },
  SandboxTokenWrong: {
    code: "UNAUTHENTICATED",
    message:
      "The sandbox's token is missing or wrong. Send the token with which the server was started as Authorization: Bearer <token>."
  },
  SandboxDataReal: {
    code: "FORBIDDEN",
    message:
      "These data were not created by a sandbox, so the sandbox does not remove or replace them. Start the server with other data, or with --store memory."
  },
  AccountDeactivated: { code: "ACCOUNT_DEACTIVATED", message: "The shop is deactivated" },
  ShopNotApproved: { code: "SHOP_NOT_APPROVED", message: "The shop is not approved yet" },
  ApiDisabled: { code: "API_DISABLED", message: "The API is not switched on for this shop yet" },
  RouteNotFound: { code: "NOT_FOUND", message: "The API has no endpoint with this method and path" },
  ScopeMissing: { code: "FORBIDDEN", message: "The API key lacks the scope in details.scope" },
  InvalidRequest: { code: "VALIDATION_ERROR", message: "The request is invalid. details.issues lists what to change." },
  InvalidInput: { code: "VALIDATION_ERROR", message: "The request is invalid. details.issues lists what to change." },
  TicketNotFound: { code: "NOT_FOUND" },
  ClientNotFound: { code: "NOT_FOUND" },
  OfferNotFound: { code: "NOT_FOUND" },
  ShopNotFound: { code: "NOT_FOUND" },
  KeyNotFound: { code: "NOT_FOUND" },
  WebhookNotSet: { code: "NOT_FOUND" },
  SameState: { code: "CONFLICT", reason: "SAME_STATE" },
  InvalidTransition: { code: "CONFLICT", reason: "INVALID_TRANSITION" },
  ReopenWindowPassed: { code: "CONFLICT", reason: "REOPEN_WINDOW" },
  TicketAbandoned: { code: "CONFLICT", reason: "ABANDONED" },
  IdempotencyKeyReused: { code: "CONFLICT", reason: "IDEMPOTENCY_KEY_REUSED" },
  LoyaltyOff: { code: "CONFLICT", reason: "LOYALTY_OFF" },
  NoReward: { code: "CONFLICT", reason: "NO_REWARD" },
  TooManyKeys: { code: "CONFLICT", reason: "TOO_MANY_KEYS" },
  OfferClosed: { code: "CONFLICT", reason: "OFFER_CLOSED" },
  QuoteClosed: { code: "CONFLICT", reason: "QUOTE_CLOSED" },
  ForbiddenWord: { code: "PROFANITY" },
  LimitReached: { code: "TOO_MANY_ATTEMPTS" },
  NotReady: { code: "UNAVAILABLE" },
  Overloaded: { code: "UNAVAILABLE", message: "The service has too many requests. Try again in a moment." },
  InternalError: { code: "INTERNAL" },
  StoreUnavailable: { code: "UNAVAILABLE", message: "The store is unavailable or busy. Try again in a moment." },
  WorkshopStopped: { code: "UNAVAILABLE" }
} as const satisfies Record<Failure["_tag"], Row>

/** The issue with a body that is too large. */
export const makeTooLargeIssue = (max_bytes: number): RequestIssue => ({
  in: "body",
  field: "body",
  message: `must be at most ${max_bytes} bytes`
})

/** The issue with a header or parameter that may be given only once. */
export const makeRepeatedIssue = (part: RequestIssue["in"], field: string): RequestIssue => ({
  in: part,
  field,
  message: "is given twice; send it only once"
})
