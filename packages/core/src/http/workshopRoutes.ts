import { Effect } from "effect"
import { RateLimits } from "../ports/StorePorts.js"
import type { Caller } from "../services/Caller.js"
import { authentication, type OwnAuthentication } from "./authentication.js"
import {
  addressUse,
  type Check,
  type CheckedRequest,
  handlingChecks,
  headCheck,
  refusing,
  requestUse,
  respondAfter,
  routeCheck
} from "./checks.js"
import { routes } from "./Endpoint.js"
import type { AdmissionRefusal } from "./ErrorTable.js"
import { exhaustedLimits } from "./ExhaustedLimits.js"
import type { RouteGroup } from "./Pipeline.js"
import { router } from "./Router.js"
import { WorkshopApi } from "./WorkshopApi.js"
import { workshopHandlers } from "./workshopHandlers.js"

const shopRefusal = ({ shop }: CheckedRequest): AdmissionRefusal | undefined => {
  if (!shop!.active) return { _tag: "AccountDeactivated" }
  if (!shop!.approved) return { _tag: "ShopNotApproved" }
  return shop!.api_enabled ? undefined : { _tag: "ApiDisabled" }
}

/** The checks of a request to the API, in the order of Specification, Errors: of two refusals the earlier one is the response. */
export const workshopChecks = (
  authenticationCheck: Check,
  options: { readonly validateResponses: boolean }
): ReadonlyArray<Check> => [
  headCheck((request) => [addressUse(request)]),
  authenticationCheck,
  {
    name: "the limit on requests",
    refuses: "429",
    kind: "count",
    count: ({ context }) => [requestUse(context.caller!.caller_id)]
  },
  refusing("the shop", "403 of a shop that is deactivated, not approved or without API", shopRefusal),
  routeCheck,
  refusing("scope", "403", ({ match, context }) => {
    const { scope } = match!.route
    return scope === undefined || context.caller!.scopes.includes(scope) ? undefined : { _tag: "ScopeMissing", scope }
  }),
  {
    name: "the limit on writes",
    refuses: "429",
    kind: "count",
    count: ({ request, context }) =>
      request.method === "POST"
        ? [{ policy: "writes_per_minute", subject: context.caller!.caller_id, time_zone: null }]
        : []
  },
  ...handlingChecks(options)
]

/** The API of the specification under `/v1` (Specification, Endpoints; Errors). */
export const workshopRoutes = (options: { readonly validateResponses: boolean; readonly own?: OwnAuthentication }) =>
  Effect.gen(function* () {
    const checks = workshopChecks(yield* authentication(options.own), options)
    const group: RouteGroup = {
      prefix: "/v1",
      find: router(routes<Caller>()(WorkshopApi, yield* workshopHandlers)),
      answer: respondAfter(checks, exhaustedLimits(yield* RateLimits))
    }
    return group
  })
