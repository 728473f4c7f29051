import { Closer, Dispatcher, NotificationSender, sandboxAddresses, type WebhookAddressPolicy } from "@workshop/core"
import { sandboxSender } from "@workshop/http-node/sandbox"
import * as NodeSender from "@workshop/http-node/sender"
import { Effect, Layer } from "effect"
import { tracedSender } from "../observe/tracedSender.js"

/** The flags of deliveries. */
interface DeliveryOptions {
  readonly signatureHeader: string
  /** The ports that webhooks may use. */
  readonly webhookPort: ReadonlyArray<number>
  /** Further networks that webhooks may not reach. */
  readonly refuseNetwork: ReadonlyArray<string>
}

/** The policy of webhook addresses with the ports and the refused networks of the flags. */
export const webhookPolicyFrom = (
  policy: WebhookAddressPolicy,
  { webhookPort: ports, refuseNetwork }: DeliveryOptions
): WebhookAddressPolicy => ({
  ...policy,
  ports,
  refusedNetworks: refuseNetwork
})

/** The dispatcher of a server, which delivers over Node's sockets (Specification, Webhooks). */
export const dispatcherLayer = (options: DeliveryOptions, policy: WebhookAddressPolicy) =>
  Dispatcher.layer({ signatureHeader: options.signatureHeader, isJittered: true }).pipe(
    Layer.provide(tracedSender),
    Layer.provide(NodeSender.layer({ policy: webhookPolicyFrom(policy, options) }))
  )

/** The dispatcher of a sandbox: without jitter, and with its built-in receivers. */
export const sandboxDispatcherLayer = (options: DeliveryOptions) =>
  Dispatcher.layer({ signatureHeader: options.signatureHeader, isJittered: false }).pipe(
    Layer.provide(tracedSender),
    Layer.provide(sandboxSender),
    Layer.provide(NodeSender.layer({ policy: webhookPolicyFrom(sandboxAddresses, options) }))
  )

/** Closes due tickets and sends due deliveries and notifications in the background, until the scope closes. */
export const startBackgroundWork = Effect.gen(function* () {
  yield* Effect.forkScoped((yield* Closer).run)
  yield* Effect.forkScoped((yield* Dispatcher).run)
  yield* Effect.forkScoped((yield* NotificationSender).run)
})
