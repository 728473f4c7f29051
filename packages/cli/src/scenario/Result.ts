import type { Exchange } from "./Exchange.js"
import type { Mismatch } from "./Mismatch.js"
import type { Position } from "./Source.js"

/** Why a scenario failed. */
export interface Failure extends Position {
  /** The step, or the one within it, that did not go as expected; null where the scenario could not begin. */
  readonly title: string | null
  readonly mismatches: ReadonlyArray<Mismatch>
  /** Where the step could not be made at all. */
  readonly message: string | null
  readonly exchange: Exchange | null
}

/** What became of a step. */
export interface StepResult {
  readonly line: number
  readonly title: string
  readonly outcome: "passed" | "failed" | "not_run"
}

/** What became of a scenario. */
export interface ScenarioResult {
  readonly file: string
  readonly name: string
  readonly section: string | null
  readonly passed: boolean
  readonly steps: ReadonlyArray<StepResult>
  readonly failure: Failure | null
}
