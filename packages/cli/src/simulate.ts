/** Entry `@workshop/cli/simulate`: a simulated week of shops with an independent auditor. */

export { observersOf, simulation } from "./simulate/simulation.js"
