import { sha256 } from "@noble/hashes/sha2.js"
import { Effect, Either, Schema } from "effect"
import type { ShopId } from "../../domain/Identifier.js"
import type { LimitUse } from "../../domain/LimitWindow.js"
import { countedAddress } from "../../domain/PublicAddress.js"
import { TrackingCodeText } from "../../domain/TrackingCode.js"
import { type TrackingView, trackingPageOf } from "../../domain/TrackingView.js"
import { Directory } from "../../ports/StorePorts.js"
import { CachedRateLimits } from "../../services/CachedRateLimits.js"
import type { HttpRequest, Page } from "../HttpMessage.js"
import type { RouteGroup } from "../Pipeline.js"
import { logUnavailable, type RequestContext, respond, retryAfter } from "../respond.js"
import { localeOf, type TrackingLocale } from "./TrackingLanguage.js"
import { trackingMessage, trackingStyle, trackingTemplate } from "./TrackingTemplate.js"

/** The options of the clients' pages. */
export interface TrackingOptions {
  /** Returns the page of a ticket as HTML, by default with `trackingTemplate`. It must escape the texts of the view. */
  readonly template?: (view: TrackingView, locale: TrackingLocale) => string
  /** The only shop whose tickets are shown, by default all shops. */
  readonly shop_id?: ShopId
}

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

const OWN_STYLE = `'sha256-${base64(sha256(new TextEncoder().encode(trackingStyle)))}'`

/** The content security policy: no scripts, even if a template contains some, and only this style. */
const policy = (style: string, images: string): string =>
  `default-src 'none'; style-src ${style}; img-src ${images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const OWN_POLICY = policy(OWN_STYLE, "data:")
const TEMPLATE_POLICY = policy("'self' 'unsafe-inline'", "'self' data:")

const headers = ({ language }: TrackingLocale, policy: string) => ({
  "Content-Type": "text/html; charset=utf-8",
  "Content-Language": language,
  "Content-Security-Policy": policy,
  "Cache-Control": "private, no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex, nofollow",
  Vary: "Accept-Language"
})

const PREFIX = "/t"

const decodeCode = Schema.decodeEither(TrackingCodeText)

/** The tracking code in a path; null if there is none, or the text cannot be a code. */
const codeIn = ({ path }: HttpRequest): string | null => {
  try {
    return Either.getOrNull(decodeCode(decodeURIComponent(path.slice(PREFIX.length + 1))))
  } catch {
    return null
  }
}

const useOf = ({ address }: HttpRequest): LimitUse => ({
  policy: "tracking_per_minute",
  subject: countedAddress(address),
  time_zone: null
})

/**
 * `GET /t/{tracking_code}`: the page on which a client follows a ticket, without a key and without scripts. An unknown
 * code, and the code of a ticket of another shop or of one that ended long ago, get the same 404. Every request counts
 * against the limit of its address, so that codes cannot be guessed.
 */
export const trackingRoutes = ({ template = trackingTemplate, shop_id }: TrackingOptions = {}) =>
  Effect.gen(function* () {
    const directory = yield* Directory
    const limits = yield* CachedRateLimits
    const csp = template === trackingTemplate ? OWN_POLICY : TEMPLATE_POLICY

    const viewOf = Effect.fnUntraced(function* (request: HttpRequest, { now }: RequestContext) {
      yield* limits.take([useOf(request)], now)
      const code = codeIn(request)
      return code === null ? null : trackingPageOf(yield* directory.tracked(code), now, shop_id)
    })

    const showTicket = (request: HttpRequest, context: RequestContext): Effect.Effect<Page> => {
      const locale = localeOf(request.header("accept-language"))
      const common = headers(locale, csp)
      const refusal = (status: number, message: Parameters<typeof trackingMessage>[0], wait?: string): Page => ({
        status,
        headers: wait === undefined ? common : { ...common, "Retry-After": wait },
        body: trackingMessage(message, locale)
      })
      return viewOf(request, context).pipe(
        Effect.map((view) =>
          view === null ? refusal(404, "not_found") : { headers: common, body: template(view, locale) }
        ),
        Effect.catchTags({
          LimitReached: (failure) => Effect.succeed(refusal(429, "too_many", retryAfter(failure, context.now))),
          StoreUnavailable: (failure) =>
            Effect.as(logUnavailable(failure), refusal(503, "unavailable", retryAfter(failure, context.now)))
        })
      )
    }

    const group: RouteGroup = {
      prefix: PREFIX,
      handle: (request, context) =>
        request.method === "GET" || request.method === "HEAD"
          ? Effect.map(showTicket(request, context), (page) => respond(page, context))
          : Effect.succeed(respond({ _tag: "RouteNotFound" }, context))
    }
    return group
  })
