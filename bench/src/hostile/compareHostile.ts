import { Child } from "../deliver/Child.js"
import { median, quantile } from "../Median.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import type { AttackCounts, AttackOrder, ServerReady, ServerState } from "./Attack.js"
import { HonestClients, type HonestLatencies } from "./HonestClients.js"

const MAX_RATIO = 3
const MAX_RSS_MIB = 300
const WARM_UP_S = 3
const LOWEST_PRIORITY = 19

const mib = (bytes: number): number => Math.round(bytes / 2 ** 20)

interface Round {
  readonly quiet: HonestLatencies
  readonly attacked: HonestLatencies
  readonly after: HonestLatencies
  /** The resident memory in bytes before the attack. */
  readonly quiet_rss: number
  /** The largest resident memory during the attack. */
  readonly most_rss: number
  /** The resident memory three seconds after the attack. */
  readonly after_rss: number
  readonly toll: AttackCounts
  readonly lost: number
}

const round = async (seconds: number, connections: number, nice: number): Promise<Round> => {
  const server = await Child.start<ServerReady>("../hostile/server")
  const attackers = await Child.start<object>("../hostile/attackers")
  const { port } = server.ready
  const honest = new HonestClients(port)
  const order = (connections: number) => attackers.ask<AttackCounts>({ port, connections, nice } satisfies AttackOrder)
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

const rowsOf = (rounds: ReadonlyArray<Round>): ReadonlyArray<Row> => {
  const of = (read: (one: Round) => number) => median(rounds.map(read))
  const at = (share: number) => ({
    attacked: roundTo(of(({ attacked }) => quantile(attacked.ms, share))),
    quiet: roundTo(of(({ quiet }) => quantile(quiet.ms, share))),
    ratio: roundTo(of(({ attacked, quiet }) => quantile(attacked.ms, share) / quantile(quiet.ms, share)))
  })
  const [p50, p99] = [at(0.5), at(0.99)]
  const peer_is = "without the attack"
  return [
    { work: "p50 of honest requests", unit: "ms", ours: p50.attacked, peer: p50.quiet, peer_is, ratio: p50.ratio },
    {
      work: "p99 of honest requests",
      unit: "ms",
      ours: p99.attacked,
      peer: p99.quiet,
      peer_is,
      ratio: p99.ratio,
      target: { at_most: MAX_RATIO }
    },
    {
      work: "most memory of the server",
      unit: "MiB",
      ours: mib(Math.max(...rounds.map(({ most_rss }) => most_rss))),
      target: { at_most: MAX_RSS_MIB }
    },
    { work: "memory before the attack", unit: "MiB", ours: mib(of(({ quiet_rss }) => quiet_rss)) },
    { work: "memory three seconds after", unit: "MiB", ours: mib(of(({ after_rss }) => after_rss)) }
  ]
}

/**
 * Measures honest clients beside equally many hostile ones of each kind: pipelining, not reading, slow, half-open and
 * endless.
 */
export const hostile = benchmark({
  about: "honest requests and the server's memory during an attack by hostile connections",
  options: {
    connections: { about: "the number of hostile connections", value: "500" },
    seconds: { about: "how long the honest clients are measured, without and with the attack", value: "8" },
    rounds: { about: "the number of rounds, each with a new server", value: "3" },
    "same-priority": { about: "gives the attackers' process the server's priority instead of the lowest" }
  },
  args: { usual: ["--rounds", "1", "--seconds", "8"], quick: ["--rounds", "1", "--seconds", "4"] },
  run: async ({ connections, seconds, rounds: times, ...switches }) => {
    const nice = switches["same-priority"] ? 0 : LOWEST_PRIORITY
    const rounds: Array<Round> = []
    for (let i = 0; i < Number(times); i++) {
      const result = await round(Number(seconds), Number(connections), nice)
      const [sent, read] = [result.toll.sent, result.toll.read].map((bytes) => `${mib(bytes)} MiB`)
      console.error(
        `hostile ${i + 1}/${times}: ${result.toll.reopened} connections opened again, ${sent} sent, ${read} read`
      )
      rounds.push(result)
    }
    const failures = rounds.flatMap(({ quiet, attacked, after }) =>
      [quiet, attacked, after].flatMap(({ failures }) => failures)
    )
    const lost = rounds.reduce((sum, { lost }) => sum + lost, 0)
    const faults = [...new Set(failures)].map((failure) => `a request failed: ${failure}`)
    return { rows: rowsOf(rounds), faults: lost === 0 ? faults : [...faults, `${lost} tickets were lost`] }
  }
})
