/**
 * Entry `@workshop/testers/receiver`: a receiver of webhooks for tests, which checks signatures and replies as configured.
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
