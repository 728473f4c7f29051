import { describe, expect, it } from "vitest"
import { complaintsOf, lostRevisions } from "../scripts/check-history.mjs"

const good = { subject: "Refuse a deposit above the price", body: "", files: 3, columns: 100 }

describe("the check of commits (CONTRIBUTING.md, Commits)", () => {
  it("the check accepts an imperative subject of up to 72 characters, without a body for up to three files", () => {
    expect(complaintsOf(good)).toEqual([])
    expect(complaintsOf({ ...good, subject: `Bring ${"x".repeat(66)}` })).toEqual([])
    expect(complaintsOf({ ...good, files: 4, body: "Tills asked for more than the ticket costs." })).toEqual([])
  })

  it.each([
    ["a long subject", { subject: `Refuse ${"x".repeat(66)}` }, "the subject has 73 characters: at most 72"],
    ["a small letter", { subject: "refuse a deposit" }, "begin the subject with a capital letter"],
    ["the past tense", { subject: "Refused a deposit" }, 'begin with the imperative instead of "Refused"'],
    ["the third person", { subject: "Refuses a deposit" }, 'begin with the imperative instead of "Refuses"'],
    ["a gerund", { subject: "Refusing a deposit" }, 'begin with the imperative instead of "Refusing"'],
    ["a full stop", { subject: "Refuse a deposit." }, "end the subject without a full stop"],
    ["four files without a reason", { files: 4 }, "4 files changed: give the reason in the body"],
    ["a long line in the body", { columns: 101 }, "the body has a line of 101 characters: wrap it at 100 or fewer"]
  ])("the check refuses %s, and says what to write", (_, change, complaint) => {
    expect(complaintsOf({ ...good, ...change })).toEqual([complaint])
  })

  it("the check finds the commits of .git-blame-ignore-revs that a rebase has replaced", () => {
    const [kept, replaced] = ["a".repeat(40), "b".repeat(40)]
    expect(lostRevisions(`# Rename the queue\n${kept}\n# Rename the store\n${replaced}\n`, new Set([kept]))).toEqual([
      replaced
    ])
  })
})
