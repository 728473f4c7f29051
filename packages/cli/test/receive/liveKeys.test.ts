import { describe, expect, it } from "vitest"
import { type Behaviour, healthy } from "../../../testers/src/receive/Receiver.js"
import { behaviourChangeOf, behaviourInWords, legend } from "../../src/receive/liveKeys.js"

/** The behaviour of a receiver after the keys are typed one after another; `asked` is the behaviour of its flags. */
const typed = (keys: string, asked: Behaviour = healthy): string => {
  let now = asked
  for (const key of keys) now = { ...now, ...behaviourChangeOf(key, now, asked) }
  return behaviourInWords(now)
}

describe("keys typed in the terminal (Specification, Commands)", () => {
  it.each([
    ["5", "responds 500"],
    ["g", "responds 410"],
    ["e", "responds with an endless body"],
    ["s", "does not respond"],
    ["c", "closes the connection"],
    ["r", "redirects to http://127.0.0.1:9/"],
    ["d", "responds 200, after 3000 ms"],
    ["dd", "responds 200"],
    ["f", "responds 200, fails 30 % of events"],
    ["ff", "responds 200"],
    ["5df", "responds 500, after 3000 ms, fails 30 % of events"],
    ["5df1", "responds 200"],
    ["5x", "responds 500"]
  ])("after the keys %s the receiver %s", (keys, behaviour) => {
    expect(typed(keys)).toBe(behaviour)
  })

  it("the keys 1, d and f restore what the flags of the command line set", () => {
    const asked: Behaviour = { reply: { kind: "redirect", to: "http://x.example/" }, delay_ms: 50, failShare: 0.5 }
    expect(typed("1r", asked)).toBe("redirects to http://x.example/")
    expect(typed("dd", asked)).toBe("redirects to http://x.example/, after 50 ms, fails 50 % of events")
    expect(typed("1f", asked)).toBe("responds 200, fails 50 % of events")
  })

  it("all keys are named on one line", () => {
    expect(legend).not.toContain("\n")
    for (const key of "15gdfresc") expect(legend).toContain(` ${key} `)
    expect(legend).toMatch(/h these keys \| q quit$/)
  })
})
