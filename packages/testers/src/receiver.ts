/**
 * Entry `@workshop/testers/receiver`: a receiver of webhooks for tests, which checks signatures and replies as configured.
 */

export { makeReceiver, type Receiver, type ReceiverOptions } from "./receive/Receiver.js"
