// A receiver in its own process. It responds to /ok immediately and never to /hang, and reports the time from each
// event's commit to its arrival.
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

const delays_ms: Array<number> = []

const received = (request: IncomingMessage): Promise<string> =>
  new Promise((resolve) => {
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (text: string) => {
      body += text
    })
    request.on("end", () => resolve(body))
  })

const server = createServer(async (request, response) => {
  const body = await received(request)
  if (request.url === "/hang") return
  const [, created_at] = /"created_at":"([^"]+)"/.exec(body) ?? []
  if (created_at !== undefined) delays_ms.push(performance.timeOrigin + performance.now() - Date.parse(created_at))
  response.writeHead(200).end()
})
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }))

process.on("message", () => {
  process.send?.({ delays_ms: delays_ms.splice(0) })
})
process.on("disconnect", () => process.exit(0))
