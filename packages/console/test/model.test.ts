import { describe, expect, it } from "vitest"
import { clockMoveOf, whyNot } from "../app/format.js"
import type { History } from "../app/model.js"
import { type Act, type Beginning, scenarioOf } from "../app/record.js"
import { storyOf } from "../app/story.js"

const NOW = Date.parse("2026-11-20T10:00:00.000Z")
const iso = (hours: number): string => new Date(NOW + hours * 3_600_000).toISOString()

describe("the field that moves the clock", () => {
  it.each([
    ["24h1ms", "1d1ms"],
    ["3 days", "3d"],
    ["2 weeks, 1 hour", "14d1h"],
    ["1.5 h", "1h30m"],
    ["90 minutes", "1h30m"],
    ["10 ms", "10ms"]
  ])("takes %s as a length of time", (text, advance) => expect(clockMoveOf(text, "Africa/Tunis")).toEqual({ advance }))

  it.each([
    ["2026-12-01", "Africa/Tunis", "2026-11-30T23:00:00.000Z"],
    ["2026-12-01 09:30", "Africa/Tunis", "2026-12-01T08:30:00.000Z"],
    ["2026-12-01T09:30:15Z", "Africa/Tunis", "2026-12-01T09:30:15.000Z"],
    ["2026-12-01T09:30+02:00", "Africa/Tunis", "2026-12-01T07:30:00.000Z"],
    // The night in which the clocks go back: midnight is before that.
    ["2026-10-25", "Europe/Paris", "2026-10-24T22:00:00.000Z"]
  ])("takes %s in %s as an instant", (text, zone, to) => expect(clockMoveOf(text, zone)).toEqual({ to }))

  it.each(["tomorrow", "-1h", "3", "3 parsecs", "2026-13-45", "12/01/2026"])("does not take %s", (text) =>
    expect(clockMoveOf(text, "UTC")).toBeNull()
  )
})

/** A ticket that was collected 26 hours ago. */
const collected = {
  ticket: { state: "collected", quote: null },
  windows: [{ kind: "reopen", from: iso(-26), to: iso(-2) }],
  entries: [{ id: "a", at: iso(-26), kind: "state", title: "collected", ok: true, detail: {} }]
} as unknown as History

describe("the reason beside a move that would be refused", () => {
  it.each([
    ["quote", "QUOTE_CLOSED", "already collected"],
    ["status:collected", "REOPEN_WINDOW", "already collected"],
    ["status:workshop", "REOPEN_WINDOW", "reopening ended 2 h ago"],
    ["status:ready", "INVALID_TRANSITION", "invalid transition"]
  ])("%s of a collected ticket, refused with %s: %s", (act, reason, words) =>
    expect(whyNot({ act, accepted: false, reason }, collected, NOW)).toBe(words)
  )

  it.each([
    [null, "no new price"],
    [{ status: "accepted" }, "price is accepted"]
  ])("an answer to the new price %j: %s", (quote, words) => {
    const history = { ...collected, ticket: { state: "workshop", quote } } as unknown as History
    expect(whyNot({ act: "accept", accepted: false, reason: "QUOTE_CLOSED" }, history, NOW)).toBe(words)
  })
})

describe("the timeline", () => {
  it("goes on where something is to come, and ends with the last of it", () => {
    expect(storyOf(collected, [], NOW).isGoingOn).toBe(false)
    const open = { ...collected, windows: [{ kind: "closure", from: iso(-1), to: iso(5) }] } as unknown as History
    const { isGoingOn, anchors } = storyOf(open, [], NOW)
    expect([isGoingOn, anchors.at(-1)?.at]).toEqual([true, Date.parse(iso(5))])
  })
})

describe("a recording", () => {
  it("expects of a list how long it was", () => {
    const program = { active: false, stamps_required: 1, stamps_per_ticket: 1, reward_label: null }
    const words = { languages: ["fr"], forbidden_words: [], allowed_words: [] }
    const begun: Beginning = {
      at: NOW,
      shop: {
        ...{ id: "s", name: "Lac", currency: "TND", decimals: 3, time_zone: "UTC", active: true, next_number: 1 },
        ...{ program, ...words }
      },
      ...{ clients: [], keys: [], faults: [], isCounted: false },
      receiver: { url: "", answer: 200, times: null, afterwards: 200, forward_to: null, in_use: true }
    }
    const act: Act = {
      ...{ from: "till", at: NOW, method: "GET", path: "/v1/tickets?limit=2", body: undefined, contentType: null },
      ...{ once: null, key: undefined, status: 200, response: { data: [] }, fault: null, asserted: {} }
    }
    expect(scenarioOf("List", begun, [act]).steps[0]?.lines).toEqual([
      "  - list tickets: { limit: 2 }",
      "    expect: { data: { $length: 0 } }"
    ])
  })
})
