import { EXPOSITION_TYPE, notReadyReason, scrape, type UnavailableCell } from "@workshop/core"
import type { Failure, HttpRequest } from "@workshop/core/http"
import { type Page, unavailableCells, warnIfDataAhead } from "@workshop/core/internal"
import type { DocumentOptions } from "@workshop/core/openapi"
import { Directory } from "@workshop/core/store"
import { Effect } from "effect"
import { coalesce, runOnce } from "./coalesce.js"
import { docsPages } from "./docsPages.js"
import { constantBody, constantPage, pageGroup } from "./staticPages.js"

/** The time for which a result of `/readyz` or `/metrics` is cached, in milliseconds. */
const FRESH_MS = 1_000

/** The settings of the pages. */
export interface PagesOptions extends DocumentOptions {
  /** The time for which results of `/readyz` and `/metrics` are cached, in milliseconds; a second by default. */
  readonly freshMs?: number
}

/** A page at one path (Specification, Commands). */
const pageAt = (path: `/${string}`, show: (request: HttpRequest) => Effect.Effect<Page | Failure>) =>
  pageGroup(path, (request) => (request.path === path ? show(request) : undefined))

const json = (value: unknown): Page => ({ body: JSON.stringify(value) })

/** The body of a ready `/readyz`, with the names of unavailable cells and their remedies if known. */
const readiness = (unavailable: ReadonlyArray<UnavailableCell>) => {
  const remedies = unavailable.flatMap(({ name, remedy }) => (remedy === undefined ? [] : [[name, remedy] as const]))
  return {
    status: "ready",
    ...(unavailable.length > 0 && { unavailable: unavailable.map(({ name }) => name) }),
    ...(remedies.length > 0 && { remedies: Object.fromEntries(remedies) })
  }
}

/**
 * The routes without a key in addition to the API: liveness, readiness, metrics, the OpenAPI document, and a page to
 * try the API. Pass the dispatcher's options, so that the document describes the webhooks that are sent.
 */
export const pages = Effect.fnUntraced(function* (options: PagesOptions = {}) {
  const { freshMs = FRESH_MS, signatureHeader } = options
  const documentOptions = signatureHeader === undefined ? {} : { signatureHeader }
  // The document is loaded and rendered at the first request, because that takes longer than the rest of the start.
  const openapi = runOnce(
    Effect.promise(async () => {
      const { documentOf, withServerAtOrigin } = await import("@workshop/core/openapi")
      const document = withServerAtOrigin(documentOf(documentOptions))
      return constantBody("application/json; charset=utf-8", JSON.stringify(document))
    })
  )

  // At the start, the check logs data that is ahead of the clock.
  yield* warnIfDataAhead
  const ready = coalesce(Effect.provideService(notReadyReason, Directory, yield* Directory), freshMs)
  const metrics = coalesce(
    Effect.map(scrape, (text) => Buffer.from(text)),
    freshMs
  )

  return [
    pageAt("/healthz", () => Effect.succeed(json({ status: "alive" }))),
    pageAt("/readyz", () =>
      Effect.zipWith(ready, unavailableCells, (reason, unavailable) =>
        reason === null ? json(readiness(unavailable)) : ({ _tag: "NotReady", message: reason } as const)
      )
    ),
    pageAt("/metrics", () => Effect.map(metrics, (body) => ({ headers: { "Content-Type": EXPOSITION_TYPE }, body }))),
    pageAt("/openapi.json", (request) => Effect.map(openapi, (body) => constantPage(body, request))),
    yield* docsPages
  ]
})
