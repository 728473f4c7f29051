import type { Mismatch } from "./Mismatch.js"
import type { Position } from "./Source.js"

/** A request of a step and its response, as reports show them. */
export interface StepExchange {
  readonly call: {
    readonly method: string
    /** With its query, such as `/v1/tickets?limit=2`. */
    readonly path: string
    readonly headers?: Readonly<Record<string, string>>
    /** Sent as JSON, or as it is where it is text. */
    readonly body?: unknown
  }
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** As JSON where it is JSON, else as text. */
  readonly body: unknown
}

/** Why a scenario failed. */
export interface Failure extends Position {
  /** The step, or the one within it, that did not go as expected; null where the scenario could not begin. */
  readonly title: string | null
  readonly mismatches: ReadonlyArray<Mismatch>
  /** Where the step could not be made at all. */
  readonly message: string | null
  readonly exchange: StepExchange | null
}

/** The result of a step. */
export interface StepResult {
  readonly line: number
  readonly title: string
  readonly outcome: "passed" | "failed" | "not_run"
}

/** The result of a scenario. */
export interface ScenarioResult {
  readonly file: string
  readonly name: string
  readonly section: string | null
  readonly passed: boolean
  readonly steps: ReadonlyArray<StepResult>
  readonly failure: Failure | null
}
