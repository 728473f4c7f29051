import { Either, Exit, FiberId, Schema } from "effect"
import { afterEach, describe, expect, it, vi } from "vitest"
import { optionalFlag } from "../../src/terminal/commands.js"
import { type Decoder, duration, share, wholeNumber } from "../../src/terminal/decoders.js"
import { wantsColour, widthFor } from "../../src/terminal/Output.js"
import { exitOf, type Stop } from "../../src/terminal/runProcess.js"
import { runCommandLine } from "../runCommandLine.js"

it("the width of a table is limited only on a terminal (Specification, Commands)", () => {
  expect(widthFor({ isTTY: true, columns: 80 })).toBe(80)
  expect(widthFor({ isTTY: false, columns: 80 })).toBe(Number.POSITIVE_INFINITY)
  expect(widthFor({ isTTY: true })).toBe(Number.POSITIVE_INFINITY)
})

describe("colours (Specification, Commands)", () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "" }, true],
    [true, { TERM: "dumb" }, false],
    [false, { FORCE_COLOR: "1" }, true],
    [false, { FORCE_COLOR: "true", NO_COLOR: "1", TERM: "dumb" }, true],
    [true, { FORCE_COLOR: "0" }, false],
    [true, { FORCE_COLOR: "false" }, false],
    [true, { FORCE_COLOR: "" }, true]
  ])("on a terminal: %s, with the variables %j, colours are on: %s", (isTTY, env, wanted) => {
    expect(wantsColour({ isTTY }, env)).toBe(wanted)
  })

  describe("the flag --no-color", () => {
    afterEach(() => vi.unstubAllEnvs())

    it("--no-color works at every level, sets NO_COLOR, and overrides FORCE_COLOR", async () => {
      for (const words of [
        ["--no-color", "scenario", "schema"],
        ["scenario", "--no-color", "schema"],
        ["scenario", "schema", "--no-color"]
      ]) {
        vi.stubEnv("NO_COLOR", "")
        vi.stubEnv("FORCE_COLOR", "1")
        expect(await runCommandLine(words)).toMatchObject({ status: 0, stderr: "" })
        expect(process.env.NO_COLOR).toBe("1")
        expect(wantsColour({ isTTY: true }, process.env)).toBe(false)
      }
    })

    it("--no-color after -- is read as a file name", async () => {
      vi.stubEnv("NO_COLOR", "")
      const { stderr } = await runCommandLine(["verify", "--secret", "whsec_x", "--", "--no-color"])
      expect(stderr).toMatch(/^The file --no-color cannot be read/)
      expect(process.env.NO_COLOR).toBe("")
    })
  })
})

describe("exit statuses (Specification, Commands)", () => {
  const status = (exit: Exit.Exit<void, { readonly message: string }>, command: string, stop?: Stop) =>
    exitOf(exit, [command], stop).status

  it("the exit status is 0 only on success, 1 after a failure, and 130 if the command was stopped before it finished", () => {
    expect(status(Exit.void, "verify")).toBe(0)
    expect(status(Exit.fail({ message: "no" }), "verify")).toBe(1)
    expect(status(Exit.die("bug"), "serve")).toBe(1)
    expect(status(Exit.interrupt(FiberId.none), "simulate", "signal")).toBe(130)
    expect(status(Exit.interrupt(FiberId.none), "simulate", "reader")).toBe(0)
  })

  it("the exit status is 0 for a command that runs until it is stopped, and 1 if it stops by itself", () => {
    for (const command of ["serve", "receive", "dispatch"]) {
      expect(status(Exit.interrupt(FiberId.none), command, "signal")).toBe(0)
      expect(status(Exit.interrupt(FiberId.none), command)).toBe(1)
    }
  })
})

describe("values of flags", () => {
  const read = <A>(decoder: Decoder<A>, text: string) =>
    Either.merge(Either.mapLeft(Schema.decodeEither(decoder)(text), ({ message }) => message))

  it("durations have units; a bare number counts seconds", () => {
    expect(["250ms", "3s", "3", "1.5s", "5m", "5min", "2h", "60d", "0s"].map((text) => read(duration, text))).toEqual([
      250, 3000, 3000, 1500, 300_000, 300_000, 7_200_000, 5_184_000_000, 0
    ])
    for (const text of ["", "soon", "-3s", "3w", "1e9s", "s"]) expect(read(duration, text)).toMatch(/^must be/)
  })

  it("a share is a number from 0 to 1", () => {
    expect(["0", "1", "0.3", ".5", "1.0", "0.0"].map((text) => read(share, text))).toEqual([0, 1, 0.3, 0.5, 1, 0])
    for (const text of ["", "2", "-1", "1.1", "30%", "NaN"]) expect(read(share, text)).toMatch(/^must be/)
  })

  it("whole numbers have bounds, and an omitted optional flag is null", () => {
    const decoder = wholeNumber(1, 9999)
    expect([read(decoder, "1"), read(decoder, "9999")]).toEqual([1, 9999])
    const { decode } = optionalFlag("--n <number>", "", { decoder })
    expect([decode([]), decode([""]), decode(["7"])].map(Either.getOrNull)).toEqual([null, null, 7])
    for (const text of ["0", "10000", "1.5", "", "1e3"]) expect(read(decoder, text)).toMatch(/^must be a whole number/)
  })
})
