/**
 * Entry `@workshop/cli/simulate`: a simulated week of shops with an independent auditor, for the tests of your own
 * store.
 */

export type { EnvironmentFailed } from "../sandbox/Api.js"
export { type SimulationResult, simulateStore } from "./simulate/simulateStore.js"
