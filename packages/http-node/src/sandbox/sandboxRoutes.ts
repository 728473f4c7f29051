import { Actor, type LimitStatus, type WebhookAddressPolicy } from "@workshop/core"
import {
  type AdmissionRefusal,
  addressLimit,
  ambiguousHead,
  causeResponse,
  failureResponse,
  type HttpRequest,
  type HttpResponse,
  pageResponse,
  type RequestContext,
  type RouteGroup,
  type RouteMatch,
  respondWith,
  router,
  routes,
  successResponse
} from "@workshop/core/http"
import { RateLimits } from "@workshop/core/store"
import { Effect } from "effect"
import { onceAsked } from "../coalesce.js"
import { appHandlers } from "./appHandlers.js"
import { clockHandlers } from "./clockHandlers.js"
import { foreignness } from "./foreignRequest.js"
import { ownerHandlers } from "./ownerHandlers.js"
import { peopleHandlers } from "./peopleHandlers.js"
import { SandboxApi } from "./SandboxApi.js"
import { tokenGuard } from "./tokenGuard.js"
import { webhookHandlers } from "./webhookHandlers.js"

/** How the sandbox is served. */
export interface SandboxOptions {
  /** To be sent as a bearer token with every request, of at least 32 characters; null, or an empty one, asks for none. */
  readonly token: string | null
  /** Where webhooks may go; `WebhookAddress.sandbox` unless other ports are open. */
  readonly webhookPolicy: WebhookAddressPolicy
  /** Holds every answer to the contract: for tests. */
  readonly isHeld: boolean
}

const isRead = ({ method }: HttpRequest): boolean => method === "GET" || method === "HEAD"

/**
 * The sandbox under `/sandbox`: everything the app, the owner, the client and the clock would do (Specification, Sandbox).
 * Its requests count against no limit, save those with a wrong token; the limits on tickets hold all the same.
 */
export const sandboxRoutes = ({ token, webhookPolicy, isHeld }: SandboxOptions) =>
  Effect.gen(function* () {
    const limits = yield* RateLimits
    const guard = yield* tokenGuard(token, limits)
    const handlers = {
      ...(yield* ownerHandlers),
      webhook: yield* webhookHandlers(webhookPolicy),
      clock: yield* clockHandlers,
      people: yield* peopleHandlers,
      appTickets: yield* appHandlers
    }
    const find = router(routes<void>()(SandboxApi, handlers))
    const limitOf = addressLimit(limits)
    const serveRoute = respondWith<void>({ isHeld })

    // Loaded and written out when it is first asked for: a start need not wait for it.
    const document = onceAsked(
      Effect.promise(async () => {
        const [{ served }, { sandboxDocument }] = await Promise.all([
          import("@workshop/core/openapi"),
          import("./openapi/SandboxDocument.js")
        ])
        return JSON.stringify(served(sandboxDocument))
      })
    )

    const lead = (arrival: HttpRequest): RouteMatch<void> | AdmissionRefusal | "document" => {
      const ambiguous = ambiguousHead(arrival)
      if (ambiguous !== undefined) return ambiguous
      const foreign = guard === undefined ? foreignness(arrival) : undefined
      if (foreign !== undefined) return { _tag: foreign }
      if (isRead(arrival) && arrival.path === "/sandbox/openapi.json") return "document"
      return find(arrival.method === "HEAD" ? "GET" : arrival.method, arrival.path) ?? { _tag: "RouteNotFound" }
    }

    const answerLed = (arrival: HttpRequest, stamp: RequestContext, usages: ReadonlyArray<LimitStatus>) => {
      const found = lead(arrival)
      if (found === "document") return Effect.map(document, (json) => pageResponse(json, stamp))
      if ("_tag" in found) return Effect.succeed(failureResponse(found, stamp, usages))
      stamp.route = found.route.path
      const served = Effect.provideService(serveRoute(found, arrival, undefined), Actor, "sandbox")
      return Effect.matchCauseEffect(served, {
        onSuccess: (reply) => Effect.succeed(successResponse(reply, stamp, usages)),
        onFailure: (cause) => causeResponse(cause, stamp, usages)
      })
    }

    const branch: RouteGroup = {
      prefix: "/sandbox",
      answer: (arrival: HttpRequest, stamp: RequestContext): Effect.Effect<HttpResponse> =>
        Effect.suspend(() => {
          const usages = limitOf(arrival, stamp.now)
          if (guard === undefined || ambiguousHead(arrival) !== undefined) return answerLed(arrival, stamp, usages)
          return Effect.matchCauseEffect(guard(arrival, stamp.now), {
            onSuccess: (guessed) =>
              guessed === null
                ? answerLed(arrival, stamp, usages)
                : Effect.succeed(failureResponse({ _tag: "SandboxTokenWrong" }, stamp, guessed)),
            onFailure: (cause) => causeResponse(cause, stamp, usages)
          })
        })
    }
    return branch
  })
