import { isIP, type Socket } from "node:net"
import { createSecureContext, type SecureContext } from "node:tls"
import type { Sent } from "@workshop/core/domain/Attempt"
import { Limits } from "@workshop/core/domain/Limits"
import { isPublicAddress } from "@workshop/core/domain/PublicAddress"
import type { Policy } from "@workshop/core/domain/WebhookAddress"
import { type WebhookPost, WebhookSender } from "@workshop/core/ports/WebhookSender"
import { Clock, Deferred, Effect, Layer, type Scope } from "effect"
import { Call } from "./Call.js"
import { type ConnectionCounts, Connections } from "./Connections.js"
import { dial } from "./Dial.js"
import { Exchange } from "./Exchange.js"
import { notSent } from "./NotSent.js"
import { nameServers, type Resolve } from "./Resolver.js"
import { type RouteRules, routeOf } from "./Route.js"

/** How a sender works. The defaults are the contract's (contract §9). */
export interface NodeSenderOptions {
  readonly policy: Policy
  /** From the call to the status line: waiting, look-up, dial and handshake included. */
  readonly deadline_ms?: number
  /** How long what follows the status line is read, for the log and to keep the connection. */
  readonly body_ms?: number
  /** How long a connection is kept for the next event: less than receivers do, so that they seldom close it first. */
  readonly idle_ms?: number
  readonly user_agent?: string
  /** Certificates to trust in place of the system's, in PEM. */
  readonly ca?: string
  readonly resolve?: Resolve
  /** Stands in for `isPublicAddress` where a test's receiver on loopback plays a public one. */
  readonly isPublic?: (address: string) => boolean
}

/** What a sender holds and has read, for metrics. */
export interface SenderCounts extends ConnectionCounts {
  readonly bytes_read: number
}

/** A sender, and a look inside. */
export interface NodeSender {
  readonly send: (post: WebhookPost) => Effect.Effect<Sent>
  readonly counts: () => SenderCounts
}

interface Settings extends RouteRules {
  readonly deadline_ms: number
  readonly body_ms: number
  readonly user_agent: string
  readonly connections: Connections
  readonly secureContext: SecureContext
  readonly onBytes: (bytes: number) => void
}

const headersOf = ({ headers, body }: WebhookPost, authority: string, user_agent: string) => {
  const every = {
    Host: authority,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    "User-Agent": user_agent,
    "Accept-Encoding": "identity"
  }
  const names = new Set(["connection", "transfer-encoding", ...Object.keys(every).map((name) => name.toLowerCase())])
  const own = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()))
  return { ...every, ...Object.fromEntries(own) }
}

/** Up to the status line. */
const reach = Effect.fnUntraced(function* (post: WebhookPost, call: Call, settings: Settings) {
  const { connections, user_agent, onBytes } = settings
  const route = yield* routeOf(post.url, settings)
  yield* connections.place(post.shop_id, call)
  const looked_up = isIP(route.host) === 0 ? call.timed("lookup_ms", route.addresses) : route.addresses
  const addresses = yield* looked_up
  const poolOf = (address: string) => [post.shop_id, route.secure, route.authority, route.port, address].join(" ")
  const headers = headersOf(post, route.authority, user_agent)
  const start = (address: string, dialled: Socket | undefined) => {
    call.address = address
    const outgoing = { pool: poolOf(address), dialled, path: route.path, headers, body: post.body }
    return new Exchange(connections, outgoing, call, onBytes)
  }
  // Nothing may come between the look for an idle connection and its use.
  const idle = addresses.find((address) => connections.hasIdle(poolOf(address)))
  const exchange =
    idle === undefined ? start(...(yield* dial(addresses, route, call, settings))) : start(idle, undefined)
  yield* Deferred.await(exchange.answered)
  return exchange
})

const attempt = Effect.fnUntraced(function* (post: WebhookPost, call: Call, settings: Settings) {
  const { deadline_ms, body_ms } = settings
  const onTimeout = () => notSent("timeout")
  const exchange = yield* Effect.timeoutFail(reach(post, call, settings), { duration: deadline_ms, onTimeout })
  const finished = Deferred.await(exchange.finished)
  // In most cases the answer came in one piece, and needs no timer.
  if (yield* Deferred.isDone(exchange.finished)) yield* finished
  else yield* Effect.timeoutOption(finished, body_ms)
  return { status: exchange.status! }
})

/** A sender on Node's sockets, whose connections close with the scope. */
export const make = (options: NodeSenderOptions): Effect.Effect<NodeSender, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { policy, deadline_ms = Limits.webhook_answer_ms, body_ms = 1000, idle_ms = 4000 } = options
    const { user_agent = "Workshop-Webhooks/1" } = options
    const { ca, resolve = nameServers(), isPublic = isPublicAddress } = options
    const connections = yield* Effect.acquireRelease(
      Effect.sync(() => new Connections(idle_ms)),
      (held) => Effect.sync(() => held.destroy())
    )
    const secureContext = createSecureContext({ minVersion: "TLSv1.2", ...(ca === undefined ? {} : { ca }) })
    let bytes_read = 0
    const onBytes = (bytes: number) => {
      bytes_read += bytes
    }
    const rules = { policy, resolve, isPublic }
    const settings = { ...rules, deadline_ms, body_ms, user_agent, connections, secureContext, onBytes }
    // Durations are real, also where the caller's clock is a sandbox's (contract §9).
    const clock = Clock.make()
    const send = (post: WebhookPost) =>
      Effect.suspend(() => {
        const call = new Call(clock)
        return attempt(post, call, settings).pipe(
          Effect.catchTag("NotSent", Effect.succeed),
          Effect.ensuring(Effect.sync(() => call.end())),
          Effect.map((outcome) => call.sent(outcome))
        )
      }).pipe(Effect.withClock(clock), Effect.withSpan("WebhookSender.send", { captureStackTrace: false }))
    return { send, counts: () => ({ ...connections.counts, bytes_read }) }
  })

/** The sender of a service on Node (contract §9). */
export const layer = (options: NodeSenderOptions): Layer.Layer<WebhookSender> =>
  Layer.scoped(WebhookSender, make(options))
