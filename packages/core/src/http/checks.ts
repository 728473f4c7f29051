import { type Cause, type Context, Effect, Either } from "effect"
import { isUuid } from "../domain/Identifier.js"
import type { LimitStatus, LimitUse } from "../domain/LimitWindow.js"
import { countedAddress } from "../domain/PublicAddress.js"
import type { ShopRecord } from "../domain/Shop.js"
import type { CachedRateLimits } from "../services/CachedRateLimits.js"
import type { Caller } from "../services/Caller.js"
import type { RouteMatch } from "./Endpoint.js"
import { headerCase } from "./Endpoint.js"
import { type Failure, givenTwice } from "./ErrorTable.js"
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

/** A request on its way through the checks. Each check adds the fields that it finds, for the checks after it. */
export interface CheckedRequest {
  readonly request: HttpRequest
  /** Undefined if no endpoint has this path and method. */
  readonly match: RouteMatch | undefined
  readonly context: RequestContext
}

/**
 * Adds the fields that a check found to the request, in place: a copy for each check would take half of the time of a GET. The context is
 * replaced and never changed, because observers keep the first one.
 */
export const extend = <In extends CheckedRequest, Fields extends object>(checked: In, fields: Fields): In & Fields =>
  Object.assign(checked, fields)

/** A request whose endpoint exists. */
export interface RoutedRequest extends CheckedRequest {
  readonly match: RouteMatch
}

/** A request whose sender is known. */
export interface AuthenticatedRequest extends CheckedRequest {
  readonly caller: Caller
  /** The caller's shop. */
  readonly shop: ShopRecord
}

/** A request whose body is read. */
export interface ReadRequest extends RoutedRequest {
  readonly body: RequestPart
}

/** A request as the schemas of its endpoint read it. */
export interface ValidRequest extends RoutedRequest {
  readonly input: unknown
}

const NO_USES: ReadonlyArray<LimitUse> = []

/** The result of a check that refuses a request: why, and the limits that the refused request counts against. */
export class Rejected {
  constructor(
    readonly failure: Failure,
    readonly uses: ReadonlyArray<LimitUse> = NO_USES
  ) {}
}

/** The result of a check: a refusal, or the request with the fields that the check found. */
export type CheckResult<Out extends CheckedRequest = CheckedRequest> = Rejected | Out

/** A step of a request, as the diagram in the docs shows it. */
export interface StepDescription {
  readonly name: string
  /** The statuses with which it refuses, in words. */
  readonly refuses: string
}

/** A check of a request that has passed the checks before it, whose fields it may read. */
export type Check<In extends CheckedRequest = CheckedRequest, Out extends CheckedRequest = In> = StepDescription &
  (
    | { readonly kind: "sync"; readonly run: (checked: In) => CheckResult<Out> }
    | {
        /** May wait for the store or for the body. The limits of the checks before it are counted before it runs. */
        readonly kind: "async"
        readonly run: (checked: In) => CheckResult<Out> | Effect.Effect<CheckResult<Out>, Failure>
      }
  )

/** Limits that a request counts against once it has passed the checks before them. */
export interface LimitCheck<In extends CheckedRequest = CheckedRequest> extends StepDescription {
  readonly uses: (checked: In) => ReadonlyArray<LimitUse>
}

/** The handler of a request that has passed all checks. */
export interface HandlerStep<In extends CheckedRequest = CheckedRequest> extends StepDescription {
  readonly handle: (checked: In) => Effect.Effect<HandlerOutcome, Failure>
}

type Step =
  | Check<never, CheckedRequest>
  | ({ readonly kind: "count" } & LimitCheck<never>)
  | ({ readonly kind: "handle" } & HandlerStep<never>)

/**
 * The checks of a request and its handler, in the order of Specification, Errors. The types let a check follow only those that find the
 * fields that it reads.
 */
export class Checks<Out extends CheckedRequest = CheckedRequest> {
  private constructor(readonly steps: ReadonlyArray<Step>) {}

  /** Begins with checks that add no fields. */
  static from(checks: ReadonlyArray<Check>): Checks {
    return new Checks(checks)
  }

  /** Adds a check. */
  check<Next extends Out>(check: Check<Out, Next>): Checks<Next> {
    return new Checks<Next>([...this.steps, check])
  }

  /** Adds limits to count against. */
  count(check: LimitCheck<Out>): Checks<Out> {
    return new Checks<Out>([...this.steps, { kind: "count", ...check }])
  }

  /** Adds the handler. */
  handle(step: HandlerStep<Out>): Checks<Out> {
    return new Checks<Out>([...this.steps, { kind: "handle", ...step }])
  }
}

/** A check that adds no fields: it refuses a request if `refusal` returns a failure. */
export const refusalCheck = <In extends CheckedRequest = CheckedRequest>(
  name: string,
  refuses: string,
  refusal: (checked: In) => Failure | undefined,
  uses: (request: HttpRequest) => ReadonlyArray<LimitUse> = () => NO_USES
): Check<In> => ({
  name,
  refuses,
  kind: "sync",
  run: (checked) => {
    const failure = refusal(checked)
    return failure === undefined ? checked : new Rejected(failure, uses(checked.request))
  }
})

/** The headers that a request may send once, because two would leave open which is meant (Specification, Requests and responses). */
const SINGLE_HEADERS = ["authorization", "host"] as const

/** Refuses a request that sends its key or its host twice. */
export const headCheck = (uses?: (request: HttpRequest) => ReadonlyArray<LimitUse>): Check =>
  refusalCheck(
    "head",
    "400 if the key or the host is sent twice",
    ({ request }) => {
      const repeated = SINGLE_HEADERS.filter(request.repeats)
      if (repeated.length === 0) return undefined
      return { _tag: "InvalidRequest", issues: repeated.map((name) => givenTwice("header", headerCase(name))) }
    },
    uses
  )

/** Refuses a request whose path and method have no endpoint. */
export const routeCheck = <In extends CheckedRequest>(): Check<In, In & RoutedRequest> => ({
  name: "route",
  refuses: "404",
  kind: "sync",
  run: (checked) => {
    const { match, context } = checked
    if (match === undefined) return new Rejected({ _tag: "RouteNotFound" })
    return extend(checked, { match, context: { ...context, route: match.route.path } })
  }
})

/** Reads the body of a request. */
export const bodyCheck = <In extends RoutedRequest>(): Check<In, In & ReadRequest> => ({
  name: "body",
  refuses: "400, together with everything else that is invalid",
  kind: "async",
  run: (checked) => {
    const { route } = checked.match
    if (route.method === "GET") return extend(checked, { body: NO_BODY })
    const reading = readBody(checked.request, route.body_bytes)
    return Effect.isEffect(reading)
      ? Effect.map(reading, (body) => extend(checked, { body }))
      : extend(checked, { body: reading })
  }
})

/** Reads a request by the schemas of its endpoint. */
export const validationCheck = <In extends ReadRequest>(): Check<In, In & ValidRequest> => ({
  name: "validation",
  refuses: "400",
  kind: "sync",
  run: (checked) => {
    const { route, path } = checked.match
    const read = readRequest(route, checked.request, path, checked.body)
    if (Either.isLeft(read)) return new Rejected({ _tag: "InvalidRequest", issues: read.left })
    return extend(checked, { input: read.right })
  }
})

/** Runs the handler of an endpoint. */
export const endpointHandler = ({
  validateResponses
}: {
  readonly validateResponses: boolean
}): HandlerStep<ValidRequest> => ({
  name: "handler",
  refuses: "a replay, 404, 409, 422, or 429 for tickets and stamps",
  handle: ({ match: { route }, input, context }) => {
    const handled = route.handle(input, context.caller)
    if (!validateResponses) return handled
    return Effect.tap(handled, (outcome) => ("body" in outcome ? Effect.void : checkResponse(route, outcome)))
  }
})

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

/** Names the part of the request that an invalid input was in, because the service that refused it does not know. */
const withPart = (failure: Failure, { method }: HttpRequest): Failure =>
  failure._tag === "InvalidInput" && inputPart(method) === "query"
    ? { _tag: "InvalidRequest", issues: failure.issues.map((issue) => ({ in: "query", ...issue })) }
    : failure

/** The fields that checks add, unset, so that V8 sees one shape of request from the first check on. */
const UNSET_FIELDS = { caller: undefined, shop: undefined, body: NO_BODY, input: undefined }

/** The context of a request at its latest check, for the response to a failure. */
interface Progress {
  context: RequestContext
}

const withLimitStatuses = (context: RequestContext, limitStatuses: ReadonlyArray<LimitStatus>): RequestContext => ({
  ...context,
  limitStatuses: context.limitStatuses.length === 0 ? limitStatuses : [...context.limitStatuses, ...limitStatuses]
})

/**
 * Runs a request through its checks in their order, and responds. Limits are collected up to the next asynchronous check, the handler or a
 * refusal, and then counted in one call, all or none. A request over one of these limits gets a 429 even if a check after it refused.
 */
export const runChecks = ({ steps }: Checks, limits: Context.Tag.Service<CachedRateLimits>) => {
  /** Runs the steps from index `from` on. `uncounted` are the limits that were collected and not yet counted. */
  const runFrom = (
    from: number,
    request: CheckedRequest,
    progress: Progress,
    uncounted: ReadonlyArray<LimitUse> = NO_USES
  ): Effect.Effect<ObservedResponse, Failure> => {
    let checked = request
    for (let at = from; at < steps.length; at++) {
      const step = steps[at]!
      // `Checks` lets a step follow only those that find the fields that it reads.
      const given = checked as never
      if (step.kind === "count") {
        const uses = step.uses(given)
        uncounted = uncounted.length === 0 ? uses : [...uncounted, ...uses]
        continue
      }
      const { context } = checked
      if (step.kind !== "sync" && uncounted.length > 0) {
        const counted = checked
        return Effect.flatMap(limits.take(uncounted, context.now), (limitStatuses) =>
          runFrom(at, extend(counted, { context: withLimitStatuses(context, limitStatuses) }), progress)
        )
      }
      // Only a result shows the limits of its endpoint: a failure of the handler shows those of the key alone.
      if (step.kind === "handle") return Effect.map(step.handle(given), (outcome) => respond(outcome, context))
      progress.context = context
      const result: CheckResult | Effect.Effect<CheckResult, Failure> = step.run(given)
      if (Effect.isEffect(result))
        return Effect.flatMap(result, (passed) =>
          passed instanceof Rejected ? reject(context, passed, NO_USES) : runFrom(at + 1, passed, progress)
        )
      if (result instanceof Rejected) return reject(context, result, uncounted)
      checked = result
    }
    return Effect.dieMessage("The last check must be a handler")
  }

  /** Refuses a request. If the refusal counts against limits of its own, the response shows only these. */
  const reject = (context: RequestContext, { failure, uses: own }: Rejected, before: ReadonlyArray<LimitUse>) => {
    const shown = own.length > 0 ? { ...context, limitStatuses: [] } : context
    const uses = [...before, ...own]
    if (uses.length === 0) return Effect.succeed(respond(failure, shown))
    return Effect.map(limits.take(uses, context.now), (limitStatuses) =>
      respond(failure, withLimitStatuses(shown, limitStatuses))
    )
  }

  /** Gives back the use of a request that got a 429 (Specification, Limits). If that fails, the request merely stays counted. */
  const giveBackRequest = ({ caller, limitStatuses }: RequestContext): Effect.Effect<void> => {
    const taken = limitStatuses.filter(({ policy }) => policy === "requests_per_minute")
    if (caller === null || taken.length === 0) return Effect.void
    return Effect.catchAllCause(limits.giveBack([callerUse("requests_per_minute", caller)], taken), (cause) =>
      Effect.logWarning("A refused request stays counted", cause)
    )
  }

  const failed = (cause: Cause.Cause<Failure>, request: HttpRequest, { context }: Progress) => {
    const failure = failureIn(cause)
    if (failure === undefined && context.limitStatuses.length === 0) {
      return respondToCause(cause, withLimitStatuses(context, [limits.look(addressUse(request), context.now)]))
    }
    if (failure === undefined || failure._tag === "StoreUnavailable") return respondToCause(cause, context)
    const response = respond(withPart(failure, request), context)
    return failure._tag === "LimitReached" ? Effect.as(giveBackRequest(context), response) : Effect.succeed(response)
  }

  return (request: HttpRequest, context: RequestContext, match?: RouteMatch): Effect.Effect<ObservedResponse> => {
    const progress: Progress = { context }
    return Effect.catchAllCause(
      Effect.suspend(() => runFrom(0, { request, match, context, ...UNSET_FIELDS }, progress)),
      (cause) => failed(cause, request, progress)
    )
  }
}
