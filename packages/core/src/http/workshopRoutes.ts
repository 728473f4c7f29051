import { Effect } from "effect"
import { RateLimits } from "../ports/RateLimits.js"
import type { Caller } from "../services/Caller.js"
import { type Admitted, addressLimit, admission, type OwnAuthentication } from "./Admission.js"
import { routes } from "./Endpoint.js"
import type { HttpRequest, HttpResponse } from "./HttpMessage.js"
import { causeResponse, failureIn, type RouteGroup, respondWith } from "./RouteGroup.js"
import { router } from "./Router.js"
import { failureResponse, type RequestContext, successResponse } from "./responses.js"
import { WorkshopApi } from "./WorkshopApi.js"
import { workshopHandlers } from "./workshopHandlers.js"

/** The API of the specification under `/v1`: admitted, read, handled, answered in its envelope (Specification, Endpoints; Errors). */
export const workshopRoutes = (options: { readonly isHeld: boolean; readonly own?: OwnAuthentication }) =>
  Effect.gen(function* () {
    const find = router(routes<Caller>()(WorkshopApi, yield* workshopHandlers))
    const { admit, count, giveBack } = yield* admission(find, options.own)
    const limitOf = addressLimit(yield* RateLimits)
    const serveRoute = respondWith<Caller>(options)

    /** The answer is right without it: the request merely stays counted. */
    const returned = (admitted: Admitted) =>
      Effect.catchAllCause(giveBack(admitted), (cause) => Effect.logWarning("A refused request stays counted", cause))

    const handle = (arrival: HttpRequest, admitted: Admitted, stamp: RequestContext): Effect.Effect<HttpResponse> => {
      stamp.route = admitted.route.path
      const counts = admitted.route.policies.length === 0 ? undefined : count(admitted, stamp.now)
      return Effect.matchCauseEffect(serveRoute(admitted, arrival, admitted.caller, counts), {
        onSuccess: (reply) => Effect.succeed(successResponse(reply, stamp, admitted.usages)),
        onFailure: (cause) => {
          const answer = causeResponse(cause, stamp, admitted.usages)
          const isUncounted = failureIn(cause)?._tag === "LimitReached"
          return isUncounted ? Effect.zipRight(returned(admitted), answer) : answer
        }
      })
    }

    const branch: RouteGroup = {
      prefix: "/v1",
      answer: (arrival, stamp) =>
        Effect.matchCauseEffect(admit(arrival, stamp.now), {
          onSuccess: (verdict) =>
            "refusal" in verdict
              ? Effect.succeed(failureResponse(verdict.refusal, stamp, verdict.usages))
              : handle(arrival, verdict, stamp),
          onFailure: (cause) =>
            causeResponse(cause, stamp, failureIn(cause) === undefined ? limitOf(arrival, stamp.now) : [])
        })
    }
    return branch
  })
