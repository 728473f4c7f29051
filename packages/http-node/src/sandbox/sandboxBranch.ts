import { createHash, timingSafeEqual } from "node:crypto"
import type { Policy } from "@workshop/core/domain/WebhookAddress"
import { addressLimit, ambiguousHead, bearer } from "@workshop/core/http/Admission"
import type { Arrival, Departure } from "@workshop/core/http/Arrival"
import { answerCause, type Branch, serve } from "@workshop/core/http/Branch"
import { fail, page, type Stamp, succeed } from "@workshop/core/http/Departures"
import { routes } from "@workshop/core/http/Endpoint"
import type { AdmissionRefusal } from "@workshop/core/http/ErrorTable"
import { type Found, router } from "@workshop/core/http/Router"
import { RateLimits } from "@workshop/core/ports/RateLimits"
import { Actor } from "@workshop/core/services/Actor"
import { Effect } from "effect"
import { appHandlers } from "./appHandlers.js"
import { clockHandlers } from "./clockHandlers.js"
import { ownerHandlers } from "./ownerHandlers.js"
import { peopleHandlers } from "./peopleHandlers.js"
import { SandboxApi } from "./SandboxApi.js"
import { isGuard, sandboxAllowed } from "./sandboxAllowed.js"
import { webhookHandlers } from "./webhookHandlers.js"

/** How the sandbox is served. */
export interface SandboxOptions {
  /** To be sent as a bearer token with every request; null, or an empty one, asks for none. See `sandboxAllowed`. */
  readonly token: string | null
  /** Where webhooks may go; `WebhookAddress.sandbox` unless other ports are open. */
  readonly webhookPolicy: Policy
  /** Holds every answer to the contract: for tests. */
  readonly isHeld: boolean
}

const digest = (text: string) => createHash("sha256").update(text).digest()

/** Whether a request bears the token; how long that takes tells nothing of it. */
const tokenCheck = (token: string | null): ((arrival: Arrival) => boolean) => {
  if (!isGuard(token)) return () => true
  const expected = digest(token)
  return (arrival) => timingSafeEqual(digest(bearer(arrival) ?? ""), expected)
}

/**
 * Whether a request names this machine as its host, or none. A web page elsewhere may let its own name lead here
 * (DNS rebinding), and would then have a sandbox that asks for no token.
 */
const isAddressedHere = (arrival: Arrival): boolean => {
  const host = arrival.header("host")
  return host === undefined || sandboxAllowed(host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1"), null)
}

const isRead = ({ method }: Arrival): boolean => method === "GET" || method === "HEAD"

/**
 * The sandbox under `/sandbox`: everything the app, the owner, the client and the clock would do (Specification, Sandbox).
 * Its requests count against no limit; the limits on tickets hold all the same.
 */
export const sandboxBranch = ({ token, webhookPolicy, isHeld }: SandboxOptions) =>
  Effect.gen(function* () {
    const handlers = {
      ...(yield* ownerHandlers),
      webhook: yield* webhookHandlers(webhookPolicy),
      clock: yield* clockHandlers,
      people: yield* peopleHandlers,
      appTickets: yield* appHandlers
    }
    const find = router(routes<void>()(SandboxApi, handlers))
    const limitOf = addressLimit(yield* RateLimits)
    const bearsToken = tokenCheck(token)
    const isGuarded = isGuard(token)
    const serveRoute = serve<void>({ isHeld })

    // Loaded and written out when it is first asked for: a start need not wait for it.
    const document = yield* Effect.cached(
      Effect.promise(async () => {
        const [{ served }, { sandboxDocument }] = await Promise.all([
          import("@workshop/core/http/openapi/OpenApi"),
          import("./openapi/SandboxDocument.js")
        ])
        return JSON.stringify(served(sandboxDocument))
      })
    )

    const lead = (arrival: Arrival): Found<void> | AdmissionRefusal | "document" => {
      const ambiguous = ambiguousHead(arrival)
      if (ambiguous !== undefined) return ambiguous
      if (!isGuarded && !isAddressedHere(arrival)) return { _tag: "SandboxHostForeign" }
      if (!bearsToken(arrival)) return { _tag: "SandboxTokenWrong" }
      if (isRead(arrival) && arrival.path === "/sandbox/openapi.json") return "document"
      return find(arrival.method === "HEAD" ? "GET" : arrival.method, arrival.path) ?? { _tag: "RouteNotFound" }
    }

    const branch: Branch = {
      prefix: "/sandbox",
      answer: (arrival: Arrival, stamp: Stamp): Effect.Effect<Departure> =>
        Effect.suspend(() => {
          const usages = limitOf(arrival, stamp.now)
          const found = lead(arrival)
          if (found === "document") return Effect.map(document, (json) => page(json, stamp))
          if ("_tag" in found) return Effect.succeed(fail(found, stamp, usages))
          stamp.route = found.route.path
          const served = Effect.provideService(serveRoute(found, arrival, undefined), Actor, "sandbox")
          return Effect.matchCauseEffect(served, {
            onSuccess: (reply) => Effect.succeed(succeed(reply, stamp, usages)),
            onFailure: (cause) => answerCause(cause, stamp, usages)
          })
        })
    }
    return branch
  })
