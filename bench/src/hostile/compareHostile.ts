import { parseArgs } from "node:util"
import { Child } from "../deliver/Child.js"
import { median } from "../Median.js"
import type { Order, ServerReady, ServerState, Toll } from "./Attack.js"
import { Honest, type Times } from "./Honest.js"

const MOST_RATIO = 3
const MOST_RSS = 300 * 2 ** 20
const WARM_UP_S = 3
const LOWEST_PRIORITY = 19

const quantile = (ms: ReadonlyArray<number>, share: number): number =>
  [...ms].sort((a, b) => a - b)[Math.min(ms.length - 1, Math.floor(ms.length * share))] ?? Number.NaN

const mib = (bytes: number): number => Math.round(bytes / 2 ** 20)

interface Round {
  readonly quiet: Times
  readonly attacked: Times
  readonly after: Times
  /** Resident memory in bytes: before the attack, at most, and three seconds after. */
  readonly quiet_rss: number
  readonly most_rss: number
  readonly after_rss: number
  readonly toll: Toll
  readonly lost: number
}

const round = async (seconds: number, connections: number, nice: number): Promise<Round> => {
  const server = await Child.start<ServerReady>("../hostile/server")
  const attackers = await Child.start<object>("../hostile/attackers")
  const { port } = server.ready
  const honest = new Honest(port)
  const order = (connections: number) => attackers.ask<Toll>({ port, connections, nice } satisfies Order)
  try {
    await honest.run(WARM_UP_S)
    const quiet = await honest.run(seconds)
    const { rss: quiet_rss } = await server.ask<ServerState>({})
    await order(connections)
    await honest.run(WARM_UP_S)
    const attacked = await honest.run(seconds)
    const { most_rss } = await server.ask<ServerState>({})
    const toll = await order(0)
    const after = await honest.run(WARM_UP_S)
    const { rss: after_rss } = await server.ask<ServerState>({})
    return { quiet, attacked, after, quiet_rss, most_rss, after_rss, toll, lost: await honest.lost() }
  } finally {
    honest.close()
    await Promise.all([server.stop(), attackers.stop()])
  }
}

/** How honest clients fare beside hostile ones: pipelining, not reading, slow, half-open and endless, alike in number. */
export const compareHostile = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      assert: { type: "boolean", default: false },
      seconds: { type: "string", default: "8" },
      connections: { type: "string", default: "500" },
      rounds: { type: "string", default: "3" },
      "same-priority": { type: "boolean", default: false }
    }
  })
  const rounds: Array<Round> = []
  // The server's own priority is the parent's, which nothing changes.
  const nice = values["same-priority"] ? 0 : LOWEST_PRIORITY
  for (let i = 0; i < Number(values.rounds); i++)
    rounds.push(await round(Number(values.seconds), Number(values.connections), nice))
  const of = (read: (one: Round) => number) => median(rounds.map(read))
  const p99 = (times: Times) => quantile(times.ms, 0.99)
  const failures = rounds.flatMap(({ quiet, attacked, after }) =>
    [quiet, attacked, after].flatMap(({ failures }) => failures)
  )
  const found = {
    "quiet p50 ms": Number(of(({ quiet }) => quantile(quiet.ms, 0.5)).toFixed(2)),
    "quiet p99 ms": Number(of(({ quiet }) => p99(quiet)).toFixed(2)),
    "attacked p50 ms": Number(of(({ attacked }) => quantile(attacked.ms, 0.5)).toFixed(2)),
    "attacked p99 ms": Number(of(({ attacked }) => p99(attacked)).toFixed(2)),
    "p99 ratio": Number(of(({ quiet, attacked }) => p99(attacked) / p99(quiet)).toFixed(2)),
    "quiet RSS MiB": mib(of(({ quiet_rss }) => quiet_rss)),
    "most RSS MiB": mib(Math.max(...rounds.map(({ most_rss }) => most_rss))),
    "RSS after MiB": mib(of(({ after_rss }) => after_rss)),
    "failed requests": failures.length,
    "lost tickets": rounds.reduce((sum, { lost }) => sum + lost, 0)
  }
  console.table([found])
  for (const { toll } of rounds) {
    const [sent, read] = [toll.sent, toll.read].map((bytes) => `${mib(bytes)} MiB`)
    console.log(`${values.connections} hostile connections: ${toll.reopened} opened again, ${sent} sent, ${read} read`)
  }
  for (const failure of new Set(failures)) console.log(`failed: ${failure}`)
  const isReached =
    found["p99 ratio"] <= MOST_RATIO &&
    found["most RSS MiB"] * 2 ** 20 <= MOST_RSS &&
    found["failed requests"] + found["lost tickets"] === 0
  return isReached || !values.assert
}
