/**
 * The entry `@workshop/http-node/sandbox`: routes with which a test acts as the app, the owner, the client and the
 * clock.
 */

export { faultKinds } from "./sandbox/Faults.js"
export { keyView } from "./sandbox/KeysApi.js"
export { SandboxReceivers, sandboxSender } from "./sandbox/Receivers.js"
export type { LoggedRequest } from "./sandbox/RequestLog.js"
export { SandboxApi } from "./sandbox/SandboxApi.js"
export { offerView } from "./sandbox/SandboxClientsApi.js"
export { isGuard, sandboxAllowed, TOKEN_CHARACTERS } from "./sandbox/sandboxAllowed.js"
export { sandboxDocument, sandboxRoutes } from "./sandbox/sandboxRoutes.js"
export { deliveryView, noticeView } from "./sandbox/WebhookApi.js"
