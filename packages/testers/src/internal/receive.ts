/**
 * Entry `@workshop/testers/internal/receive`: the parts of the webhook receiver that `workshop receive` uses, in
 * addition to the public ones. They may change in any release.
 *
 * @internal
 */

export { eventJson, eventLine, KnownTickets, type TicketNews } from "../receive/eventLine.js"
export { makeForwarder } from "../receive/forward.js"
export { type Behaviour, healthy, type ReceivedDelivery, type Receiver, type Totals } from "../receive/Receiver.js"
export {
  findSilence,
  type PointedWebhook,
  type Registration,
  type RegistrationResult,
  readSandboxClock,
  readSecret,
  register
} from "../receive/Registration.js"
export { type Reply, statusReply } from "../testkit/LoopbackServer.js"
