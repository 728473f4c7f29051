/**
 * The entry `@workshop/http-node/sender`: a webhook sender on Node's sockets, which refuses addresses that are not
 * public.
 */

export type { ConnectionCounts } from "./sender/ConnectionPool.js"
export { layer, make, type NodeSender, type NodeSenderOptions, type SenderCounts } from "./sender/NodeSender.js"
export type { Resolve } from "./sender/Resolver.js"
export { SendFailed } from "./sender/SendFailed.js"
