/**
 * Entry `@workshop/http-node`: for programs that serve the API on Node's HTTP server, alone or mounted in Express,
 * Fastify and others. It has the server with its limits, the mount, the pages beside the API, and metrics.
 *
 * @example
 * ```ts
 * import { mountNode } from "@workshop/http-node"
 * ```
 *
 * @packageDocumentation
 */

export { type DrainOptions, drainOnClose } from "./draining.js"
export { CannotListen } from "./listen.js"
export { makeHttpMetrics } from "./metrics/HttpMetrics.js"
export { collectProcessMetrics, processMetrics } from "./metrics/ProcessMetrics.js"
export { mountNode, type NodeHandler, type NodeMountOptions } from "./mount/NodeMount.js"
export { type NodeServerOptions, serve } from "./NodeServer.js"
export { type PagesOptions, pages } from "./Pages.js"
export { qrSvg } from "./qr.js"
export { CONNECTION_LIMITS, type ConnectionLimits, SERVER_TIMEOUTS, type ServerTimeouts } from "./serverLimits.js"
