import { audit, checks } from "@workshop/cli/simulate/auditor/audit"
import type { Evidence } from "@workshop/cli/simulate/auditor/Evidence"
import { beforeAll, describe, expect, it } from "vitest"
import type { Seen } from "./Corruption.js"
import { corruptions } from "./corruptions.js"
import { played } from "./played.js"

/** A run in which there is an example of everything that is lied about. */
const SEED = 2

describe("the auditor (contract §11)", () => {
  let evidence: Evidence

  beforeAll(async () => {
    ;({ evidence } = await played(SEED, { steps: 400, shops: 2 }))
  }, 120_000)

  it(`finds nothing wrong with what was seen of seed ${SEED}`, () => {
    expect(audit(evidence)).toEqual([])
  }, 60_000)

  it.each(corruptions)("finds it where $name", ({ rule, lie }) => {
    const seen = structuredClone(evidence) as Seen
    lie(seen)
    expect(checks[rule](seen).map((violation) => violation.rule)).toContain(rule)
  })
})
