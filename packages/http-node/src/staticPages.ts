import { createHash } from "node:crypto"
import { type Page, respond } from "@workshop/core/adapter"
import type { Failure, HttpRequest, RouteGroup } from "@workshop/core/http"
import { Effect } from "effect"

/** A body that is the same for everybody: one copy for all responses, and a tag by which a client knows its own copy. */
export interface ConstantBody {
  /** Its media type. */
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
}

/** How long a client may use its copy without asking. */
const CACHE_CONTROL = "public, max-age=300"

/** Prepares a body, text or bytes, that is sent many times. */
export const constantBody = (type: string, text: string | Uint8Array): ConstantBody => {
  const bytes = Buffer.from(text)
  return { type, bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"` }
}

const isKnown = (etag: string, header: HttpRequest["header"]): boolean =>
  (header("if-none-match") ?? "").split(",").some((tag) => tag.trim() === etag || tag.trim() === `W/${etag}`)

/** The body, or 304 where the client has it already. */
export const constantPage = ({ type, bytes, etag }: ConstantBody, { header }: HttpRequest): Page => {
  const headers = { "Content-Type": type, "Cache-Control": CACHE_CONTROL, ETag: etag }
  return isKnown(etag, header) ? { status: 304, headers, body: "" } : { headers, body: bytes }
}

/**
 * Allows no other origin, so neither the typed key nor a response can leave the page. Inline styles are allowed because the reader of
 * `/docs` needs them.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** A page that runs scripts, or a part of one, with the headers that let it talk to its own server alone. */
export const guarded = (page: Page): Page => ({
  ...page,
  headers: {
    ...page.headers,
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer"
  }
})

/**
 * Pages below a prefix, read with GET or HEAD; anything else there is not found, in the envelope (Specification, Commands).
 * Pages count against no limit and therefore show none.
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
