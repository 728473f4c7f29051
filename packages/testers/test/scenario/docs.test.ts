import { readFileSync } from "node:fs"
import { readScenario, runParsedScenario } from "@workshop/testers/scenario"
import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"
import { problemLines, reportLines } from "../../src/scenario/Report.js"

const page = readFileSync(new URL("../../../../docs/scenarios.md", import.meta.url), "utf8")
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, body = ""]) => body)

const [first = "", ...others] = blocks("yaml")
const [passing = "", failing = "", refused = ""] = blocks("text")

const reportOf = async (text: string) => {
  const read = readScenario("window.yaml", text)
  if (Either.isLeft(read)) throw new Error(problemLines("window.yaml", read.left).join("\n"))
  return reportLines(await Effect.runPromise(runParsedScenario(read.right)))
}

/** A pattern for the output that the page shows, in which three dots match the rest of a line, or several lines. */
const patternOf = (shown: string) => {
  const lines = shown.trimEnd().split("\n")
  const source = lines.map((line) =>
    line.trim() === "..."
      ? "(?:.*\n)*?"
      : `${line
          .split("...")
          .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
          .join(".*")}\n`
  )
  return new RegExp(`^${source.join("")}$`)
}

const changed = (from: string, to: string, text = first) => {
  expect(text).toContain(from)
  return text.replace(from, to)
}

describe("the scenarios of docs/scenarios.md", () => {
  it("the first scenario of the page passes and prints what the page shows", async () => {
    expect((await reportOf(first)).join("\n")).toBe(passing.trimEnd())
  })

  it("the first scenario with the page's mistake prints what the page shows", async () => {
    const report = await reportOf(changed("advance: 59d", "advance: 58d"))
    expect(`${report.join("\n")}\n`).toMatch(patternOf(failing))
  })

  it("the first scenario with the page's misspelling is refused as the page shows", () => {
    const misspellings = [
      ["create ticket", "creat ticket"],
      ["$boots, status: ready", "$boot, status: ready"],
      ["$boots, status: collected", "$boot, status: collected"],
      ["advance: 24h\n", "advance: 24 hours\n"],
      ["REOPEN_WINDOW", "REOPEN_WINDO"],
      ["$ready_hem.ready_at", "$ready_hem.redy_at"]
    ] as const
    const misspelt = misspellings.reduce((text, [from, to]) => changed(from, to, text), first)
    const read = readScenario("window.yaml", misspelt)
    const lines = Either.isLeft(read) ? problemLines("window.yaml", read.left) : []
    expect([...lines, "No scenario was run. Correct the 5 problems above, and run the command again."]).toEqual(
      refused.trimEnd().split("\n")
    )
  })

  it.each(others.map((text) => [/^name: (.*)$/m.exec(text)?.[1], text] as const))(
    "the scenario %j of the page passes",
    async (_, text) => {
      expect((await reportOf(text))[0]).toMatch(/^\u2713/)
    }
  )
})
