import type { Event, ReplayInput, ShopId, WebhookAddressPolicy, WebhookOffReason, Webhooks } from "@workshop/core"
import type { deliveryView, noticeView } from "@workshop/http-node/internal"
import { Context, type Effect, type Stream } from "effect"
import type { ServiceRefusal } from "./ownerCommand.js"

/** A delivery with all its attempts. */
export type Delivery = ReturnType<typeof deliveryView>

/** A notice to the shop's owner about the webhook. */
export type Notice = ReturnType<typeof noticeView>

/** A webhook's address, state and health. */
export type WebhookStatus = Effect.Effect.Success<ReturnType<Webhooks["status"]>>

/** A webhook after its address was set. */
export interface SetWebhook {
  readonly url: string
  readonly secret: string
  readonly on: boolean
  readonly off_reason: WebhookOffReason | null
  /** Whether only a server with a sandbox delivers to the address, although the data do not belong to a sandbox. */
  readonly isUndelivered: boolean
}

type Result<A> = Effect.Effect<A, ServiceRefusal>

/**
 * The acts of an owner on a shop's webhook, in a database or on a running server with a sandbox. The commands hold the
 * rules and messages, so that both have the same ones, except the check of the address, which each place does by its
 * own policy.
 */
export class WebhookAdmin extends Context.Tag("@workshop/cli/WebhookAdmin")<
  WebhookAdmin,
  {
    /** Sets the address. A server with a sandbox checks the address by its own policy instead of the given one. */
    readonly set: (shop: ShopId, address: string, policy: WebhookAddressPolicy) => Result<SetWebhook>
    readonly status: (shop: ShopId) => Result<WebhookStatus>
    /** The time until which the previous secret signs (ISO 8601); null if only one secret signs. */
    readonly previousSecretUntil: (shop: ShopId) => Result<string | null>
    /** Creates a new secret. The service does not refuse a second rotation within the overlap of the secrets. */
    readonly rotate: (shop: ShopId) => Result<{ readonly secret: string; readonly replaces_before: string | null }>
    readonly enable: (shop: ShopId) => Result<WebhookStatus>
    readonly disable: (shop: ShopId) => Result<WebhookStatus>
    readonly remove: (shop: ShopId) => Result<WebhookStatus>
    readonly ping: (shop: ShopId) => Result<Event>
    /** All deliveries of the shop, the latest first, read in pages. */
    readonly deliveries: (shop: ShopId) => Stream.Stream<Delivery, ServiceRefusal>
    /** Sends the chosen events again, or with `dry_run` only counts them. */
    readonly replay: (shop: ShopId, input: ReplayInput) => Result<{ readonly count: number }>
    /** The notices to the owner, oldest first. */
    readonly notices: (shop: ShopId) => Result<ReadonlyArray<Notice>>
  }
>() {}
