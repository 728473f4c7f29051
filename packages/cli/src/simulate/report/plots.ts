import type { Evidence, SeenEvent } from "../auditor/Evidence.js"
import { ms } from "../auditor/Reading.js"
import type { Lap } from "../Witness.js"
import { bars, lines, type Series, stacked } from "./Plot.js"
import { percentile } from "./Summary.js"

const BUCKETS = 60

/** How many laps ended in each of equal parts of the run, a second. */
const throughput = (laps: ReadonlyArray<Lap>): Series => {
  const first = laps[0]?.ended_ms ?? 0
  const width = Math.max(1, ((laps.at(-1)?.ended_ms ?? 1) - first) / BUCKETS)
  const counts = Array.from({ length: BUCKETS }, () => 0)
  for (const { ended_ms } of laps) counts[Math.min(BUCKETS - 1, Math.floor((ended_ms - first) / width))]! += 1
  return { name: "requests", points: counts.map((n, i) => [(i * width) / 1000, (n / width) * 1000] as const) }
}

const latencyOverRun = (laps: ReadonlyArray<Lap>): ReadonlyArray<Series> => {
  const size = Math.max(1, Math.ceil(laps.length / BUCKETS))
  const parts = Array.from({ length: Math.ceil(laps.length / size) }, (_, i) =>
    laps
      .slice(i * size, (i + 1) * size)
      .map(({ took_ms }) => took_ms)
      .sort((a, b) => a - b)
  )
  return (
    [
      ["p50", 0.5],
      ["p99", 0.99]
    ] as const
  ).map(([name, share]) => ({ name, points: parts.map((part, i) => [i * size, percentile(part, share)] as const) }))
}

const DELAYS: ReadonlyArray<readonly [name: string, most: number]> = [
  ["at once", 1000],
  ["1 min", 61_000],
  ["6 min", 361_000],
  ["36 min", 2_161_000],
  ["3 h", 10_800_000],
  ["9 h", 32_400_000],
  ["21 h", 75_600_000],
  ["2 d", 172_800_000],
  ["longer", Number.POSITIVE_INFINITY]
]

/** How long after its event each delivery arrived, on the sandbox clock. */
const deliveryDelays = ({ shops }: Evidence): ReadonlyArray<readonly [string, number]> => {
  const counts = new Map(DELAYS.map(([name]) => [name, 0]))
  for (const { events, deliveries } of shops) {
    const raised = new Map(events.map(({ id, created_at }) => [id, ms(created_at)]))
    for (const { event_id, attempts } of deliveries) {
      const arrived = attempts.find(({ status }) => status !== null && status < 300)
      if (arrived === undefined) continue
      const delay = ms(arrived.started_at) - (raised.get(event_id) ?? 0)
      const name = DELAYS.find(([, most]) => delay <= most)?.[0] ?? "longer"
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return [...counts]
}

const STATES = ["workshop", "ready", "impossible", "collected", "abandoned"] as const

/** How many tickets stood where, over the days of the simulation. */
const statesOverTime = ({ shops, started_at, ended_at }: Evidence): ReadonlyArray<Series> => {
  const events: ReadonlyArray<SeenEvent> = shops
    .flatMap((shop) => shop.events)
    .sort((a, b) => ms(a.created_at) - ms(b.created_at))
  const states = new Map<string, string>()
  const series = STATES.map((name) => ({ name, points: [] as Array<readonly [number, number]> }))
  let next = 0
  for (let bucket = 0; bucket <= BUCKETS; bucket++) {
    const until = started_at + ((ended_at - started_at) * bucket) / BUCKETS
    for (; next < events.length && ms(events[next]!.created_at) <= until; next++) {
      const { ticket } = events[next]!.data
      if (ticket !== undefined) states.set(ticket.id, ticket.state)
    }
    const all = [...states.values()]
    for (const { name, points } of series) points.push([until, all.filter((state) => state === name).length])
  }
  return series
}

const day = (instant: number): string => new Date(instant).toISOString().slice(0, 10)

/** What a simulation was, drawn: how fast it went, when deliveries arrived, where tickets stood. */
export const plots = (evidence: Evidence, laps: ReadonlyArray<Lap>): ReadonlyArray<string> => [
  lines(
    { title: "Throughput", x: "seconds of the run", y: "requests a second" },
    [throughput(laps)],
    (x) => `${x.toFixed(1)} s`
  ),
  lines({ title: "Latency", x: "requests", y: "milliseconds" }, latencyOverRun(laps), (x) => String(x)),
  bars(
    {
      title: "Delay of deliveries, on the sandbox clock",
      x: "from the event to its arrival, at most",
      y: "deliveries"
    },
    deliveryDelays(evidence)
  ),
  stacked({ title: "Tickets by state", x: "the sandbox clock", y: "tickets" }, statesOverTime(evidence), day)
]
