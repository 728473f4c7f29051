import { Clock, type Context, Effect } from "effect"
import { countedAddress } from "../domain/CountedAddress.js"
import type { Instant } from "../domain/Instant.js"
import type { LimitUse } from "../domain/LimitUse.js"
import { LimitReached, type LimitStatus } from "../domain/LimitWindow.js"
import { RateLimits } from "../ports/RateLimits.js"
import { Reads } from "../ports/Reads.js"
import type { StoreUnavailable } from "../ports/Store.js"
import { ApiKeyCache, type ApiKeyHolder } from "../services/ApiKeyCache.js"
import type { Caller } from "../services/Caller.js"
import { headerCase, type Route } from "./Endpoint.js"
import { type AdmissionRefusal, givenTwice, type InvalidRequest, type NotSignedIn } from "./ErrorTable.js"
import { type ExhaustedLimits, exhaustedLimits } from "./ExhaustedLimits.js"
import type { HttpRequest } from "./HttpMessage.js"
import type { router } from "./Router.js"

/** Who was let in, to where, and the limits that it used. */
export interface Admitted {
  readonly caller: Caller
  readonly time_zone: LimitUse["time_zone"]
  readonly route: Route<Caller>
  readonly path: unknown
  readonly usages: ReadonlyArray<LimitStatus>
  /** To be given back should the answer be a 429 after all (Specification, Limits). */
  readonly request: LimitUse
}

/** Who was not let in, and the limits that it used all the same. */
export interface Rejected {
  readonly refusal: AdmissionRefusal
  readonly usages: ReadonlyArray<LimitStatus>
}

/**
 * Tells who asks, in place of API keys; null where nobody is signed in (Specification, Keys and scopes). All that follows stays: the shop's
 * flags, scopes, and the limits, which go by `caller_id`.
 */
export type Authenticate = (arrival: HttpRequest) => Effect.Effect<Caller | null, StoreUnavailable>

/** Authentication in place of API keys, and what whoever is not known is told. */
export interface OwnAuthentication {
  readonly authenticate: Authenticate
  readonly refusal: NotSignedIn
}

/** The text that a request bears in its `Authorization` header, if any. */
export const bearer = (arrival: HttpRequest): string | undefined =>
  /^bearer +(\S+) *$/i.exec(arrival.header("authorization") ?? "")?.[1]

/** The refusal of a request that gives its key or its host twice: nothing tells which of them was meant (Specification, Requests and answers). */
export const ambiguousHead = (arrival: HttpRequest): InvalidRequest | undefined => {
  const issues = ["authorization", "host"].filter(arrival.repeats).map((name) => givenTwice("header", headerCase(name)))
  return issues.length === 0 ? undefined : { _tag: "InvalidRequest", issues }
}

/** A request without a good key, by where it comes from. */
export const addressUse = (arrival: HttpRequest): LimitUse => ({
  policy: "unauthenticated_per_minute",
  subject: countedAddress(arrival.address),
  time_zone: null
})

/**
 * The limit of its address, for the headers of a request that counts nowhere (Specification, Limits). The store is not asked: it is
 * what this process knows.
 */
export const addressLimit =
  (limits: Context.Tag.Service<RateLimits>) =>
  (arrival: HttpRequest, now: Instant): ReadonlyArray<LimitStatus> => [
    exhaustedLimits(limits).look(addressUse(arrival), now)
  ]

/** How long the next look-up of an unknown key waits once their address is at its limit, in real time. */
const LOOK_UP_PAUSE = "10 millis"

/** How many such look-ups may wait. Each wakes with every one before it, so without an end they would take all memory. */
const MOST_LOOK_UPS = 50

/**
 * Who holds a key that memory may not know. An address at its limit may still send a good one, which no limit of the
 * address refuses; but its unknown keys are looked up one by one, so that guesses cost the store next to nothing. While as many
 * wait as may, any other is refused by the limit.
 */
const keyLookUp = (keyRing: ApiKeyCache, limits: ExhaustedLimits) =>
  Effect.map(Effect.makeSemaphore(1), (oneByOne) => {
    const pause = Effect.withClock(Effect.sleep(LOOK_UP_PAUSE), Clock.make())
    let waiting = 0
    const begun = Effect.sync(() => void waiting++)
    const ended = Effect.sync(() => void waiting--)
    return (
      arrival: HttpRequest,
      key: string,
      now: Instant
    ): Effect.Effect<ApiKeyHolder | null, LimitReached | StoreUnavailable> => {
      const holder = keyRing.holderOf(key, now)
      const usage = limits.look(addressUse(arrival), now)
      if (usage.remaining > 0 || !keyRing.isNew(key)) return holder
      if (waiting >= MOST_LOOK_UPS) return Effect.fail(new LimitReached({ usages: [usage] }))
      const inTurn = oneByOne.withPermits(1)(Effect.zipLeft(holder, pause))
      return Effect.acquireUseRelease(
        begun,
        () => inTurn,
        () => ended
      )
    }
  })

const refusalOf = ({ shop, caller }: ApiKeyHolder, route: Route<Caller> | undefined): AdmissionRefusal | undefined => {
  if (!shop.active) return { _tag: "AccountDeactivated" }
  if (!shop.approved) return { _tag: "ShopNotApproved" }
  if (!shop.api_enabled) return { _tag: "ApiDisabled" }
  if (route === undefined) return { _tag: "RouteNotFound" }
  return route.scope === undefined || caller.scopes.includes(route.scope)
    ? undefined
    : { _tag: "ScopeMissing", scope: route.scope }
}

/** What is wrong with a key, where more can be said than that it is unknown (Specification, Keys and scopes). */
const refusalOfKey = (keyRing: ApiKeyCache, key: string): AdmissionRefusal | undefined =>
  keyRing.isTestKeyElsewhere(key) ? { _tag: "TestKeyElsewhere" } : undefined

/**
 * Lets a request in, in the order of checks of Specification, Errors: the key, the limit on requests, the shop's flags,
 * the route, the scope, the limit on writes. Limits are taken in one call, all or none of them.
 */
export const admission = (find: ReturnType<typeof router<Caller>>, own?: OwnAuthentication) =>
  Effect.gen(function* () {
    const keyRing = yield* ApiKeyCache
    const limits = exhaustedLimits(yield* RateLimits)
    const lookUp = yield* keyLookUp(keyRing, limits)
    const reads = yield* Reads

    const turnAway = (
      arrival: HttpRequest,
      now: Instant,
      refusal: AdmissionRefusal = own?.refusal ?? { _tag: "Unauthenticated" }
    ) => Effect.map(limits.take([addressUse(arrival)], now), (usages): Rejected => ({ refusal, usages }))

    const letIn = (arrival: HttpRequest, holder: ApiKeyHolder, now: Instant) => {
      arrival.onAdmitted?.()
      const found = find(arrival.method === "HEAD" ? "GET" : arrival.method, arrival.path)
      const refusal = refusalOf(holder, found?.route)
      const subject = holder.caller.caller_id
      const request: LimitUse = { policy: "requests_per_minute", subject, time_zone: null }
      const takes: ReadonlyArray<LimitUse> =
        refusal === undefined && arrival.method === "POST"
          ? [request, { policy: "writes_per_minute", subject, time_zone: null }]
          : [request]
      return Effect.map(limits.take(takes, now), (usages): Admitted | Rejected =>
        refusal !== undefined || found === undefined
          ? { refusal: refusal ?? { _tag: "RouteNotFound" }, usages }
          : {
              caller: holder.caller,
              time_zone: holder.shop.time_zone,
              route: found.route,
              path: found.path,
              usages,
              request
            }
      )
    }

    /** Whom the embedder's own authentication knows, with their shop as it is now. */
    const signedIn = Effect.fnUntraced(function* (arrival: HttpRequest, known: Authenticate) {
      const caller = yield* known(arrival)
      if (caller === null) return null
      const state = yield* reads.shop(caller.shop_id)
      if (state !== null) return { caller, shop: state.shop }
      yield* Effect.logWarning(`The shop_id that authenticate answered is no shop's: ${caller.shop_id}`)
      return null
    })

    return {
      admit: (arrival: HttpRequest, now: Instant) => {
        const ambiguous = ambiguousHead(arrival)
        if (ambiguous !== undefined) return turnAway(arrival, now, ambiguous)
        if (own !== undefined) {
          return Effect.flatMap(signedIn(arrival, own.authenticate), (holder) =>
            holder === null ? turnAway(arrival, now) : letIn(arrival, holder, now)
          )
        }
        const key = bearer(arrival)
        if (key === undefined) return turnAway(arrival, now)
        const known = keyRing.known(key, now)
        if (known !== undefined) return letIn(arrival, known, now)
        return Effect.flatMap(lookUp(arrival, key, now), (holder) =>
          holder === null ? turnAway(arrival, now, refusalOfKey(keyRing, key)) : letIn(arrival, holder, now)
        )
      },
      /** What a route counts besides, once its request is well formed (Specification, Limits). */
      count: ({ route, caller, time_zone }: Admitted, now: Instant) =>
        limits.take(
          route.policies.map((policy) => ({ policy, subject: caller.shop_id, time_zone })),
          now
        ),
      /** A 429 is not counted as a request (Specification, Limits). */
      giveBack: ({ request, usages }: Admitted) =>
        limits.giveBack(
          [request],
          usages.filter(({ policy }) => policy === request.policy)
        )
    }
  })
