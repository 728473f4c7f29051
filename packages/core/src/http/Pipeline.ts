import { bytesToHex } from "@noble/hashes/utils.js"
import { type Cause, Clock, Context, Effect } from "effect"
import { Entropy } from "../ports/Entropy.js"
import type { RateLimits } from "../ports/StorePorts.js"
import { addressUse } from "./checks.js"
import type { RouteMatch } from "./Endpoint.js"
import { exhaustedLimits } from "./ExhaustedLimits.js"
import type { HttpRequest, HttpResponse } from "./HttpMessage.js"
import { RunningRequests } from "./RunningRequests.js"
import { type ObservedResponse, type RequestContext, respond, respondToCause } from "./respond.js"

/** A part of the service's paths, and the handler of requests to it. */
export interface RouteGroup {
  /** The first segment of its paths, such as `/v1`. */
  readonly prefix: `/${string}`
  /** Finds the endpoint of a method and a path; left out where the group has none. */
  readonly find?: (method: string, path: string) => RouteMatch | undefined
  readonly answer: (
    request: HttpRequest,
    context: RequestContext,
    match?: RouteMatch
  ) => Effect.Effect<ObservedResponse>
}

/** Turns any request into a response. It never fails, and all responses but pages have the envelope (Specification, Requests and responses). */
export type Pipeline = (request: HttpRequest) => Effect.Effect<HttpResponse>

/**
 * Observes a request until its response, to count, log and trace; it does not change the response. The context has the facts known when
 * the request begins, and the response those known at its end. It may assume that each request runs in a fiber of its own.
 */
export type RequestObserver = (
  request: HttpRequest,
  context: RequestContext,
  answer: Effect.Effect<ObservedResponse>
) => Effect.Effect<ObservedResponse>

const REQUEST_ID_BYTES = 12

const NANOS_PER_MS = 1e6

/** Whether a path is that of a prefix, such as `/v1`, or below it. */
export const isBelow = (prefix: string, path: string): boolean => path === prefix || path.startsWith(`${prefix}/`)

/** The context of a request that leads nowhere, or that is no HTTP at all. */
export const newContext: Effect.Effect<RequestContext, never, Entropy> = Effect.flatMap(Entropy, ({ bytes }) =>
  Effect.clockWith((clock) => Effect.succeed(contextAt(clock.unsafeCurrentTimeMillis(), bytes, null)))
)

const contextAt = (now: number, bytes: (n: number) => Uint8Array, route: string | null): RequestContext => ({
  id: bytesToHex(bytes(REQUEST_ID_BYTES)),
  now,
  route,
  caller: null,
  usages: []
})

/** The groups as one service; a path of none of them is not found, and no key is asked (Specification, Commands). */
export const pipeline = (
  groups: ReadonlyArray<RouteGroup>,
  observe?: RequestObserver
): Effect.Effect<Pipeline, never, Entropy | RateLimits> =>
  Effect.gen(function* () {
    const { bytes } = yield* Entropy
    const limits = yield* exhaustedLimits
    const running = new RunningRequests()

    const notFound = (request: HttpRequest, context: RequestContext) =>
      Effect.sync(() =>
        respond({ _tag: "RouteNotFound" }, { ...context, usages: [limits.look(addressUse(request), context.now)] })
      )

    return (request) =>
      Effect.withFiberRuntime<HttpResponse>((fiber) => {
        const clock = Context.get(fiber.currentDefaultServices, Clock.Clock)
        const now = clock.unsafeCurrentTimeMillis()
        const group = groups.find(({ prefix }) => isBelow(prefix, request.path))
        if (group === undefined) {
          const context = contextAt(now, bytes, null)
          const answer = notFound(request, context)
          return observe === undefined ? answer : observe(request, context, answer)
        }
        const match = group.find?.(request.method === "HEAD" ? "GET" : request.method, request.path)
        const context = contextAt(now, bytes, group.prefix)
        const failed = (cause: Cause.Cause<never>) => respondToCause(cause, context)
        // A group without endpoints has only pages, such as the state of the service.
        const answer =
          group.find === undefined
            ? Effect.catchAllCause(group.answer(request, context), failed)
            : running.areTooMany(Number(clock.unsafeCurrentTimeNanos()) / NANOS_PER_MS)
              ? Effect.sync(() => respond({ _tag: "Overloaded" }, context))
              : running.counting(fiber, request, (counted) => group.answer(counted, context, match), failed)
        if (observe === undefined) return answer
        return observe(request, match === undefined ? context : { ...context, route: match.route.path }, answer)
      })
  })
