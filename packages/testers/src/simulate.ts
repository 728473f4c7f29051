/**
 * Entry `@workshop/testers/simulate`: for tests of a store of your own. It has a simulated week of shops with an
 * independent auditor, and the types of what the auditor sees.
 *
 * @example
 * ```ts
 * import { simulateStore } from "@workshop/testers/simulate"
 * ```
 *
 * @packageDocumentation
 */

export type {
  LoyaltySettings,
  RecordedRequest,
  RecordedResponse,
  ShopTrace,
  Trace,
  TracedDelivery,
  Violation
} from "./simulate/auditor/Trace.js"
export { type SimulateStoreOptions, type SimulationResult, simulateStore } from "./simulate/simulateStore.js"
export type { SimulationBounds } from "./simulate/simulation.js"
export type { Envelope, EnvironmentFailed } from "./testkit/Api.js"
export type { AttemptJson, DeliveryJson, EventJson, TicketJson, WebhookJson } from "./testkit/ResponseTypes.js"
