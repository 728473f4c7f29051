import { paintColoured } from "@workshop/core/internal/terminal"
import { describe, expect, it } from "vitest"
import { escapeControl } from "../../src/terminal/escapeControl.js"

const TONES = ["good", "bad", "warn", "name", "faint", "strong"] as const

describe("texts from other sources on a terminal", () => {
  it.each([
    ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
    ["\u001b[2Jcleared", "\\u001b[2Jcleared"],
    ["\u009b31m", "\\u009b31m"],
    ["over\rwritten\b", "over\\u000dwritten\\u0008"],
    ["\u0001[32m", "\\u0001[32m"],
    ["\u001b[8mhidden", "\\u001b[8mhidden"],
    ["Amélie, أميرة, 日本 👢", "Amélie, أميرة, 日本 👢"],
    ["a line\n\tand another", "a line\n\tand another"]
  ])("the text %j is printed without control sequences", (text, shown) => expect(escapeControl(text)).toBe(shown))

  it("the program's own colours are kept", () => {
    for (const tone of TONES) expect(escapeControl(paintColoured(tone, "word"))).toBe(paintColoured(tone, "word"))
  })

  it("JSON that is made legible parses to the same value", () => {
    const value = { text: "\u001b[2J \u007f \u009b31m \\ \u0085" }
    expect(JSON.parse(escapeControl(JSON.stringify(value, null, 2)))).toEqual(value)
  })
})
