import { type Exchange, masked } from "../testkit/Api.js"
import { type Case, ruleAt, sections } from "./Case.js"

/** Why a case failed. */
export interface Failure {
  readonly expected: string
  readonly found: string
  readonly exchange: Exchange | undefined
}

/** The result of one case. */
export interface Result {
  readonly case: Case
  readonly outcome: "passed" | "failed" | "skipped"
  readonly duration_ms: number
  readonly failure?: Failure
  /** Why it was skipped. */
  readonly because?: string
}

/** The number of cases by outcome. */
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

/** Failures that look alike: the same request got the same response, or the same was found. */
interface Cause {
  /** `POST /v1/tickets: HTTP 404`; null where no request shows the failure. */
  readonly request: string | null
  readonly found: string
  /** The cases that failed so, by their ids. */
  readonly cases: ReadonlyArray<string>
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

const requestOf = ({ exchange }: Failure): string | null => {
  if (exchange === undefined) return null
  const { pathname } = new URL(exchange.url)
  return `${exchange.method} ${pathname.replaceAll(ID, "{id}")}: HTTP ${exchange.response.status}`
}

/** The failures of a run by their causes, the one with the most cases first. */
const causesOf = (results: ReadonlyArray<Result>): ReadonlyArray<Cause> => {
  const found = new Map<string, Cause>()
  for (const { case: one, failure } of results) {
    if (failure === undefined) continue
    const [request, what] = [requestOf(failure), failure.found.replaceAll(ID, "{id}")]
    const name = `${request} ${what}`
    found.set(name, { request, found: what, cases: [...(found.get(name)?.cases ?? []), one.id] })
  }
  return [...found.values()].toSorted((a, b) => b.cases.length - a.cases.length)
}

/** Texts that must not be printed, by the shell variable that holds each. */
type Secrets = Readonly<Record<string, string>>

/** A header as it may be shown: of a bearer token, that there was one. */
const maskedHeader = (name: string, value: string): string =>
  /^authorization$/i.test(name)
    ? value.replace(/^Bearer .+/, (given) => (given === masked(given) ? "Bearer …" : masked(given)))
    : masked(value)

const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Quoted for a shell, a secret as its variable, which only double quotes let through; undefined where it holds none. */
const withVariable = (text: string, secrets: Secrets): string | undefined => {
  const [variable, secret] = Object.entries(secrets).find(([, secret]) => text.includes(secret)) ?? []
  if (variable === undefined || secret === undefined) return undefined
  const escaped = text.replaceAll(/["$`\\]/g, "\\$&")
  return `"${escaped.replaceAll(secret, `$${variable}`)}"`
}

const MAX_BODY = 2000

/** The request as a line to paste into a shell. */
export const curl = ({ method, url, headers, body }: Exchange, secrets: Secrets): string => {
  const how = method === "HEAD" ? ["-I"] : method === "GET" ? [] : ["-X", method]
  const long = body !== undefined && body.length > MAX_BODY
  return [
    "curl -si",
    ...how,
    single(url),
    ...Object.entries(headers).flatMap(([name, value]) => [
      "-H",
      withVariable(`${name}: ${value}`, secrets) ?? single(`${name}: ${maskedHeader(name, value)}`)
    ]),
    ...(body === undefined ? [] : ["--data-raw", single(masked(long ? `${body.slice(0, MAX_BODY)}…` : body))]),
    ...(long ? [`# the body has ${body.length} characters`] : [])
  ].join(" ")
}

const SHOWN_HEADERS = /^(content-type|request-id|ratelimit-.*|retry-after|idempotent-replayed|location)$/

/** The response as text: its status, the headers that the specification names, its body. */
const responseLines = ({ response: { status, headers, body } }: Exchange): string => {
  const listed = Object.entries(headers).filter(([name]) => SHOWN_HEADERS.test(name))
  const shown = body.length > MAX_BODY ? `${body.slice(0, MAX_BODY)}…` : body
  return [`HTTP ${status}`, ...listed.map(([name, value]) => `${name}: ${value}`), "", masked(shown)].join("\n")
}

/** A run, as reports show it. */
export interface Report {
  readonly base_url: string
  /** Whether the server's sandbox was used, or the key of a real shop. */
  readonly with: "sandbox" | "key"
  readonly duration_ms: number
  readonly counts: Counts
  /** The failures by cause, because one missing endpoint fails many cases. */
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
  /** Where the rule is written. */
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
const reported = (result: Result, secrets: Secrets): ReportedCase => {
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
  const shown = exchange === undefined ? {} : { curl: curl(exchange, secrets), answer: responseLines(exchange) }
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
