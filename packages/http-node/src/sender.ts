/** Entry `@workshop/http-node/sender`: sends webhooks over Node's sockets, and refuses addresses that are not public. */

export { layer, make, type NodeSender, type NodeSenderOptions } from "./sender/NodeSender.js"
