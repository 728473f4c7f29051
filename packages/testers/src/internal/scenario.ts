/**
 * Entry `@workshop/testers/internal/scenario`: the parts of scenarios that `workshop scenario` and the console use, in
 * addition to the public ones. They may change in any release.
 *
 * @internal
 */

export { reportOf } from "../scenario/jsonReport.js"
export { htmlReport, junitReport } from "../scenario/pageReports.js"
export { problemLines, reportLines, type ScenarioResult, summaryLine } from "../scenario/Report.js"
export type { RunOptions } from "../scenario/runScenario.js"
export { runScenarioText } from "../scenario/runScenarioText.js"
export { editorSchema, type Scenario } from "../scenario/Scenario.js"
export type { Problem } from "../scenario/Source.js"
export { clockWarning } from "../testkit/Time.js"
