import { createSecureContext } from "node:tls"
import {
  allowsAddress,
  Limits,
  type SendResult,
  type WebhookAddressPolicy,
  WebhookPolicy,
  type WebhookPost,
  WebhookSender
} from "@workshop/core"
import { type Complaint, isObject, mustBeFunction, mustBeText, requireOptions } from "@workshop/core/internal"
import { ServiceLimits } from "@workshop/core/store"
import { Clock, Context, DefaultServices, Effect, Layer, type Scope, Tracer } from "effect"
import { type ConnectionCounts, ConnectionPool } from "./ConnectionPool.js"
import { Deadlines } from "./Deadlines.js"
import { nameServers, type Resolve } from "./Resolver.js"
import { SendAttempt, type SenderContext, USER_AGENT } from "./SendAttempt.js"
import { Targets } from "./Target.js"

/** The options of a sender. The defaults are in the Specification, Webhooks. */
export interface NodeSenderOptions {
  /** The policy for webhook URLs; by default `webhookPolicy` of `start`, or port 443 of public addresses. */
  readonly policy?: WebhookAddressPolicy
  /**
   * The time from the call to the status line, including the wait for a slot, the look-up, the connection and the
   * handshake.
   */
  readonly deadlineMs?: number
  /** The time for reading the rest of the response after its status line; by default `ServiceLimits.webhook_body_ms`. */
  readonly bodyMs?: number
  /** The time after which an idle connection is closed; by default `ServiceLimits.webhook_connection_idle_ms`. */
  readonly idleMs?: number
  /** The `User-Agent` of the deliveries. */
  readonly userAgent?: string
  /** Certificate authorities to trust instead of the system's, in PEM. */
  readonly ca?: string
  /** Looks up the addresses of a name; by default the system's name servers, without `/etc/hosts`. */
  readonly resolve?: Resolve
  /** Replaces `allowsAddress` in tests whose receiver is on loopback. */
  readonly isPublic?: (address: string) => boolean
}

/** The sender's connections and received bytes, for metrics. */
export interface SenderCounts extends ConnectionCounts {
  /** The number of bytes of responses that were read. */
  readonly bytes_read: number
}

/** A sender and its counts. */
export interface NodeSender {
  /** Makes one attempt. It never fails: a failed attempt is a `SendResult` with its error. */
  readonly send: (post: WebhookPost) => Effect.Effect<SendResult>
  /** The counts at present. */
  readonly counts: () => SenderCounts
}

const isMillis = (value: unknown): Complaint =>
  typeof value === "number" && value >= 0 ? undefined : "must be a number of milliseconds"

const noTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** Adds a span only if a tracer is set, because spans cost time. */
const withSpan = <A>(sending: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.withFiberRuntime((fiber) =>
    Context.get(fiber.currentDefaultServices, Tracer.Tracer) === noTracer
      ? sending
      : Effect.withSpan(sending, "WebhookSender.send", { captureStackTrace: false })
  )

/** A sender on Node's sockets, whose connections close with the scope. */
export const make = (options: NodeSenderOptions = {}): Effect.Effect<NodeSender, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { policy = yield* WebhookPolicy, deadlineMs = Limits.webhook_timeout_ms, ca } = options
    const { bodyMs = ServiceLimits.webhook_body_ms, idleMs = ServiceLimits.webhook_connection_idle_ms } = options
    const { resolve = nameServers(), isPublic = (address) => allowsAddress(address, policy) } = options
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() => new ConnectionPool(idleMs)),
      (open) => Effect.sync(() => open.closeAll())
    )
    let bytes_read = 0
    // Durations use real time, even if the caller uses a sandbox's clock (Specification, Webhooks).
    const clock = Clock.make()
    const [statusDeadlines, bodyDeadlines] = [new Deadlines(deadlineMs, clock), new Deadlines(bodyMs, clock)]
    for (const { watch } of [statusDeadlines, bodyDeadlines]) yield* Effect.forkScoped(watch)
    const context: SenderContext = {
      clock,
      targets: new Targets({ policy, resolve, isPublic }),
      pool,
      secureContext: createSecureContext({ minVersion: "TLSv1.2", ...(ca === undefined ? {} : { ca }) }),
      deadlineMs,
      statusDeadlines,
      bodyDeadlines,
      userAgent: options.userAgent ?? USER_AGENT,
      onBytes: (bytes) => {
        bytes_read += bytes
      }
    }
    const send = (post: WebhookPost) =>
      withSpan(
        Effect.async<SendResult>((resume) => {
          const attempt = new SendAttempt(post, context, resume)
          attempt.begin()
          return Effect.sync(() => attempt.abort())
        })
      )
    return { send, counts: () => ({ ...pool.counts, bytes_read }) }
  })

const optionChecks = {
  policy: (value) =>
    isObject(value) ? undefined : "must be an object with ports, allowLoopbackHttp and refusedNetworks",
  deadlineMs: isMillis,
  bodyMs: isMillis,
  idleMs: isMillis,
  userAgent: mustBeText,
  ca: mustBeText,
  resolve: mustBeFunction,
  isPublic: mustBeFunction
} as const satisfies Record<keyof NodeSenderOptions, (value: unknown) => Complaint>

/** The layer of a sender on Node's sockets (Specification, Webhooks). */
export const layer = (options: NodeSenderOptions = {}): Layer.Layer<WebhookSender> =>
  Layer.scoped(
    WebhookSender,
    Effect.suspend(() => make(requireOptions("the sender", options, optionChecks)))
  )
