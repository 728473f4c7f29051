/**
 * Entry `@workshop/testers/scenario`: for tests that are written as files in YAML. It reads and runs scenarios as
 * `workshop scenario` does.
 *
 * @example
 * ```ts
 * import { runScenario } from "@workshop/testers/scenario"
 * ```
 *
 * @packageDocumentation
 */

export type { Mismatch } from "./scenario/Expectation.js"
export type { ScenarioFailure, ScenarioResult, StepExchange, StepResult } from "./scenario/Report.js"
export { readScenario } from "./scenario/readScenario.js"
export { type RunOptions, runParsedScenario, runScenario, ScenarioFailed } from "./scenario/runScenario.js"
export type { Scenario } from "./scenario/Scenario.js"
export type { Position, Problem } from "./scenario/Source.js"
