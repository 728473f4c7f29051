import type { Effect } from "effect"

/** The actors. The shop's own system calls the API, and all others call the sandbox. */
export type CallActor = "system" | "app" | "owner" | "client" | "receiver" | "clock" | "tester"

/**
 * All calls of a service by name, each with its actor and its endpoint (Specification, Endpoints; Sandbox). `:id` is
 * the id of a ticket, a client, an offer or a key, or of the shop in `/sandbox/shops/:id`.
 */
export const calls = {
  "create ticket": ["system", "POST /v1/tickets"],
  "get ticket": ["system", "GET /v1/tickets/:id"],
  "list tickets": ["system", "GET /v1/tickets"],
  "get ticket by number": ["system", "GET /v1/tickets/by-number/:n"],
  "set status": ["system", "POST /v1/tickets/:id/status"],
  notified: ["system", "POST /v1/tickets/:id/notified"],
  "find client": ["system", "GET /v1/clients"],
  "get client": ["system", "GET /v1/clients/:id"],
  "get loyalty": ["system", "GET /v1/clients/:id/loyalty"],
  "add stamps": ["system", "POST /v1/clients/:id/loyalty/stamps"],
  "redeem reward": ["system", "POST /v1/clients/:id/loyalty/redeem"],
  "get shop": ["system", "GET /v1/shop"],
  "create in app": ["app", "POST /sandbox/shops/:id/tickets"],
  "edit ticket": ["app", "PATCH /sandbox/tickets/:id"],
  "propose quote": ["app", "POST /sandbox/tickets/:id/quote"],
  "announce delay": ["app", "POST /sandbox/tickets/:id/delay"],
  "record part": ["app", "POST /sandbox/tickets/:id/part"],
  "attach photo": ["app", "POST /sandbox/tickets/:id/photo"],
  "open shop": ["owner", "POST /sandbox/shops"],
  "change shop": ["owner", "PATCH /sandbox/shops/:id"],
  "create key": ["owner", "POST /sandbox/shops/:id/keys"],
  "list keys": ["owner", "GET /sandbox/shops/:id/keys"],
  "revoke key": ["owner", "DELETE /sandbox/keys/:id"],
  "set webhook": ["owner", "PUT /sandbox/shops/:id/webhook"],
  "get webhook": ["owner", "GET /sandbox/shops/:id/webhook"],
  "rotate secret": ["owner", "POST /sandbox/shops/:id/webhook/rotate"],
  "enable webhook": ["owner", "POST /sandbox/shops/:id/webhook/enable"],
  "disable webhook": ["owner", "POST /sandbox/shops/:id/webhook/disable"],
  "remove webhook": ["owner", "DELETE /sandbox/shops/:id/webhook"],
  ping: ["owner", "POST /sandbox/shops/:id/webhook/ping"],
  "replay events": ["owner", "POST /sandbox/shops/:id/deliveries/replay"],
  "list events": ["owner", "GET /sandbox/shops/:id/events"],
  "list deliveries": ["owner", "GET /sandbox/shops/:id/deliveries"],
  "list notices": ["owner", "GET /sandbox/shops/:id/notices"],
  register: ["client", "POST /sandbox/clients"],
  visit: ["client", "POST /sandbox/clients/:id/visits"],
  "accept offer": ["client", "POST /sandbox/offers/:id/accept"],
  "block shop": ["client", "POST /sandbox/offers/:id/block"],
  "get offers": ["client", "GET /sandbox/clients/:id/offers"],
  "get inbox": ["client", "GET /sandbox/clients/:id/inbox"],
  "accept quote": ["client", "POST /sandbox/tickets/:id/quote/accept"],
  "refuse quote": ["client", "POST /sandbox/tickets/:id/quote/refuse"],
  "set faults": ["tester", "PUT /sandbox/faults"],
  "clear faults": ["tester", "DELETE /sandbox/faults"],
  "read clock": ["clock", "GET /sandbox/clock"],
  "move clock": ["clock", "POST /sandbox/clock"]
} as const satisfies Readonly<Record<string, readonly [CallActor, string]>>

/** A name in the table of {@link calls}. */
export type CallName = keyof typeof calls

/** The parts of a call that few calls have. */
export interface CallParts {
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string>>
  /** The key of a call of the API. */
  readonly key?: string
}

/** Makes a call to a server with a sandbox, for the resource with this id. Succeeds with the data of the response. */
export type SandboxCall<E> = <A>(name: CallName, id?: string, parts?: CallParts) => Effect.Effect<A, E>

/** The rows of {@link calls}, with the endpoint split into method and path. */
const rows = Object.entries(calls).map(([name, [, endpoint]]) => {
  const [method = "", path = ""] = endpoint.split(" ")
  return { name: name as CallName, method, segments: path.split("/") }
})

/** The method and the path of a call for the resource with this id. */
export const requestOf = (name: CallName, id = ""): { readonly method: Method; readonly path: string } => {
  const [method = "GET", pattern = ""] = calls[name][1].split(" ")
  return { method: method as Method, path: pattern.replace(/:(id|n)\b/, encodeURIComponent(id)) }
}

/** The call that a request makes, and the id in its path, or ""; null for a request that no row describes. */
export const callOf = (request: {
  readonly method: string
  readonly path: string
}): { readonly name: CallName; readonly id: string } | null => {
  const givenSegments = request.path.split("/")
  const row = rows.find(
    ({ method, segments }) =>
      method === request.method &&
      segments.length === givenSegments.length &&
      segments.every((segment, i) => segment === givenSegments[i] || segment.startsWith(":"))
  )
  if (row === undefined) return null
  return { name: row.name, id: givenSegments[row.segments.findIndex((segment) => segment.startsWith(":"))] ?? "" }
}

/** The methods of the API. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
