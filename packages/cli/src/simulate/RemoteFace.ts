import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Option, type Scope } from "effect"
import type { Answer, Envelope } from "./auditor/Evidence.js"
import { type Call, type Face, FaceBroken } from "./Face.js"
import type { Receivers } from "./Receivers.js"

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}

/** The connections that have carried a request. */
type Used = WeakSet<IncomingMessage["socket"]>

const hear = async (receivers: Receivers, used: Used, request: IncomingMessage, response: ServerResponse) => {
  const isKept = used.has(request.socket)
  used.add(request.socket)
  const body = await textOf(request)
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const status = receivers.hear((request.url ?? "/").slice(1), headers, body, isKept)
  if (status === null) return void request.socket.destroy()
  response.writeHead(status, status >= 300 && status < 400 ? { Location: "http://127.0.0.1:9/" } : {}).end()
}

const listening = (receivers: Receivers): Effect.Effect<Server, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => {
      const used: Used = new WeakSet()
      const server = createServer((request, response) => {
        hear(receivers, used, request, response).catch(() => request.socket.destroy())
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  body: (await response.json()) as Envelope
})

const broken = (base: string) => (cause: unknown) => {
  const why = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause)
  return new FaceBroken({
    message: `${base} does not answer as a workshop (${why}): start it with workshop serve --sandbox --store memory, or give its --base-url.`
  })
}

/** How long a request may take that is cut off. */
const CUT_AFTER_MS = 3

/** A running server with its sandbox, met over HTTP; its webhooks reach receivers on a free port of this machine. */
export const remoteFace = (base_url: string, receivers: Receivers): Effect.Effect<Face, never, Scope.Scope> =>
  Effect.map(listening(receivers), (server) => {
    const base = base_url.replace(/(?<!\/)\/+$/, "").replace(/\/v1$/, "")
    const { port } = server.address() as AddressInfo
    const fetched = ({ method, path, query, headers, body }: Call) =>
      Effect.tryPromise({
        try: async (signal) =>
          answerOf(
            await fetch(`${base}${path}${query === "" ? "" : `?${query}`}`, {
              method,
              headers,
              signal,
              redirect: "manual",
              ...(body === undefined ? {} : { body })
            })
          ),
        catch: broken(base)
      })
    return {
      ask: (call) =>
        call.fate === "cut"
          ? Effect.map(Effect.timeoutOption(fetched(call), CUT_AFTER_MS), Option.getOrNull)
          : fetched(call),
      receiverOf: (shop) => `http://127.0.0.1:${port}/${shop}`
    }
  })
