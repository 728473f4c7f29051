import { describe, expect, it } from "vitest"
import { ResponseParser } from "../../src/sender/ResponseParser.js"

const HEAD = "HTTP/1.1 200 OK\r\n"

/** Parses a response that arrives in parts of `cut` bytes. */
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

describe("the parser of HTTP/1.1 responses", () => {
  it.each([
    ["with a length", `${HEAD}Content-Length: 2\r\n\r\nok`, whole],
    ["with a body of length 0", `${HEAD}content-length:0\r\n\r\n`, whole],
    ["with a body shorter than its length", `${HEAD}Content-Length: 3\r\n\r\nok`, unending],
    ["without a length", `${HEAD}\r\nok`, unending],
    ["with a status that has no body", "HTTP/1.1 204 No Content\r\n\r\n", { ...whole, status: 204 }],
    ["in chunks", `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, whole],
    [
      "in chunks with extensions and trailers",
      `${HEAD}Transfer-Encoding: chunked\r\n\r\nA;x=y\r\n0123456789\r\n0\r\nT: x\r\n\r\n`,
      whole
    ],
    ["in chunks without a last chunk", `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n`, unending],
    ["with another transfer coding", `${HEAD}Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n`, unending],
    ["with line feeds alone as line ends", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", whole],
    ["with a folded header", `${HEAD}X: a\r\n\tb\r\nContent-Length: 0\r\n\r\n`, whole],
    [
      "after informational responses",
      `HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 100\r\n\r\n${HEAD}Content-Length: 0\r\n\r\n`,
      whole
    ],
    ["with Connection: close", `${HEAD}Connection: x, Close\r\nContent-Length: 0\r\n\r\n`, { ...whole, kept_s: 0 }],
    [
      "with a Keep-Alive timeout",
      `${HEAD}Keep-Alive: max=9, timeout=5\r\nContent-Length: 0\r\n\r\n`,
      { ...whole, kept_s: 5 }
    ],
    ["of HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", { ...whole, kept_s: 0 }],
    ["with a change of protocol", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", { ...unending, status: 101 }],
    ["with a space before the colon", `${HEAD}Content-Length : 2\r\n\r\nok`, "malformed"],
    ["with a signed length", `${HEAD}Content-Length: +2\r\n\r\nok`, "malformed"],
    ["with a list of lengths", `${HEAD}Content-Length: 2, 2\r\n\r\nok`, "malformed"],
    ["with a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "malformed"],
    [
      "with 7,000 spaces and a control character in a header",
      `${HEAD}X:${" ".repeat(7_000)}\u0001\r\n\r\n`,
      "malformed"
    ],
    ["with white space around a value", `${HEAD}Content-Length: \t 2 \t \r\n\r\nok`, whole],
    ["with a carriage return within a header", `${HEAD}X: a\rb\r\n\r\n`, "malformed"]
  ])("a response %s gives the expected result in parts of every size", (_, text, expected) => {
    for (const cut of [1, 2, 3, 7, 1000]) expect(read(text, cut)).toEqual(expected)
  })

  it("a head of thousands of lines that arrives byte by byte is parsed in linear time", () => {
    const { exec } = RegExp.prototype
    let charactersSearched = 0
    RegExp.prototype.exec = function (this: RegExp, text: string) {
      charactersSearched += text.length - this.lastIndex
      return exec.call(this, text)
    }
    try {
      expect(read(`${HEAD}${"a:\n".repeat(2_600)}`, 1)).toEqual({ ...unending, kept_s: 0 })
    } finally {
      RegExp.prototype.exec = exec
    }
    // A search of the whole head for each byte would read 30 million characters.
    expect(charactersSearched).toBeGreaterThan(2_600)
    expect(charactersSearched).toBeLessThan(300_000)
  })

  it("a connection is not reused if other bytes follow the response", () => {
    expect(read(`${HEAD}Content-Length: 2\r\n\r\nok${HEAD}`, 1000)).toEqual(unending)
    expect(read(`${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nx`, 1000)).toEqual(unending)
  })

  it.each(["x\r\n", "123456789\r\n", "2\r\nokay"])("a response with the invalid chunk %j is malformed", (body) => {
    const answer = new ResponseParser()
    expect(answer.add(Buffer.from(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${body}`))).toBeUndefined()
    expect(answer).toMatchObject({ status: 200, isUnreadable: true, isComplete: false })
  })
})
