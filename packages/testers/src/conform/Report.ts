import { escapeHtml, quoteShell } from "@workshop/core/internal"
import { type Paint, pluralize } from "@workshop/core/internal/terminal"
import { type JUnitCase, junitXml } from "../page/junit.js"
import { detailRow, entryItem, markOutcome, pageText, ruleLink } from "../page/page.js"
import { type Exchange, maskSecrets } from "../testkit/Api.js"
import { ID } from "../testkit/Ids.js"
import { ruleAt } from "../testkit/RuleAddress.js"
import { type Case, sections } from "./Case.js"

/** The failure of a case. */
export interface CaseFailure {
  /** The value that the rule requires, in words. */
  readonly expected: string
  /** The value that the server returned, in words. */
  readonly found: string
  /** The request whose response was wrong; undefined if the case sent none. */
  readonly exchange: Exchange | undefined
}

/** The result of one case. */
export interface CaseResult {
  /** The case that ran. */
  readonly case: Case
  /** Whether the server follows the rule, breaks it, or was not tested. */
  readonly outcome: "passed" | "failed" | "skipped"
  /** How long the case took, in milliseconds. */
  readonly duration_ms: number
  /** The expected and the found value, if the case failed. */
  readonly failure?: CaseFailure
  /** The reason why the case was skipped. */
  readonly because?: string
}

/** The numbers of cases by outcome. */
interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Counts results by outcome. */
const countOutcomes = (results: ReadonlyArray<CaseResult>): Counts => {
  const countOf = (outcome: CaseResult["outcome"]) => results.filter((result) => result.outcome === outcome).length
  return { passed: countOf("passed"), failed: countOf("failed"), skipped: countOf("skipped") }
}

/** The results by section, in the order of the sections. A section without results is omitted. */
const groupBySection = (
  results: ReadonlyArray<CaseResult>
): ReadonlyArray<{ readonly section: Case["section"]; readonly results: ReadonlyArray<CaseResult> }> => {
  const sections = [...new Set(results.map((result) => result.case.section))]
  return sections.map((section) => ({ section, results: results.filter((result) => result.case.section === section) }))
}

/** Failures with the same cause: the same request got the same response, or the cases found the same value. */
interface Cause {
  /** The request and its response, such as `POST /v1/tickets: HTTP 404`; null if no request shows the failure. */
  readonly request: string | null
  readonly found: string
  /** The ids of the cases that failed in this way. */
  readonly cases: ReadonlyArray<string>
}

const requestOf = ({ exchange }: CaseFailure): string | null => {
  if (exchange === undefined) return null
  const { pathname } = new URL(exchange.url)
  return `${exchange.method} ${pathname.replaceAll(ID, "{id}")}: HTTP ${exchange.response.status}`
}

/** The failures of a run by cause. The cause of the most failures comes first. */
const causesOf = (results: ReadonlyArray<CaseResult>): ReadonlyArray<Cause> => {
  const causes = new Map<string, Cause>()
  for (const { case: testCase, failure } of results) {
    if (failure === undefined) continue
    const [request, what] = [requestOf(failure), failure.found.replaceAll(ID, "{id}")]
    const name = `${request} ${what}`
    causes.set(name, { request, found: what, cases: [...(causes.get(name)?.cases ?? []), testCase.id] })
  }
  return [...causes.values()].toSorted((a, b) => b.cases.length - a.cases.length)
}

/** The texts that must not be printed, by the shell variable that contains them. */
type Secrets = Readonly<Record<string, string>>

/** A header without its secret: a bearer token is replaced. */
const maskHeader = (name: string, value: string): string =>
  /^authorization$/i.test(name)
    ? value.replace(/^Bearer .+/, (bearer) => (bearer === maskSecrets(bearer) ? "Bearer …" : maskSecrets(bearer)))
    : maskSecrets(value)

/**
 * Quotes a text for a shell, with a variable in place of a secret. It uses double quotes, because a shell expands
 * variables only there. Undefined if the text contains no secret.
 */
const quoteWithVariable = (text: string, secrets: Secrets): string | undefined => {
  const [variable, secret] = Object.entries(secrets).find(([, secret]) => text.includes(secret)) ?? []
  if (variable === undefined || secret === undefined) return undefined
  const escaped = text.replaceAll(/["$`\\]/g, "\\$&")
  return `"${escaped.replaceAll(secret, `$${variable}`)}"`
}

const MAX_BODY_CHARACTERS = 2000

/** A request as a `formatCurl` command to paste into a shell. */
export const formatCurl = ({ method, url, headers, body }: Exchange, secrets: Secrets): string => {
  const methodFlags = method === "HEAD" ? ["-I"] : method === "GET" ? [] : ["-X", method]
  const isLong = body !== undefined && body.length > MAX_BODY_CHARACTERS
  return [
    "curl -si",
    ...methodFlags,
    quoteShell(url),
    ...Object.entries(headers).flatMap(([name, value]) => [
      "-H",
      quoteWithVariable(`${name}: ${value}`, secrets) ?? quoteShell(`${name}: ${maskHeader(name, value)}`)
    ]),
    ...(body === undefined
      ? []
      : ["--data-raw", quoteShell(maskSecrets(isLong ? `${body.slice(0, MAX_BODY_CHARACTERS)}…` : body))]),
    ...(isLong ? [`# the body has ${body.length} characters`] : [])
  ].join(" ")
}

const SHOWN_HEADERS = /^(content-type|request-id|ratelimit-.*|retry-after|idempotent-replayed|location)$/

/** The response as text: its status, the headers that the specification names, its body. */
const responseLines = ({ response: { status, headers, body } }: Exchange): string => {
  const shownHeaders = Object.entries(headers).filter(([name]) => SHOWN_HEADERS.test(name))
  const shownBody = body.length > MAX_BODY_CHARACTERS ? `${body.slice(0, MAX_BODY_CHARACTERS)}…` : body
  return [
    `HTTP ${status}`,
    ...shownHeaders.map(([name, value]) => `${name}: ${value}`),
    "",
    maskSecrets(shownBody)
  ].join("\n")
}

/** A run of the suite, as reports show it. */
export interface Report {
  readonly base_url: string
  /** How the cases reach the server: through its sandbox, or with the key of a real shop. */
  readonly with: "sandbox" | "key"
  readonly duration_ms: number
  readonly counts: Counts
  /** The failures by cause, because one missing endpoint makes many cases fail. */
  readonly causes: ReadonlyArray<Cause>
  readonly sections: ReadonlyArray<ReportedSection>
}

/** The cases of one section of the specification. */
interface ReportedSection {
  readonly section: string
  readonly title: string
  readonly counts: Counts
  readonly cases: ReadonlyArray<ReportedCase>
}

/** A case with the details of its failure. */
interface ReportedCase {
  readonly id: string
  readonly rule: string
  /** The page and the anchor of the rule. */
  readonly rule_at: string
  readonly outcome: CaseResult["outcome"]
  readonly duration_ms: number
  readonly because?: string
  readonly failure?: {
    readonly expected: string
    readonly found: string
    readonly curl?: string
    readonly answer?: string
  }
}

/** Converts a result to a case of a report. */
const toReportedCase = (result: CaseResult, secrets: Secrets): ReportedCase => {
  const { id, rule, anchor } = result.case
  const { outcome, duration_ms, because, failure } = result
  const skipped = because === undefined ? {} : { because }
  const common = { id, rule, rule_at: ruleAt(anchor), outcome, duration_ms, ...skipped }
  if (failure === undefined) return common
  const { exchange } = failure
  const [expected, found] = [maskSecrets(failure.expected), maskSecrets(failure.found)]
  const request = exchange === undefined ? {} : { curl: formatCurl(exchange, secrets), answer: responseLines(exchange) }
  return { ...common, failure: { expected, found, ...request } }
}

/** Creates the report of a run, without secrets. */
export const reportOf = (
  run: Pick<Report, "base_url" | "with" | "duration_ms">,
  results: ReadonlyArray<CaseResult>,
  secrets: Secrets
): Report => ({
  ...run,
  counts: countOutcomes(results),
  causes: causesOf(results).map((cause) => ({ ...cause, found: maskSecrets(cause.found) })),
  sections: groupBySection(results).map(({ section, results }) => ({
    section,
    title: sections[section],
    counts: countOutcomes(results),
    cases: results.map((result) => toReportedCase(result, secrets))
  }))
})

const TITLE_WIDTH = 46

const formatMarks = ({ passed, failed, skipped }: Counts, paint: Paint): string =>
  [
    passed > 0 ? paint("good", `✓ ${passed}`) : "",
    failed > 0 ? paint("bad", `✗ ${failed}`) : "",
    skipped > 0 ? paint("faint", `- ${skipped}`) : ""
  ]
    .filter((mark) => mark !== "")
    .join("  ")

/** The line of a section, and one line for each case that failed. */
export const sectionLines = (
  { section, title, counts, cases }: ReportedSection,
  paint: Paint
): ReadonlyArray<string> => [
  `${paint("strong", section.padEnd(8))}${title.padEnd(TITLE_WIDTH)}${formatMarks(counts, paint)}`,
  ...cases
    .filter(({ outcome }) => outcome === "failed")
    .map(({ id, rule }) => `  ${paint("bad", "✗")} ${paint("name", id)}  ${rule}`)
]

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, "    ")

const failureLines = (section: string, { id, rule, rule_at, failure }: ReportedCase, paint: Paint) => {
  if (failure === undefined) return []
  const { expected, found, curl, answer } = failure
  return [
    "",
    `${paint("bad", "✗")} ${section} ${paint("name", id)}`,
    `  ${rule}`,
    `  ${paint("faint", "breaks   ")} ${rule_at}`,
    `  ${paint("faint", "expected ")} ${paint("good", expected)}`,
    `  ${paint("faint", "found    ")} ${paint("bad", found)}`,
    ...(curl === undefined ? [] : [`  ${paint("faint", "request")}`, indent(curl)]),
    ...(answer === undefined ? [] : [`  ${paint("faint", "response")}`, indent(answer)])
  ]
}

const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** For each cause, the first failure in full and the other cases that failed in the same way. */
const causeLines = ({ causes, sections }: Report, paint: Paint): ReadonlyArray<string> =>
  causes.flatMap(({ cases: [first, ...others] }) => {
    const lines = sections.flatMap(({ section, cases }) =>
      cases.filter(({ id }) => id === first).flatMap((testCase) => failureLines(section, testCase, paint))
    )
    const ids = others.map((id) => paint("name", id)).join(", ")
    return others.length === 0
      ? lines
      : [...lines, `  ${paint("faint", `${others.length} more failed in the same way:`)} ${ids}`]
  })

const causesInWords = ({ causes, counts: { failed } }: Report): ReadonlyArray<string> =>
  causes.length === failed ? [] : ["", `${pluralize(failed, "failure")} with ${pluralize(causes.length, "cause")}:`]

/** The failures by cause, the reasons of skipped cases, and the totals. */
export const closingLines = (report: Report, paint: Paint): ReadonlyArray<string> => {
  const { sections, counts, duration_ms } = report
  const cases = sections.flatMap(({ cases }) => cases)
  const reasons = new Map<string, number>()
  for (const { because } of cases) if (because !== undefined) reasons.set(because, (reasons.get(because) ?? 0) + 1)
  return [
    ...causesInWords(report),
    ...causeLines(report, paint),
    "",
    ...[...reasons].map(([because, n]) => paint("faint", `${n} skipped: ${because}.`)),
    `${pluralize(cases.length, "case")} in ${formatSeconds(duration_ms)}: ${formatMarks(counts, paint)}`
  ]
}

const STYLE = `
.bar { display: flex; height: .5rem; border-radius: .25rem; overflow: hidden; margin: 1rem 0; background: var(--line); }
.bar .passed { background: var(--good); } .bar .failed { background: var(--bad); }
`

const outcomesIn = (counts: Counts): string =>
  (["passed", "failed", "skipped"] as const)
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => markOutcome(outcome, counts[outcome]))
    .join(" ")

const caseItem =
  ({ base_url, with: access }: Report) =>
  ({ id, rule, rule_at, outcome, duration_ms, because, failure }: ReportedCase): string => {
    const rows = [detailRow("written in", ruleLink(rule_at), "html")]
    if (because !== undefined) rows.push(detailRow("skipped", because))
    if (failure !== undefined) {
      rows.push(detailRow("expected", failure.expected), detailRow("found", failure.found))
      if (failure.curl !== undefined) rows.push(detailRow("request", failure.curl, "code"))
      if (failure.answer !== undefined) rows.push(detailRow("response", failure.answer, "code"))
    }
    const key = access === "key" ? ' --key "$WORKSHOP_KEY"' : ""
    return entryItem({
      ...{ id, outcome, duration_ms },
      title: `${escapeHtml(rule)} <code class="faint">${escapeHtml(id)}</code>`,
      command: `npx workshop conform --base-url ${base_url}${key} --only ${id}`,
      body: `<dl>${rows.join("")}</dl>`
    })
  }

const sectionPart =
  (report: Report) =>
  ({ section, title, counts, cases }: ReportedSection): string =>
    `<section><h2><span>${escapeHtml(section)}</span><span>${escapeHtml(title)}</span><span class="counts">${outcomesIn(counts)}</span></h2><ul class="entries">${cases.map(caseItem(report)).join("\n")}</ul></section>`

/** A report as one HTML page, which loads no other file. */
export const htmlReport = (report: Report): string => {
  const { base_url, with: access, duration_ms, counts, sections } = report
  const { passed, failed } = counts
  const verdict = failed === 0 ? "conforms" : `breaks ${pluralize(failed, "rule")}`
  const accessInWords = access === "sandbox" ? "the server's sandbox" : "a key alone"
  return pageText({
    title: `${base_url} ${verdict}`,
    isGood: failed === 0,
    style: STYLE,
    body: `<p class="lead">${outcomesIn(counts)} in ${formatSeconds(duration_ms)}, with ${accessInWords}</p>
<div class="bar"><span class="passed" style="flex:${passed}"></span><span class="failed" style="flex:${failed}"></span><span style="flex:${counts.skipped}"></span></div>
${sections.map(sectionPart(report)).join("\n")}`
  })
}

const junitCase = ({ section }: ReportedSection, testCase: ReportedCase): JUnitCase => {
  const { id, rule, rule_at, duration_ms, because, failure } = testCase
  const { expected, found, curl = "", answer = "" } = failure ?? { expected: "", found: "" }
  return {
    classname: section,
    name: `${id}: ${rule}`,
    duration_ms,
    skipped: because,
    failure: failure && {
      message: `expected ${expected}, but found ${found}`,
      text: [`breaks ${rule_at}`, `expected ${expected}`, `found ${found}`, "", curl, "", answer].join("\n")
    }
  }
}

/** A report as JUnit XML, which build servers read. */
export const junitReport = ({ sections, duration_ms }: Report): string =>
  junitXml(
    "workshop conform",
    duration_ms,
    sections.map((part) => ({
      name: `${part.section} ${part.title}`,
      duration_ms: part.cases.reduce((sum, testCase) => sum + testCase.duration_ms, 0),
      cases: part.cases.map((testCase) => junitCase(part, testCase))
    }))
  )
