import { Schema } from "effect"
import type { ShopId } from "./Identifier.js"
import { HOUR_MS, type Instant, toIsoOrNull } from "./Instant.js"
import { Limits } from "./Limits.js"
import { RefusalOf } from "./RefusalOf.js"
import { toSecretText } from "./SecretText.js"

/** Why a webhook is off: its receiver responded with 410, it failed for too long (Specification, Webhooks), or its owner turned it off. */
export const WebhookOffReason = Schema.Literal("gone", "failing", "disabled")
/** `gone`: the receiver responded with 410. `failing`: it failed for too long. `disabled`: its owner turned it off. */
export type WebhookOffReason = typeof WebhookOffReason.Type

/** The one URL to which a shop's events are sent (Specification, Webhooks). */
export interface Webhook {
  /** The shop whose events are sent. */
  readonly shop_id: ShopId
  /** The address to which events are posted. */
  readonly url: string
  /** The secret that signs the deliveries, with its prefix `whsec_`, not encrypted. */
  readonly secret: string
  /** The previous secret; both secrets sign until `previous_until` (Specification, Webhooks). */
  readonly previous_secret: string | null
  /** Until when the previous secret also signs, in milliseconds since 1970; null if there is none. */
  readonly previous_until: Instant | null
  /** Why the webhook is off; null while it is on. */
  readonly off_reason: WebhookOffReason | null
  /** The number of failed attempts since the last success, for all events together. */
  readonly failures_in_row: number
  /** The first of these failures, in milliseconds since 1970; null if there is none. */
  readonly first_failure_at: Instant | null
  /**
   * The number of steps to the switch-off of which the owner has been notified in this series of failures.
   */
  readonly failure_steps_notified: number
  /**
   * A number that increases each time the webhook is turned on again, which makes earlier deliveries due without a
   * write of their rows.
   */
  readonly generation: number
  /** When it was last turned on. */
  readonly enabled_at: Instant
}

/** A webhook as its owner sees it (Specification, Sandbox). */
export interface WebhookStatus {
  /** The URL; null if none is set. */
  readonly url: string | null
  /** Whether events are sent. */
  readonly on: boolean
  /** Why it is off; null if it is on. */
  readonly off_reason: WebhookOffReason | null
  /** How many attempts in a row have failed. */
  readonly failures_in_row: number
  /** When the first of them failed (ISO 8601); null if none did. */
  readonly first_failure_at: string | null
}

/** The shop has no webhook. */
export class WebhookNotSet extends RefusalOf(
  "WebhookNotSet",
  "The shop has no webhook. Set the webhook's address first."
) {}

const SECRET_PREFIX = "whsec_"

/**
 * Whether a text begins like every webhook secret. If not, it is not a secret, or its beginning was cut (Specification,
 * Webhooks).
 */
export const hasSecretPrefix = (text: string): boolean => text.startsWith(SECRET_PREFIX)

/** The text of a webhook secret (Specification, Webhooks). */
export const makeWebhookSecret = (entropy: Uint8Array): string => `${SECRET_PREFIX}${toSecretText(entropy)}`

/** The webhook with a new secret; the old one also signs for 24 hours (Specification, Webhooks). */
export const withNewSecret = (webhook: Webhook, secret: string, now: Instant): Webhook => ({
  ...webhook,
  secret,
  previous_secret: webhook.secret,
  previous_until: now + Limits.secret_overlap_ms
})

/** The instant until which the previous secret signs; null if it does not sign any more. */
export const overlapEndOf = ({ previous_until }: Webhook, now: Instant): Instant | null =>
  previous_until !== null && now < previous_until ? previous_until : null

/** Whether the webhook is on, so that its deliveries are sent and not parked (Specification, Webhooks). */
export const isWebhookOn = (webhook: Pick<Webhook, "off_reason">): boolean => webhook.off_reason === null

/** The webhook as its owner sees it; if there is none, all fields are empty. */
export const webhookStatus = (webhook: Webhook | null): WebhookStatus =>
  webhook === null
    ? { url: null, on: false, off_reason: null, failures_in_row: 0, first_failure_at: null }
    : {
        url: webhook.url,
        on: isWebhookOn(webhook),
        off_reason: webhook.off_reason,
        failures_in_row: webhook.failures_in_row,
        first_failure_at: toIsoOrNull(webhook.first_failure_at)
      }

/** The kind of a notice: deliveries keep failing, or the webhook was turned off (Specification, Webhooks). */
export type NoticeKind = "webhook_failing" | "webhook_off"

/**
 * A notification to the shop's owner about the webhook. It is stored in the commit of its cause, so the owner gets it
 * even if the process crashes (Specification, Webhooks).
 */
export interface NoticeRecord {
  /** The shop whose owner is notified. */
  readonly shop_id: ShopId
  /** The id of the notice. Repetitions have the same id. */
  readonly id: string
  /** The kind of the notice. */
  readonly kind: NoticeKind
  /** When it happened, in milliseconds since 1970. */
  readonly created_at: Instant
  /** The URL of the webhook. */
  readonly url: string
  /** Why the webhook was turned off; null for a warning. */
  readonly off_reason: WebhookOffReason | null
  /** How many attempts in a row have failed. */
  readonly failures_in_row: number
  /** When the first of them failed, in milliseconds since 1970. */
  readonly first_failure_at: Instant | null
}

/** Why an attempt got no response, each with its meaning for the receiver's owner (Specification, Webhooks). */
export const sendErrors = {
  timeout: "no response arrived within the time limit, which includes the DNS look-up",
  lookup: "the host name has no address, or no name server responded",
  refused_address: "the address is not allowed, because of its scheme, port, credentials or IP address",
  connect: "no connection could be opened to any IP address of the host",
  tls: "the TLS handshake failed, or the certificate is self-signed, expired or for another host name",
  reset: "the connection was closed before a response, so the receiver may or may not have read the event",
  too_large_head: `the status line and headers of the response were larger than ${Limits.webhook_response_head_bytes / 1024} KiB, or the response had more than ${Limits.webhook_response_headers} headers`,
  malformed: "the response was not HTTP/1.1"
} as const

/** A key of `sendErrors`. */
export type SendError = keyof typeof sendErrors

/**
 * How long each stage took, in whole milliseconds of real time, even in a sandbox whose clock is frozen; null if the stage was not
 * completed or not needed (an address literal needs no look-up, and a connection kept alive no dial).
 */
export interface Timings {
  /** The DNS look-up of the host name. */
  readonly lookup_ms: number | null
  /** The TCP connection, including attempts at other addresses of the host. */
  readonly connect_ms: number | null
  /** The TLS handshake; null for http. */
  readonly tls_ms: number | null
  /** From the request's start to the first byte of the response. */
  readonly first_byte_ms: number | null
  /** From the attempt's start to its end, including the part of the body that was read. */
  readonly total_ms: number
}

/** The result of one attempt to deliver an event. Either `status` or `error` is null, never both. */
export interface SendResult {
  /** The HTTP status of the response; null if none was received. */
  readonly status: number | null
  /** Why no response was received; null if one was. */
  readonly error: SendError | null
  /** The system's name for the error, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`, if there is one. */
  readonly detail: string | null
  /**
   * The address of the last connection; null if there was none. A refused address is omitted, because it may be
   * internal.
   */
  readonly address: string | null
  /** The durations of the attempt's stages. */
  readonly timings: Timings
  /**
   * The start of the response as it was received: status line, headers and body, including chunk sizes. At most
   * `Limits.webhook_response_kept_bytes` of UTF-8, with lines separated by `\n`, and `?` for bytes that are not text.
   */
  readonly head: string
}

const unknownResult: Omit<SendResult, "status" | "error"> = {
  detail: null,
  address: null,
  timings: { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 0 },
  head: ""
}

/** Makes results for your own sender, such as a test's, that has no further details of the attempt. */
export const SendResult = {
  /** The receiver responded with this status; any 2xx acknowledges the event. */
  responded: (status: number): SendResult => ({ ...unknownResult, status, error: null }),
  /** No response came, such as `SendResult.failed("timeout")`; the event is sent again later. */
  failed: (error: SendError, detail: string | null = null): SendResult => ({
    ...unknownResult,
    status: null,
    error,
    detail
  })
} as const

/** The first and the last of the statuses that acknowledge an event: any 2xx (Specification, Webhooks). */
export const acknowledgingStatuses = { first: 200, last: 299 } as const

/**
 * Whether the receiver acknowledged the event, by {@link acknowledgingStatuses}. A redirect (3xx) is a failure like every other status, and no sender follows it
 * (`Limits.webhook_redirects_max`, Specification, Webhooks).
 */
export const acknowledges = (response: Pick<SendResult, "status">): boolean =>
  response.status !== null &&
  response.status >= acknowledgingStatuses.first &&
  response.status <= acknowledgingStatuses.last

/** Whether the receiver wants no more events, which turns the webhook off at once (Specification, Webhooks). */
export const isGone = ({ status }: SendResult): boolean => status === 410

/**
 * The consecutive failures, and the time since the first of them, that lead to the first warning, the second, and the
 * switch-off. Both numbers of a row must be reached (Specification, Webhooks).
 */
export const failureSteps = [
  { failures: 7, age_ms: 24 * HOUR_MS, kind: "webhook_failing" },
  { failures: 14, age_ms: 48 * HOUR_MS, kind: "webhook_failing" },
  { failures: 20, age_ms: 72 * HOUR_MS, kind: "webhook_off" }
] as const satisfies ReadonlyArray<{ readonly failures: number; readonly age_ms: number; readonly kind: NoticeKind }>

/** The webhook after an attempt, and the notice to its owner, if any. */
export interface HealthChange {
  readonly webhook: Webhook
  readonly notice: NoticeKind | null
}

/** The webhook after one more failure in a row. A 410 turns it off at once. A webhook that is already off does not change. */
export const recordFailure = (webhook: Webhook, sent: SendResult, now: Instant): HealthChange => {
  // A first failure in the future was recorded by a clock that was ahead.
  const first_failure_at = Math.min(webhook.first_failure_at ?? now, now)
  const failing = { ...webhook, failures_in_row: webhook.failures_in_row + 1, first_failure_at }
  if (!isWebhookOn(webhook)) return { webhook: failing, notice: null }
  if (isGone(sent)) return { webhook: { ...failing, off_reason: "gone" }, notice: "webhook_off" }
  const steps = failureSteps.filter(
    ({ failures, age_ms }) => failing.failures_in_row >= failures && now - first_failure_at >= age_ms
  )
  const step = steps.at(-1)
  if (step === undefined || steps.length <= webhook.failure_steps_notified) return { webhook: failing, notice: null }
  const off_reason = step.kind === "webhook_off" ? "failing" : null
  return { webhook: { ...failing, failure_steps_notified: steps.length, off_reason }, notice: step.kind }
}

/**
 * The webhook after a success, without failures. If it had none, the same object is returned, because no write is
 * needed.
 */
export const recordSuccess = (webhook: Webhook): Webhook =>
  webhook.failures_in_row === 0
    ? webhook
    : { ...webhook, failures_in_row: 0, first_failure_at: null, failure_steps_notified: 0 }

/** A change of a webhook's health: deliveries begin to fail after a success, or succeed again after failures. */
export type HealthTransition = "failing" | "recovered"

/** Whether the consecutive failures began or ended between two states of a webhook; null if neither. */
export const healthTransition = (previous: Webhook, next: Webhook): HealthTransition | null => {
  if (next === previous || (previous.failures_in_row === 0) === (next.failures_in_row === 0)) return null
  return next.failures_in_row === 0 ? "recovered" : "failing"
}

/** The host of a webhook's URL, for the log; null if the URL is malformed. The path and the query may be secrets of the receiver. */
export const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null)
