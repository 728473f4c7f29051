import { audit, checks } from "@workshop/cli/simulate/auditor/audit"
import type { Evidence } from "@workshop/cli/simulate/auditor/Evidence"
import { beforeAll, describe, expect, it } from "vitest"
import type { Seen } from "./Corruption.js"
import { corruptions } from "./corruptions.js"
import { played } from "./played.js"

/** A run in which there is an example of everything that is lied about. */
const SEED = 2

describe("the auditor (Specification, Commands)", () => {
  let evidence: Evidence

  beforeAll(async () => {
    ;({ evidence } = await played(SEED, { steps: 400, shops: 2 }))
  }, 120_000)

  it(`finds nothing wrong with what was seen of seed ${SEED}`, () => {
    expect(audit(evidence)).toEqual([])
  }, 60_000)

  it("takes a connection that was dialled anew for one attempt, and a delivery that came twice for two", () => {
    const seen = structuredClone(evidence) as Seen
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
  })

  it.each(corruptions)("finds it where $name", ({ rule, lie }) => {
    const seen = structuredClone(evidence) as Seen
    lie(seen)
    expect(checks[rule](seen).map((violation) => violation.rule)).toContain(rule)
  })
})
