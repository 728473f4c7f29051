import { describe, expect, it } from "vitest"
import { differences, play } from "./playScenario.js"

describe("faults in a scenario (Specification, Sandbox)", () => {
  it("a request whose response was lost was processed, and the same Idempotency-Key gets the response", async () => {
    expect(
      await differences(`
steps:
  - set faults:
      - { method: POST, path: /v1/tickets, fault: lose_answer, next: 1 }
  - create ticket: { service: Hem }
    idempotency_key: till-1
    expect: lost
  - create ticket: { service: Hem }
    idempotency_key: till-1
    expect: { status: 200, meta: { replayed: true } }
  - list tickets: {}
    expect: { data: { $length: 1 } }
`)
    ).toBe("passed")
  })

  it("a fault of 503 or 429 refuses the requests that it matches, which then have no effect", async () => {
    expect(
      await differences(`
steps:
  - set faults:
      - { path: /v1/tickets, fault: 503, next: 2 }
      - { path: "/v1/tickets/{id}/status", fault: "429" }
  - create ticket: { service: Hem }
    repeat: 2
    expect: 503 UNAVAILABLE
  - create ticket: { service: Hem }
    as: hem
  - set status: { ticket: $hem, status: ready }
    expect: 429 TOO_MANY_ATTEMPTS
  - clear faults: {}
  - set status: { ticket: $hem, status: ready }
`)
    ).toBe("passed")
  })

  it("a lost response is reported if one was expected, and a received one if a loss was expected", async () => {
    const lose = "set faults: [{ fault: lose_answer, next: 1 }]"
    expect(await differences(`\nsteps:\n  - ${lose}\n  - get shop: {}\n`)).toEqual(["status: a success (2xx) / lost"])
    expect(await differences("\nsteps:\n  - get shop: {}\n    expect: lost\n")).toEqual(["status: lost / 200"])
  })

  it("an unknown fault is reported with its line, before anything is run", () => {
    expect(() => play("\nsteps:\n  - set faults: [{ fault: explode }]\n")).toThrow(
      /a\.yaml:3:.*must be one of 429, 503, lose_answer, delay/
    )
  })
})
