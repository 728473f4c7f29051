import type { Case } from "./Case.js"
import type { Exchange } from "./Exchange.js"

/** Why a case failed. */
export interface Failure {
  readonly expected: string
  readonly found: string
  readonly exchange: Exchange | undefined
}

/** What came of one case. */
export interface Result {
  readonly case: Case
  readonly outcome: "passed" | "failed" | "skipped"
  readonly duration_ms: number
  readonly failure?: Failure
  /** Why it was skipped. */
  readonly because?: string
}

/** How many cases came out how. */
export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Counts results. */
export const count = (results: ReadonlyArray<Result>): Counts => {
  const of = (outcome: Result["outcome"]) => results.filter((result) => result.outcome === outcome).length
  return { passed: of("passed"), failed: of("failed"), skipped: of("skipped") }
}

/** Results by section, in the order of the sections; none without results. */
export const bySection = (
  results: ReadonlyArray<Result>
): ReadonlyArray<{ readonly section: Case["section"]; readonly results: ReadonlyArray<Result> }> => {
  const found = [...new Set(results.map((result) => result.case.section))]
  return found.map((section) => ({ section, results: results.filter((result) => result.case.section === section) }))
}
