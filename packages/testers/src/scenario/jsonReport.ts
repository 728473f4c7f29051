import type { ScenarioResult } from "./Report.js"

/** The report of `--json`: the number of scenarios that passed, and each scenario. */
export const reportOf = (
  results: ReadonlyArray<ScenarioResult>,
  duration_ms: number,
  { problems, isVerbose = false }: { readonly problems?: ReadonlyArray<object>; readonly isVerbose?: boolean } = {}
) => {
  const failed = results.filter(({ passed }) => !passed).length
  const scenarios = results.map(({ steps, ...result }) => ({
    ...result,
    steps: steps.map(({ exchange, ...step }) => (isVerbose ? { ...step, exchange } : step))
  }))
  return { passed: results.length - failed, failed, duration_ms, scenarios, ...(problems && { problems }) }
}
