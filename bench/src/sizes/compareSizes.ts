import { Effect } from "effect"
import { median } from "../Median.js"
import { cluster } from "../pg/Cluster.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import { growthPlot } from "../report/plot.js"
import { type Act, type ActName, type FilledShop, filledShop } from "./FilledShop.js"

/** The smallest number of tickets and accounts. Each further size is ten times the previous size. */
const LEAST = 10_000

/** The target: nearly the same cost for every number of tickets. */
const TARGET = { at_most: 1.2 } as const

/** The server's memory, enough for all tables, so that no size is slower because its tables do not fit into memory. */
const MEMORY = "8GB"

/** The number of times that a round performs each act at each size. */
const TIMES = 40

/** The number of rounds before the measurement, which warm up the processes and the caches. */
const WARM_UP = 2

const PLOTS: ReadonlyArray<{ readonly name: string; readonly title: string; readonly acts: ReadonlyArray<ActName> }> = [
  { name: "sizes-lists", title: "Reads and lists", acts: ["GET one ticket", "a page of 50", "tickets by number"] },
  {
    name: "sizes-sync",
    title: "Sync and creates",
    acts: ["sync, a page of 50 since an instant", "create with a webhook"]
  },
  {
    name: "sizes-people",
    title: "Look-ups of people",
    acts: ["tickets by phone", "a client by id", "a client by phone"]
  },
  {
    name: "sizes-background",
    title: "Work in the background",
    acts: ["claim of 4", "search for tickets to close, a batch due"]
  }
]

const shown = (n: number) => n.toLocaleString("en-US")

/**
 * Performs an act at all sizes alternately, in an order that rotates, so that other work of the machine affects all
 * sizes.
 */
const round = (shops: ReadonlyArray<FilledShop>, name: ActName, times: number) =>
  Effect.gen(function* () {
    const took = shops.map((): Array<number> => [])
    for (let i = 0; i < times; i++)
      for (let k = 0; k < shops.length; k++) {
        const at = (i + k) % shops.length
        const { act, after = Effect.void }: Act = shops[at]!.acts[name]
        const begun = performance.now()
        yield* act
        took[at]!.push(performance.now() - begun)
        yield* after
      }
    return took.map(median)
  })

/**
 * The duration of an act at each size, and its ratio to the duration at the smallest size, from the medians of all
 * rounds.
 */
const measured = (shops: ReadonlyArray<FilledShop>, name: ActName, rounds: number) =>
  Effect.gen(function* () {
    const durations: Array<ReadonlyArray<number>> = []
    for (let i = -WARM_UP; i < rounds; i++) {
      const took = yield* round(shops, name, TIMES)
      if (i >= 0) durations.push(took)
    }
    const ms = shops.map((_, size) => median(durations.map((took) => took[size]!)))
    const ratio = median(durations.map((took) => took.at(-1)! / took[0]!))
    return { name, ms, ratio }
  })

const bench = (sizes: ReadonlyArray<number>, rounds: number) =>
  Effect.gen(function* () {
    const { database } = yield* cluster({ shared_buffers: MEMORY })
    const shops: Array<FilledShop> = []
    for (const size of sizes) {
      shops.push(yield* filledShop(database, size))
      console.error(`sizes: ${shown(size)} tickets and accounts took ${shops.at(-1)!.filled_s.toFixed(0)} s to fill`)
    }
    const names = Object.keys(shops[0]!.acts) as ReadonlyArray<ActName>
    const all = yield* Effect.forEach(names, (name) => measured(shops, name, rounds))
    const most = sizes.at(-1)!
    const rows = all.map(
      ({ name, ms, ratio }): Row => ({
        work: `${name}, ${shown(most)} tickets and accounts, p50`,
        unit: "ms",
        ours: roundTo(ms.at(-1)!, 3),
        peer: roundTo(ms[0]!, 3),
        peer_is: `the same with ${shown(LEAST)}`,
        ratio: roundTo(ratio),
        target: TARGET,
        goal: TARGET
      })
    )
    const plots = PLOTS.map(({ name, title, acts }) =>
      growthPlot(
        name,
        { title, x: "tickets and clients' accounts", y: "ms, median" },
        acts.map((act) => ({
          name: act,
          points: sizes.map((size, i) => [size, all.find(({ name }) => name === act)!.ms[i]!] as const)
        }))
      )
    )
    const filled: Row = {
      work: `filling ${shown(most)} tickets and accounts`,
      unit: "s",
      ours: roundTo(shops.at(-1)!.filled_s, 0)
    }
    return { rows: [...rows, filled], plots }
  })

/**
 * Compares the cost of each act in a shop with a million tickets and accounts with its cost in a shop with ten
 * thousand.
 */
export const sizes = benchmark({
  about: "reads, lists, sync, look-ups, claims, closures and creates with 10,000 to 1,000,000 tickets and accounts",
  options: {
    most: { about: "the number of tickets and accounts of the largest shop, such as 10000000", value: "1000000" },
    rounds: { about: "the number of rounds, in each of which the sizes take turns", value: "15" }
  },
  args: { usual: ["--rounds", "5"], quick: ["--most", "100000", "--rounds", "1"] },
  run: async ({ most, rounds }) => {
    const all: Array<number> = []
    for (let size = LEAST; size < Number(most); size *= 10) all.push(size)
    if (all.length === 0) throw new Error(`--most takes a number above ${LEAST}`)
    return Effect.runPromise(Effect.scoped(bench([...all, Number(most)], Number(rounds))))
  }
})
