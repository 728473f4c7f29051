import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { Shelf } from "./Inbox.js"

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}

const headersOf = ({ headers }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const answer = async (shelf: Shelf, request: IncomingMessage, response: ServerResponse) => {
  const reply = shelf.take(request.url ?? "/", headersOf(request), await textOf(request))
  if (reply === "silence") return
  response.writeHead(reply.status, reply.location === undefined ? {} : { Location: reply.location }).end()
}

/** Receivers on a free port of this machine, for as long as the scope lasts, of deliveries that are signed in that header. */
export const loopbackInboxes = Effect.fnUntraced(function* (signatureHeader: string) {
  let shelf: Shelf | undefined
  const server = yield* Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const created = createServer((request, response) => {
        const lost = () => void response.destroy()
        if (shelf !== undefined) answer(shelf, request, response).catch(lost)
      })
      created.listen(0, "127.0.0.1", () => resume(Effect.succeed(created)))
    }),
    (listening) =>
      Effect.sync(() => {
        listening.close()
        listening.closeAllConnections()
      })
  )
  shelf = new Shelf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, signatureHeader)
  return shelf
})
