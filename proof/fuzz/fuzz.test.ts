import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { fuzzParsers, fuzzService } from "./fuzz.js"
import { parsers } from "./parsers.js"

const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8"))

/** Inputs that once broke a parser, or that are similar to them, each with its parser. */
const samples: ReadonlyArray<readonly [string, string]> = [
  ["cursors", ""],
  ["cursors", "MTI.0"],
  ["signatures", "t=1732000000,v1="],
  ["receivers' answers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n"],
  [
    "receivers' answers",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n\nok\r\n0\r\nT: x\r\n\r\n"
  ],
  ["scenario files", "name: &a [*a]\nsteps: []\n"],
  ["webhook addresses", "https://[::ffff:127.0.0.1]/"],
  ["dates and times", "+275760-09-13T00:00:00Z"],
  ["durations", "99999999999999999999d"]
]

describe("the parsers of external input", () => {
  it.each(samples)("the parser of %s accepts or refuses %j without an error", async (name, text) => {
    const parser = parsers.find((one) => one.name === name)!
    expect(await parser.read(text)).toBeNull()
  })

  it("every parser accepts or refuses random texts without an error, and the same text in the same way (seed 1)", async () => {
    expect((await fuzzParsers(1, 5000)).errors).toEqual([])
  }, 60_000)

  it("every random request gets a response that openapi.json documents, and never a 5xx (seed 1)", async () => {
    expect((await fuzzService(1, 1000, document)).errors).toEqual([])
  }, 60_000)
})
