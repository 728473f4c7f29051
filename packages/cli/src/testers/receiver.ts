/** Entry `@workshop/cli/receiver`: a receiver of webhooks for tests, which checks signatures and answers as it is asked to. */

export { make, type Receiver, type ReceiverOptions } from "./receive/Receiver.js"
