import { ruleAt, sections } from "./Case.js"
import { type Cause, causesOf } from "./causes.js"
import { answered, curl, masked, type Secrets } from "./Exchange.js"
import { bySection, type Counts, count, type Result } from "./Result.js"

/** A run as reports tell it. */
export interface Report {
  readonly base_url: string
  /** What was used: the server's sandbox, or the key of a real shop. */
  readonly with: "sandbox" | "key"
  readonly duration_ms: number
  readonly counts: Counts
  /** What failed, by its causes: one missing endpoint fails many cases. */
  readonly causes: ReadonlyArray<Cause>
  readonly sections: ReadonlyArray<ReportedSection>
}

/** The cases of one section of the specification. */
export interface ReportedSection {
  readonly section: string
  readonly title: string
  readonly counts: Counts
  readonly cases: ReadonlyArray<ReportedCase>
}

/** One case, with all that a reader needs to understand its failure. */
export interface ReportedCase {
  readonly id: string
  readonly rule: string
  /** Where the rule stands. */
  readonly rule_at: string
  readonly outcome: Result["outcome"]
  readonly duration_ms: number
  readonly because?: string
  readonly failure?: {
    readonly expected: string
    readonly found: string
    readonly curl?: string
    readonly answer?: string
  }
}

/** A case of a report. */
export const reported = (result: Result, secrets: Secrets): ReportedCase => {
  const { id, rule, anchor } = result.case
  const { outcome, duration_ms, because, failure } = result
  const common = {
    id,
    rule,
    rule_at: ruleAt(anchor),
    outcome,
    duration_ms,
    ...(because === undefined ? {} : { because })
  }
  if (failure === undefined) return common
  const { exchange } = failure
  const [expected, found] = [masked(failure.expected), masked(failure.found)]
  const shown = exchange === undefined ? {} : { curl: curl(exchange, secrets), answer: answered(exchange) }
  return { ...common, failure: { expected, found, ...shown } }
}

/** Puts a run into the form of its reports; secrets do not come along. */
export const reportOf = (
  run: Pick<Report, "base_url" | "with" | "duration_ms">,
  results: ReadonlyArray<Result>,
  secrets: Secrets
): Report => ({
  ...run,
  counts: count(results),
  causes: causesOf(results).map((cause) => ({ ...cause, found: masked(cause.found) })),
  sections: bySection(results).map(({ section, results }) => ({
    section,
    title: sections[section],
    counts: count(results),
    cases: results.map((result) => reported(result, secrets))
  }))
})
