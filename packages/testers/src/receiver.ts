/**
 * Entry `@workshop/testers/receiver`: for tests that wait for webhooks. It has a receiver of webhooks, which checks
 * signatures and replies as configured.
 *
 * @example
 * ```ts
 * import { makeReceiver } from "@workshop/testers/receiver"
 * ```
 *
 * @packageDocumentation
 */

export {
  type Behaviour,
  makeReceiver,
  type ReceivedDelivery,
  type ReceivedEvent,
  type ReceivedOutcome,
  type ReceivedRequest,
  type Receiver,
  type ReceiverOptions,
  type RefusalReason,
  type Totals
} from "./receive/Receiver.js"
export type { Reply } from "./testkit/LoopbackServer.js"
