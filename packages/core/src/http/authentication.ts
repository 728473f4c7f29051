import { Clock, type Context, Effect } from "effect"
import type { Instant } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { LimitReached } from "../domain/LimitWindow.js"
import { Reads, type StoreUnavailable } from "../ports/StorePorts.js"
import { ApiKeyCache, type ApiKeyHolder } from "../services/ApiKeyCache.js"
import { addressUseOf, CachedRateLimits } from "../services/CachedRateLimits.js"
import type { Caller } from "../services/Caller.js"
import { type AuthenticatedRequest, type Check, type CheckedRequest, Rejected, withFields } from "./Checks.js"
import type { NotSignedIn } from "./ErrorTable.js"
import type { HttpRequest } from "./HttpMessage.js"

/**
 * Finds the caller in place of API keys; null if nobody is signed in (Specification, Keys and scopes). The later checks
 * still apply: the shop's flags, scopes, and the limits, which are counted for each `caller_id`.
 */
export type Authenticate = (request: HttpRequest) => Effect.Effect<Caller | null, StoreUnavailable>

/** Authentication in place of API keys, and the refusal of a caller that it does not know. */
export interface OwnAuthentication {
  /** Finds the caller of a request; null if there is none. */
  readonly authenticate: Authenticate
  /** The refusal of a request without a caller. */
  readonly refusal: NotSignedIn
}

/** The token in a request's `Authorization` header, if any. */
export const bearer = (request: HttpRequest): string | undefined =>
  /^bearer +(\S+) *$/i.exec(request.header("authorization") ?? "")?.[1]

const { key_look_ups_waiting, key_look_up_pause_ms } = ServiceLimits

/**
 * Looks up the holder of a key in the store. If an address is at its limit, keys that are not cached are looked up one
 * by one, with a pause after each, so that guesses cost the store little and a valid key is still found. Beyond
 * `key_look_ups_waiting` the address gets a 429, because waiting look-ups use memory.
 */
const makeKeyLookUp = (keys: ApiKeyCache, limits: Context.Tag.Service<CachedRateLimits>) =>
  Effect.map(Effect.makeSemaphore(1), (semaphore) => {
    const pause = Effect.withClock(Effect.sleep(key_look_up_pause_ms), Clock.make())
    let waiters = 0
    const countWaiter = Effect.sync(() => void waiters++)
    const uncountWaiter = Effect.sync(() => void waiters--)
    return (
      request: HttpRequest,
      key: string,
      now: Instant
    ): Effect.Effect<ApiKeyHolder | Rejected | null, StoreUnavailable> => {
      const holder = keys.holderOf(key, now)
      const limitStatus = limits.peek(addressUseOf(request), now)
      if (limitStatus.remaining > 0 || !keys.isNew(key)) return holder
      if (waiters >= key_look_ups_waiting) {
        return Effect.succeed(new Rejected(new LimitReached({ limitStatuses: [limitStatus], refused_at: now })))
      }
      const paced = semaphore.withPermits(1)(Effect.zipLeft(holder, pause))
      return Effect.acquireUseRelease(
        countWaiter,
        () => paced,
        () => uncountWaiter
      )
    }
  })

/** The check in the diagram of the docs. */
export const AUTHENTICATION = {
  name: "authentication",
  refuses: "401, or 429 if the address has sent too many requests without a valid key",
  kind: "async"
} as const

/** The check that finds the caller: by API keys, or by the embedder's own authentication. */
export const makeAuthentication = (own?: OwnAuthentication) =>
  Effect.gen(function* () {
    const keys = yield* ApiKeyCache
    const reads = yield* Reads
    const lookUp = yield* makeKeyLookUp(keys, yield* CachedRateLimits)

    const acceptCaller = (checked: CheckedRequest, { caller, shop }: ApiKeyHolder): AuthenticatedRequest =>
      withFields(checked, { caller, shop, context: { ...checked.context, caller } })

    const rejectCaller = ({ request }: CheckedRequest, key?: string): Rejected => {
      const refusal = key !== undefined && keys.isTestKeyElsewhere(key) ? "TestKeyElsewhere" : "Unauthenticated"
      return new Rejected(own?.refusal ?? { _tag: refusal }, [addressUseOf(request)])
    }

    /** The caller whom the embedder's authentication finds, with the current settings of their shop. */
    const findEmbedderCaller = Effect.fnUntraced(function* (request: HttpRequest, authenticate: Authenticate) {
      const caller = yield* authenticate(request)
      if (caller === null) return null
      const state = yield* reads.shop(caller.shop_id)
      if (state !== null) return { caller, shop: state.shop }
      yield* Effect.logWarning(
        `The authentication function returned the shop_id ${caller.shop_id}, but no shop has this id`
      )
      return null
    })

    const check: Check<CheckedRequest, AuthenticatedRequest> = {
      ...AUTHENTICATION,
      run: (checked) => {
        const { request, context } = checked
        if (own !== undefined) {
          return Effect.map(findEmbedderCaller(request, own.authenticate), (holder) =>
            holder === null ? rejectCaller(checked) : acceptCaller(checked, holder)
          )
        }
        const key = bearer(request)
        if (key === undefined) return Effect.succeed(rejectCaller(checked))
        const cachedHolder = keys.cachedHolder(key, context.now)
        if (cachedHolder !== undefined) return Effect.succeed(acceptCaller(checked, cachedHolder))
        return Effect.map(lookUp(request, key, context.now), (holder) => {
          if (holder instanceof Rejected) return holder
          return holder === null ? rejectCaller(checked, key) : acceptCaller(checked, holder)
        })
      }
    }
    return check
  })
