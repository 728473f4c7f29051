import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { availableParallelism, cpus, totalmem } from "node:os"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { CONNECTIONS, type Generator, type Work, withAutocannon, withWrk } from "./Load.js"
import { sameAnswers } from "./sameAnswers.js"
import { MOST_REQUESTS, type Ready } from "./World.js"

/** The ratios to reach (design §9). */
const TARGETS = { GET: 0.7, POST: 0.6 } as const
const WARM_UP = { GET: 20_000, POST: 16_000 } as const
const MEASURED = { GET: 40_000, POST: 24_000 } as const

const PROGRAMS = { ours: import.meta.resolve("./ours.js"), peer: import.meta.resolve("./peer.js") } as const

interface Server extends Ready {
  readonly process: ChildProcess
}

interface Run {
  readonly per_second: number
  /** Answers in a second of the server's own processor time. */
  readonly per_cpu_second: number
}

const start = async (name: "ours" | "peer"): Promise<Server> => {
  const process = fork(fileURLToPath(PROGRAMS[name]), { stdio: "inherit" })
  const [ready] = (await once(process, "message")) as [Ready]
  return { ...ready, process }
}

const stop = async ({ process }: Server): Promise<void> => {
  process.disconnect()
  await once(process, "exit")
}

const processorSeconds = async ({ process }: Server): Promise<number> => {
  process.send("usage")
  const [{ user, system }] = (await once(process, "message")) as [NodeJS.CpuUsage]
  return (user + system) / 1e6
}

/** Measures a fresh server, warmed up first. */
const measure = async (name: "ours" | "peer", work: Work, generate: Generator): Promise<Run> => {
  const server = await start(name)
  try {
    const { port, tickets } = server
    const warm = await generate({ port, tickets, work, from: 0, requests: WARM_UP[work] })
    const before = await processorSeconds(server)
    const run = await generate({ port, tickets, work, from: warm.sent + CONNECTIONS, requests: MEASURED[work] })
    const spent = (await processorSeconds(server)) - before
    if (warm.sent + run.sent > MOST_REQUESTS[work]) throw new Error("More requests than the limits let through")
    return { per_second: run.per_second, per_cpu_second: run.sent / spent }
  } finally {
    await stop(server)
  }
}

const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const compare = async (work: Work, pairs: number, generate: Generator) => {
  const found: Array<{ readonly ours: Run; readonly peer: Run }> = []
  for (let i = 0; i < pairs; i++) {
    const ours = await measure("ours", work, generate)
    const peer = await measure("peer", work, generate)
    found.push({ ours, peer })
    console.error(`${work} ${i + 1}/${pairs}: ${Math.round(ours.per_second)} of ${Math.round(peer.per_second)}`)
  }
  const of = (read: (pair: (typeof found)[number]) => number) => median(found.map(read))
  const ratio = of(({ ours, peer }) => ours.per_second / peer.per_second)
  const per_cpu = of(({ ours, peer }) => ours.per_cpu_second / peer.per_cpu_second)
  return {
    work,
    "ours /s": Math.round(of(({ ours }) => ours.per_second)),
    "fastify /s": Math.round(of(({ peer }) => peer.per_second)),
    ratio: Number(ratio.toFixed(3)),
    "ratio by processor time": Number(per_cpu.toFixed(3)),
    target: TARGETS[work],
    reached: Math.min(ratio, per_cpu) >= TARGETS[work]
  }
}

const version = (name: string): string => {
  const entry = createRequire(import.meta.url).resolve(name)
  const root = entry.slice(0, entry.lastIndexOf(`node_modules/${name}/`))
  return `${name} ${JSON.parse(readFileSync(`${root}node_modules/${name}/package.json`, "utf8")).version}`
}

/** GET one ticket and POST create on the memory store, against fastify doing the same by hand. */
export const compareHttp = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      assert: { type: "boolean", default: false },
      wrk: { type: "boolean", default: false },
      pairs: { type: "string", default: "5" },
      only: { type: "string" }
    }
  })
  const generate = values.wrk ? withWrk : withAutocannon
  const servers = { ours: await start("ours"), peer: await start("peer") }
  await sameAnswers(servers.ours, servers.peer)
  await Promise.all([stop(servers.ours), stop(servers.peer)])

  const rows = []
  for (const work of ["GET", "POST"] as const)
    if ((values.only ?? work).toUpperCase() === work) rows.push(await compare(work, Number(values.pairs), generate))
  const [cpu] = cpus()
  console.log(`node ${process.versions.node}, ${["effect", "fastify", "autocannon"].map(version).join(", ")}`)
  console.log(
    `${availableParallelism()} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB; client on the same machine`
  )
  console.log(
    `load by ${values.wrk ? "wrk -t1" : "autocannon"}, ${CONNECTIONS} connections; medians of ${values.pairs} interleaved pairs`
  )
  console.table(rows)
  return !values.assert || rows.every(({ reached }) => reached)
}
