import { Context, type Effect } from "effect"
import type { ShopId } from "../domain/Identifier.js"
import type { Complaint } from "../domain/OptionChecks.js"
import { SIGNATURE_HEADER } from "../domain/Signature.js"
import type { SendResult } from "../domain/Webhook.js"

/** The names of the headers that the sender sets itself, in lower case. The headers of a post cannot replace them. */
export const REQUEST_HEADERS: ReadonlySet<string> = new Set([
  ...["host", "content-type", "content-length", "user-agent", "accept-encoding"],
  ...["connection", "transfer-encoding"]
])

/** The characters of an HTTP header's name (RFC 9110 §5.1). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Whether a post may set a header of this name. */
export const isOwnHeader = (name: string): boolean => HEADER_NAME.test(name) && !REQUEST_HEADERS.has(name.toLowerCase())

/** The check of an option that names the header of the signature. */
export const checkSignatureHeader = (value: unknown): Complaint =>
  typeof value === "string" && isOwnHeader(value)
    ? undefined
    : `must be a header name that HTTP does not use itself, such as ${SIGNATURE_HEADER}`

/** An event to be sent to its receiver. */
export interface WebhookPost {
  /** The shop, because a connection is used for the events of only one shop. */
  readonly shop_id: ShopId
  /** The receiver's URL. The sender checks it again, although it was checked when it was set. */
  readonly url: string
  /** The headers of this event, such as its signature. The sender adds {@link REQUEST_HEADERS}, which these cannot replace. */
  readonly headers: Readonly<Record<string, string>>
  /** The signed text, sent byte for byte in UTF-8. */
  readonly body: string
}

/**
 * Sends events to the receivers of shops. The URLs are not trusted, because they may lead to any host (Specification,
 * Webhooks).
 */
export class WebhookSender extends Context.Tag("@workshop/core/WebhookSender")<
  WebhookSender,
  {
    /**
     * Makes one POST and returns its result. It never fails and never retries: if the connection ends after bytes were sent, the result is
     * `reset`, and the caller decides whether to send again. The status line decides the result, within ten real seconds; the call may take
     * one second more to read the start of the body for the log. It follows no redirect (`Limits.webhook_redirects_max`), connects to public
     * addresses only, and limits the memory that a receiver can make it use. Interrupting it closes the connection.
     */
    readonly send: (post: WebhookPost) => Effect.Effect<SendResult>
  }
>() {}
