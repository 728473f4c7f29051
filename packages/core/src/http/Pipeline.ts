import { bytesToHex } from "@noble/hashes/utils.js"
import { type Cause, Clock, Context, Effect } from "effect"
import { Entropy } from "../ports/Entropy.js"
import { addressUseOf, CachedRateLimits } from "../services/CachedRateLimits.js"
import type { RouteMatch } from "./Endpoint.js"
import type { HttpRequest } from "./HttpMessage.js"
import { RunningRequests } from "./RunningRequests.js"
import { type ObservedResponse, type RequestContext, respond, respondToCause } from "./respond.js"

/*
 * The path of a request, from its bytes to its response:
 *
 * 1. `NodeServer.ts` (http-node) opens a server of `node:http`, whose connections `OpenConnections.ts` limits. `nodeRequest.ts` makes an
 *    `HttpRequest` from Node's request, and `Listener.ts` runs it in its own fiber. In a program that embeds the API, `NodeMount.ts`
 *    (http-node), `FetchMount.ts` or `EffectMount.ts` does the same for the program's own server.
 * 2. `pipeline` (this file) finds the group of routes by the first segment of the path, and the endpoint by method and path. If too many
 *    requests run (`RunningRequests.ts`), it responds with a 503.
 * 3. `workshopRoutes.ts` has the group `/v1`. `workshopChecks` lists its checks and limits in their order; the checks are in
 *    `authentication.ts` and `endpointChecks.ts`. The last ones read the request by the schemas of its endpoint (`RequestReader.ts`).
 * 4. `Checks.ts` runs a request through this list: each check adds the fields that it found or rejects the request, and
 *    limits are counted.
 * 5. The handler of the endpoint (`workshopRoutes.ts`) calls one service, such as `Tickets.create` (`services/Tickets.ts`).
 * 6. For a write, the service makes a command from a pure decision, such as `createTicket` (`decisions/createTicket.ts`), and gives it to
 *    `Store.transact`, which loads, decides and saves. `Lane.ts` of store-pg describes this part of the path.
 * 7. `respond` (`respond.ts`) makes status, headers and body from the result, or from a failure by its row in `ErrorTable.ts`.
 * 8. `Listener.ts` sends the response, or interrupts the fiber if the client has disconnected.
 *
 * If a check rejects, or if a check or the handler fails, `runChecks` (`Checks.ts`) responds, and the steps after it do
 * not run. A bug becomes a 500 there, or in `pipeline` if it is outside the checks.
 */

/** The routes below a prefix, and their handler. */
export interface RouteGroup {
  /** The first segment of the group's paths, such as `/v1`. */
  readonly prefix: `/${string}`
  /** Finds the endpoint of a method and a path; omitted if the group has only pages. */
  readonly find?: (method: string, path: string) => RouteMatch | undefined
  /** Responds to a request below the prefix. `match` is the result of `find`, so that it is not searched again. */
  readonly handle: (
    request: HttpRequest,
    context: RequestContext,
    match?: RouteMatch
  ) => Effect.Effect<ObservedResponse>
}

/** Turns any request into a response. It never fails, and all responses but pages have the envelope (Specification, Requests and responses). */
export type Pipeline = (request: HttpRequest) => Effect.Effect<ObservedResponse>

/**
 * Observes a request until its response, to count, log and trace it, and does not change the response. Each request
 * runs in its own fiber. `context` has the facts known at the beginning, with the endpoint of the path, because the
 * client may disconnect before the response. The response has its own context with the results of the checks. If a
 * request was refused before its route was checked, its route there is the prefix.
 */
export type RequestObserver = (
  request: HttpRequest,
  context: RequestContext,
  response: Effect.Effect<ObservedResponse>
) => Effect.Effect<ObservedResponse>

const REQUEST_ID_BYTES = 12

const NANOS_PER_MS = 1e6

/** Whether a path is a prefix, such as `/v1`, or below it. */
export const isBelow = (prefix: string, path: string): boolean => path === prefix || path.startsWith(`${prefix}/`)

/** The context of a request without a route, or of bytes that are not HTTP. */
export const newContext: Effect.Effect<RequestContext, never, Entropy> = Effect.flatMap(Entropy, ({ bytes }) =>
  Effect.clockWith((clock) => Effect.succeed(makeContext(clock.unsafeCurrentTimeMillis(), bytes, null)))
)

const makeContext = (now: number, bytes: (n: number) => Uint8Array, route: string | null): RequestContext => ({
  id: bytesToHex(bytes(REQUEST_ID_BYTES)),
  now,
  route,
  caller: null,
  limitStatuses: []
})

/**
 * Handles the requests to groups of routes. A path that belongs to none of them gets a 404 before any key is checked (Specification,
 * Commands).
 */
export const pipeline = (
  groups: ReadonlyArray<RouteGroup>,
  observe?: RequestObserver
): Effect.Effect<Pipeline, never, Entropy | CachedRateLimits> =>
  Effect.gen(function* () {
    const { bytes } = yield* Entropy
    const limits = yield* CachedRateLimits
    const running = new RunningRequests()

    const notFound = (request: HttpRequest, context: RequestContext) =>
      Effect.sync(() =>
        respond(
          { _tag: "RouteNotFound" },
          { ...context, limitStatuses: [limits.peek(addressUseOf(request), context.now)] }
        )
      )

    return (request) =>
      Effect.withFiberRuntime<ObservedResponse>((fiber) => {
        const clock = Context.get(fiber.currentDefaultServices, Clock.Clock)
        const now = clock.unsafeCurrentTimeMillis()
        const group = groups.find(({ prefix }) => isBelow(prefix, request.path))
        if (group === undefined) {
          const context = makeContext(now, bytes, null)
          const response = notFound(request, context)
          return observe === undefined ? response : observe(request, context, response)
        }
        const match = group.find?.(request.method === "HEAD" ? "GET" : request.method, request.path)
        const context = makeContext(now, bytes, group.prefix)
        const respondToFailure = (cause: Cause.Cause<never>) => respondToCause(cause, context)
        // Pages, such as the state of the service, are served even if the service is overloaded.
        const response =
          group.find === undefined
            ? Effect.catchAllCause(group.handle(request, context), respondToFailure)
            : running.isOverloaded(Number(clock.unsafeCurrentTimeNanos()) / NANOS_PER_MS)
              ? Effect.sync(() => respond({ _tag: "Overloaded" }, context))
              : running.track(fiber, request, (tracked) => group.handle(tracked, context, match), respondToFailure)
        if (observe === undefined) return response
        return observe(request, match === undefined ? context : { ...context, route: match.route.path }, response)
      })
  })
