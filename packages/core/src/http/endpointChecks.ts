import { Effect, Either } from "effect"
import type { LimitUse } from "../domain/LimitWindow.js"
import {
  type Check,
  type CheckedRequest,
  type HandlerStep,
  type ReadRequest,
  Rejected,
  type RoutedRequest,
  type ValidRequest,
  withFields
} from "./Checks.js"
import { type Route, type RouteHandler, toHeaderCase } from "./Endpoint.js"
import { type Failure, makeRepeatedIssue } from "./ErrorTable.js"
import type { HttpRequest } from "./HttpMessage.js"
import { NO_BODY, readBody, readRequest } from "./RequestReader.js"
import { checkResponse } from "./respond.js"

/** A check that adds no fields: it refuses a request if `refusal` returns a failure. */
export const makeRefusalCheck = <In extends CheckedRequest = CheckedRequest>(
  name: string,
  refuses: string,
  refusal: (checked: In) => Failure | undefined,
  uses: (request: HttpRequest) => ReadonlyArray<LimitUse> = () => []
): Check<In> => ({
  name,
  refuses,
  kind: "sync",
  run: (checked) => {
    const failure = refusal(checked)
    return failure === undefined ? checked : new Rejected(failure, uses(checked.request))
  }
})

/**
 * The headers that a request may send only once, because two values would be ambiguous (Specification, Requests and
 * responses).
 */
const SINGLE_HEADERS = ["authorization", "host"] as const

/** Refuses a request that sends its key or its host twice. */
export const makeHeadCheck = (uses?: (request: HttpRequest) => ReadonlyArray<LimitUse>): Check =>
  makeRefusalCheck(
    "head",
    "400 if the key or the host is sent twice",
    ({ request }) => {
      const repeated = SINGLE_HEADERS.filter(request.repeats)
      if (repeated.length === 0) return undefined
      return { _tag: "InvalidRequest", issues: repeated.map((name) => makeRepeatedIssue("header", toHeaderCase(name))) }
    },
    uses
  )

/** Refuses a request whose path and method have no endpoint. */
export const makeRouteCheck = <In extends CheckedRequest>(): Check<In, In & RoutedRequest> => ({
  name: "route",
  refuses: "404",
  kind: "sync",
  run: (checked) => {
    const { match, context } = checked
    if (match === undefined) return new Rejected({ _tag: "RouteNotFound" })
    return withFields(checked, { match, context: { ...context, route: match.route.path } })
  }
})

/** Reads the body of a request. */
export const makeBodyCheck = <In extends RoutedRequest>(): Check<In, In & ReadRequest> => ({
  name: "body",
  refuses: "400, together with everything else that is invalid",
  kind: "async",
  run: (checked) => {
    const { route } = checked.match
    if (route.method === "GET") return Effect.succeed(withFields(checked, { body: NO_BODY }))
    return Effect.map(readBody(checked.request, route.body_bytes), (body) => withFields(checked, { body }))
  }
})

/** Reads a request by the schemas of its endpoint. */
export const makeValidationCheck = <In extends ReadRequest>(): Check<In, In & ValidRequest> => ({
  name: "validation",
  refuses: "400",
  kind: "sync",
  run: (checked) => {
    const { route, path } = checked.match
    const read = readRequest(route, checked.request, path, checked.body)
    if (Either.isLeft(read)) return new Rejected({ _tag: "InvalidRequest", issues: read.left })
    return withFields(checked, { input: read.right })
  }
})

/** Runs the handler of an endpoint. `callerOf` returns what the handlers get as their caller. */
export const makeEndpointHandler = <In extends ValidRequest, C>({
  handlers,
  callerOf,
  validateResponses
}: {
  readonly handlers: ReadonlyMap<Route, RouteHandler<C>>
  readonly callerOf: (checked: In) => C
  readonly validateResponses: boolean
}): HandlerStep<In> => ({
  name: "handler",
  refuses: "a replay, 404, 409, 422, or 429 for tickets and stamps",
  handle: (checked) => {
    const { route } = checked.match
    const handle = handlers.get(route)
    if (handle === undefined) return Effect.dieMessage(`No handler for ${route.method} ${route.path}`)
    const handled = handle(checked.input, callerOf(checked))
    if (!validateResponses) return handled
    return Effect.tap(handled, (outcome) => ("body" in outcome ? Effect.void : checkResponse(route, outcome)))
  }
})
