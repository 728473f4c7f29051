import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { audit } from "@workshop/cli/simulate/auditor/audit"
import { progressBar } from "@workshop/cli/simulate/ProgressBar"
import { simulate } from "@workshop/cli/simulate/simulate"
import { Console, Effect } from "effect"
import { describe, expect, it } from "vitest"
import { played } from "./played.js"

const SEEDS = Array.from({ length: 12 }, (_, i) => 101 + i)

const ASKED = {
  seed: 5,
  steps: 40,
  shops: 2,
  duration: null,
  store: "memory",
  databaseUrl: null,
  dataDir: ".workshop/simulate",
  baseUrl: null,
  sandboxToken: null,
  html: null,
  json: false
} as const

/** What the command prints. */
const printed = async (asked: Partial<Parameters<typeof simulate>[0]>): Promise<string> => {
  const said: Array<string> = []
  const quiet = { ...globalThis.console, log: (text: string) => void said.push(text) }
  const run = Console.consoleWith((base) =>
    Console.withConsole(simulate({ ...ASKED, ...asked }), {
      ...base,
      log: (text) => Effect.sync(() => said.push(String(text))),
      unsafe: quiet
    })
  )
  await Effect.runPromise(run)
  return said.join("\n")
}

describe("workshop simulate (contract §11)", () => {
  it("gives one seed one digest, and another seed another", async () => {
    const [first, again, other] = [
      await played(7, { steps: 120 }),
      await played(7, { steps: 120 }),
      await played(8, { steps: 120 })
    ]
    expect(again.digest).toBe(first.digest)
    expect(other.digest).not.toBe(first.digest)
  }, 60_000)

  it.each(SEEDS)(
    "finds no violation in the run of seed %d",
    async (seed) => {
      const { evidence } = await played(seed, { steps: 60, shops: 2 })
      expect(audit(evidence)).toEqual([])
      expect(evidence.exchanges.length).toBeGreaterThan(150)
    },
    60_000
  )

  it("prints seed, digest, counts and violations as JSON, and nothing else", async () => {
    const [text, again] = [await printed({ json: true }), await printed({ json: true })]
    expect(again).toBe(text)
    const summary = JSON.parse(text)
    expect(Object.keys(summary)).toEqual(["seed", "digest", "counts", "violations"])
    expect(summary).toMatchObject({ seed: 5, digest: expect.stringMatching(/^[0-9a-f]{64}$/), violations: [] })
    expect(summary.counts).toMatchObject({ steps: 40, shops: 2 })
  })

  it("prints the seed and the command that repeats the run", async () => {
    const text = await printed({})
    expect(text).toContain("Seed 5: 40 steps")
    expect(text).toContain("Repeat it: npx workshop simulate --seed 5 --steps 40 --shops 2")
  })

  it("writes a page that needs nothing from outside", async () => {
    const folder = mkdtempSync(join(tmpdir(), "simulate-"))
    try {
      const html = join(folder, "run.html")
      await printed({ html })
      const page = readFileSync(html, "utf8")
      expect(page.match(/<svg /g)).toHaveLength(4)
      expect(page).not.toMatch(/<(link|script|img|iframe|object)\b|\b(src|href)=|url\(|@import/)
      expect(page).not.toContain("NaN")
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it.each([
    [true, /^\r.*\[#{12}\.{12}\] 5\/10 steps, 2026-11-20/],
    [false, /^$/]
  ])("draws a bar only on a terminal (%s)", async (isTTY, expected) => {
    let drawn = ""
    const bar = progressBar(10, { isTTY, write: (text) => (drawn += text) }, -1)
    await Effect.runPromise(bar.show({ step: 5, now: Date.parse("2026-11-20T08:00:00Z"), requests: 1, deliveries: 0 }))
    expect(drawn).toMatch(expected)
  })
})
