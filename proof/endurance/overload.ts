import { mkdirSync, writeFileSync } from "node:fs"
import { quantile } from "../quantile.js"
import type { Second } from "./Generator.js"
import { judgeOverload, type Overload, SETTLED_S, WELL_MS } from "./judgeOverload.js"
import { memoryOf, postgresTime, processorTime } from "./Probe.js"
import { type Chart, plot } from "./plot.js"
import { type Testbed, withTestbed } from "./Testbed.js"

/** Each shop has five keys with 120 requests a minute, so 300 shops allow three thousand requests a second. */
const SHOPS = 300
/** The number of requests that a process always admits. */
const CLIENTS = 32
const TIMES = 4
/** The share of the requests that come from one client, which sends far more than its key allows. */
const GREEDY = 0.05
const WARM_UP_S = 8
const CAPACITY_S = 10
const AFTER_S = 20
/** The number of consecutive good seconds after which the service counts as recovered. */
const WELL_SECONDS = 3

/** The metrics of the service in one second. */
interface Look {
  readonly memory_mib: number
  readonly in_flight: number
  /** The processor time of the service, of Postgres and of the generator so far, in seconds. */
  readonly used_s: readonly [number, number, number]
}

/** The measurements of the generator and of the service in one second. */
interface Moment extends Second, Look {
  readonly second: number
}

const waitsOf = (seconds: ReadonlyArray<Second>, isMeant: (outcome: string) => boolean) =>
  seconds.flatMap(({ waits }) => Object.entries(waits).flatMap(([outcome, list]) => (isMeant(outcome) ? list : [])))

const isHandled = (outcome: string) => outcome === "200" || outcome === "201"
const isLost = (outcome: string) => outcome === "timeout" || outcome === "reset"
const isRefused = (outcome: string) => outcome === "503"
const isAny = () => true

/**
 * True if the service responds as before the overload: it refuses no request for lack of capacity, and responds
 * quickly.
 */
const isWell = (one: Second): boolean => {
  const waits = waitsOf([one], isAny)
  const bad = waitsOf([one], (outcome) => isRefused(outcome) || isLost(outcome))
  return waits.length > 0 && bad.length === 0 && quantile(waits, 0.99) <= WELL_MS
}

const looking = ({ node, postgres, generator }: Testbed) => {
  let in_flight = 0
  const look = async () => {
    try {
      const response = await fetch(`${node.base}/metrics`, { signal: AbortSignal.timeout(3000) })
      const [, count] = /^workshop_http_requests_in_flight(?:\{[^}]*\})? (\d+)/m.exec(await response.text()) ?? []
      in_flight = Number(count ?? in_flight)
    } catch {
      // If the service does not respond, the last value is kept, because the latencies of the clients show the failure
      // anyway.
    }
  }
  const timer = setInterval(() => void look(), 1000)
  return {
    look: (): Look => ({
      memory_mib: memoryOf(node.pid),
      in_flight,
      used_s: [processorTime(node.pid), postgresTime(postgres), processorTime(generator.pid)]
    }),
    end: () => clearInterval(timer)
  }
}

const charts = (moments: ReadonlyArray<Moment>): ReadonlyArray<Chart> => {
  const line = (label: string, of: (one: Moment) => number) => ({
    label,
    points: moments.map((moment) => ({ second: moment.second, value: of(moment) }))
  })
  const count = (isMeant: (outcome: string) => boolean) => (one: Moment) => waitsOf([one], isMeant).length
  const p99 = (isMeant: (outcome: string) => boolean) => (one: Moment) => quantile(waitsOf([one], isMeant), 0.99)
  return [
    {
      name: "requests a second",
      lines: [
        line("due", ({ due }) => due),
        line("503", count(isRefused)),
        line("handled", count(isHandled)),
        line(
          "429",
          count((outcome) => outcome === "429")
        ),
        line("without a response", count(isLost))
      ]
    },
    {
      name: "99th percentile (ms)",
      lines: [
        line("handled", p99(isHandled)),
        line("503", p99(isRefused)),
        line(
          "429",
          p99((outcome) => outcome === "429")
        )
      ]
    },
    { name: "in flight (/metrics)", lines: [line("", ({ in_flight }) => in_flight)] },
    { name: "memory (MiB)", lines: [line("", ({ memory_mib }) => memory_mib)] }
  ]
}

const figuresOf = (
  before: ReadonlyArray<Moment>,
  during: ReadonlyArray<Moment>,
  after: ReadonlyArray<Moment>,
  wanted: number
): Overload => {
  const p99 = (isMeant: (outcome: string) => boolean) => quantile(waitsOf(during, isMeant), 0.99)
  const all = waitsOf(during, isAny).length
  const well = after.findIndex(
    (_, index) => index + WELL_SECONDS <= after.length && after.slice(index, index + WELL_SECONDS).every(isWell)
  )
  const every = [...before, ...during, ...after]
  return {
    capacity: waitsOf(before, isHandled).length / before.length,
    wanted,
    offered: during.reduce((sum, { due }) => sum + due, 0) / during.length,
    lag_ms: quantile(
      during.map(({ lag_ms }) => lag_ms),
      0.99
    ),
    handled: waitsOf(during, isHandled).length / during.length,
    handled_p99_ms: p99(isHandled),
    refused_p99_ms: quantile(waitsOf(during.slice(SETTLED_S), isRefused), 0.99),
    limited_p99_ms: p99((outcome) => outcome === "429"),
    lost: waitsOf(during, isLost).length / Math.max(1, all),
    in_flight: Math.max(...every.map(({ in_flight }) => in_flight)),
    before_mib: before.at(-1)!.memory_mib,
    most_mib: Math.max(...during.map(({ memory_mib }) => memory_mib), ...after.map(({ memory_mib }) => memory_mib)),
    recovered_s: well < 0 ? undefined : well + 1,
    unexpected: [
      ...every.flatMap(({ unexpected }) => unexpected).slice(0, 20),
      ...(every.at(-1)!.unasked > 0 ? [`${every.at(-1)!.unasked} responses came without a request`] : [])
    ]
  }
}

const report = (seen: Overload, during: ReadonlyArray<Moment>): void => {
  const counts: Record<string, number> = {}
  for (const { waits } of during)
    for (const [outcome, list] of Object.entries(waits)) counts[outcome] = (counts[outcome] ?? 0) + list.length
  const cores = [0, 1, 2].map((of) =>
    ((during.at(-1)!.used_s[of]! - during[0]!.used_s[of]!) / Math.max(1, during.length - 1)).toFixed(2)
  )
  const ms = (value: number) => `${value.toFixed(0)} ms`
  console.log(
    `Capacity: ${seen.capacity.toFixed(0)} requests a second. Offered: ${seen.offered.toFixed(0)} of ${seen.wanted.toFixed(0)} a second for ${during.length} s, sent at most ${ms(seen.lag_ms)} late.`
  )
  console.log(
    `Handled: ${seen.handled.toFixed(0)} a second, median ${ms(quantile(waitsOf(during, isHandled), 0.5))}, 99th percentile ${ms(seen.handled_p99_ms)}.`
  )
  console.log(
    `Outcomes: ${JSON.stringify(counts)}; 99th percentile of 503 ${ms(seen.refused_p99_ms)} after ${SETTLED_S} s, of 429 ${ms(seen.limited_p99_ms)}.`
  )
  console.log(`Processors used: ${cores[0]} by the service, ${cores[1]} by Postgres, ${cores[2]} by the generator.`)
  console.log(
    `In flight: at most ${seen.in_flight}. Memory: ${seen.before_mib} MiB before, at most ${seen.most_mib} MiB. Recovered within ${seen.recovered_s ?? "more than 20"} s.`
  )
}

/**
 * Sends more requests than the service can handle, and judges how it handles and refuses them, its memory, and its
 * recovery.
 */
export const overload = (seconds: number, folder: string): Promise<ReadonlyArray<string>> =>
  withTestbed(SHOPS, async (testbed) => {
    const { generator } = testbed
    const { look, end } = looking(testbed)
    const moments: Array<Moment> = []
    const phase = async (
      lasts: number,
      order: Parameters<typeof generator.during>[1]
    ): Promise<ReadonlyArray<Moment>> => {
      const from = moments.length
      await generator.during(lasts, order, (second) =>
        moments.push({ second: moments.length + 1, ...second, ...look() })
      )
      return moments.slice(from)
    }
    await phase(WARM_UP_S, { do: "closed", clients: CLIENTS })
    const before = await phase(CAPACITY_S, { do: "closed", clients: CLIENTS })
    const capacity = waitsOf(before, isHandled).length / before.length
    // The first second of a phase still contains requests of the previous phase.
    const began = moments.length
    const during = (await phase(seconds + 1, { do: "steady", rate: TIMES * capacity, greedy: GREEDY })).slice(1)
    const ended = moments.length
    const after = await phase(AFTER_S, { do: "steady", rate: capacity / 2, greedy: 0 })
    generator.order({ do: "rest" })
    end()
    const figures = figuresOf(before, during, after, TIMES * capacity)
    report(figures, during)
    const marks = [
      { second: WARM_UP_S, label: "capacity" },
      { second: began, label: "four times" },
      { second: ended, label: "half" }
    ]
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/overload.json`, JSON.stringify(figures))
    writeFileSync(
      `${folder}/overload.svg`,
      plot(`Four times the capacity for ${seconds} seconds`, charts(moments), marks)
    )
    console.log(`Plotted: ${folder}/overload.svg`)
    return judgeOverload(figures)
  })
