/**
 * Entry `@workshop/testers/simulate`: a simulated week of shops with an independent auditor, for the tests of your own
 * store.
 */

export { type SimulationResult, simulateStore } from "./simulate/simulateStore.js"
export type { EnvironmentFailed } from "./testkit/Api.js"
