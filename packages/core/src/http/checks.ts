import { type Cause, Effect, Either } from "effect"
import { isUuid } from "../domain/Identifier.js"
import type { LimitStatus, LimitUse } from "../domain/LimitWindow.js"
import { countedAddress } from "../domain/PublicAddress.js"
import type { ShopRecord } from "../domain/Shop.js"
import type { Caller } from "../services/Caller.js"
import type { RouteMatch } from "./Endpoint.js"
import { headerCase } from "./Endpoint.js"
import { type Failure, givenTwice } from "./ErrorTable.js"
import type { ExhaustedLimits } from "./ExhaustedLimits.js"
import type { HandlerOutcome, HttpRequest } from "./HttpMessage.js"
import { inputPart, NO_BODY, type RequestPart, readBody, readRequest } from "./RequestReader.js"
import {
  checkResponse,
  failureIn,
  type ObservedResponse,
  type RequestContext,
  respond,
  respondToCause
} from "./respond.js"

/** A request on its way through the checks. A check that learns something sets it here, for the checks after it. */
export interface CheckedRequest {
  readonly request: HttpRequest
  /** Undefined if no endpoint has this path and method. */
  readonly match: RouteMatch | undefined
  /** Replaced, never changed, because observers keep the first one. */
  context: RequestContext
  /** The caller's shop. */
  shop: ShopRecord | null
  body: RequestPart
  /** The request as the schemas of its endpoint read it. */
  input: unknown
}

const NO_USES: ReadonlyArray<LimitUse> = []

/** A refusal, and the limits that the refused request counts against. */
export class Rejected {
  constructor(
    readonly failure: Failure,
    readonly uses: ReadonlyArray<LimitUse> = NO_USES
  ) {}
}

/** The result of a check: a refusal, or undefined if the request passes. */
export type CheckResult = Rejected | undefined

/** One check of a request: its place in the list is its place in the order of Specification, Errors. */
export type Check = {
  readonly name: string
  /** How it refuses, for the diagram in the docs. */
  readonly refuses: string
} & (
  | { readonly kind: "check"; readonly check: (checked: CheckedRequest) => CheckResult }
  | {
      readonly kind: "wait"
      readonly wait: (checked: CheckedRequest) => CheckResult | Effect.Effect<CheckResult, Failure>
    }
  | { readonly kind: "count"; readonly count: (checked: CheckedRequest) => ReadonlyArray<LimitUse> }
  | { readonly kind: "handle"; readonly handle: (checked: CheckedRequest) => Effect.Effect<HandlerOutcome, Failure> }
)

/** A check that learns nothing. */
export const refusing = (
  name: string,
  refuses: string,
  refusal: (checked: CheckedRequest) => Failure | undefined,
  uses: (request: HttpRequest) => ReadonlyArray<LimitUse> = () => NO_USES
): Check => ({
  name,
  refuses,
  kind: "check",
  check: (checked) => {
    const failure = refusal(checked)
    return failure && new Rejected(failure, uses(checked.request))
  }
})

/** The headers that a request may send once, because two would leave open which is meant (Specification, Requests and responses). */
const SINGLE_HEADERS = ["authorization", "host"] as const

/** A key and a host may be sent once. */
export const headCheck = (uses?: (request: HttpRequest) => ReadonlyArray<LimitUse>): Check =>
  refusing(
    "head",
    "400 if the key or the host is sent twice",
    ({ request }) => {
      const repeated = SINGLE_HEADERS.filter(request.repeats)
      if (repeated.length === 0) return undefined
      return { _tag: "InvalidRequest", issues: repeated.map((name) => givenTwice("header", headerCase(name))) }
    },
    uses
  )

/** A path and a method need an endpoint. */
export const routeCheck: Check = refusing("route", "404", ({ match }) =>
  match === undefined ? { _tag: "RouteNotFound" } : undefined
)

/** The last checks of every request with an endpoint: its body, its schemas, the limits of its endpoint, its handler. */
export const handlingChecks = ({
  validateResponses
}: {
  readonly validateResponses: boolean
}): ReadonlyArray<Check> => [
  {
    name: "body",
    refuses: "400, together with everything else that is invalid",
    kind: "wait",
    wait: (checked) => {
      const { route } = checked.match!
      checked.context = { ...checked.context, route: route.path }
      if (route.method === "GET") return undefined
      const take = (body: RequestPart) => {
        checked.body = body
        return undefined
      }
      const reading = readBody(checked.request, route.body_bytes)
      return Effect.isEffect(reading) ? Effect.map(reading, take) : take(reading)
    }
  },
  {
    name: "validation",
    refuses: "400",
    kind: "check",
    check: (checked) => {
      const { route, path } = checked.match!
      const read = readRequest(route, checked.request, path, checked.body)
      if (Either.isLeft(read)) return new Rejected({ _tag: "InvalidRequest", issues: read.left })
      checked.input = read.right
      return undefined
    }
  },
  {
    name: "the endpoint's own limits",
    refuses: "429",
    kind: "count",
    count: ({ match, context, shop }) =>
      context.caller?.uncounted === true
        ? NO_USES
        : match!.route.policies.map((policy) => ({
            policy,
            subject: context.caller!.shop_id,
            time_zone: shop!.time_zone
          }))
  },
  {
    name: "handler",
    refuses: "a replay, 404, 409, 422, or 429 for tickets and stamps",
    kind: "handle",
    handle: ({ match, input, context }) => {
      const { route } = match!
      const handled = route.handle(input, context.caller)
      if (!validateResponses) return handled
      return Effect.tap(handled, (outcome) => ("body" in outcome ? Effect.void : checkResponse(route, outcome)))
    }
  }
]

/** The limit of a request without a valid key, by its address. */
export const addressUse = (request: HttpRequest): LimitUse => ({
  policy: "unauthenticated_per_minute",
  subject: countedAddress(request.address),
  time_zone: null
})

/** A limit of a caller. Keys are unique; ids of an embedder's own are so within a shop alone. */
export const callerUse = (
  policy: "requests_per_minute" | "writes_per_minute",
  { caller_id, shop_id }: Caller
): LimitUse => ({
  policy,
  subject: isUuid(caller_id) ? caller_id : `${shop_id} ${caller_id}`,
  time_zone: null
})

/** Says that an invalid input was in the query, if it was: a service does not know in which part of a request its input was. */
const inPart = (failure: Failure, { method }: HttpRequest): Failure =>
  failure._tag === "InvalidInput" && inputPart(method) === "query"
    ? { _tag: "InvalidRequest", issues: failure.issues.map((issue) => ({ in: "query", ...issue })) }
    : failure

/**
 * Runs a request through its checks in their order, and responds. The limits of all checks up to a refusal or to the next check
 * that waits are counted in one call, all or none. So a limit that is used up comes before the refusals after it.
 */
export const respondAfter = (checks: ReadonlyArray<Check>, limits: ExhaustedLimits) => {
  const withUsages = (context: RequestContext, taken: ReadonlyArray<LimitStatus>): RequestContext => ({
    ...context,
    usages: context.usages.length === 0 ? taken : [...context.usages, ...taken]
  })

  /** Runs a request through its checks from one of them on. `uses` are limits that the next check that waits counts first. */
  const runFrom = (
    checked: CheckedRequest,
    from: number,
    context: RequestContext,
    uses: ReadonlyArray<LimitUse> = NO_USES
  ): Effect.Effect<ObservedResponse, Failure> => {
    for (let at = from; at < checks.length; at++) {
      const check = checks[at]!
      if (check.kind === "count") {
        const more = check.count(checked)
        uses = uses.length === 0 ? more : [...uses, ...more]
        continue
      }
      if (check.kind !== "check" && uses.length > 0)
        return Effect.flatMap(limits.take(uses, context.now), (taken) =>
          runFrom(checked, at, withUsages(context, taken))
        )
      // Only a result shows the limits of its endpoint: a failure of the handler shows those of the key alone.
      if (check.kind === "handle") return Effect.map(check.handle(checked), (outcome) => respond(outcome, context))
      checked.context = context
      const checking = check.kind === "check" ? check.check(checked) : check.wait(checked)
      if (Effect.isEffect(checking))
        return Effect.flatMap(checking, (rejected) =>
          rejected === undefined ? runFrom(checked, at + 1, checked.context) : reject(checked, rejected, NO_USES)
        )
      if (checking !== undefined) return reject(checked, checking, uses)
      context = checked.context
    }
    return Effect.dieMessage("The last check must be a handler")
  }

  /** Refuses a request. A refusal that counts against a limit of its own shows that limit alone. */
  const reject = (checked: CheckedRequest, { failure, uses: own }: Rejected, before: ReadonlyArray<LimitUse>) => {
    if (own.length > 0) checked.context = { ...checked.context, usages: [] }
    const uses = [...before, ...own]
    if (uses.length === 0) return Effect.succeed(respond(failure, checked.context))
    return Effect.map(limits.take(uses, checked.context.now), (taken) => {
      checked.context = withUsages(checked.context, taken)
      return respond(failure, checked.context)
    })
  }

  /** Gives back the use of a request that got a 429 (Specification, Limits). If that fails, the request merely stays counted. */
  const uncount = ({ caller, usages }: RequestContext): Effect.Effect<void> => {
    const taken = usages.filter(({ policy }) => policy === "requests_per_minute")
    if (caller === null || taken.length === 0) return Effect.void
    return Effect.catchAllCause(limits.giveBack([callerUse("requests_per_minute", caller)], taken), (cause) =>
      Effect.logWarning("A refused request stays counted", cause)
    )
  }

  const failed = (cause: Cause.Cause<Failure>, { request, context }: CheckedRequest) => {
    const failure = failureIn(cause)
    if (failure === undefined && context.usages.length === 0) {
      return respondToCause(cause, withUsages(context, [limits.look(addressUse(request), context.now)]))
    }
    if (failure === undefined || failure._tag === "StoreUnavailable") return respondToCause(cause, context)
    const response = respond(inPart(failure, request), context)
    return failure._tag === "LimitReached" ? Effect.as(uncount(context), response) : Effect.succeed(response)
  }

  return (request: HttpRequest, context: RequestContext, match?: RouteMatch): Effect.Effect<ObservedResponse> => {
    const checked: CheckedRequest = { request, match, context, shop: null, body: NO_BODY, input: undefined }
    return Effect.catchAllCause(
      Effect.suspend(() => runFrom(checked, 0, context)),
      (cause) => failed(cause, checked)
    )
  }
}
