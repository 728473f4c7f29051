import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { DAY, HOUR, later, MINUTE, Sandbox, SECOND, START } from "./Sandbox.js"

describe("The sandbox clock (Specification, Sandbox)", () => {
  it("the sandbox clock follows the real clock by default", async () => {
    const sandbox = await Sandbox.open()
    expect(await sandbox.good("GET", "/sandbox/clock")).toEqual({
      now: START,
      frozen: false,
      frozen_by: null,
      ahead_ms: 0
    })
    sandbox.real.pass(1234)
    expect(await sandbox.now()).toBe(later(1234))
  })

  it("the clock can be advanced by milliseconds, and runs on from the new time", async () => {
    const sandbox = await Sandbox.open()
    expect(await sandbox.clock({ advance_ms: HOUR })).toEqual({ now: later(HOUR), frozen: false })
    sandbox.real.pass(SECOND)
    expect(await sandbox.now()).toBe(later(HOUR + SECOND))
  })

  it("the clock can be set to an instant with any offset from UTC", async () => {
    const sandbox = await Sandbox.open()
    expect((await sandbox.clock({ set: later(DAY) })).now).toBe(later(DAY))
    expect((await sandbox.clock({ set: "2026-11-25T01:00:00+01:00" })).now).toBe("2026-11-25T00:00:00.000Z")
  })

  it("a frozen clock moves only by calls that set or advance it", async () => {
    const sandbox = await Sandbox.open()
    sandbox.real.pass(SECOND)
    expect(await sandbox.clock({ freeze: true })).toEqual({ now: later(SECOND), frozen: true })
    sandbox.real.pass(DAY)
    expect(await sandbox.now()).toBe(later(SECOND))
    expect(await sandbox.clock({ advance_ms: 1 })).toEqual({ now: later(SECOND + 1), frozen: true })
    expect(await sandbox.clock({ set: later(MINUTE) })).toEqual({ now: later(MINUTE), frozen: true })
    sandbox.real.pass(DAY)
    expect(await sandbox.now()).toBe(later(MINUTE))
  })

  it("a frozen clock shows who froze it, until another call freezes or unfreezes it", async () => {
    const sandbox = await Sandbox.open()
    const move = (body: object) => sandbox.good("POST", "/sandbox/clock", body)
    const recording = { frozen: true, frozen_by: "a recording" }
    expect(await move({ freeze: true, frozen_by: "a recording" })).toMatchObject(recording)
    expect(await move({ advance: "1h" })).toMatchObject(recording)
    expect(await sandbox.good("GET", "/sandbox/clock")).toMatchObject(recording)
    expect(await move({ freeze: true })).toMatchObject({ frozen: true, frozen_by: null })
    await move({ freeze: true, frozen_by: "a recording" })
    expect(await move({ freeze: false, frozen_by: "nobody" })).toMatchObject({ frozen: false, frozen_by: null })
    await move({ freeze: true, frozen_by: "a recording" })
    expect(await sandbox.good("POST", "/sandbox/reset")).toMatchObject({ frozen: false, frozen_by: null })
    expect((await sandbox.ask("POST", "/sandbox/clock", { freeze: true, frozen_by: "x".repeat(201) })).status).toBe(400)
  })

  it("an unfrozen clock continues from its own time, not from the real time", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ freeze: true })
    sandbox.real.pass(DAY)
    expect(await sandbox.clock({ freeze: false })).toEqual({ now: START, frozen: false })
    sandbox.real.pass(SECOND)
    expect(await sandbox.now()).toBe(later(SECOND))
  })

  it("one call can set, advance and freeze the clock, in this order", async () => {
    const sandbox = await Sandbox.open()
    const mix = { freeze: true, advance_ms: 5, set: later(HOUR) }
    expect(await sandbox.clock(mix)).toEqual({ now: later(HOUR + 5), frozen: true })
    expect(await sandbox.clock({ freeze: false, advance_ms: 5 })).toEqual({ now: later(HOUR + 10), frozen: false })
  })

  it("a call that moves nothing returns the clock unchanged, and so does null", async () => {
    const sandbox = await Sandbox.open()
    expect(await sandbox.clock({})).toEqual({ now: START, frozen: false })
    expect(await sandbox.clock({ set: null, advance_ms: null, freeze: null })).toEqual({ now: START, frozen: false })
    expect(await sandbox.good("POST", "/sandbox/clock")).toMatchObject({ now: START, frozen: false })
    expect(await sandbox.clock({ advance_ms: 0, set: START })).toEqual({ now: START, frozen: false })
  })

  it("the sandbox clock does not go back if the real clock does", async () => {
    const sandbox = await Sandbox.open()
    sandbox.real.pass(MINUTE)
    expect(await sandbox.now()).toBe(later(MINUTE))
    sandbox.real.pass(-HOUR)
    expect(await sandbox.now()).toBe(later(MINUTE))
    expect((await sandbox.clock({ advance_ms: SECOND })).now).toBe(later(MINUTE + SECOND))
    sandbox.real.pass(SECOND)
    expect(await sandbox.now()).toBe(later(MINUTE + 2 * SECOND))
  })

  it("a running clock stops at the end of the year 9999", async () => {
    const sandbox = await Sandbox.open()
    const last = "9999-12-31T23:59:59.999Z"
    expect((await sandbox.clock({ set: "9999-12-31T23:59:59Z", advance_ms: 999 })).now).toBe(last)
    sandbox.real.pass(DAY)
    expect(await sandbox.now()).toBe(last)
  })

  it("Effect.sleep takes real time, even if the clock is frozen or moved", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ freeze: true })
    const sleeper = sandbox.runtime.runFork(Effect.sleep("10 seconds"))
    await sandbox.clock({ advance_ms: HOUR })
    expect(sleeper.unsafePoll()).toBeNull()
    sandbox.real.pass(10 * SECOND)
    await Effect.runPromise(Fiber.join(sleeper))
  })

  it("Effect.timed measures real time, even if the clock is frozen (Specification, Webhooks)", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ freeze: true })
    const timed = sandbox.runtime.runPromise(Effect.timed(Effect.sync(() => sandbox.real.pass(250))))
    expect(String((await timed)[0])).toBe("Duration(250ms)")
  })
})

describe("A refused call to move the clock moves nothing (Specification, Sandbox)", () => {
  const refused: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>, ReadonlyArray<string>]> = [
    ["negative milliseconds", { advance_ms: -1, freeze: true }, ["body advance_ms"]],
    ["a fraction of a millisecond", { advance_ms: 1.5 }, ["body advance_ms"]],
    ["milliseconds as text", { advance_ms: "1000" }, ["body advance_ms"]],
    ["more milliseconds than a safe integer", { advance_ms: 1e300 }, ["body advance_ms"]],
    ["an instant before the clock's", { set: later(-1), freeze: true }, ["body set"]],
    ["an instant before the clock's, even with an advance after it", { set: later(-1), advance_ms: DAY }, ["body set"]],
    ["a date without a time", { set: "2026-12-01" }, ["body set"]],
    ["milliseconds as an instant", { set: Date.parse(START) + 1 }, ["body set"]],
    ["an instant beyond the year 9999", { set: "10000-01-01T00:00:00Z" }, ["body set"]],
    ["an advance beyond the year 9999", { advance_ms: 300_000_000_000_000 }, ["body advance_ms"]],
    ["a freeze that is neither true nor false", { freeze: "yes" }, ["body freeze"]],
    ["an unknown field", { advance: 1000 }, ["body advance"]],
    [
      "several invalid fields",
      { advance_ms: -1, set: "soon", freeze: 1, by: 2 },
      ["body advance_ms", "body by", "body freeze", "body set"]
    ]
  ]

  for (const [description, move, issues] of refused) {
    it(`a move with ${description} is refused`, async () => {
      const sandbox = await Sandbox.open()
      const response = await sandbox.ask("POST", "/sandbox/clock", move)
      expect([response.status, response.error.code]).toEqual([400, "VALIDATION_ERROR"])
      expect([...response.issues].sort()).toEqual(issues)
      expect(await sandbox.good("GET", "/sandbox/clock")).toEqual({
        now: START,
        frozen: false,
        frozen_by: null,
        ahead_ms: 0
      })
    })
  }

  it("the refusal of a move names a valid alternative", async () => {
    const sandbox = await Sandbox.open()
    const message = async (move: object) =>
      (await sandbox.ask("POST", "/sandbox/clock", move)).error.details.issues[0].message
    expect(await message({ advance_ms: -1 })).toBe(
      "must be a whole number of milliseconds, at least 0, because the clock never goes back"
    )
    expect(await message({ set: later(-1) })).toBe(`must not be before ${START}, because the clock never goes back`)
    expect(await message({ set: "9999-12-31T00:00:00Z", advance_ms: DAY })).toBe(
      "must not move the clock beyond 9999-12-31T23:59:59.999Z"
    )
  })
})

describe("Moves of the sandbox clock wait for one another (Specification, Sandbox)", () => {
  it("concurrent advances of the clock add up", async () => {
    const sandbox = await Sandbox.open()
    await sandbox.clock({ freeze: true })
    const responses = await Promise.all(Array.from({ length: 20 }, () => sandbox.clock({ advance_ms: MINUTE })))
    const expected = Array.from({ length: 20 }, (_, i) => later((i + 1) * MINUTE))
    expect(responses.map(({ now }) => now).sort()).toEqual(expected)
    expect(await sandbox.now()).toBe(later(20 * MINUTE))
  })

  it("of two concurrent calls that set the clock, the call that would set it back is refused", async () => {
    const sandbox = await Sandbox.open()
    const responses = await Promise.all([
      sandbox.ask("POST", "/sandbox/clock", { set: later(2 * HOUR) }),
      sandbox.ask("POST", "/sandbox/clock", { set: later(HOUR) })
    ])
    expect(responses.map(({ status }) => status)).toEqual([200, 400])
    expect(await sandbox.now()).toBe(later(2 * HOUR))
  })
})
