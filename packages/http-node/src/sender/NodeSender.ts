import { createSecureContext } from "node:tls"
import {
  allowsAddress,
  Limits,
  type Sent,
  type WebhookAddressPolicy,
  type WebhookPost,
  WebhookSender
} from "@workshop/core"
import { Clock, Context, DefaultServices, Effect, Layer, type Scope, Tracer } from "effect"
import { Attempt } from "./Attempt.js"
import { type ConnectionCounts, Connections } from "./Connections.js"
import { Deadlines } from "./Deadlines.js"
import { nameServers, type Resolve } from "./Resolver.js"
import { Routes } from "./Route.js"

/** How a sender works. The defaults are the contract's (Specification, Webhooks). */
export interface NodeSenderOptions {
  readonly policy: WebhookAddressPolicy
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
  /** Stands in for `allowsAddress` where a test's receiver on loopback plays a public one. */
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

/** Who traces nothing is spared the cost of spans. */
const untraced = Context.get(DefaultServices.liveServices, Tracer.Tracer)

const spanned = <A>(sending: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.withFiberRuntime((fiber) =>
    Context.get(fiber.currentDefaultServices, Tracer.Tracer) === untraced
      ? sending
      : Effect.withSpan(sending, "WebhookSender.send", { captureStackTrace: false })
  )

/** A sender on Node's sockets, whose connections close with the scope. */
export const make = (options: NodeSenderOptions): Effect.Effect<NodeSender, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { policy, deadline_ms = Limits.webhook_answer_ms, body_ms = 1000, idle_ms = 4000 } = options
    const { user_agent = "Workshop-Webhooks/1" } = options
    const { ca, resolve = nameServers(), isPublic = (address) => allowsAddress(address, policy) } = options
    const connections = yield* Effect.acquireRelease(
      Effect.sync(() => new Connections(idle_ms)),
      (held) => Effect.sync(() => held.destroy())
    )
    const secureContext = createSecureContext({ minVersion: "TLSv1.2", ...(ca === undefined ? {} : { ca }) })
    let bytes_read = 0
    const onBytes = (bytes: number) => {
      bytes_read += bytes
    }
    // Durations are real, also where the caller's clock is a sandbox's (Specification, Webhooks).
    const clock = Clock.make()
    const [verdicts, rests] = [new Deadlines(deadline_ms, clock), new Deadlines(body_ms, clock)]
    for (const { watch } of [verdicts, rests]) yield* Effect.forkScoped(watch)
    const routes = new Routes({ policy, resolve, isPublic })
    const deadlines = { deadline_ms, verdicts, rests }
    const around = { clock, routes, connections, secureContext, user_agent, onBytes, ...deadlines }
    const send = (post: WebhookPost) =>
      spanned(
        Effect.async<Sent>((resume) => {
          const attempt = new Attempt(post, around, resume)
          attempt.begin()
          return Effect.sync(() => attempt.abandon())
        })
      )
    return { send, counts: () => ({ ...connections.counts, bytes_read }) }
  })

/** The sender of a service on Node (Specification, Webhooks). */
export const layer = (options: NodeSenderOptions): Layer.Layer<WebhookSender> =>
  Layer.scoped(WebhookSender, make(options))
