import { Context, type Effect } from "effect"
import type { ShopId } from "../domain/Identifier.js"
import type { Sent } from "../domain/Webhook.js"

/** The headers that every request has, in lower case; what a post brings under these names is left out. */
export const REQUEST_HEADERS: ReadonlySet<string> = new Set([
  ...["host", "content-type", "content-length", "user-agent", "accept-encoding"],
  ...["connection", "transfer-encoding"]
])

/** The characters of an HTTP header's name (RFC 9110 §5.1). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Whether a post may bring a header of this name: one of its own, so that it is sent. */
export const isOwnHeader = (name: string): boolean => HEADER_NAME.test(name) && !REQUEST_HEADERS.has(name.toLowerCase())

/** An event on its way to its receiver. */
export interface WebhookPost {
  /** Connections are never shared between shops. */
  readonly shop_id: ShopId
  /** Judged again by the sender, whatever was judged when it was set. */
  readonly url: string
  /** The headers of this event, above all its signature. The sender adds what every request has, which these cannot change. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent byte for byte in UTF-8: the text that was signed. */
  readonly body: string
}

/** How events leave for the receivers of shops, wherever those may point (Specification, Webhooks). */
export class WebhookSender extends Context.Tag("@workshop/core/WebhookSender")<
  WebhookSender,
  {
    /**
     * One POST, and what came of it. Never fails and never repeats: where the connection ends after bytes have left,
     * the answer is `reset`, and whether to send again is the caller's to decide. The verdict falls at the status
     * line, within ten real seconds of the call; the call itself may last one second more, for the log. Follows no
     * redirect, calls none but public addresses, and holds little memory whatever the receiver does. Interrupting it
     * closes the connection.
     */
    readonly send: (post: WebhookPost) => Effect.Effect<Sent>
  }
>() {}
