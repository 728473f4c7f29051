import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { median } from "../Median.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import { type Generator, type Work, withAutocannon, withWrk } from "./Load.js"
import { Lap, type Run, start, stop } from "./Server.js"
import { sameAnswers } from "./sameAnswers.js"

/** The least ratios (docs/how-it-is-built.md). */
const TARGETS = { GET: 0.7, POST: 0.6 } as const
const GOAL = { at_least: 1 }
const PATHS = { GET: "GET /v1/tickets/{id}", POST: "POST /v1/tickets" } as const
/** The number of requests to a server before the measurement. */
export const WARM_UP = { GET: 20_000, POST: 16_000 } as const
/** The number of measured requests to a server. */
export const MEASURED = { GET: 40_000, POST: 24_000 } as const
/** The number of turns in which the two servers of a pair get their requests alternately. */
const TURNS = 8

/**
 * Measures two new servers after a warm-up, in short alternating turns, so that other work of the machine affects both.
 * The processor time counts from the first turn to the last, so that it includes work that a server postpones.
 */
const measurePair = async (work: Work, generate: Generator): Promise<{ readonly ours: Run; readonly peer: Run }> => {
  const servers = { ours: await start("ours"), peer: await start("peer") }
  try {
    const laps = { ours: new Lap(servers.ours, work, generate), peer: new Lap(servers.peer, work, generate) }
    for (const lap of [laps.ours, laps.peer]) await lap.run(WARM_UP[work])
    for (const lap of [laps.ours, laps.peer]) await lap.begin()
    for (let turn = 0; turn < TURNS; turn++) {
      const order = turn % 2 === 0 ? [laps.ours, laps.peer] : [laps.peer, laps.ours]
      for (const lap of order) await lap.run(MEASURED[work] / TURNS)
    }
    return { ours: await laps.ours.result(), peer: await laps.peer.result() }
  } finally {
    await Promise.all([stop(servers.ours), stop(servers.peer)])
  }
}

const version = (name: string): string => {
  const entry = createRequire(import.meta.url).resolve(name)
  const root = entry.slice(0, entry.lastIndexOf(`node_modules/${name}/`))
  return `${name} ${JSON.parse(readFileSync(`${root}node_modules/${name}/package.json`, "utf8")).version}`
}

const compare = async (work: Work, pairs: number, generate: Generator) => {
  const found: Array<{ readonly ours: Run; readonly peer: Run }> = []
  for (let i = 0; i < pairs; i++) {
    const { ours, peer } = await measurePair(work, generate)
    found.push({ ours, peer })
    console.error(`${work} ${i + 1}/${pairs}: ${Math.round(ours.per_second)} of ${Math.round(peer.per_second)}`)
  }
  const of = (read: (pair: (typeof found)[number]) => number) => median(found.map(read))
  const ratio = of(({ ours, peer }) => ours.per_second / peer.per_second)
  const per_cpu = of(({ ours, peer }) => ours.per_cpu_second / peer.per_cpu_second)
  return {
    work: `${PATHS[work]}, memory store`,
    unit: "/s",
    ours: Math.round(of(({ ours }) => ours.per_second)),
    peer: Math.round(of(({ peer }) => peer.per_second)),
    peer_is: `hand-written ${version("fastify")}`,
    ratio: roundTo(ratio),
    cpu_ratio: roundTo(per_cpu),
    target: { at_least: TARGETS[work] },
    goal: GOAL
  } satisfies Row
}

/** Compares GET of one ticket and POST of a create on the memory store with a hand-written server on fastify. */
export const http = benchmark({
  about: "GET /v1/tickets/{id} and POST /v1/tickets against hand-written fastify code",
  options: {
    pairs: { about: "the number of interleaved pairs (ours, then fastify)", value: "5" },
    only: { about: "get or post: measures only one of the two", value: "" },
    wrk: { about: "generates the load with wrk, which you must install, instead of autocannon" }
  },
  args: { usual: ["--pairs", "3"], quick: ["--pairs", "1"] },
  run: async ({ pairs, only, wrk }) => {
    const servers = { ours: await start("ours"), peer: await start("peer") }
    await sameAnswers(servers.ours, servers.peer)
    await Promise.all([stop(servers.ours), stop(servers.peer)])
    const rows: Array<Row> = []
    for (const work of ["GET", "POST"] as const)
      if (only === "" || only.toUpperCase() === work)
        rows.push(await compare(work, Number(pairs), wrk ? withWrk : withAutocannon))
    return { rows }
  }
})
