import { describe, expect, it } from "vitest"
import { clockMoveOf, refusalText } from "../app/format.js"
import type { History } from "../app/model.js"
import { scenarioOf } from "../app/record.js"
import type { Act, Beginning } from "../app/recordedActs.js"
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
  ])("the clock's field reads %s as the duration %s", (text, advance) =>
    expect(clockMoveOf(text, "Africa/Tunis")).toEqual({ advance })
  )

  it.each([
    ["2026-12-01", "Africa/Tunis", "2026-11-30T23:00:00.000Z"],
    ["2026-12-01 09:30", "Africa/Tunis", "2026-12-01T08:30:00.000Z"],
    ["2026-12-01T09:30:15Z", "Africa/Tunis", "2026-12-01T09:30:15.000Z"],
    ["2026-12-01T09:30+02:00", "Africa/Tunis", "2026-12-01T07:30:00.000Z"],
    // In this night the clocks go back, but after midnight.
    ["2026-10-25", "Europe/Paris", "2026-10-24T22:00:00.000Z"]
  ])("the clock's field reads %s in the zone %s as the instant %s", (text, zone, to) =>
    expect(clockMoveOf(text, zone)).toEqual({ to })
  )

  it.each(["tomorrow", "-1h", "3", "3 parsecs", "2026-13-45", "12/01/2026"])("the clock's field refuses %s", (text) =>
    expect(clockMoveOf(text, "UTC")).toBeNull()
  )
})

/** A ticket that was collected 26 hours ago. */
const collected = {
  ticket: { state: "collected", quote: null },
  windows: [{ kind: "reopen", from: iso(-26), to: iso(-2) }],
  entries: [{ id: "a", at: iso(-26), kind: "state", title: "collected", ok: true, detail: {} }]
} as unknown as History

describe("the reason that is shown for a refused move", () => {
  it.each([
    ["quote", "QUOTE_CLOSED", "already collected"],
    ["status:collected", "REOPEN_WINDOW", "already collected"],
    ["status:workshop", "REOPEN_WINDOW", "reopening ended 2 h ago"],
    ["status:ready", "INVALID_TRANSITION", "invalid transition"]
  ])("the console shows a collected ticket's refusal of %s with %s as %j", (act, reason, words) =>
    expect(refusalText({ act, accepted: false, reason }, collected, NOW)).toBe(words)
  )

  it.each([
    [null, "no price was proposed"],
    [{ status: "accepted" }, "price already accepted"]
  ])("the console shows the refusal to accept the quote %j as %j", (quote, words) => {
    const history = { ...collected, ticket: { state: "workshop", quote } } as unknown as History
    expect(refusalText({ act: "accept", accepted: false, reason: "QUOTE_CLOSED" }, history, NOW)).toBe(words)
  })
})

describe("the timeline", () => {
  it("the timeline extends to the last future event, if there is one", () => {
    expect(storyOf(collected, [], NOW).isGoingOn).toBe(false)
    const open = { ...collected, windows: [{ kind: "closure", from: iso(-1), to: iso(5) }] } as unknown as History
    const { isGoingOn, anchors } = storyOf(open, [], NOW)
    expect([isGoingOn, anchors.at(-1)?.at]).toEqual([true, Date.parse(iso(5))])
  })
})

const program = { active: false, stamps_required: 1, stamps_per_ticket: 1, reward_label: null }
const words = { languages: ["fr"], forbidden_words: [], allowed_words: [] }

/** A sandbox with a client who has stamps, and another client who blocked the shop. */
const begun: Beginning = {
  at: NOW,
  shop: {
    ...{ id: "s", name: "Lac", currency: "TND", decimals: 3, time_zone: "UTC", active: true, next_number: 1 },
    ...{ program, ...words }
  },
  ...{ keys: [], faults: [], isCounted: false },
  clients: [
    { id: "amira", display_name: "Amira B.", phone: "+21620000001", blocked: false, card: { balance: 3 } },
    { id: "zied", display_name: "Zied C.", phone: "+21620000002", blocked: true, card: null }
  ] as unknown as Beginning["clients"],
  receiver: { url: "", answer: 200, times: null, afterwards: 200, forward_to: null, in_use: true }
}

const recordedAct = (method: string, path: string, fields: Partial<Act> = {}): Act => ({
  ...{ from: "till", at: NOW, method, path, body: undefined, contentType: "application/json" },
  ...{ once: null, key: undefined, status: 200, response: { data: [] }, fault: null, asserted: {} },
  ...fields
})

const creating = (id: string, fields: Partial<Act> = {}): Act =>
  recordedAct("POST", "/v1/tickets", {
    ...{ once: `once-${id}`, status: 201, body: { service: "Hem" }, response: { data: { id, service: "Hem" } } },
    ...fields
  })

/** A text that a scenario would read as a reference. */
const NAMED = ["$", "{n}"].join("")

const noReceiver: Beginning = { ...begun, receiver: { ...begun.receiver, in_use: false } }

describe("a recording", () => {
  it("a recorded list becomes an expectation of its length", () => {
    expect(scenarioOf("List", begun, [recordedAct("GET", "/v1/tickets?limit=2")]).steps[0]?.lines).toEqual([
      "  - list tickets: { limit: 2 }",
      "    expect: { data: { $length: 0 } }"
    ])
  })

  // The last act of each row is an act that a scenario cannot repeat.
  it.each<[why: string, acts: ReadonlyArray<Act>, from?: Beginning]>([
    [
      "the shop's events do not go to the built-in receiver. Use the built-in receiver from the beginning of the recording",
      [recordedAct("GET", "/sandbox/shops/s/received", { received: [] })],
      noReceiver
    ],
    [
      "the limit also counted requests from before the recording",
      [recordedAct("GET", "/v1/shop", { status: 429 })],
      { ...begun, isCounted: true }
    ],
    ["the request repeats one from before the recording began", [creating("a", { status: 200 })]],
    [
      "the request's cursor comes from a list that was read before the recording began",
      [recordedAct("GET", "/v1/tickets?cursor=of-yesterday")]
    ],
    [
      "the list contains ticket 0007, which was created before the recording began",
      [recordedAct("GET", "/v1/tickets", { response: { data: [{ id: "old", number_label: "0007" }] } })]
    ],
    [
      "ticket 0007 was created before the recording began",
      [recordedAct("GET", "/v1/tickets/old", { response: { data: { id: "old", number_label: "0007" } } })]
    ],
    [
      "ticket 0007 was created before the recording began",
      [recordedAct("GET", "/v1/tickets/by-number/7", { response: { data: { id: "old", number_label: "0007" } } })]
    ],
    [
      "the response to its creation was lost, so no step has its id",
      [
        creating("a", { fault: "lose_answer" }),
        recordedAct("GET", "/v1/tickets/a", { response: { data: { id: "a" } } })
      ]
    ],
    [
      "the client's account was created after the recording began",
      [recordedAct("GET", "/v1/clients/new", { response: { data: { id: "new" } } })]
    ],
    ["Amira B. had 3 stamps before the recording began", [recordedAct("GET", "/v1/clients/amira/loyalty")]],
    ["Zied C. blocked the shop before the recording began", [recordedAct("GET", "/v1/clients/zied")]],
    [
      `the text "${NAMED}" contains $ and {, which begin a reference in scenarios`,
      [creating("a", { body: { service: NAMED } })]
    ],
    [
      "a scenario has its own receiver, and would send nothing to that address",
      [recordedAct("PUT", "/sandbox/shops/s/webhook", { body: { url: "https://shop.example/" } })]
    ],
    [
      "a scenario can use up a limit only by its requests",
      [recordedAct("POST", "/sandbox/shops/s/limits", { body: {} })]
    ],
    ["the request is about another shop", [recordedAct("PATCH", "/sandbox/shops/other", { body: { name: "Lac" } })]],
    ["scenarios have no such action", [recordedAct("POST", "/sandbox/reset")]],
    [
      "a scenario's receiver responds itself and cannot forward events",
      [recordedAct("PUT", "/sandbox/shops/s/receiver", { body: { forward_to: "http://127.0.0.1:8080" } })]
    ],
    [
      "a scenario's receiver can respond only 200 afterwards",
      [recordedAct("PUT", "/sandbox/shops/s/receiver", { body: { answer: 500, times: 2, afterwards: 410 } })]
    ],
    [
      "the webhook was set after the first ticket. Set the webhook before you record",
      [creating("a"), recordedAct("PUT", "/sandbox/shops/s/receiver", { body: { use: true } })],
      noReceiver
    ],
    [
      "the event was raised before the recording began",
      [recordedAct("POST", "/sandbox/shops/s/deliveries/replay", { body: { event_ids: ["old"] }, events: [] })]
    ]
  ])("a recording names the act that it cannot repeat, and says why: %s", (why, acts, from = begun) => {
    const { steps, text } = scenarioOf("Refused", from, acts)
    const { method, path } = acts.at(-1)!
    expect(steps.map(({ problem }) => problem)).toEqual([...acts.slice(1).map(() => null), why])
    expect(text).toContain(`  # not recorded: ${method} ${path}: ${why}\n`)
  })
})
