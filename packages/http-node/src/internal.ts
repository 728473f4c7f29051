/**
 * Entry `@workshop/http-node/internal`: the parts that the command line and the testers' tools of this project share,
 * and that no embedder needs. They may change in any release.
 *
 * @internal
 */

export { baseOf } from "./baseOf.js"
export { listen } from "./listen.js"
export { methodLabel, routeLabel } from "./metrics/HttpMetrics.js"
export { qrLines } from "./qr.js"
export { faultKinds } from "./sandbox/Faults.js"
export { keyView } from "./sandbox/KeysApi.js"
export type { LoggedRequest } from "./sandbox/RequestLog.js"
export { offerView } from "./sandbox/SandboxClientsApi.js"
export { isStrongToken, sandboxAllowed, TOKEN_CHARACTERS } from "./sandbox/sandboxAllowed.js"
export { deliveryView, noticeView } from "./sandbox/WebhookApi.js"
