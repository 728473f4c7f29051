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

/** A request on its way through the checks: one object, to which each check adds the fields that it finds, for the checks after it. */
export interface CheckedRequest {
  request: HttpRequest
  /** Undefined if no endpoint has this path and method. */
  match: RouteMatch | undefined
  context: RequestContext
}

/**
 * Assigns the fields that a check found to the request itself, so that the response to a later failure has the context of the latest check.
 * The context is replaced and never changed, because observers keep the first one.
 */
export const assignFields = <In extends CheckedRequest, Fields extends object>(
  checked: In,
  fields: Fields
): In & Fields => Object.assign(checked, fields)

/** A request whose endpoint exists. */
export interface RoutedRequest extends CheckedRequest {
  match: RouteMatch
}

/** A request whose sender is known. */
export interface AuthenticatedRequest extends CheckedRequest {
  caller: Caller
  /** The caller's shop. */
  shop: ShopRecord
}

/** A request whose body is read. */
export interface ReadRequest extends RoutedRequest {
  body: RequestPart
}

/** A request as the schemas of its endpoint read it. */
export interface ValidRequest extends RoutedRequest {
  input: unknown
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

type LimitCache = Context.Tag.Service<CachedRateLimits>

/*
 * How a step advances: it gets the request and the step after it, `next`, and calls `next` with the request. A check that rejects the
 * request responds instead. A limit check only collects limits; they are counted in one call, all or none, before the next asynchronous
 * check, the handler or the response to a rejection, so that a request over one of them gets a 429 even if a check after it rejected.
 * A failed effect skips the steps that are left, and `runChecks` responds to the failure.
 */

/** Runs a request from a step on until its response. `uncounted` are the limits that were collected before the step and not yet counted. */
type Continue<In> = (checked: In, uncounted: ReadonlyArray<LimitUse>) => Effect.Effect<ObservedResponse, Failure>

/** A step, which gets the steps after it as `next`. */
type Link<In, Out> = (limits: LimitCache, next: Continue<Out>) => Continue<In>

const syncCheck =
  <In extends CheckedRequest, Out extends CheckedRequest>(run: (checked: In) => CheckResult<Out>): Link<In, Out> =>
  (limits, next) =>
  (checked, uncounted) => {
    const result = run(checked)
    return result instanceof Rejected ? reject(limits, checked.context, result, uncounted) : next(result, uncounted)
  }

const asyncCheck =
  <In extends CheckedRequest, Out extends CheckedRequest>(
    run: (checked: In) => CheckResult<Out> | Effect.Effect<CheckResult<Out>, Failure>
  ): Link<In, Out> =>
  (limits, next) => {
    const proceed = (context: RequestContext, result: CheckResult<Out>) =>
      result instanceof Rejected ? reject(limits, context, result, NO_USES) : next(result, NO_USES)
    return counted(limits, (checked, context) => {
      const result = run(assignFields(checked, { context }))
      return Effect.isEffect(result)
        ? Effect.flatMap(result, (found) => proceed(context, found))
        : proceed(context, result)
    })
  }

const limitCheck =
  <In extends CheckedRequest>({ uses }: LimitCheck<In>): Link<In, In> =>
  (_, next) =>
  (checked, uncounted) => {
    const found = uses(checked)
    return next(checked, uncounted.length === 0 ? found : [...uncounted, ...found])
  }

/** Counts the collected limits, all or none, and continues with the context that has their statuses. */
const counted =
  <In extends CheckedRequest>(
    limits: LimitCache,
    proceed: (checked: In, context: RequestContext) => Effect.Effect<ObservedResponse, Failure>
  ): Continue<In> =>
  (checked, uncounted) => {
    const { context } = checked
    if (uncounted.length === 0) return proceed(checked, context)
    return Effect.flatMap(limits.take(uncounted, context.now), (limitStatuses) =>
      proceed(checked, withLimitStatuses(context, limitStatuses))
    )
  }

const withLimitStatuses = (context: RequestContext, limitStatuses: ReadonlyArray<LimitStatus>): RequestContext => ({
  ...context,
  limitStatuses: context.limitStatuses.length === 0 ? limitStatuses : [...context.limitStatuses, ...limitStatuses]
})

/** Refuses a request. If the refusal counts against limits of its own, the response shows only these. */
const reject = (
  limits: LimitCache,
  context: RequestContext,
  { failure, uses: own }: Rejected,
  uncounted: ReadonlyArray<LimitUse>
): Effect.Effect<ObservedResponse, Failure> => {
  const shown = own.length > 0 ? { ...context, limitStatuses: [] } : context
  const uses = [...uncounted, ...own]
  if (uses.length === 0) return Effect.succeed(respond(failure, shown))
  return Effect.map(limits.take(uses, context.now), (limitStatuses) =>
    respond(failure, withLimitStatuses(shown, limitStatuses))
  )
}

/** The steps of a request from its first check to its handler. */
export interface RequestSteps {
  /** In their order, for the diagram in the docs. */
  readonly steps: ReadonlyArray<StepDescription>
  /** Links the steps. The result runs a request through them. */
  readonly begin: (limits: LimitCache) => Continue<CheckedRequest>
}

/**
 * The checks of a request, in the order of Specification, Errors. The types let a check follow only those that find the fields that it
 * reads.
 */
export class Checks<Out extends CheckedRequest = CheckedRequest> {
  readonly steps: ReadonlyArray<StepDescription>
  readonly #link: Link<CheckedRequest, Out>

  private constructor(steps: ReadonlyArray<StepDescription>, link: Link<CheckedRequest, Out>) {
    this.steps = steps
    this.#link = link
  }

  /** Begins with checks that add no fields. */
  static from(checks: ReadonlyArray<Check>): Checks {
    return checks.reduce((before, check) => before.check(check), new Checks([], (_, next) => next))
  }

  #then<Next extends CheckedRequest>(step: StepDescription, link: Link<Out, Next>): Checks<Next> {
    return new Checks<Next>([...this.steps, step], (limits, next) => this.#link(limits, link(limits, next)))
  }

  /** Adds a check. */
  check<Next extends Out>(check: Check<Out, Next>): Checks<Next> {
    return this.#then(check, check.kind === "sync" ? syncCheck(check.run) : asyncCheck(check.run))
  }

  /** Adds limits to count against. */
  limit(check: LimitCheck<Out>): Checks<Out> {
    return this.#then(check, limitCheck(check))
  }

  /** Adds the handler, whose response shows the limits of its endpoint only if it has a result. */
  handle(step: HandlerStep<Out>): RequestSteps {
    return {
      steps: [...this.steps, step],
      begin: (limits) =>
        this.#link(
          limits,
          counted(limits, (checked, context) =>
            Effect.map(step.handle(checked), (outcome) => respond(outcome, context))
          )
        )
    }
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
    return assignFields(checked, { match, context: { ...context, route: match.route.path } })
  }
})

/** Reads the body of a request. */
export const bodyCheck = <In extends RoutedRequest>(): Check<In, In & ReadRequest> => ({
  name: "body",
  refuses: "400, together with everything else that is invalid",
  kind: "async",
  run: (checked) => {
    const { route } = checked.match
    if (route.method === "GET") return assignFields(checked, { body: NO_BODY })
    const reading = readBody(checked.request, route.body_bytes)
    return Effect.isEffect(reading)
      ? Effect.map(reading, (body) => assignFields(checked, { body }))
      : assignFields(checked, { body: reading })
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
    return assignFields(checked, { input: read.right })
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

/** Runs requests through their steps. `match` is the endpoint of the request's path and method, if there is one. */
export const runChecks = ({ begin }: RequestSteps, limits: LimitCache) => {
  const first = begin(limits)

  /** Gives back the use of a request that got a 429 (Specification, Limits). If that fails, the request merely stays counted. */
  const giveBackRequest = ({ caller, limitStatuses }: RequestContext): Effect.Effect<void> => {
    const taken = limitStatuses.filter(({ policy }) => policy === "requests_per_minute")
    if (caller === null || taken.length === 0) return Effect.void
    return Effect.catchAllCause(limits.giveBack([callerUse("requests_per_minute", caller)], taken), (cause) =>
      Effect.logWarning("A refused request stays counted", cause)
    )
  }

  /** Responds to a failure with the context of the latest check. */
  const failed = (cause: Cause.Cause<Failure>, { request, context }: CheckedRequest) => {
    const failure = failureIn(cause)
    if (failure === undefined && context.limitStatuses.length === 0) {
      return respondToCause(cause, withLimitStatuses(context, [limits.look(addressUse(request), context.now)]))
    }
    if (failure === undefined || failure._tag === "StoreUnavailable") return respondToCause(cause, context)
    const response = respond(withPart(failure, request), context)
    return failure._tag === "LimitReached" ? Effect.as(giveBackRequest(context), response) : Effect.succeed(response)
  }

  return (request: HttpRequest, context: RequestContext, match?: RouteMatch): Effect.Effect<ObservedResponse> => {
    const checked: CheckedRequest = { request, match, context }
    return Effect.catchAllCause(
      Effect.suspend(() => first(checked, NO_USES)),
      (cause) => failed(cause, checked)
    )
  }
}
