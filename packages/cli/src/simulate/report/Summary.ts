import type { Evidence, Violation } from "../auditor/Evidence.js"
import type { Lap } from "../Witness.js"

type Tally = Readonly<Record<string, number>>

/** What was done, counted: the same for the same seed. */
export interface Counts {
  readonly steps: number
  readonly shops: number
  readonly clients: number
  readonly tickets: number
  readonly requests: number
  readonly deliveries: number
  readonly simulated_ms: number
  /** Requests by what was done. */
  readonly acts: Tally
  /** Answers by status; `cut` got none. */
  readonly answers: Tally
  readonly events: Tally
  /** Tickets by where they stand at the end. */
  readonly states: Tally
  /** Deliveries by what became of them. */
  readonly outcomes: Tally
}

/** What a simulation answers to a program (Specification, Commands). */
export interface Summary {
  readonly seed: number
  /** A fingerprint of everything that was seen; the same seed has the same on the memory store. */
  readonly digest: string
  readonly counts: Counts
  readonly violations: ReadonlyArray<Violation>
}

const tally = (names: Iterable<string>): Tally => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Counts what was seen. */
export const count = (
  { exchanges, receptions, shops, clients, started_at, ended_at }: Evidence,
  steps: number
): Counts => ({
  steps,
  shops: shops.length,
  clients: clients.length,
  tickets: shops.reduce((sum, { listed }) => sum + listed.length, 0),
  requests: exchanges.length,
  deliveries: receptions.length,
  simulated_ms: ended_at - started_at,
  acts: tally(exchanges.map(({ act }) => act)),
  answers: tally(exchanges.map(({ answer }) => String(answer?.status ?? "cut"))),
  events: tally(shops.flatMap(({ events }) => events.map(({ type }) => type))),
  states: tally(shops.flatMap(({ listed }) => listed.map(({ state }) => state))),
  outcomes: tally(shops.flatMap(({ deliveries }) => deliveries.map(({ state }) => state)))
})

/** How long the requests of an act took, in real milliseconds. */
export interface Latency {
  readonly act: string
  readonly times: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** What a share of numbers, in their order, is below. */
export const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

/** The latencies of each act, the most frequent first. */
export const latencies = (laps: ReadonlyArray<Lap>): ReadonlyArray<Latency> => {
  const acts = new Map<string, Array<number>>()
  for (const { act, took_ms } of laps) {
    const times = acts.get(act)
    if (times === undefined) acts.set(act, [took_ms])
    else times.push(took_ms)
  }
  return [...acts]
    .map(([act, times]) => {
      const sorted = [...times].sort((a, b) => a - b)
      return {
        act,
        times: times.length,
        p50: percentile(sorted, 0.5),
        p95: percentile(sorted, 0.95),
        p99: percentile(sorted, 0.99)
      }
    })
    .sort((a, b) => b.times - a.times)
}
