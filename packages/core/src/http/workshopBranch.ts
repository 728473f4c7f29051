import { Effect } from "effect"
import { RateLimits } from "../ports/RateLimits.js"
import type { Caller } from "../services/Caller.js"
import { type Admitted, addressLimit, admission, type OwnAuthentication } from "./Admission.js"
import type { Arrival, Departure } from "./Arrival.js"
import { answerCause, type Branch, refusalIn, serve } from "./Branch.js"
import { fail, type Stamp, succeed } from "./Departures.js"
import { routes } from "./Endpoint.js"
import { router } from "./Router.js"
import { WorkshopApi } from "./WorkshopApi.js"
import { workshopHandlers } from "./workshopHandlers.js"

/** The API of the specification under `/v1`: admitted, read, handled, answered in its envelope (Specification, Endpoints; Errors). */
export const workshopBranch = (options: { readonly isHeld: boolean; readonly own?: OwnAuthentication }) =>
  Effect.gen(function* () {
    const find = router(routes<Caller>()(WorkshopApi, yield* workshopHandlers))
    const { admit, count, giveBack } = yield* admission(find, options.own)
    const limitOf = addressLimit(yield* RateLimits)
    const serveRoute = serve<Caller>(options)

    /** The answer is right without it: the request merely stays counted. */
    const returned = (admitted: Admitted) =>
      Effect.catchAllCause(giveBack(admitted), (cause) => Effect.logWarning("A refused request stays counted", cause))

    const handle = (arrival: Arrival, admitted: Admitted, stamp: Stamp): Effect.Effect<Departure> => {
      stamp.route = admitted.route.path
      const counts = admitted.route.policies.length === 0 ? undefined : count(admitted, stamp.now)
      return Effect.matchCauseEffect(serveRoute(admitted, arrival, admitted.caller, counts), {
        onSuccess: (reply) => Effect.succeed(succeed(reply, stamp, admitted.usages)),
        onFailure: (cause) => {
          const answer = answerCause(cause, stamp, admitted.usages)
          const isUncounted = refusalIn(cause)?._tag === "LimitReached"
          return isUncounted ? Effect.zipRight(returned(admitted), answer) : answer
        }
      })
    }

    const branch: Branch = {
      prefix: "/v1",
      answer: (arrival, stamp) =>
        Effect.matchCauseEffect(admit(arrival, stamp.now), {
          onSuccess: (verdict) =>
            "refusal" in verdict
              ? Effect.succeed(fail(verdict.refusal, stamp, verdict.usages))
              : handle(arrival, verdict, stamp),
          onFailure: (cause) =>
            answerCause(cause, stamp, refusalIn(cause) === undefined ? limitOf(arrival, stamp.now) : [])
        })
    }
    return branch
  })
