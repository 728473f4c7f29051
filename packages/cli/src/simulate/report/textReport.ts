import { type Paint, plain } from "../../terminal/Style.js"
import { type Column, table } from "../../terminal/Table.js"
import { checks } from "../auditor/audit.js"
import type { Violation } from "../auditor/Evidence.js"
import { grouped } from "../auditor/Reading.js"
import type { Latency, Summary } from "./Summary.js"

/** Everything that is reported of a simulation, besides its counts. */
export interface Told {
  readonly summary: Summary
  readonly latencies: ReadonlyArray<Latency>
  readonly took_ms: number
  /** Repeats the run. */
  readonly command: string
  /** Why it ended before its steps were made; null where it did not. */
  readonly stopped: string | null
  /** What became of the clock of a running server; null for a store in this process. */
  readonly clock: string | null
}

const DAY = 86_400_000
const MOST_SHOWN = 5
const MOST_CHARACTERS = 600

const number = (n: number): string => n.toLocaleString("en-US")
const milliseconds = (n: number): string => n.toFixed(n < 10 ? 2 : 0)

const listed = (title: string, tally: Readonly<Record<string, number>>): string =>
  `${title}: ${
    Object.entries(tally)
      .map(([name, n]) => `${name} ${number(n)}`)
      .join(", ") || "none"
  }`

const shortened = (evidence: unknown): string => {
  const text = JSON.stringify(evidence) ?? ""
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}...` : text
}

/** How often a rule was broken, and where it stands. */
export const ruleLine = (rule: string, violations: ReadonlyArray<Violation>): string =>
  `${rule}: broken ${violations.length === 1 ? "once" : `${number(violations.length)} times`} (${violations[0]?.section})`

const broken = (rule: string, violations: ReadonlyArray<Violation>, paint: Paint): ReadonlyArray<string> => {
  const shown = violations.slice(0, MOST_SHOWN)
  const more = violations.length - shown.length
  return [
    paint("bad", ruleLine(rule, violations)),
    ...shown.flatMap(({ message, evidence }) => [`  ${message}`, paint("faint", `    ${shortened(evidence)}`)]),
    ...(more > 0 ? [`  and ${number(more)} more: --json prints them all`] : [])
  ]
}

/** What a simulation was, in counts. */
export const countLines = ({ summary, took_ms, stopped }: Told, paint: Paint = plain): ReadonlyArray<string> => {
  const { seed, counts } = summary
  const seconds = took_ms / 1000
  return [
    paint(
      "strong",
      `Seed ${seed}: ${number(counts.steps)} steps over ${number(Math.round(counts.simulated_ms / DAY))} days, played in ${seconds.toFixed(1)} s`
    ),
    ...(stopped === null ? [] : [paint("warn", stopped)]),
    `${number(counts.requests)} requests (${number(Math.round(counts.requests / seconds))} a second), ${number(counts.deliveries)} deliveries, ${number(counts.tickets)} tickets, ${counts.shops} shops, ${counts.clients} clients`,
    listed("Answers", counts.answers),
    listed("Events", counts.events),
    listed("Tickets", counts.states),
    listed("Deliveries", counts.outcomes)
  ]
}

/** How long the requests of each act took. */
export const latencyColumns: ReadonlyArray<Column<Latency>> = [
  { title: "Act", cell: ({ act }) => act },
  { title: "Times", cell: ({ times }) => number(times), align: "right" },
  { title: "p50 ms", cell: ({ p50 }) => milliseconds(p50), align: "right" },
  { title: "p95 ms", cell: ({ p95 }) => milliseconds(p95), align: "right" },
  { title: "p99 ms", cell: ({ p99 }) => milliseconds(p99), align: "right" }
]

/** The fingerprint, that all is well where it is, and how to see it again. */
export const endLines = ({ summary, command, clock }: Told, paint: Paint = plain): ReadonlyArray<string> => {
  const names = Object.keys(checks)
  return [
    `Digest ${summary.digest}`,
    ...(summary.violations.length === 0 ? [paint("good", `All ${names.length} checks hold: ${names.join(", ")}`)] : []),
    ...(clock === null ? [] : [clock]),
    `Repeat it: ${command}`
  ]
}

/** The report of a simulation, for the terminal. */
export const textReport = (
  told: Told,
  { paint = plain, width = Number.POSITIVE_INFINITY }: { readonly paint?: Paint; readonly width?: number } = {}
): ReadonlyArray<string> => [
  ...countLines(told, paint),
  "",
  ...table(told.latencies, latencyColumns, { width, paint }),
  "",
  ...[...grouped(told.summary.violations, ({ rule }) => rule)].flatMap(([rule, found]) => broken(rule, found, paint)),
  ...endLines(told, paint)
]
