import { beforeAll, describe, expect, it } from "vitest"
import { audit, checks } from "../../src/simulate/auditor/audit.js"
import type { Trace } from "../../src/simulate/auditor/Trace.js"
import { NoExample, type OpenTrace } from "./Corruption.js"
import { corruptions } from "./corruptions.js"
import { runSimulation } from "./runSimulation.js"

/** Seeds of runs that together contain a record for every corruption. */
const SEEDS = [10, 9]

describe("the auditor (Specification, Commands)", () => {
  const runs: Array<Trace> = []

  beforeAll(async () => {
    for (const seed of SEEDS) runs.push((await runSimulation(seed, { steps: 400, shops: 2 })).trace)
  }, 240_000)

  /** The corrupted trace of the first run that contains the record to change. */
  const lied = (lie: (seen: OpenTrace) => void): OpenTrace => {
    for (const [i, run] of runs.entries()) {
      const seen = structuredClone(run) as OpenTrace
      try {
        lie(seen)
        return seen
      } catch (error) {
        if (!(error instanceof NoExample) || i === runs.length - 1) throw error
      }
    }
    throw new NoExample()
  }

  it.each(SEEDS.map((seed, i) => [seed, i] as const))(
    "the auditor finds no violation in the trace of seed %d",
    (_, i) => {
      expect(audit(runs[i]!)).toEqual([])
    },
    60_000
  )

  it("the auditor counts a reconnection as the same attempt, and a delivery that arrived twice as two attempts", () => {
    const seen = structuredClone(runs[0]) as OpenTrace
    const i = seen.receptions.findIndex(({ status }) => status === 200)
    const twice = (first: object) => {
      const { receptions } = seen
      const cut = { ...receptions[i]!, seq: 0, status: null, ...first }
      return audit({ ...seen, receptions: [...receptions.slice(0, i), cut, ...receptions.slice(i)] })
    }
    expect(twice({ isKept: true })).toEqual([])
    for (const first of [{}, { isKept: true, status: 200 }, { isKept: true, signature: "t=1,v1=00" }]) {
      expect(twice(first).map(({ rule }) => rule)).toContain("deliveries")
    }
  }, 60_000)

  it("the auditor accepts either response to a repetition whose first response was lost and whose key has expired", () => {
    const DAY_MS = 86_400_000
    const rules = (days_before: number) => {
      const seen = structuredClone(runs[0]) as OpenTrace
      const cardOf = ({ shop, path }: { readonly shop: string | null; readonly path: string }) =>
        seen.shops.find(({ id }) => id === shop)?.cards.find(({ client }) => path.includes(client))?.data
      const i = seen.exchanges.findIndex(
        (one) => one.action === "stamps" && one.response?.status === 200 && cardOf(one) != null
      )
      const repeated = seen.exchanges[i]!
      const before = { ...repeated, seq: repeated.seq - 0.5, now: repeated.now - days_before * DAY_MS, response: null }
      const data = cardOf(repeated)
      const { added } = repeated.response!.body.data as { readonly added: number }
      const card = data!.card as { balance: number; lifetime: number; rewards_available: number }
      card.balance += added
      card.lifetime += added
      card.rewards_available = Math.floor(card.balance / data!.program.stamps_required)
      const exchanges = seen.exchanges.toSpliced(i, 0, before)
      return audit({ ...seen, exchanges }).map(({ rule }) => rule)
    }
    expect(rules(31)).not.toContain("loyalty")
    expect(rules(29)).toContain("loyalty")
  }, 60_000)

  it("the auditor accepts any response to a repetition if the previous request had no response and an expired key", () => {
    const DAY_MS = 86_400_000
    const messages = (days_after: number) => {
      const seen = structuredClone(runs[0]) as OpenTrace
      const isCreate = (one: OpenTrace["exchanges"][number]) => one.method === "POST" && one.path === "/v1/tickets"
      const i = seen.exchanges.findIndex((one) => isCreate(one) && one.response?.body.meta?.replayed === true)
      const repetition = seen.exchanges[i]!
      const first = seen.exchanges.find(
        (one) =>
          isCreate(one) &&
          one.idempotency_key === repetition.idempotency_key &&
          one.key === repetition.key &&
          one.response?.status === 201
      )!
      const lost = { ...repetition, seq: repetition.seq - 0.5, now: first.now + days_after * DAY_MS, response: null }
      for (const one of seen.exchanges.slice(i))
        if (one.idempotency_key === first.idempotency_key) one.now = lost.now + 1
      ;(repetition.response!.body.data as { service: string }).service = "Something else"
      const exchanges = seen.exchanges.toSpliced(i, 0, lost)
      return checks.idempotency({ ...seen, exchanges }).map(({ message }) => message)
    }
    expect(messages(31)).toEqual([])
    expect(messages(29)).toEqual(["a repeated request got a different response than the first"])
  }, 60_000)

  it("the auditor distinguishes a notification by the service from a notification by the shop in the same millisecond", async () => {
    // In this run a ticket becomes ready at the instant at which its shop records a call to the client.
    const { trace } = await runSimulation(31, { steps: 120, shops: 2 })
    expect(audit(trace)).toEqual([])
  }, 60_000)

  it.each(corruptions)(
    "the auditor finds a violation if $name, and names the rule on the page",
    ({ rule, breaks, lie }) => {
      expect(checks[rule](lied(lie)).map(({ rule, rule_at }) => [rule, rule_at])).toContainEqual([
        rule,
        `docs/specification.md#${breaks}`
      ])
    }
  )
})
