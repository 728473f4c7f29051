import { Effect } from "effect"
import { isUuid } from "../domain/Identifier.js"
import type { LimitUse } from "../domain/LimitWindow.js"
import type { ShopView } from "../domain/Shop.js"
import { Reads } from "../ports/StorePorts.js"
import { addressUseOf, CachedRateLimits } from "../services/CachedRateLimits.js"
import type { Caller } from "../services/Caller.js"
import { Clients } from "../services/Clients.js"
import { Loyalty } from "../services/Loyalty.js"
import { Tickets } from "../services/Tickets.js"
import { makeAuthentication, type OwnAuthentication } from "./authentication.js"
import {
  type AuthenticatedRequest,
  type Check,
  type CheckedRequest,
  Checks,
  type HandlerStep,
  runChecks,
  type ValidRequest
} from "./Checks.js"
import { compileRoutes, type Handlers, makeRouter } from "./Endpoint.js"
import type { AdmissionRefusal } from "./ErrorTable.js"
import {
  makeBodyCheck,
  makeEndpointHandler,
  makeHeadCheck,
  makeRefusalCheck,
  makeRouteCheck,
  makeValidationCheck
} from "./endpointChecks.js"
import type { RouteGroup } from "./Pipeline.js"
import { byNumberResponse, createdTicketResponse, idempotentResponse } from "./successResponse.js"
import { WorkshopApi } from "./WorkshopApi.js"

const shopRefusal = ({ shop }: AuthenticatedRequest): AdmissionRefusal | undefined => {
  if (!shop.active) return { _tag: "AccountDeactivated" }
  if (!shop.approved) return { _tag: "ShopNotApproved" }
  return shop.api_enabled ? undefined : { _tag: "ApiDisabled" }
}

/**
 * A use of a limit of a caller. Ids of keys are unique, but an embedder's ids of callers are unique only within a shop.
 */
const callerUse = (policy: "requests_per_minute" | "writes_per_minute", { caller_id, shop_id }: Caller): LimitUse => ({
  policy,
  subject: isUuid(caller_id) ? caller_id : `${shop_id} ${caller_id}`,
  time_zone: null
})

/**
 * The checks of a request to the API, in the order of Specification, Errors: the first check that refuses decides the
 * response. A limit is counted before the next asynchronous step or refusal, so a 429 takes precedence over a 403.
 */
export const workshopChecks = (
  authenticationCheck: Check<CheckedRequest, AuthenticatedRequest>,
  handler: HandlerStep<AuthenticatedRequest & ValidRequest>
) =>
  Checks.from([makeHeadCheck((request) => [addressUseOf(request)])])
    .check(authenticationCheck)
    .limit({
      name: "the limit on requests",
      refuses: "429",
      uses: ({ caller }) => [callerUse("requests_per_minute", caller)],
      isGivenBackOn429: true
    })
    .check(makeRefusalCheck("the shop", "403 for a shop that is deactivated, not approved or without API", shopRefusal))
    .check(makeRouteCheck())
    .check(
      makeRefusalCheck("scope", "403", ({ match, caller }) => {
        const { scope } = match.route
        return scope === undefined || caller.scopes.includes(scope) ? undefined : { _tag: "ScopeMissing", scope }
      })
    )
    .limit({
      name: "the limit on writes",
      refuses: "429",
      uses: ({ request, caller }) => (request.method === "POST" ? [callerUse("writes_per_minute", caller)] : [])
    })
    .check(makeBodyCheck())
    .check(makeValidationCheck())
    .limit({
      name: "the endpoint's own limits",
      refuses: "429",
      uses: ({ match, caller, shop: { time_zone } }) =>
        caller.uncounted === true
          ? []
          : match.route.policies.map((policy) => ({ policy, subject: caller.shop_id, time_zone }))
    })
    .handle(handler)

const dataOnly = <A>(data: A) => ({ data })

/** The handler of each endpoint: one call of a service. */
const workshopHandlers = Effect.gen(function* () {
  const reads = yield* Reads
  const tickets = yield* Tickets
  const clients = yield* Clients
  const loyalty = yield* Loyalty

  return {
    shop: {
      read: (_, { shop_id, scopes }) =>
        Effect.flatMap(reads.shop(shop_id), (state) => {
          if (state === null) return Effect.dieMessage("The shop of a good key is gone")
          const { id, name, currency, decimals, time_zone } = state.shop
          return Effect.succeed(dataOnly<ShopView>({ id, name, currency, decimals, time_zone, scopes }))
        })
    },
    tickets: {
      create: ({ headers, payload }, caller) =>
        Effect.map(tickets.create(caller, payload, headers["idempotency-key"]), createdTicketResponse),
      list: ({ urlParams }, caller) => tickets.list(caller, urlParams),
      byId: ({ path }, caller) => Effect.map(tickets.byId(caller, path.id), dataOnly),
      byNumber: ({ path }, caller) => Effect.map(tickets.byNumber(caller, path.n), byNumberResponse),
      changeStatus: ({ path, headers, payload }, caller) =>
        Effect.map(
          tickets.changeStatus(caller, path.id, payload.status, headers["idempotency-key"]),
          idempotentResponse
        ),
      recordNotified: ({ path, headers, payload }, caller) =>
        Effect.map(
          tickets.recordNotified(caller, path.id, payload.channel, headers["idempotency-key"]),
          idempotentResponse
        )
    },
    clients: {
      byPhone: ({ urlParams }, caller) => Effect.map(clients.byPhone(caller, urlParams.phone), dataOnly),
      byId: ({ path }, caller) => Effect.map(clients.byId(caller, path.id), dataOnly),
      loyalty: ({ path }, caller) => Effect.map(loyalty.read(caller, path.id), dataOnly),
      giveStamps: ({ path, headers, payload }, caller) =>
        Effect.map(loyalty.giveStamps(caller, path.id, payload.count, headers["idempotency-key"]), idempotentResponse),
      redeem: ({ path, headers }, caller) =>
        Effect.map(loyalty.redeem(caller, path.id, headers["idempotency-key"]), idempotentResponse)
    }
  } satisfies Handlers<typeof WorkshopApi, Caller>
})

/** The API of the specification under `/v1` (Specification, Endpoints; Errors). */
export const workshopRoutes = (options: { readonly validateResponses: boolean; readonly own?: OwnAuthentication }) =>
  Effect.gen(function* () {
    const handlers = compileRoutes<Caller>()(WorkshopApi, yield* workshopHandlers)
    const { validateResponses } = options
    const checks = workshopChecks(
      yield* makeAuthentication(options.own),
      makeEndpointHandler({
        handlers,
        callerOf: ({ caller }: AuthenticatedRequest & ValidRequest) => caller,
        validateResponses
      })
    )
    const group: RouteGroup = {
      prefix: "/v1",
      find: makeRouter(handlers.keys()),
      handle: runChecks(checks, yield* CachedRateLimits)
    }
    return group
  })
