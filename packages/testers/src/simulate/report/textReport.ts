import { type Column, formatTable, type Paint, paintPlain, pluralize } from "@workshop/core/internal/terminal"
import { DAY } from "../../testkit/Time.js"
import { checks } from "../auditor/audit.js"
import type { Trace, Violation } from "../auditor/Trace.js"
import { groupValues } from "../auditor/traceQueries.js"
import type { Timing } from "../Observers.js"

type Tally = Readonly<Record<string, number>>

/** Counts of a simulation, which are the same for the same seed. */
interface Counts {
  readonly steps: number
  readonly shops: number
  readonly clients: number
  readonly tickets: number
  readonly requests: number
  readonly deliveries: number
  readonly simulated_ms: number
  /** The requests by action. */
  readonly actions: Tally
  /** The responses by status; `cut` counts requests without a response. */
  readonly answers: Tally
  readonly events: Tally
  /** The tickets by state at the end. */
  readonly states: Tally
  /** The deliveries by outcome. */
  readonly outcomes: Tally
}

/** The result of a simulation for a program (Specification, Commands). */
export interface Summary {
  readonly seed: number
  /** A digest of everything that was recorded. On the memory store, it is the same for the same seed. */
  readonly digest: string
  readonly counts: Counts
  readonly violations: ReadonlyArray<Violation>
}

const tallyNames = (names: Iterable<string>): Tally => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Counts the requests, tickets and deliveries of a trace. */
export const countTrace = (
  { exchanges, receptions, shops, clients, started_at, ended_at }: Trace,
  steps: number
): Counts => ({
  steps,
  shops: shops.length,
  clients: clients.length,
  tickets: shops.reduce((sum, { listed }) => sum + listed.length, 0),
  requests: exchanges.length,
  deliveries: receptions.length,
  simulated_ms: ended_at - started_at,
  actions: tallyNames(exchanges.map(({ action }) => action)),
  answers: tallyNames(exchanges.map(({ response }) => String(response?.status ?? "cut"))),
  events: tallyNames(shops.flatMap(({ events }) => events.map(({ type }) => type))),
  states: tallyNames(shops.flatMap(({ listed }) => listed.map(({ state }) => state))),
  outcomes: tallyNames(shops.flatMap(({ deliveries }) => deliveries.map(({ state }) => state)))
})

/** The latencies of an action, in real milliseconds. */
interface Latency {
  readonly action: string
  readonly times: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** A percentile of sorted numbers; `share` is 0.5 for the median. */
export const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

/** The latencies of each action, the most frequent first. */
export const computeLatencies = (timings: ReadonlyArray<Timing>): ReadonlyArray<Latency> =>
  Array.from(
    groupValues(timings, ({ action }) => action),
    ([action, times]) => {
      const sorted = times.map(({ took_ms }) => took_ms).sort((a, b) => a - b)
      const [p50 = 0, p95 = 0, p99 = 0] = [0.5, 0.95, 0.99].map((share) => percentile(sorted, share))
      return { action, times: times.length, p50, p95, p99 }
    }
  ).sort((a, b) => b.times - a.times)

/** The report of a simulation, without its counts. */
export interface RunReport {
  readonly summary: Summary
  readonly latencies: ReadonlyArray<Latency>
  readonly took_ms: number
  /** The command that repeats the run. */
  readonly command: string
  /** The reason why the run ended before its last step; null if it did not. */
  readonly stopped: string | null
  /** A sentence about the clock of a running server; null for a store in this process. */
  readonly clock: string | null
}

const MAX_SHOWN_VIOLATIONS = 5
const MAX_CHARACTERS = 600

const formatNumber = (n: number): string => n.toLocaleString("en-US")
const formatMs = (n: number): string => n.toFixed(n < 10 ? 2 : 0)

const formatTally = (title: string, tally: Readonly<Record<string, number>>): string =>
  `${title}: ${
    Object.entries(tally)
      .map(([name, n]) => `${name} (${formatNumber(n)})`)
      .join(", ") || "none"
  }`

const formatEvidence = (evidence: unknown): string => {
  const text = JSON.stringify(evidence) ?? ""
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}...` : text
}

/** The number of violations of a check, and the section of its rules. */
export const ruleLine = (rule: string, violations: ReadonlyArray<Violation>): string =>
  `${rule}: broken ${violations.length === 1 ? "once" : `${formatNumber(violations.length)} times`} (${violations[0]?.section})`

const brokenRuleLines = (rule: string, violations: ReadonlyArray<Violation>, paint: Paint): ReadonlyArray<string> => {
  const shown = violations.slice(0, MAX_SHOWN_VIOLATIONS)
  const hiddenCount = violations.length - shown.length
  return [
    paint("bad", ruleLine(rule, violations)),
    ...shown.flatMap(({ rule_at, message, evidence }) => [
      `  ${message}`,
      `    ${paint("faint", "breaks")} ${rule_at}`,
      paint("faint", `    ${formatEvidence(evidence)}`)
    ]),
    ...(hiddenCount > 0 ? [`  and ${formatNumber(hiddenCount)} more. To print all of them, use --json`] : [])
  ]
}

const formatCount = (n: number, noun: string): string => pluralize(n, noun, formatNumber(n))

/** The counts of a simulation, as lines. */
export const countLines = (
  { summary, took_ms, stopped }: RunReport,
  paint: Paint = paintPlain
): ReadonlyArray<string> => {
  const { seed, counts } = summary
  const seconds = took_ms / 1000
  return [
    paint(
      "strong",
      `Seed ${seed}: ${formatCount(counts.steps, "step")} over ${formatCount(Math.round(counts.simulated_ms / DAY), "day")}, in ${seconds.toFixed(1)} s of real time`
    ),
    ...(stopped === null ? [] : [paint("warn", stopped)]),
    `${formatCount(counts.requests, "request")} (${formatNumber(Math.round(counts.requests / seconds))} a second), ${formatNumber(counts.deliveries)} ${counts.deliveries === 1 ? "delivery" : "deliveries"}, ${formatCount(counts.tickets, "ticket")}, ${formatCount(counts.shops, "shop")}, ${formatCount(counts.clients, "client")}`,
    formatTally("Responses by status", counts.answers),
    formatTally("Events", counts.events),
    formatTally("Tickets", counts.states),
    formatTally("Deliveries", counts.outcomes)
  ]
}

/** The columns of the table of latencies. */
export const latencyColumns: ReadonlyArray<Column<Latency>> = [
  { title: "Action", cell: ({ action }) => action },
  { title: "Times", cell: ({ times }) => formatNumber(times), align: "right" },
  { title: "p50 ms", cell: ({ p50 }) => formatMs(p50), align: "right" },
  { title: "p95 ms", cell: ({ p95 }) => formatMs(p95), align: "right" },
  { title: "p99 ms", cell: ({ p99 }) => formatMs(p99), align: "right" }
]

/** The digest, the verdict if nothing was violated, and the command that repeats the run. */
export const endLines = ({ summary, command, clock }: RunReport, paint: Paint = paintPlain): ReadonlyArray<string> => {
  const names = Object.keys(checks)
  return [
    `Digest ${summary.digest}`,
    ...(summary.violations.length === 0 ? [paint("good", `All ${names.length} checks hold: ${names.join(", ")}`)] : []),
    ...(clock === null ? [] : [clock]),
    `Repeat the run: ${command}`
  ]
}

/** The report of a simulation, for the terminal. */
export const textReport = (
  report: RunReport,
  { paint, width }: { readonly paint: Paint; readonly width: number }
): ReadonlyArray<string> => [
  ...countLines(report, paint),
  "",
  ...formatTable(report.latencies, latencyColumns, { width, paint }),
  "",
  ...[...groupValues(report.summary.violations, ({ rule }) => rule)].flatMap(([rule, found]) =>
    brokenRuleLines(rule, found, paint)
  ),
  ...endLines(report, paint)
]
