import type { IncomingHttpHeaders } from "node:http"
import type { Instant } from "@workshop/core"
import { SIGNATURE_HEADER } from "@workshop/core/internal"
import type { CannotListen } from "@workshop/http-node"
import { DEFAULT_TOLERANCE_SECONDS, type VerifyFailure, verify } from "@workshop/webhooks"
import { Clock, Deferred, Effect, Predicate, type Scope } from "effect"
import { PCGRandom } from "effect/Utils"
import {
  type Handler,
  type IncomingRequest,
  listenOnLoopback,
  type Reply,
  statusReply
} from "../testkit/LoopbackServer.js"

/**
 * An event as it arrived. Its type may be unknown, because later versions of the service may send further types
 * (Specification, Webhooks).
 */
export interface ReceivedEvent {
  /** The id of the event, the same at each delivery. */
  readonly id: string
  /** The type of the event, such as `ticket.created`. */
  readonly type: string
  /** When the event was raised; its form is not checked. */
  readonly created_at?: unknown
  /** The shop of the event; its form is not checked. */
  readonly shop_id?: unknown
  /** The ticket after the event, and further fields that depend on the type. */
  readonly data: Readonly<Record<string, unknown>>
}

/** The outcome of a request. */
export type ReceivedOutcome =
  /** The event was not acknowledged before. */
  | "event"
  /** The event was acknowledged before, so the receiver drops it (Specification, Webhooks). */
  | "again"
  /** The signature is valid, but the receiver was configured to refuse the event, so it will be sent again. */
  | "failed"
  /** The request is not a valid delivery; the response is a 4xx that says why. */
  | "refused"

/** The reason why a request was refused. */
export type RefusalReason = VerifyFailure | "not_an_event" | "not_a_post" | "too_large"

/** A request as it arrived, complete. */
export interface ReceivedRequest {
  /** The number of the request in the order of arrival, from 1. */
  readonly n: number
  /** The instant at which the request was complete, on the receiver's clock. */
  readonly at: Instant
  /** The path with its query. */
  readonly path: string
  /** The headers, with names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** The signature header as it arrived; null if there was none. */
  readonly signature: string | null
  /** The raw body, as text. */
  readonly body: string
  /** The event in the body; null if the body is not an event. */
  readonly event: ReceivedEvent | null
}

/** A request, and what the receiver did with it. */
export interface ReceivedDelivery extends ReceivedRequest {
  /** The outcome for the receiver, such as a duplicate that it drops. */
  readonly outcome: ReceivedOutcome
  /** Why the request is not a valid delivery; null unless `outcome` is `refused`. */
  readonly refused_as: RefusalReason | null
  /**
   * True if the request belongs to the same attempt as the previous request, which was cut off on a kept connection.
   * The sender then sends the event again, because it cannot distinguish this from a connection that was closed while
   * idle.
   */
  readonly redialled: boolean
  /** The status of the response, or the name of another reply. */
  readonly answered: number | Exclude<Reply["kind"], "status">
}

/** The behaviour of a receiver. */
export interface Behaviour {
  /** The reply to all requests, or a function that is called once for each complete request. */
  readonly reply: Reply | ((request: ReceivedRequest) => Reply)
  /** The wait before the status line, in real milliseconds. */
  readonly delay_ms: number
  /** The share of requests, from 0 to 1, whose response is 500 instead. The receiver's seed determines which. */
  readonly failShare: number
  /** Forwards a complete request, and replies with the response; replaces `reply`. */
  readonly forward?: (request: ReceivedRequest) => Effect.Effect<Reply>
}

/** The behaviour of a healthy receiver, which always replies 200 without a delay. */
export const healthy: Behaviour = { reply: statusReply(200), delay_ms: 0, failShare: 0 }

/** Options of a receiver, all optional. */
export interface ReceiverOptions {
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string
  /** The port; by default 0, which means a free one. */
  readonly port?: number
  /** The webhook's secrets; without them, requests wait until {@link Receiver.trust} is called. */
  readonly secrets?: ReadonlyArray<string>
  /** How the receiver replies; by default 200 at once. */
  readonly behaviour?: Partial<Behaviour>
  /** The seed that determines which requests fail if there is a share of failures; 1 by default. */
  readonly seed?: number
  /** The signature header's name. */
  readonly header?: string
  /** The largest difference between `t` and the receiver's clock, in seconds; `DEFAULT_TOLERANCE_SECONDS` of `@workshop/webhooks` by default. */
  readonly tolerance_seconds?: number
  /**
   * The receiver's clock; Effect's by default. Pass a sandbox's clock to verify its deliveries, because a sandbox signs
   * with its own clock.
   */
  readonly now?: Effect.Effect<Instant>
  /** Reads the webhook's current secret, or null. It runs if no secret matches, at most once a second. */
  readonly secretNow?: Effect.Effect<string | null>
  /** The number of latest requests that `received` keeps; 10,000 by default. */
  readonly keep?: number
  /** The number of event ids that are remembered to recognise duplicates; 100,000 by default. */
  readonly remember?: number
  /** Called with each request after its outcome is known and before the reply. */
  readonly onReceived?: (received: ReceivedDelivery) => void
}

/** The number of requests by outcome. */
export type Totals = Readonly<Record<ReceivedOutcome, number>>

/** A webhook receiver (Specification, Webhooks): verifies, drops duplicates, and behaves as configured. */
export interface Receiver {
  /** The address for events. */
  readonly url: string
  /** The latest requests, in the order in which their outcomes became known. */
  readonly received: Effect.Effect<ReadonlyArray<ReceivedDelivery>>
  /** The numbers of all requests so far, by outcome. */
  readonly totals: Effect.Effect<Totals>
  /** The current behaviour. */
  readonly behaviour: Effect.Effect<Behaviour>
  /** Changes fields of the behaviour, from the next request on. Returns the new behaviour. */
  readonly setBehaviour: (next: Partial<Behaviour>) => Effect.Effect<Behaviour>
  /** Replaces the secrets with at least one. */
  readonly trust: (secrets: ReadonlyArray<string>) => Effect.Effect<void>
}

const REFUSAL_RESPONSES: Readonly<Record<RefusalReason, { readonly status: number; readonly message: string }>> = {
  missing: { status: 400, message: "There is no signature header" },
  malformed: { status: 400, message: "The signature header does not have the form t=<seconds>,v1=<hex>" },
  mismatch: { status: 400, message: "The signature does not match this body and this secret" },
  too_old: { status: 400, message: "The signature's time is too far behind the receiver's clock" },
  too_new: { status: 400, message: "The signature's time is too far ahead of the receiver's clock" },
  not_an_event: { status: 400, message: "The body is not an event" },
  not_a_post: { status: 405, message: "The method must be POST" },
  too_large: { status: 413, message: "The body is larger than 1 MiB" }
}

/** The event in a body; null if the body is not an event. */
export const eventOf = (body: string): ReceivedEvent | null => {
  try {
    const parsed: unknown = JSON.parse(body)
    if (!Predicate.isRecord(parsed)) return null
    const { id, type, data = {} } = parsed
    return typeof id === "string" && id !== "" && typeof type === "string" && Predicate.isRecord(data)
      ? { ...parsed, id, type, data }
      : null
  } catch {
    return null
  }
}

/** True if a reply acknowledges the event, so that it is not sent again (Specification, Webhooks). */
const isAcknowledged = (reply: Reply): boolean =>
  reply.kind === "status"
    ? reply.status >= 200 && reply.status < 300
    : reply.kind === "endless" || reply.kind === "trickle"

const MAX_INCOMPLETE_DELIVERIES = 1000

/** The state of a running receiver. */
class ReceiverState {
  behaviour: Behaviour
  secrets: ReadonlyArray<string>
  received: Array<ReceivedDelivery> = []
  readonly totals: Record<ReceivedOutcome, number> = { event: 0, again: 0, failed: 0, refused: 0 }
  arrivedCount = 0
  readonly #keep: number
  readonly #remember: number
  readonly #random: PCGRandom
  /** The ids of the events that were acknowledged last, oldest first. */
  readonly #seen = new Set<string>()
  /** The signatures of requests that were cut off on a kept connection and not repeated yet. */
  readonly #cut = new Set<string | null>()

  constructor({ behaviour, secrets = [], keep = 10_000, remember = 100_000, seed = 1 }: ReceiverOptions) {
    this.behaviour = { ...healthy, ...behaviour }
    this.secrets = secrets
    this.#keep = keep
    this.#remember = remember
    this.#random = new PCGRandom(seed)
  }

  /** The reply to a valid request. It must be called once for each request, because it draws a random number. */
  replyTo(request: ReceivedRequest): Effect.Effect<Reply> {
    const { reply, failShare, forward } = this.behaviour
    if (failShare > 0 && this.#random.number() < failShare) return Effect.succeed(statusReply(500))
    if (forward !== undefined) return forward(request)
    return Effect.succeed(typeof reply === "function" ? reply(request) : reply)
  }

  /** The outcome of an event. The id of an acknowledged event is remembered. */
  outcomeOf(id: string, reply: Reply): ReceivedOutcome {
    if (!isAcknowledged(reply)) return "failed"
    const isKnown = this.#seen.delete(id)
    this.#seen.add(id)
    if (this.#seen.size > this.#remember) this.#seen.delete(this.#seen.values().next().value!)
    return isKnown ? "again" : "event"
  }

  /** True if a request repeats a request that was cut off on a kept connection, with the same event and signature. */
  isRedial(signature: string | null, reply: Reply, isKept: boolean): boolean {
    const redialled = this.#cut.delete(signature)
    if (this.#cut.size >= MAX_INCOMPLETE_DELIVERIES) this.#cut.clear()
    if (reply.kind === "cut" && isKept) this.#cut.add(signature)
    return redialled
  }

  record(received: ReceivedDelivery): ReceivedDelivery {
    // The earlier request was counted as a failure, but it belongs to the same attempt.
    if (received.redialled) this.totals.failed -= 1
    this.totals[received.outcome] += 1
    this.received.push(received)
    if (this.received.length > 2 * this.#keep) this.received = this.latestDeliveries().slice()
    return received
  }

  latestDeliveries(): Array<ReceivedDelivery> {
    return this.received.slice(-this.#keep)
  }
}

/**
 * Verifies requests. If no known secret matches, it reads the current secret and verifies the request with that secret
 * too.
 */
const makeVerifier = (
  state: ReceiverState,
  { tolerance_seconds = DEFAULT_TOLERANCE_SECONDS, secretNow = Effect.succeed(null) }: ReceiverOptions
) =>
  Effect.map(Effect.cachedWithTTL(secretNow, "1 second"), (readSecret) =>
    Effect.fnUntraced(function* ({ at, signature }: ReceivedRequest, bytes: Buffer) {
      const options = { toleranceSeconds: tolerance_seconds, now: new Date(at) }
      const verification = Effect.promise(() => verify(bytes, signature, state.secrets, options))
      const verdict = yield* verification
      if (verdict.ok || verdict.reason !== "mismatch") return verdict
      const secret = yield* readSecret
      if (secret === null) return verdict
      state.secrets = [...new Set([secret, ...state.secrets])]
      return yield* verification
    })
  )

/** Makes a receiver with an address. The caller connects its handler to a socket, or to a sender in this process. */
export const makeHandler = (options: ReceiverOptions) =>
  Effect.gen(function* () {
    const { now = Clock.currentTimeMillis, onReceived = () => undefined } = options
    const header = (options.header ?? SIGNATURE_HEADER).toLowerCase()
    const state = new ReceiverState(options)
    const trusted = yield* Deferred.make<void>()
    if (state.secrets.length > 0) yield* Deferred.succeed(trusted, undefined)
    const verifyWith = yield* makeVerifier(state, options)

    const refusalOf = Effect.fnUntraced(function* ({ method, body }: IncomingRequest, request: ReceivedRequest) {
      if (method !== "POST") return "not_a_post"
      if (body === null) return "too_large"
      yield* Deferred.await(trusted)
      const verdict = yield* verifyWith(request, body)
      if (!verdict.ok) return verdict.reason
      return request.event === null ? "not_an_event" : null
    })

    const handler: Handler = Effect.fnUntraced(function* (incoming: IncomingRequest) {
      const { path, headers, isKept } = incoming
      const at = yield* now
      const body = incoming.body?.toString("utf8") ?? ""
      const headerValue = headers[header]
      const signature = Array.isArray(headerValue) ? headerValue.join(",") : (headerValue ?? null)
      state.arrivedCount += 1
      const request: ReceivedRequest = {
        n: state.arrivedCount,
        at,
        path,
        headers,
        signature,
        body,
        event: eventOf(body)
      }
      const refusal: RefusalReason | null = yield* refusalOf(incoming, request)
      if (refusal !== null) {
        const { status, message } = REFUSAL_RESPONSES[refusal]
        onReceived(
          state.record({ ...request, outcome: "refused", refused_as: refusal, redialled: false, answered: status })
        )
        return { reply: { kind: "status", status, text: `${message}.\n` } as const }
      }
      const reply = yield* state.replyTo(request)
      const outcome = state.outcomeOf(request.event?.id ?? "", reply)
      const redialled = state.isRedial(signature, reply, isKept)
      const answered = reply.kind === "status" ? reply.status : reply.kind
      onReceived(state.record({ ...request, outcome, refused_as: refusal, redialled, answered: answered }))
      return { reply, delay_ms: state.behaviour.delay_ms }
    })

    const receiver: Omit<Receiver, "url"> = {
      received: Effect.sync(() => state.latestDeliveries()),
      totals: Effect.sync(() => ({ ...state.totals })),
      behaviour: Effect.sync(() => state.behaviour),
      setBehaviour: (next) => Effect.sync(() => (state.behaviour = { ...state.behaviour, ...next })),
      trust: (secrets) =>
        Effect.suspend(() => {
          state.secrets = secrets
          return Effect.asVoid(Deferred.succeed(trusted, undefined))
        })
    }
    return { handler, receiver }
  })

/** Starts a receiver on a socket; it stops and cuts every connection when the scope closes. */
export const makeReceiver = (options: ReceiverOptions = {}): Effect.Effect<Receiver, CannotListen, Scope.Scope> =>
  Effect.gen(function* () {
    const { host = "127.0.0.1", port = 0 } = options
    const { handler, receiver } = yield* makeHandler(options)
    return { ...receiver, url: yield* listenOnLoopback({ host, port }, handler) }
  })
