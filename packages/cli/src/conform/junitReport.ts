import { escaped } from "../page/escaped.js"
import type { Report, ReportedCase, ReportedSection } from "./Report.js"

const seconds = (ms: number): string => (ms / 1000).toFixed(3)

const verdict = ({ because, failure, rule_at }: ReportedCase): ReadonlyArray<string> => {
  if (because !== undefined) return [`      <skipped message="${escaped(because)}"/>`]
  if (failure === undefined) return []
  const { expected, found, curl = "", answer = "" } = failure
  const text = [`breaks ${rule_at}`, `expected ${expected}`, `found ${found}`, "", curl, "", answer].join("\n")
  return [`      <failure message="${escaped(`expected ${expected}; found ${found}`)}">${escaped(text)}</failure>`]
}

const suite = ({ section, title, counts, cases }: ReportedSection): ReadonlyArray<string> => {
  const took = seconds(cases.reduce((sum, { duration_ms }) => sum + duration_ms, 0))
  const { failed, skipped } = counts
  const name = escaped(`${section} ${title}`)
  return [
    `  <testsuite name="${name}" tests="${cases.length}" failures="${failed}" errors="0" skipped="${skipped}" time="${took}">`,
    ...cases.flatMap((one) => [
      `    <testcase classname="${escaped(section)}" name="${escaped(`${one.id}: ${one.rule}`)}" time="${seconds(one.duration_ms)}">`,
      ...verdict(one),
      "    </testcase>"
    ]),
    "  </testsuite>"
  ]
}

/** A report as JUnit XML, which build servers read. */
export const junitReport = ({ sections, counts, duration_ms }: Report): string => {
  const { passed, failed, skipped } = counts
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="workshop conform" tests="${passed + failed + skipped}" failures="${failed}" errors="0" skipped="${skipped}" time="${seconds(duration_ms)}">`,
    ...sections.flatMap(suite),
    "</testsuites>",
    ""
  ].join("\n")
}
