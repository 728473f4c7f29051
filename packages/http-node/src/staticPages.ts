import { createHash } from "node:crypto"
import type { Failure, HttpRequest, RouteGroup } from "@workshop/core/http"
import type { Page } from "@workshop/core/internal"
import { respond } from "@workshop/core/internal/http"
import { Effect } from "effect"

/** A body that is the same for all clients, with an ETag. All responses share one copy. */
export interface ConstantBody {
  /** The media type. */
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
}

/** Clients may cache the body for 300 seconds. */
const CACHE_CONTROL = "public, max-age=300"

/** Prepares a text or bytes to be sent many times. */
export const constantBody = (type: string, text: string | Uint8Array): ConstantBody => {
  const bytes = Buffer.from(text)
  return { type, bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"` }
}

const isKnown = (etag: string, header: HttpRequest["header"]): boolean =>
  (header("if-none-match") ?? "").split(",").some((tag) => tag.trim() === etag || tag.trim() === `W/${etag}`)

/** A response with the body, or a 304 if the client's cached copy is current. */
export const constantPage = ({ type, bytes, etag }: ConstantBody, { header }: HttpRequest): Page => {
  const headers = { "Content-Type": type, "Cache-Control": CACHE_CONTROL, ETag: etag }
  return isKnown(etag, header) ? { status: 304, headers, body: "" } : { headers, body: bytes }
}

/**
 * A Content-Security-Policy that allows no other origin, so that neither the typed key nor a response can leave the
 * page. It allows inline styles, because RapiDoc in `/docs` needs them.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Adds the headers that allow a page with scripts to connect only to its own server. */
export const guardPage = (page: Page): Page => ({
  ...page,
  headers: {
    ...page.headers,
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer"
  }
})

/**
 * A group of pages below a prefix for GET and HEAD. Other paths and methods below it get a 404 in the envelope
 * (Specification, Commands). Requests for pages count against no limit, so their responses have no rate-limit headers.
 */
export const pageGroup = (
  prefix: `/${string}`,
  show: (request: HttpRequest) => Effect.Effect<Page | Failure> | undefined
): RouteGroup => ({
  prefix,
  handle: (request, context) => {
    const shown = request.method === "GET" || request.method === "HEAD" ? show(request) : undefined
    return shown === undefined
      ? Effect.succeed(respond({ _tag: "RouteNotFound" }, context))
      : Effect.map(shown, (page) => respond(page, context))
  }
})
