import { type Cause, Effect, Either } from "effect"
import type { LimitUse } from "../domain/LimitWindow.js"
import { countedAddress } from "../domain/PublicAddress.js"
import type { ShopRecord } from "../domain/Shop.js"
import { headerCase } from "./Endpoint.js"
import { type Failure, givenTwice } from "./ErrorTable.js"
import type { ExhaustedLimits } from "./ExhaustedLimits.js"
import type { HttpRequest, Outcome } from "./HttpMessage.js"
import { inputPart, NO_BODY, type RequestPart, readBody, readRequest } from "./RequestReader.js"
import type { RouteMatch } from "./Router.js"
import {
  checkResponse,
  failureIn,
  type ObservedResponse,
  type RequestContext,
  respond,
  respondToCause
} from "./respond.js"

/** A request between two checks, with what the checks before learned of it. */
export interface CheckedRequest {
  readonly request: HttpRequest
  readonly context: RequestContext
  /** Undefined where no endpoint has this path and method. */
  readonly match: RouteMatch | undefined
  /** The caller's shop. */
  readonly shop: ShopRecord | null
  readonly body: RequestPart
  /** The request as its endpoint's schemas read it. */
  readonly input: unknown
}

/** A refusal, and the limits that the refused request counts against. */
export class Rejected {
  constructor(
    readonly failure: Failure,
    readonly uses: ReadonlyArray<LimitUse> = []
  ) {}
}

type Checked = CheckedRequest | Rejected

/** One check of a request: its place in the list is its place in the order of Specification, Errors. */
export type Check = {
  readonly name: string
  /** How it refuses, for the diagram in the docs. */
  readonly refuses: string
} & (
  | { readonly kind: "check"; readonly check: (checked: CheckedRequest) => Checked }
  | { readonly kind: "wait"; readonly wait: (checked: CheckedRequest) => Checked | Effect.Effect<Checked, Failure> }
  | { readonly kind: "count"; readonly count: (checked: CheckedRequest) => ReadonlyArray<LimitUse> }
  | { readonly kind: "handle"; readonly handle: (checked: CheckedRequest) => Effect.Effect<Outcome, Failure> }
)

/** A check that learns nothing: it refuses, or lets the request pass. */
export const refusing = (
  name: string,
  refuses: string,
  refusal: (checked: CheckedRequest) => Failure | undefined,
  uses: (request: HttpRequest) => ReadonlyArray<LimitUse> = () => []
): Check => ({
  name,
  refuses,
  kind: "check",
  check: (checked) => {
    const failure = refusal(checked)
    return failure === undefined ? checked : new Rejected(failure, uses(checked.request))
  }
})

/** A key or a host may be sent once, since it is not known which of two is meant (Specification, Requests and answers). */
export const headCheck = (uses?: (request: HttpRequest) => ReadonlyArray<LimitUse>): Check =>
  refusing(
    "head",
    "400 of a key or a host that is sent twice",
    ({ request }) => {
      const twice = ["authorization", "host"].filter(request.repeats)
      const issues = twice.map((name) => givenTwice("header", headerCase(name)))
      return issues.length === 0 ? undefined : { _tag: "InvalidRequest", issues }
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
    refuses: "400, together with all else that is invalid",
    kind: "wait",
    wait: (checked) => {
      const { route } = checked.match!
      const admitted = { ...checked, context: { ...checked.context, route: route.path } }
      return route.method === "GET"
        ? admitted
        : Effect.map(readBody(checked.request), (body) => ({ ...admitted, body }))
    }
  },
  {
    name: "validation",
    refuses: "400",
    kind: "check",
    check: (checked) => {
      const { route, path } = checked.match!
      const read = readRequest(route, checked.request, path, checked.body)
      return Either.isLeft(read)
        ? new Rejected({ _tag: "InvalidRequest", issues: read.left })
        : { ...checked, input: read.right }
    }
  },
  {
    name: "the endpoint's own limits",
    refuses: "429",
    kind: "count",
    count: ({ match, context, shop }) =>
      match!.route.policies.map((policy) => ({
        policy,
        subject: context.caller!.shop_id,
        time_zone: shop!.time_zone
      }))
  },
  {
    name: "handler",
    refuses: "a replay, 404, 409, 422, 429 of tickets and stamps",
    kind: "handle",
    handle: ({ match, input, context }) => {
      const { route } = match!
      const handled = route.handle(input, context.caller)
      if (!validateResponses) return handled
      return Effect.tap(handled, (outcome) => ("body" in outcome ? Effect.void : checkResponse(route, outcome)))
    }
  }
]

/** A request without a good key, by where it comes from. */
export const addressUse = (request: HttpRequest): LimitUse => ({
  policy: "unauthenticated_per_minute",
  subject: countedAddress(request.address),
  time_zone: null
})

/** How often a key may ask. */
export const requestUse = (caller_id: string): LimitUse => ({
  policy: "requests_per_minute",
  subject: caller_id,
  time_zone: null
})

/** A service does not know in which part of a request its input was: of a GET it was the query. */
const inPart = (failure: Failure, { method }: HttpRequest): Failure =>
  failure._tag === "InvalidInput" && inputPart(method) === "query"
    ? { _tag: "InvalidRequest", issues: failure.issues.map((issue) => ({ in: "query", ...issue })) }
    : failure

/**
 * Runs a request through its checks in their order, and responds. Limits are counted in one call for all checks up to a refusal
 * or the next check that waits, all of them or none: so a limit that is used up goes before every refusal after it.
 */
export const respondAfter = (checks: ReadonlyArray<Check>, limits: ExhaustedLimits) => {
  /** The response is right without it: then the request merely stays counted. A 429 is not (Specification, Limits). */
  const uncount = ({ caller, usages }: RequestContext): Effect.Effect<void> => {
    const taken = usages.filter(({ policy }) => policy === "requests_per_minute")
    if (caller === null || taken.length === 0) return Effect.void
    return Effect.catchAllCause(limits.giveBack([requestUse(caller.caller_id)], taken), (cause) =>
      Effect.logWarning("A refused request stays counted", cause)
    )
  }

  const failed =
    ({ request, context }: CheckedRequest) =>
    (cause: Cause.Cause<Failure>) => {
      const failure = failureIn(cause)
      if (failure === undefined && context.usages.length === 0) {
        return respondToCause(cause, { ...context, usages: [limits.look(addressUse(request), context.now)] })
      }
      if (failure === undefined || failure._tag === "StoreUnavailable") return respondToCause(cause, context)
      const response = respond(inPart(failure, request), context)
      return failure._tag === "LimitReached" ? Effect.as(uncount(context), response) : Effect.succeed(response)
    }

  const counted = (
    uses: ReadonlyArray<LimitUse>,
    checked: CheckedRequest,
    next: (checked: CheckedRequest) => Effect.Effect<ObservedResponse>
  ): Effect.Effect<ObservedResponse> => {
    if (uses.length === 0) return next(checked)
    const { context } = checked
    return Effect.matchCauseEffect(limits.take(uses, context.now), {
      onSuccess: (taken) => next({ ...checked, context: { ...context, usages: [...context.usages, ...taken] } }),
      onFailure: failed(checked)
    })
  }

  /** Goes on with the check at a place of the list. */
  const from = (at: number, given: CheckedRequest): Effect.Effect<ObservedResponse> => {
    const uses: Array<LimitUse> = []
    let checked = given
    for (let i = at; i < checks.length; i++) {
      const check = checks[i]!
      if (check.kind === "count") uses.push(...check.count(checked))
      else if (check.kind === "check") {
        const found = check.check(checked)
        if (found instanceof Rejected) return rejected(found, checked, uses)
        checked = found
      } else if (check.kind === "wait") return counted(uses, checked, waitFor(check, i + 1))
      else return counted(uses, checked, handledBy(check, checked))
    }
    return Effect.dieMessage("The last check must be a handler")
  }

  const rejected = ({ failure, uses }: Rejected, checked: CheckedRequest, before: ReadonlyArray<LimitUse>) => {
    const { context } = checked
    // A refusal that counts against a limit of its own shows that one alone.
    const shown = uses.length === 0 ? checked : { ...checked, context: { ...context, usages: [] } }
    return counted([...before, ...uses], shown, ({ context }) => Effect.succeed(respond(failure, context)))
  }

  const waitFor = (check: Extract<Check, { kind: "wait" }>, next: number) => (checked: CheckedRequest) => {
    const goOn = (found: Checked) => (found instanceof Rejected ? rejected(found, checked, []) : from(next, found))
    const waiting = check.wait(checked)
    return Effect.isEffect(waiting)
      ? Effect.matchCauseEffect(waiting, { onSuccess: goOn, onFailure: failed(checked) })
      : goOn(waiting)
  }

  /** A result shows also the limits of its endpoint, a failure those of the key alone. */
  const handledBy = (check: Extract<Check, { kind: "handle" }>, before: CheckedRequest) => (checked: CheckedRequest) =>
    Effect.matchCauseEffect(check.handle(checked), {
      onSuccess: (outcome) => Effect.succeed(respond(outcome, checked.context)),
      onFailure: failed(before)
    })

  return (request: HttpRequest, context: RequestContext, match?: RouteMatch): Effect.Effect<ObservedResponse> =>
    Effect.suspend(() => from(0, { request, context, match, shop: null, body: NO_BODY, input: undefined }))
}
