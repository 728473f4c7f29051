// Node's own HTTP server, which reads each body to its end and always sends the same bytes. The benchmark runs it in
// its own process, as the lower bound of the cost of a server on Node.

import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { announce, SHOPS, ticketBody } from "./Workload.js"

const HEADERS = {
  "Content-Type": "application/json; charset=utf-8",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  "Request-Id": "0123456789abcdef01234567",
  "RateLimit-Limit": "120",
  "RateLimit-Remaining": "119",
  "RateLimit-Reset": "60"
}

/** A body about as long as a ticket in its envelope. */
const BODY = JSON.stringify({ success: true, data: { ...JSON.parse(ticketBody(0)), history: ticketBody(1).repeat(2) } })

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(request.method === "POST" ? 201 : 200, { ...HEADERS, "Content-Length": BODY.length }).end(BODY)
  })
})
server.listen(0, "127.0.0.1", () =>
  announce({
    port: (server.address() as AddressInfo).port,
    tickets: Array.from({ length: SHOPS }, (_, n) => String(n))
  })
)
