import { describe, expect, it } from "vitest"
import { argumentsOf, benchmark, helpOf, holds, shownBound } from "../bench/src/report/Benchmark.js"
import { growthPlot, ratioPlot } from "../bench/src/report/plot.js"

const example = benchmark({
  about: "what the tests need",
  options: { pairs: { about: "the number of pairs", value: "5" }, fast: { about: "leaves out half" } },
  args: { usual: [], quick: ["--pairs", "1"] },
  run: async () => ({ rows: [] })
})

const row = { work: "creates", unit: "/s", ours: 10 } as const

describe("npm run bench (bench/README.md)", () => {
  it("npm run bench reads the options of a benchmark, and names an unknown option in its error", () => {
    expect(argumentsOf(example, ["--pairs", "2", "--assert"])).toEqual({
      values: { pairs: "2", fast: false },
      isAsserting: true,
      isHelp: false,
      json: ""
    })
    expect(() => argumentsOf(example, ["--pears", "2"])).toThrow("Unknown option '--pears'")
    expect(helpOf("example", example)).toMatch(/--pairs +the number of pairs\. The default is 5\./)
  })

  it("a benchmark misses its target if any of its ratios does, or its result if it has no ratio", () => {
    expect(holds({ ...row, ratio: 1.2, cpu_ratio: 0.9 }, { at_least: 1 })).toBe(false)
    expect(holds({ ...row, ratio: 1.2, cpu_ratio: 1 }, { at_least: 1 })).toBe(true)
    expect(holds({ ...row, ratio: 4.5 }, { at_most: 4 })).toBe(false)
    expect([holds(row, { at_most: 10 }), holds(row, { at_least: 11 })]).toEqual([true, false])
    expect(shownBound({ at_most: 4 })).toBe("at most 4")
  })

  it("a plot is a complete SVG file, even if its names contain special characters", () => {
    const labels = { title: "a < b & c", x: "keys", y: "ms" }
    const plots = [
      growthPlot("keys", labels, [{ name: "one", points: [[1_000, 1] as const, [1_000_000, 2] as const] }]),
      ratioPlot("ratios", labels.title, [{ label: "GET", ratio: 0.7 }])
    ]
    for (const { svg } of plots) {
      expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg".*<\/svg>\n$/s)
      expect(svg).toContain("a &lt; b &amp; c")
      expect(svg).not.toMatch(/NaN|undefined|Infinity/)
    }
  })
})
