import { Closer, Dispatcher, NotificationSender, type WebhookAddressPolicy } from "@workshop/core"
import * as NodeSender from "@workshop/http-node/sender"
import { Effect, Layer } from "effect"
import { tracedSender } from "../observe/observing.js"

/** How to deliver, as the flags say. */
export interface DeliveryOptions {
  readonly signatureHeader: string
  /** The ports that webhooks may use. */
  readonly webhookPort: ReadonlyArray<number>
  /** Networks that webhooks may not reach besides. */
  readonly refuseNetwork: ReadonlyArray<string>
}

/** Where webhooks may go: a policy, on the ports and outside the networks that were asked for. */
export const reaching = (
  policy: WebhookAddressPolicy,
  { webhookPort: ports, refuseNetwork }: DeliveryOptions
): WebhookAddressPolicy => ({
  ...policy,
  ports,
  refusedNetworks: refuseNetwork
})

/** A dispatcher that delivers as it was asked to, over Node's sockets (Specification, Webhooks). */
export const delivering = (options: DeliveryOptions, policy: WebhookAddressPolicy, isJittered = true) =>
  Dispatcher.layer({ signatureHeader: options.signatureHeader, isJittered }).pipe(
    Layer.provide(tracedSender),
    Layer.provide(NodeSender.layer({ policy: reaching(policy, options) }))
  )

/** Closes due tickets and sends due deliveries and notifications in the background, until the scope closes. */
export const workOff = Effect.gen(function* () {
  yield* Effect.forkScoped((yield* Closer).run)
  yield* Effect.forkScoped((yield* Dispatcher).run)
  yield* Effect.forkScoped((yield* NotificationSender).run)
})
