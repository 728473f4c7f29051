/**
 * The entry `@workshop/http-node/sandbox`: routes with which a test acts as the app, the owner, the client and the
 * clock. They need the layers of `ClockAdvance` and `SandboxClock`.
 */

export { ClockAdvance, SandboxClock } from "@workshop/core/sandbox"
export { SandboxReceivers, sandboxSender } from "./sandbox/Receivers.js"
export { SandboxApi } from "./sandbox/SandboxApi.js"
export type { ScenarioRunner } from "./sandbox/ScenariosApi.js"
export { type SandboxOptions, sandboxDocument, sandboxRoutes } from "./sandbox/sandboxRoutes.js"
