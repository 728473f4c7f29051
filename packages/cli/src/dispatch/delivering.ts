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
}

/** Where webhooks may go: a policy, on the ports that were asked for. */
export const reaching = (policy: Policy, { webhookPort: ports }: AskedDelivery): Policy => ({ ...policy, ports })

/** A dispatcher that delivers as it was asked to, over Node's sockets (Specification, Webhooks). */
export const delivering = (asked: AskedDelivery, policy: Policy, isJittered = true) =>
  Dispatcher.layer({ signatureHeader: asked.signatureHeader, isJittered }).pipe(
    Layer.provide(TracedSender.layer),
    Layer.provide(NodeSender.layer({ policy: reaching(policy, asked) }))
  )
