import { Closer, Dispatcher, NotificationSender, sandboxAddresses, type WebhookAddressPolicy } from "@workshop/core"
import { sandboxSender } from "@workshop/http-node/sandbox"
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
export const delivering = (options: DeliveryOptions, policy: WebhookAddressPolicy) =>
  Dispatcher.layer({ signatureHeader: options.signatureHeader, isJittered: true }).pipe(
    Layer.provide(tracedSender),
    Layer.provide(NodeSender.layer({ policy: reaching(policy, options) }))
  )

/** The same in a sandbox: without jitter, and with its built-in receivers. */
export const deliveringInSandbox = (options: DeliveryOptions) =>
  Dispatcher.layer({ signatureHeader: options.signatureHeader, isJittered: false }).pipe(
    Layer.provide(tracedSender),
    Layer.provide(sandboxSender),
    Layer.provide(NodeSender.layer({ policy: reaching(sandboxAddresses, options) }))
  )

/** Closes due tickets and sends due deliveries and notifications in the background, until the scope closes. */
export const workOff = Effect.gen(function* () {
  yield* Effect.forkScoped((yield* Closer).run)
  yield* Effect.forkScoped((yield* Dispatcher).run)
  yield* Effect.forkScoped((yield* NotificationSender).run)
})
