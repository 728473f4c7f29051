import { parseArgs } from "node:util"
import { start } from "@workshop/core/promise"
import { PgStore } from "@workshop/store-pg"
import { checkData } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import { cluster } from "../pg/Cluster.js"

/** Seconds in which an import of 100,000 tickets must end. */
const TARGET_S = 60

const DAY_MS = 86_400_000
const STATES = ["workshop", "ready", "impossible", "collected", "abandoned"] as const

/** A ticket of another system: every fifth in each state, with a client of whom each has five tickets, and a card. */
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

/** Measures an import into an empty shop on Postgres, and the same import again, which finds every ticket there. */
export const measureImport = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: { tickets: { type: "string", default: "100000" }, assert: { type: "boolean", default: false } }
  })
  const count = Number(values.tickets)
  return Effect.runPromise(
    Effect.gen(function* () {
      const url = yield* (yield* cluster).database("import")
      const took_s = yield* Effect.promise(async () => {
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
          const report = await workshop.import({ shop_id: shop.value.id, rows: rowsOf(count, Date.now()) })
          if (!report.ok || report.value.stopped_at !== null) throw new Error(JSON.stringify(report))
          const { tickets, clients, cards, already } = report.value
          times.push((performance.now() - began) / 1000)
          console.log(
            `${what.padEnd(9)} ${times.at(-1)!.toFixed(1)} s: ${tickets} tickets, ${clients} clients, ${cards} cards; ${already} there already`
          )
        }
        await workshop.stop()
        return times[0]!
      })
      const { findings } = yield* checkData(url, 120_000)
      console.log(findings.length === 0 ? "workshop check finds nothing" : JSON.stringify(findings))
      return findings.length === 0 && (took_s * 100_000) / count <= TARGET_S
    }).pipe(Effect.scoped, Effect.orDie)
  ).then((isGood) => isGood || !values.assert)
}
