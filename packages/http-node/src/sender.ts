/**
 * The entry `@workshop/http-node/sender`: a webhook sender on Node's sockets, which refuses addresses that are not
 * public.
 */

export { layer, make, type NodeSender, type NodeSenderOptions } from "./sender/NodeSender.js"
