/**
 * Entry `@workshop/http-node/sender`: for programs that deliver webhooks. It has a webhook sender on Node's sockets,
 * which refuses addresses that are not public.
 *
 * @example
 * ```ts
 * import * as NodeSender from "@workshop/http-node/sender"
 * ```
 *
 * @packageDocumentation
 */

export type { ConnectionCounts } from "./sender/ConnectionPool.js"
export { layer, make, type NodeSender, type NodeSenderOptions, type SenderCounts } from "./sender/NodeSender.js"
export type { Resolve } from "./sender/Resolver.js"
export { SendFailed } from "./sender/SendFailed.js"
