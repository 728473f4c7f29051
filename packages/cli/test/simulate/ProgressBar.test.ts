import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { progressBar } from "../../src/simulate/ProgressBar.js"

/** The bar of a simulation that is halfway. */
const drawn = async (screen: { readonly isTTY: boolean; readonly columns?: number }): Promise<string> => {
  let text = ""
  const bar = progressBar(10, { ...screen, write: (more) => (text += more) }, -1)
  await Effect.runPromise(bar.show({ step: 5, now: Date.parse("2026-11-20T08:00:00Z"), requests: 1, deliveries: 0 }))
  return text
}

describe("the progress of a simulation (Specification, Commands)", () => {
  it("the progress of a simulation is drawn only on a terminal", async () => {
    expect(await drawn({ isTTY: true })).toMatch(/^\r.*\[#{12}\.{12}\] 5\/10 steps, 2026-11-20/)
    expect(await drawn({ isTTY: false })).toBe("")
  })

  it.each([
    [100, /\[#{12}\.{12}\] 5\/10 steps, 2026-11-20, [\d,]+ requests\/s, [\d,]+ deliveries\/s$/],
    [60, /\[#+\.+\] 5\/10 steps, 2026-11-20/],
    [24, /\[#{5}\.{5}\] 5\/10 steps$/],
    [10, /5\/10 s\.\.\.$/]
  ])("the progress of a simulation stays within a terminal of %d columns", async (columns, expected) => {
    const text = (await drawn({ isTTY: true, columns })).replace("\r\u001b[K", "")
    expect(text).toMatch(expected)
    expect(text.length).toBeLessThan(columns)
  })
})
