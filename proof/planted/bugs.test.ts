import { describe, expect, it } from "vitest"
import { bugs } from "./bugs.mjs"
import { misfit } from "./plant.mjs"

describe("the bugs to plant", () => {
  it("are a hundred at least, each under a name of its own", () => {
    expect(bugs.length).toBeGreaterThanOrEqual(100)
    expect(new Set(bugs.map(({ id }) => id)).size).toBe(bugs.length)
  })

  it("each replace a text that occurs once in its file, by another", () => {
    expect(bugs.flatMap((bug) => misfit(bug) ?? [])).toEqual([])
    expect(bugs.filter(({ from, to }) => from === to)).toEqual([])
  })
})
