/**
 * Entry `@workshop/testers/simulate`: a simulated week of shops with an independent auditor, for the tests of your own
 * store.
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
