import { connect } from "node:net"
import type { Grammar } from "./Grammar.js"

const REQUESTS = [
  "GET /v1/shop HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wk_test_abc\r\n\r\n",
  "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  'POST /v1/tickets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{"service":"Hem"}',
  "POST /sandbox/shops HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
  "GET /docs HTTP/1.0\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n"
]

/** Sends bytes that are nearly HTTP, and returns the error in the response, or null. */
export const fuzzSocket = (grammar: Grammar, port: number): Promise<string | null> => {
  const sent = grammar.bent(grammar.draws.oneOf(REQUESTS))
  return new Promise((resolve) => {
    let got = ""
    const socket = connect(port, "127.0.0.1", () => socket.end(Buffer.from(sent, "latin1")))
    const timer = setTimeout(() => socket.destroy(), 2000)
    socket.on("data", (data) => {
      got += data.toString("latin1")
      if (got.length > 20_000) socket.destroy()
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      clearTimeout(timer)
      const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(got) ?? []
      if (got !== "" && status === undefined)
        return resolve(`no HTTP came back for ${JSON.stringify(sent)}: ${got.slice(0, 100)}`)
      resolve(
        status !== undefined && Number(status) >= 500 && status !== "501" && status !== "505"
          ? `${status} to ${JSON.stringify(sent)}: ${got.slice(0, 300)}`
          : null
      )
    })
  })
}
