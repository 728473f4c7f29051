import { setTimeout as pause } from "node:timers/promises"
import { Effect } from "effect"
import { median, quantile } from "../Median.js"
import { cluster } from "../pg/Cluster.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import { Child } from "./Child.js"
import { type Compare, type Deliver, type DeliveryResult, type Hang, type Raise, SHOPS } from "./Job.js"

/**
 * The bounds (docs/how-it-is-built.md): the rate compared with graphile-worker, and the p99 of healthy shops beside a
 * hanging receiver compared with the p99 without it.
 */
const TARGETS = { rate: { at_least: 1 }, fairness: { at_most: 2 } } as const
const GOAL = { at_least: 2 }

const BACKLOG = 10_000
const WARM_UP_RUNS = 2
/** The start of a run that is not measured, because connections are opened then. */
const DISCARDED_MS = 1_000

/** The receiver, the databases and the sizes of the runs. */
interface Place {
  readonly receiver: Child<{ readonly port: number }>
  /** Creates a database. */
  readonly fresh: () => Promise<string>
  readonly pairs: number
  readonly events: number
  readonly seconds: number
  /** The number of measurements of each fairness row, with and without the hanging receiver. */
  readonly rounds: number
}

/** The share of time in which the main thread worked. At 1, only cheaper deliveries would make the process faster. */
const busy = ({ per_second, per_cpu_second, main_share }: DeliveryResult): number =>
  (per_second / per_cpu_second) * main_share

const rate = async (
  name: string,
  onPostgres: boolean,
  { receiver, fresh, pairs, events }: Place
): Promise<ReadonlyArray<Row>> => {
  const port = String(receiver.ready.port)
  const ours = await Child.start<object>("ours", [port, onPostgres ? await fresh() : ""])
  const peer = await Child.start<object>("peer", [port, await fresh()])
  const deliver = async (child: Child<object>) => {
    await child.ask({ raised: events } satisfies Raise)
    const delivered = await child.ask<DeliveryResult>({ events } satisfies Deliver)
    await receiver.ask({})
    return delivered
  }
  for (let i = 0; i < WARM_UP_RUNS; i++) for (const child of [ours, peer]) await deliver(child)
  const found: Array<{ readonly ours: DeliveryResult; readonly peer: DeliveryResult }> = []
  for (let i = 0; i < pairs; i++) {
    const first = await deliver(i % 2 === 0 ? ours : peer)
    const second = await deliver(i % 2 === 0 ? peer : ours)
    const pair = i % 2 === 0 ? { ours: first, peer: second } : { ours: second, peer: first }
    console.error(
      `deliver, ${name} ${i + 1}/${pairs}: ${Math.round(pair.ours.per_second)} of ${Math.round(pair.peer.per_second)}`
    )
    found.push(pair)
  }
  await Promise.all([ours.stop(), peer.stop()])
  const of = (read: (pair: (typeof found)[number]) => number) => median(found.map(read))
  const ratio = of(({ ours, peer }) => ours.per_second / peer.per_second)
  const peer_is = "graphile-worker with its local queue"
  return [
    {
      work: `deliveries with their attempts logged, ${SHOPS} shops, ${name}`,
      unit: "/s",
      ours: Math.round(of(({ ours }) => ours.per_second)),
      peer: Math.round(of(({ peer }) => peer.per_second)),
      peer_is,
      ratio: roundTo(ratio),
      cpu_ratio: roundTo(of(({ ours, peer }) => ours.per_cpu_second / peer.per_cpu_second)),
      target: TARGETS.rate,
      goal: GOAL
    },
    {
      work: `CPU time of the process for each of them, ${name}`,
      unit: "µs",
      ours: roundTo(
        of(({ ours }) => 1e6 / ours.per_cpu_second),
        1
      ),
      peer: roundTo(
        of(({ peer }) => 1e6 / peer.per_cpu_second),
        1
      ),
      peer_is
    },
    {
      work: `its main thread's part of each second, ${name}`,
      unit: "",
      ours: roundTo(of(({ ours }) => busy(ours))),
      peer: roundTo(of(({ peer }) => busy(peer))),
      peer_is
    }
  ]
}

const p99 = async (url: string, backlog: number, { receiver, seconds }: Place): Promise<number> => {
  const ours = await Child.start<object>("ours", [String(receiver.ready.port), url])
  await ours.ask({ seconds: 2 } satisfies Compare)
  if (backlog > 0) await ours.ask({ backlog } satisfies Hang)
  const compared = ours.ask({ seconds: seconds + DISCARDED_MS / 1000 } satisfies Compare)
  await pause(DISCARDED_MS)
  await receiver.ask({})
  await compared
  const { delays_ms } = await receiver.ask<{ readonly delays_ms: ReadonlyArray<number> }>({})
  await ours.stop()
  return quantile(delays_ms, 0.99)
}

const fairness = async (name: string, onPostgres: boolean, place: Place): Promise<ReadonlyArray<Row>> => {
  const pairs: Array<{ readonly beside: number; readonly alone: number }> = []
  const measure = async (backlog: number) => p99(onPostgres ? await place.fresh() : "", backlog, place)
  for (let i = 0; i < place.rounds; i++) {
    const first = await measure(i % 2 === 0 ? BACKLOG : 0)
    const second = await measure(i % 2 === 0 ? 0 : BACKLOG)
    const pair = i % 2 === 0 ? { beside: first, alone: second } : { beside: second, alone: first }
    console.error(
      `fairness, ${name} ${i + 1}/${place.rounds}: ${pair.beside.toFixed(1)} ms beside it, ${pair.alone.toFixed(1)} ms without`
    )
    pairs.push(pair)
  }
  const ratio = median(pairs.map(({ beside, alone }) => beside / alone))
  const row: Row = {
    work: `p99 of deliveries to healthy shops beside a hanging receiver, ${name}`,
    unit: "ms",
    ours: roundTo(median(pairs.map(({ beside }) => beside)), 1),
    peer: roundTo(median(pairs.map(({ alone }) => alone)), 1),
    peer_is: "the same without it",
    ratio: roundTo(ratio),
    target: TARGETS.fairness
  }
  return [row]
}

const ROWS: Readonly<Record<string, (place: Place) => Promise<ReadonlyArray<Row>>>> = {
  memory: (place) => rate("memory", false, place),
  postgres: (place) => rate("Postgres", true, place),
  "fair-memory": (place) => fairness("memory", false, place),
  "fair-postgres": (place) => fairness("Postgres", true, place)
}

const chosen = (only: string) =>
  only.split(",").map((name) => {
    const row = ROWS[name]
    if (row === undefined) throw new Error(`--only takes ${Object.keys(ROWS).join(", ")}`)
    return row
  })

/**
 * Compares deliveries to a receiver on this machine with graphile-worker, and measures whether a hanging receiver slows
 * the others.
 */
export const deliver = benchmark({
  about: "webhook deliveries against graphile-worker, and to healthy shops beside one whose receiver hangs",
  options: {
    only: { about: "some of the four comparisons", value: Object.keys(ROWS).join(",") },
    pairs: { about: "the number of interleaved pairs", value: "5" },
    events: { about: "the number of events for each of the 50 shops in a run", value: "200" },
    seconds: { about: "how long events are raised in a run of the fairness rows", value: "10" },
    rounds: { about: "the number of rounds of the fairness rows", value: "3" }
  },
  args: {
    usual: ["--pairs", "3", "--seconds", "3", "--rounds", "2"],
    quick: ["--pairs", "1", "--only", "memory,postgres"]
  },
  run: async ({ only, pairs, events, seconds, rounds }) => {
    const wanted = chosen(only)
    const bench = Effect.gen(function* () {
      const { database } = yield* cluster()
      const receiver = yield* Effect.promise(() => Child.start<{ readonly port: number }>("receiver"))
      let databases = 0
      const fresh = () => Effect.runPromise(database(`deliver_${++databases}`))
      const numbers = { pairs: Number(pairs), events: Number(events), seconds: Number(seconds), rounds: Number(rounds) }
      const place = { receiver, fresh, ...numbers }
      const rows: Array<Row> = []
      for (const row of wanted) rows.push(...(yield* Effect.promise(() => row(place))))
      yield* Effect.promise(() => receiver.stop())
      return rows
    })
    return { rows: await Effect.runPromise(Effect.scoped(bench)) }
  }
})
