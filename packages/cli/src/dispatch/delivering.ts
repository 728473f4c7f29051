import type { Policy } from "@workshop/core/domain/WebhookAddress"
import { Dispatcher } from "@workshop/core/services/Dispatcher"
import * as NodeSender from "@workshop/http-node/sender/NodeSender"
import { Layer } from "effect"
import * as TracedSender from "../observe/TracedSender.js"

/** How to deliver, as the flags say. */
export interface AskedDelivery {
  readonly signatureHeader: string
  /** The ports that webhooks may use. */
  readonly webhookPort: ReadonlyArray<number>
  /** Networks that webhooks may not reach besides. */
  readonly refuseNetwork: ReadonlyArray<string>
}

/** Where webhooks may go: a policy, on the ports and outside the networks that were asked for. */
export const reaching = (policy: Policy, { webhookPort: ports, refuseNetwork }: AskedDelivery): Policy => ({
  ...policy,
  ports,
  refusedNetworks: refuseNetwork
})

/** A dispatcher that delivers as it was asked to, over Node's sockets (Specification, Webhooks). */
export const delivering = (asked: AskedDelivery, policy: Policy, isJittered = true) =>
  Dispatcher.layer({ signatureHeader: asked.signatureHeader, isJittered }).pipe(
    Layer.provide(TracedSender.layer),
    Layer.provide(NodeSender.layer({ policy: reaching(policy, asked) }))
  )
