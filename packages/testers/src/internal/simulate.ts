/**
 * Entry `@workshop/testers/internal/simulate`: the parts of a simulation that `workshop simulate` uses, in addition to
 * the public ones. They may change in any release.
 *
 * @internal
 */

export { audit } from "../simulate/auditor/audit.js"
export type { Trace, Violation } from "../simulate/auditor/Trace.js"
export { realMs } from "../simulate/Observers.js"
export { htmlReport } from "../simulate/report/htmlReport.js"
export { formatRepeatCommand } from "../simulate/report/repeatCommand.js"
export { computeLatencies, countTrace, type Summary, textReport } from "../simulate/report/textReport.js"
export { violationScenario } from "../simulate/report/violationScenario.js"
export { SimulatedStore } from "../simulate/SimulatedStore.js"
export {
  inProcessSimulation,
  remoteSimulation,
  simulatedServiceLayer,
  withClockRestored
} from "../simulate/SimulationEnvironment.js"
export { findShortestRun } from "../simulate/shortestRun.js"
export {
  makeObservers,
  type Observers,
  runSimulation,
  type SimulationBounds,
  type SimulationControl,
  type SimulationProgress
} from "../simulate/simulation.js"
export { clockWarning } from "../testkit/Time.js"
