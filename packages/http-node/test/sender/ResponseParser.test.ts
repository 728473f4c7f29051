import { describe, expect, it } from "vitest"
import { ResponseParser } from "../../src/sender/ResponseParser.js"

const HEAD = "HTTP/1.1 200 OK\r\n"

/** Parses a response that arrives in pieces of `cut` bytes. */
const read = (text: string, cut: number) => {
  const answer = new ResponseParser()
  const bytes = Buffer.from(text, "latin1")
  let refused: string | undefined
  for (let i = 0; i < bytes.length && refused === undefined; i += cut)
    refused = answer.add(bytes.subarray(i, i + cut))?.error
  return refused ?? { status: answer.status, whole: answer.isComplete, kept_s: answer.keep_alive_s }
}

const whole = { status: 200, whole: true, kept_s: null }
const unending = { status: 200, whole: false, kept_s: null }

describe("a response of HTTP/1.1", () => {
  it.each([
    ["a length", `${HEAD}Content-Length: 2\r\n\r\nok`, whole],
    ["a length of none", `${HEAD}content-length:0\r\n\r\n`, whole],
    ["less than its length", `${HEAD}Content-Length: 3\r\n\r\nok`, unending],
    ["no length", `${HEAD}\r\nok`, unending],
    ["no body by its status", "HTTP/1.1 204 No Content\r\n\r\n", { ...whole, status: 204 }],
    ["chunks", `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, whole],
    [
      "chunks with extensions and trailers",
      `${HEAD}Transfer-Encoding: chunked\r\n\r\nA;x=y\r\n0123456789\r\n0\r\nT: x\r\n\r\n`,
      whole
    ],
    ["chunks without an end", `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n`, unending],
    ["another coding", `${HEAD}Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n`, unending],
    ["lines that end without a return", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", whole],
    ["a folded header", `${HEAD}X: a\r\n\tb\r\nContent-Length: 0\r\n\r\n`, whole],
    [
      "informational answers first",
      `HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 100\r\n\r\n${HEAD}Content-Length: 0\r\n\r\n`,
      whole
    ],
    ["a wish to close", `${HEAD}Connection: x, Close\r\nContent-Length: 0\r\n\r\n`, { ...whole, kept_s: 0 }],
    ["a time it is kept", `${HEAD}Keep-Alive: max=9, timeout=5\r\nContent-Length: 0\r\n\r\n`, { ...whole, kept_s: 5 }],
    ["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", { ...whole, kept_s: 0 }],
    ["a change of protocol", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", { ...unending, status: 101 }],
    ["a space before the colon", `${HEAD}Content-Length : 2\r\n\r\nok`, "malformed"],
    ["a length with a sign", `${HEAD}Content-Length: +2\r\n\r\nok`, "malformed"],
    ["a list of lengths", `${HEAD}Content-Length: 2, 2\r\n\r\nok`, "malformed"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "malformed"],
    ["white space without end in a header", `${HEAD}X:${" ".repeat(7_000)}\u0001\r\n\r\n`, "malformed"],
    ["white space around a value", `${HEAD}Content-Length: \t 2 \t \r\n\r\nok`, whole],
    ["a return within a header", `${HEAD}X: a\rb\r\n\r\n`, "malformed"]
  ])("a response %s is read to its end", (_, text, expected) => {
    for (const cut of [1, 2, 3, 7, 1000]) expect(read(text, cut)).toEqual(expected)
  })

  it("a response of thousands of lines that arrive byte by byte is searched in linear time", () => {
    const { indexOf } = String.prototype
    let searches = 0
    String.prototype.indexOf = function (this: string, ...args) {
      searches++
      return indexOf.apply(this, args)
    }
    try {
      expect(read(`${HEAD}${"a:\n".repeat(2_600)}`, 1)).toEqual({ ...unending, kept_s: 0 })
    } finally {
      String.prototype.indexOf = indexOf
    }
    expect(searches).toBeLessThan(100_000)
  })

  it("a response that is followed by other bytes is invalid, so that its connection is not used again", () => {
    expect(read(`${HEAD}Content-Length: 2\r\n\r\nok${HEAD}`, 1000)).toEqual(unending)
    expect(read(`${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nx`, 1000)).toEqual(unending)
  })

  it.each(["x\r\n", "123456789\r\n", "2\r\nokay"])("a response with invalid chunks (%j) is refused", (body) => {
    const answer = new ResponseParser()
    expect(answer.add(Buffer.from(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${body}`))).toBeUndefined()
    expect(answer).toMatchObject({ status: 200, isUnreadable: true, isComplete: false })
  })
})
