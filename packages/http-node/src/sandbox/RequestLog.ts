import { type CachedRateLimits, LimitReached, Limits, Policies } from "@workshop/core"
import type { Failure, HttpRequest, ObservedResponse, RequestContext, RouteGroup } from "@workshop/core/http"
import { addressUseOf, bodyText, failureRows, toCountedAddress, toIso } from "@workshop/core/internal"
import { respond, respondToCause } from "@workshop/core/internal/http"
import { MINUTE_MS } from "@workshop/core/store"
import { type Context, Effect, Schema } from "effect"
import { type Fault, FaultKind, type Faults } from "./Faults.js"
import { Ring } from "./Feed.js"

const text = Schema.NullOr(Schema.String)
const headers = Schema.Record({ key: Schema.String, value: Schema.String })

/** A request to `/v1` and its response. */
export const LoggedRequest = Schema.Struct({
  id: Schema.Int.annotations({ description: "The entry's id, which increases with each request" }),
  at: Schema.String,
  shop_id: text,
  key_last_four: text,
  method: Schema.String,
  path: Schema.String.annotations({ description: "The path with its query" }),
  route: text,
  status: Schema.Int,
  code: text,
  reason: text,
  ticket_id: text,
  replayed: Schema.Boolean,
  fault: Schema.NullOr(FaultKind),
  duration_ms: Schema.Number,
  request: Schema.Struct({ headers, body: text }),
  response: Schema.Struct({ headers, body: Schema.String })
}).annotations({ identifier: "LoggedRequest" })
/** A request to `/v1` and its response. */
export type LoggedRequest = typeof LoggedRequest.Type

const MAX_ENTRIES = 5000
const MAX_CHARACTERS = 32 * 1024 * 1024

/** The headers of a request that are logged. None of them contains a key. */
const SHOWN_HEADERS = ["host", "user-agent", "accept", "content-type", "content-length", "idempotency-key"]

const headersOf = ({ header }: HttpRequest) =>
  Object.fromEntries(
    SHOWN_HEADERS.flatMap((name) => {
      const value = header(name)
      return value === undefined ? [] : [[name, value]]
    })
  )

const lastFour = ({ header }: HttpRequest): string | null =>
  /^bearer +wk_\S*(\S{4}) *$/i.exec(header("authorization") ?? "")?.[1] ?? null

/** The id of a request's ticket, from its path or otherwise from its response. */
const ticketOf = (path: string, body: string): string | null =>
  path.startsWith("/v1/tickets")
    ? (/^\/v1\/tickets\/([0-9a-f-]{36})(?:\/|$)/.exec(path)?.[1] ??
      /^\{"success":true,"data":\{"id":"([0-9a-f-]{36})"/.exec(body)?.[1] ??
      null)
    : null

const rowOf = (failure: Failure | undefined) => {
  const row = failure === undefined ? undefined : failureRows[failure._tag]
  return { code: row?.code ?? null, reason: row !== undefined && "reason" in row ? row.reason : null }
}

/** A request that has no response yet. */
interface PendingRequest {
  readonly request: HttpRequest
  readonly context: RequestContext
  readonly body: () => Uint8Array | undefined
  readonly fault: Fault | undefined
  readonly took_ms: number
}

const entryOf = ({ request, context, body, fault, took_ms }: PendingRequest, response: ObservedResponse) => {
  const text = bodyText(response)
  const sent = body()
  return (id: number): LoggedRequest => ({
    id,
    at: toIso(context.now),
    shop_id: response.context.caller?.shop_id ?? null,
    key_last_four: lastFour(request),
    method: request.method,
    path: request.query === "" ? request.path : `${request.path}?${request.query}`,
    route: response.context.caller === null ? null : response.context.route,
    status: response.status,
    ...rowOf(response.failure),
    ticket_id: ticketOf(request.path, text),
    replayed: text.endsWith(`"meta":{"replayed":true}}`),
    fault: fault?.fault ?? null,
    duration_ms: took_ms,
    request: { headers: headersOf(request), body: sent === undefined ? null : new TextDecoder().decode(sent) },
    response: { headers: response.headers, body: text }
  })
}

/** A request that stores its body when it is read. */
const withStoredBody = (request: HttpRequest) => {
  let read: Uint8Array | undefined
  const loggedRequest: HttpRequest = {
    ...request,
    body: (max) =>
      Effect.map(request.body(max), (bytes) => {
        read = bytes
        return bytes
      })
  }
  return { kept: loggedRequest, body: () => read }
}

/**
 * The response to a request with a fault: the request's own response, or the fault's response if the request is not
 * executed.
 */
const withFault = (
  fault: Fault | undefined,
  { body }: HttpRequest,
  context: RequestContext,
  response: Effect.Effect<ObservedResponse>
): Effect.Effect<ObservedResponse> => {
  // Reads the body of a refused request too, for the log.
  const read = Effect.suspend(() => Effect.exit(body(Limits.body_bytes)))
  switch (fault?.fault) {
    case undefined:
    case "lose_answer":
      return response
    case "delay":
      return Effect.delay(response, fault.delay_ms)
    case "503":
      return Effect.map(read, () => respond({ _tag: "StoreUnavailable" }, context))
    case "429": {
      const { limit } = Policies.requests_per_minute
      const limitStatus = {
        policy: "requests_per_minute",
        limit,
        remaining: 0,
        resets_at: context.now + MINUTE_MS
      } as const
      return Effect.map(read, () =>
        respond(new LimitReached({ limitStatuses: [limitStatus], refused_at: context.now }), context)
      )
    }
  }
}

const NANOS_PER_MS = 1e6

/** The log of the requests to a sandbox's API. */
export class RequestLog {
  readonly #ring: Ring<LoggedRequest>
  readonly #faults: Faults
  readonly #limits: Context.Tag.Service<CachedRateLimits>
  readonly #onLogged: (request: LoggedRequest) => void
  #lastUnauthenticatedAddress = "127.0.0.1"

  constructor(
    faults: Faults,
    limits: Context.Tag.Service<CachedRateLimits>,
    onLogged: (request: LoggedRequest) => void,
    started_at: number
  ) {
    this.#ring = new Ring<LoggedRequest>(
      MAX_ENTRIES,
      MAX_CHARACTERS,
      ({ request, response }) => (request.body?.length ?? 0) + response.body.length + 500,
      started_at
    )
    this.#faults = faults
    this.#limits = limits
    this.#onLogged = onLogged
  }

  get all(): ReadonlyArray<LoggedRequest> {
    return this.#ring.all
  }

  /** The address of the last request without a valid key, in the form by which limits count. */
  get lastUnauthenticatedAddress(): string {
    return this.#lastUnauthenticatedAddress
  }

  /** Makes the API log its requests and apply the faults. */
  watch(api: RouteGroup): RouteGroup {
    return {
      ...api,
      handle: (request, context, match) =>
        Effect.clockWith((clock) => {
          const began_ns = clock.unsafeCurrentTimeNanos()
          const fault = this.#faults.take(request.method, request.path)
          const { kept, body } = withStoredBody(request)
          const ownResponse = Effect.catchAllCause(api.handle(kept, context, match), (cause) =>
            respondToCause(cause, context)
          )
          return Effect.map(
            withFault(
              fault,
              kept,
              { ...context, limitStatuses: [this.#limits.peek(addressUseOf(request), context.now)] },
              ownResponse
            ),
            (response) => {
              if (response.context.caller === null) this.#lastUnauthenticatedAddress = toCountedAddress(request.address)
              const took_ms = Number(clock.unsafeCurrentTimeNanos() - began_ns) / NANOS_PER_MS
              this.#onLogged(this.#ring.add(entryOf({ request, context, body, fault, took_ms }, response)))
              return fault?.fault === "lose_answer" ? { ...response, closesConnection: true } : response
            }
          )
        })
    }
  }

  /** Adds the requests of an imported session. */
  restore(requests: ReadonlyArray<LoggedRequest>): void {
    for (const request of requests) this.#ring.add((id) => ({ ...request, id }))
  }

  /** Removes all requests; ids continue. */
  clear(): void {
    this.#ring.clear()
  }
}
