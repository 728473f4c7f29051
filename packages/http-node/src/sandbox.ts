/**
 * Entry `@workshop/http-node/sandbox`: for programs that serve a sandbox. It has routes with which a test acts as the
 * app, the owner, the client and the clock. They need the layers of `ClockAdvance` and `SandboxClock`.
 *
 * @example
 * ```ts
 * import { ClockAdvance, SandboxClock, sandboxRoutes } from "@workshop/http-node/sandbox"
 * ```
 *
 * @packageDocumentation
 */

export { ClockAdvance, SandboxClock } from "@workshop/core/sandbox"
export { SandboxReceivers, sandboxSender } from "./sandbox/Receivers.js"
export { SandboxApi } from "./sandbox/SandboxApi.js"
export type { ScenarioRunner } from "./sandbox/ScenariosApi.js"
export { type SandboxOptions, sandboxDocument, sandboxRoutes } from "./sandbox/sandboxRoutes.js"
