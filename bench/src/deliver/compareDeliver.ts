import { parseArgs } from "node:util"
import { Effect } from "effect"
import { median, quantile } from "../Median.js"
import { cluster } from "../pg/Cluster.js"
import { Child } from "./Child.js"
import { type Compare, type Deliver, type Delivered, SHOPS } from "./Job.js"

/** What to reach (design §9): deliveries against graphile-worker; the healthy shops' p99 beside a shop that hangs. */
const TARGETS = { rate: 1.0, fairness: 2 } as const

const BACKLOG = 10_000

interface Row {
  readonly reached: boolean
}

type Receiver = Child<{ readonly port: number }>

const pairs = async (
  name: string,
  receiver: Receiver,
  urls: { ours: string; peer: string },
  count: number,
  events: number
) => {
  const port = String(receiver.ready.port)
  const ours = await Child.start<object>("ours", [port, urls.ours])
  const peer = await Child.start<object>("peer", [port, urls.peer])
  const deliver = async (child: Child<object>, asked: Deliver) => {
    const { per_second } = await child.ask<Delivered>(asked)
    await receiver.ask({})
    return per_second
  }
  for (const child of [ours, peer]) await deliver(child, { events: Math.ceil(events / 4) })
  const found: Array<{ readonly ours: number; readonly theirs: number }> = []
  for (let i = 0; i < count; i++) {
    const pair = { ours: await deliver(ours, { events }), theirs: await deliver(peer, { events }) }
    console.error(`deliver, ${name} ${i + 1}/${count}: ${Math.round(pair.ours)} of ${Math.round(pair.theirs)}`)
    found.push(pair)
  }
  await Promise.all([ours.stop(), peer.stop()])
  const ratio = median(found.map(({ ours, theirs }) => ours / theirs))
  return {
    work: `deliveries a second, ${SHOPS} shops, ${name}`,
    ours: Math.round(median(found.map(({ ours }) => ours))),
    peer: Math.round(median(found.map(({ theirs }) => theirs))),
    "peer is": "graphile-worker, local queue",
    ratio: Number(ratio.toFixed(2)),
    target: `at least ${TARGETS.rate}`,
    reached: ratio >= TARGETS.rate
  }
}

const fairness = async (
  name: string,
  receiver: Receiver,
  freshUrl: () => Promise<string>,
  rounds: number,
  seconds: number
) => {
  const p99 = async (backlog: number) => {
    const ours = await Child.start<object>("ours", [String(receiver.ready.port), await freshUrl()])
    await ours.ask({ seconds: 2, backlog: 0 } satisfies Compare)
    await receiver.ask({})
    await ours.ask({ seconds, backlog } satisfies Compare)
    const { delays_ms } = await receiver.ask<{ readonly delays_ms: ReadonlyArray<number> }>({})
    await ours.stop()
    return quantile(delays_ms, 0.99)
  }
  const found: Array<{ readonly ours: number; readonly theirs: number }> = []
  for (let i = 0; i < rounds; i++) {
    const pair = { ours: await p99(BACKLOG), theirs: await p99(0) }
    console.error(
      `fairness, ${name} ${i + 1}/${rounds}: ${pair.ours.toFixed(1)} ms beside ${pair.theirs.toFixed(1)} ms`
    )
    found.push(pair)
  }
  const ratio = median(found.map(({ ours, theirs }) => ours / theirs))
  return {
    work: `healthy shops' delivery p99 beside one that hangs, ms, ${name}`,
    ours: Number(median(found.map(({ ours }) => ours)).toFixed(1)),
    peer: Number(median(found.map(({ theirs }) => theirs)).toFixed(1)),
    "peer is": "the same without it",
    ratio: Number(ratio.toFixed(2)),
    target: `at most ${TARGETS.fairness}`,
    reached: ratio <= TARGETS.fairness
  }
}

/** Deliveries to a receiver on this machine, against graphile-worker doing the same job; and whether a hanging shop is noticed. */
export const compareDeliver = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      assert: { type: "boolean", default: false },
      pairs: { type: "string", default: "5" },
      events: { type: "string", default: "400" },
      seconds: { type: "string", default: "8" }
    }
  })
  const [count, events, seconds] = [Number(values.pairs), Number(values.events), Number(values.seconds)]
  const bench = Effect.gen(function* () {
    const { database } = yield* cluster
    const receiver = yield* Effect.promise(() => Child.start<{ readonly port: number }>("receiver"))
    const [ours, peer] = [yield* database("ours"), yield* database("peer")]
    let made = 0
    const fresh = () => Effect.runPromise(database(`fair_${++made}`))
    const rows: ReadonlyArray<Row> = yield* Effect.promise(async () => [
      await pairs("memory", receiver, { ours: "", peer }, count, events),
      await pairs("Postgres", receiver, { ours, peer }, count, events),
      await fairness("memory", receiver, async () => "", 3, seconds),
      await fairness("Postgres", receiver, fresh, 3, seconds)
    ])
    yield* Effect.promise(() => receiver.stop())
    return rows
  })
  const rows = await Effect.runPromise(Effect.scoped(bench))
  console.table(rows)
  return !values.assert || rows.every(({ reached }) => reached)
}
