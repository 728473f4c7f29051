import { createHash, timingSafeEqual } from "node:crypto"
import { type Instant, LimitReached, type LimitStatus, type StoreUnavailable } from "@workshop/core"
import { addressUse, bearer, type HttpRequest } from "@workshop/core/http"
import type { LimitUse, RateLimits } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { isGuard, TOKEN_CHARACTERS } from "./sandboxAllowed.js"

/** Lets a request with the token pass (null). With another one it tells what the address's tries have come to. */
export type TokenGuard = (
  arrival: HttpRequest,
  now: Instant
) => Effect.Effect<ReadonlyArray<LimitStatus> | null, LimitReached | StoreUnavailable>

const digest = (text: string) => createHash("sha256").update(text).digest()

/** Tries of a token, by the address from which they come; apart from requests without a key, which have nothing to guess here. */
const guessing = (arrival: HttpRequest): LimitUse => {
  const { subject, ...take } = addressUse(arrival)
  return { ...take, subject: `sandbox ${subject}` }
}

/**
 * The guard of a sandbox with a token; none without. How long a comparison takes tells nothing of the token. Wrong ones are
 * counted, and an address that sent too many is refused with the right one too, or it could go on guessing.
 */
export const tokenGuard = (
  token: string | null,
  limits: Context.Tag.Service<RateLimits>
): Effect.Effect<TokenGuard | undefined> => {
  if (token === null || token === "") return Effect.succeed(undefined)
  if (!isGuard(token)) return Effect.dieMessage(`The sandbox's token must have at least ${TOKEN_CHARACTERS} characters`)
  const expected = digest(token)
  return Effect.succeed((arrival, now) =>
    timingSafeEqual(digest(bearer(arrival) ?? ""), expected)
      ? Effect.filterOrFail(
          limits.look(guessing(arrival), now),
          ({ remaining }) => remaining > 0,
          (usage) => new LimitReached({ usages: [usage] })
        ).pipe(Effect.as(null))
      : limits.take([guessing(arrival)], now)
  )
}
