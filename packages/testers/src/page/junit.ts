import { escapeHtml } from "@workshop/core/internal"

/** A case of a report in JUnit XML. */
export interface JUnitCase {
  readonly classname: string
  readonly name: string
  readonly duration_ms: number
  /** The reason why the case was skipped. */
  readonly skipped?: string | undefined
  readonly failure?: { readonly message: string; readonly text: string } | undefined
}

/** Cases under one name. */
interface JUnitSuite {
  readonly name: string
  readonly duration_ms: number
  readonly cases: ReadonlyArray<JUnitCase>
}

const countAttributes = ({ cases, duration_ms }: Omit<JUnitSuite, "name">): string => {
  const failed = cases.filter(({ failure }) => failure !== undefined).length
  const skipped = cases.filter((testCase) => testCase.skipped !== undefined).length
  return `tests="${cases.length}" failures="${failed}" errors="0" skipped="${skipped}" time="${toSeconds(duration_ms)}"`
}

const toSeconds = (ms: number): string => (ms / 1000).toFixed(3)

const caseLines = ({ classname, name, duration_ms, skipped, failure }: JUnitCase): ReadonlyArray<string> => [
  `    <testcase classname="${escapeHtml(classname)}" name="${escapeHtml(name)}" time="${toSeconds(duration_ms)}">`,
  ...(skipped === undefined ? [] : [`      <skipped message="${escapeHtml(skipped)}"/>`]),
  ...(failure === undefined
    ? []
    : [`      <failure message="${escapeHtml(failure.message)}">${escapeHtml(failure.text)}</failure>`]),
  "    </testcase>"
]

/** A report as JUnit XML, which build servers read. */
export const junitXml = (name: string, duration_ms: number, suites: ReadonlyArray<JUnitSuite>): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${name}" ${countAttributes({ cases: suites.flatMap(({ cases }) => cases), duration_ms })}>`,
    ...suites.flatMap((suite) => [
      `  <testsuite name="${escapeHtml(suite.name)}" ${countAttributes(suite)}>`,
      ...suite.cases.flatMap(caseLines),
      "  </testsuite>"
    ]),
    "</testsuites>",
    ""
  ].join("\n")
