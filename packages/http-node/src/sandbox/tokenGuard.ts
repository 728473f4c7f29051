import { createHash, timingSafeEqual } from "node:crypto"
import { type CachedRateLimits, LimitReached } from "@workshop/core"
import { bearer, type HttpRequest } from "@workshop/core/http"
import { addressUseOf } from "@workshop/core/internal"
import { type Check, Rejected } from "@workshop/core/internal/http"
import type { LimitUse } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { isStrongToken, TOKEN_CHARACTERS } from "./sandboxAllowed.js"

/** The path of the stream, whose query may contain the token. */
const STREAM = "/sandbox/stream"

const digest = (text: string) => createHash("sha256").update(text).digest()

/**
 * The token of a request, from the header or, for the stream, from the query, because a browser's `EventSource` cannot
 * send headers.
 */
const tokenIn = (request: HttpRequest): string =>
  bearer(request) ?? (request.path === STREAM ? new URLSearchParams(request.query).get("token") : null) ?? ""

/**
 * The use that a wrong token counts as, by client address. It is separate from the use of requests without a key,
 * because these requests do not guess a token.
 */
const wrongTokenUse = (request: HttpRequest): LimitUse => {
  const { subject, ...use } = addressUseOf(request)
  return { ...use, subject: `sandbox ${subject}` }
}

/**
 * Makes the check of the sandbox's token, in constant time; without a token there is no check. Wrong tokens are
 * counted, and an address that sent too many is refused even with the right token, so that it cannot continue to guess.
 */
export const tokenCheck = (
  token: string | null,
  limits: Context.Tag.Service<CachedRateLimits>
): Effect.Effect<Check | undefined> => {
  if (token === null || token === "") return Effect.succeed(undefined)
  if (!isStrongToken(token))
    return Effect.dieMessage(`The sandbox's token must have at least ${TOKEN_CHARACTERS} characters`)
  const expected = digest(token)
  return Effect.succeed<Check>({
    name: "token",
    refuses: "401, or 429 if the address has sent too many requests without the right token",
    kind: "sync",
    run: (checked) => {
      const { request, context } = checked
      if (!timingSafeEqual(digest(tokenIn(request)), expected)) {
        return new Rejected({ _tag: "SandboxTokenWrong" }, [wrongTokenUse(request)])
      }
      const limitStatus = limits.peek(wrongTokenUse(request), context.now)
      return limitStatus.remaining > 0
        ? checked
        : new Rejected(new LimitReached({ limitStatuses: [limitStatus], refused_at: context.now }))
    }
  })
}
