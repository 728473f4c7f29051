/** Entry `@workshop/cli/simulate`: a simulated week of shops with an independent auditor, for the tests of a store of one's own. */

export { type SimulationResult, simulateStore } from "./simulate/simulateStore.js"
export type { EnvironmentFailed } from "./testkit/Api.js"
