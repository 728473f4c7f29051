import { sha256 } from "@noble/hashes/sha2.js"
import { Effect, Either, Schema } from "effect"
import type { ShopId } from "../../domain/Identifier.js"
import type { LimitUse } from "../../domain/LimitWindow.js"
import { toCountedAddress } from "../../domain/PublicAddress.js"
import { TrackingCodeText } from "../../domain/TrackingCode.js"
import { type TrackingView, trackingPageOf } from "../../domain/TrackingView.js"
import { Directory } from "../../ports/StorePorts.js"
import { CachedRateLimits } from "../../services/CachedRateLimits.js"
import type { HttpRequest, Page } from "../HttpMessage.js"
import type { RouteGroup } from "../Pipeline.js"
import { logUnavailable, type RequestContext, respond, retryAfterOf } from "../respond.js"
import { localeOf, type TrackingLocale } from "./TrackingLanguage.js"
import { renderTrackingMessage, trackingStyle, trackingTemplate } from "./TrackingTemplate.js"

/** The options of the clients' pages. */
export interface TrackingOptions {
  /** Returns the page of a ticket as HTML, by default with `trackingTemplate`. It must escape the texts of the view. */
  readonly template?: (view: TrackingView, locale: TrackingLocale) => string
  /** The only shop whose tickets are shown, by default all shops. */
  readonly shopId?: ShopId
}

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

const OWN_STYLE = `'sha256-${toBase64(sha256(new TextEncoder().encode(trackingStyle)))}'`

/** The content security policy: no scripts, even if a template contains some, and only this style. */
const makePolicy = (style: string, images: string): string =>
  `default-src 'none'; style-src ${style}; img-src ${images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const OWN_POLICY = makePolicy(OWN_STYLE, "data:")
const TEMPLATE_POLICY = makePolicy("'self' 'unsafe-inline'", "'self' data:")

const makeHeaders = ({ language }: TrackingLocale, policy: string) => ({
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
  subject: toCountedAddress(address),
  time_zone: null
})

/**
 * `GET /t/{tracking_code}`: the page on which a client follows a ticket, without a key and without scripts. An unknown
 * code, and the code of a ticket of another shop or of one that ended long ago, get the same 404. Every request counts
 * against the limit of its address, so that codes cannot be guessed.
 */
export const trackingRoutes = (options: TrackingOptions = {}) =>
  Effect.gen(function* () {
    const { template = trackingTemplate, shopId } = options
    const directory = yield* Directory
    const limits = yield* CachedRateLimits
    const csp = template === trackingTemplate ? OWN_POLICY : TEMPLATE_POLICY

    const viewOf = Effect.fnUntraced(function* (request: HttpRequest, { now }: RequestContext) {
      yield* limits.take([useOf(request)], now)
      const code = codeIn(request)
      return code === null ? null : trackingPageOf(yield* directory.tracked(code), now, shopId)
    })

    const showTicket = (request: HttpRequest, context: RequestContext): Effect.Effect<Page> => {
      const locale = localeOf(request.header("accept-language"))
      const commonHeaders = makeHeaders(locale, csp)
      const makeRefusal = (
        status: number,
        message: Parameters<typeof renderTrackingMessage>[0],
        wait?: string
      ): Page => ({
        status,
        headers: wait === undefined ? commonHeaders : { ...commonHeaders, "Retry-After": wait },
        body: renderTrackingMessage(message, locale)
      })
      return viewOf(request, context).pipe(
        Effect.map((view) =>
          view === null ? makeRefusal(404, "not_found") : { headers: commonHeaders, body: template(view, locale) }
        ),
        Effect.catchTags({
          LimitReached: (failure) => Effect.succeed(makeRefusal(429, "too_many", retryAfterOf(failure, context.now))),
          StoreUnavailable: (failure) =>
            Effect.as(logUnavailable(failure), makeRefusal(503, "unavailable", retryAfterOf(failure, context.now)))
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
