import { start } from "@workshop/core/promise"
import { PgStore } from "@workshop/store-pg"
import { checkData } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import { cluster } from "../pg/Cluster.js"
import { benchmark, roundTo } from "../report/Benchmark.js"

/** The longest time of an import of 100,000 tickets, in seconds. */
const TARGET_S = 60

const DAY_MS = 86_400_000
const STATES = ["workshop", "ready", "impossible", "collected", "abandoned"] as const

/** The row of a ticket: a fifth of the tickets is in each state, and each client has five tickets and a card. */
const rowOf = (n: number, now: number) => {
  const state = STATES[n % STATES.length]!
  const at = (days: number) => new Date(now - days * DAY_MS).toISOString()
  const client = Math.floor(n / 5)
  return {
    external_ref: `old-${n}`,
    state,
    service: "Resoling",
    item: "Brown boots",
    description: "The left heel is worn more than the right one",
    price_minor: 45_000,
    created_at: at(40 + (n % 300)),
    ...(state === "ready" && { ready_at: at(20) }),
    ...(state === "collected" && { ready_at: at(30), collected_at: at(29) }),
    ...(state === "abandoned" && { abandoned_at: at(2) }),
    client: {
      phone: `+2162${String(client).padStart(7, "0")}`,
      given_name: "Amira",
      family_name: "Ben Salah",
      card: { balance: 3, lifetime: 13, rewards_redeemed: 1 }
    }
  }
}

function* rowsOf(count: number, now: number) {
  for (let n = 0; n < count; n++) yield rowOf(n, now)
}

/** The durations of an import of `count` tickets and of its repetition, in seconds. */
const importing = async (url: string, count: number): Promise<ReadonlyArray<number>> => {
  const workshop = await start({ store: PgStore.layer({ url }), background: false })
  const shop = await workshop.shops.create({
    name: "Atelier",
    currency: "TND",
    decimals: 3,
    time_zone: "Africa/Tunis"
  })
  if (!shop.ok) throw shop.refusal
  const times: Array<number> = []
  for (const what of ["imported", "repeated"]) {
    const began = performance.now()
    const report = await workshop.import(shop.value.id, { rows: rowsOf(count, Date.now()) })
    if (!report.ok || report.value.stopped_at !== null) throw new Error(JSON.stringify(report))
    const { tickets, clients, cards, already } = report.value
    times.push((performance.now() - began) / 1000)
    console.error(`import, ${what}: ${tickets} tickets, ${clients} clients, ${cards} cards; ${already} existed already`)
  }
  await workshop.stop()
  return times
}

/** Measures an import into an empty shop on Postgres, and its repetition, in which all tickets exist already. */
export const imports = benchmark({
  about: "an import of tickets with clients and cards into an empty shop on Postgres, and the same once more",
  options: { tickets: { about: "the number of tickets", value: "100000" } },
  args: { usual: [], quick: ["--tickets", "5000"] },
  run: async ({ tickets }) => {
    const count = Number(tickets)
    const bench = Effect.gen(function* () {
      const url = yield* (yield* cluster()).database("import")
      const [first, again] = yield* Effect.promise(() => importing(url, count))
      const { findings } = yield* checkData(url, { timeoutMs: 120_000 })
      return { first: first!, again: again!, faults: findings.map((finding) => JSON.stringify(finding)) }
    })
    const { first, again, faults } = await Effect.runPromise(Effect.scoped(bench))
    const target = { at_most: roundTo((TARGET_S * count) / 100_000) }
    const shown = count.toLocaleString("en-US")
    return {
      rows: [
        { work: `import of ${shown} tickets`, unit: "s", ours: roundTo(first, 1), target, goal: target },
        { work: `the same import again, which finds ${shown} tickets`, unit: "s", ours: roundTo(again, 1) }
      ],
      faults
    }
  }
})
