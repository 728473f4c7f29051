import { EXPOSITION_TYPE, notReadyReason, scrape, type UnavailableCell } from "@workshop/core"
import { dataAhead, type Page, unavailableCells } from "@workshop/core/adapter"
import type { Failure, HttpRequest } from "@workshop/core/http"
import type { DocumentOptions } from "@workshop/core/openapi"
import { Directory } from "@workshop/core/store"
import { Effect } from "effect"
import { coalesce, onceAsked } from "./coalesce.js"
import { docsPages } from "./docsPages.js"
import { constantBody, constantPage, pageGroup } from "./staticPages.js"

/** For how long `/readyz` and `/metrics` show the same, in milliseconds. */
const FRESH_MS = 1_000

/** The settings of the pages. */
export interface PagesOptions extends DocumentOptions {
  /** How long `/readyz` and `/metrics` show the same, in milliseconds; a second if it is omitted. */
  readonly fresh_ms?: number
}

/** A page at one path (Specification, Commands). */
const at = (path: `/${string}`, show: (request: HttpRequest) => Effect.Effect<Page | Failure>) =>
  pageGroup(path, (request) => (request.path === path ? show(request) : undefined))

const json = (value: unknown): Page => ({ body: JSON.stringify(value) })

/** Readiness, with the names of the cells that cannot be used, and what to do about them where that is known. */
const readiness = (unavailable: ReadonlyArray<UnavailableCell>) => {
  const remedies = unavailable.flatMap(({ name, remedy }) => (remedy === undefined ? [] : [[name, remedy] as const]))
  return {
    status: "ready",
    ...(unavailable.length > 0 && { unavailable: unavailable.map(({ name }) => name) }),
    ...(remedies.length > 0 && { remedies: Object.fromEntries(remedies) })
  }
}

/**
 * The pages beside the API, which need no key: liveness, readiness, metrics, the OpenAPI document, and a page to try the API.
 * Give it the dispatcher's options, so that the document is true of what is delivered.
 */
export const pages = Effect.fnUntraced(function* ({ fresh_ms = FRESH_MS, signatureHeader }: PagesOptions = {}) {
  const options = signatureHeader === undefined ? {} : { signatureHeader }
  // Loaded and rendered at the first request, because that takes longer than the rest of the start.
  const openapi = onceAsked(
    Effect.promise(async () => {
      const { documentOf, withServerAtOrigin } = await import("@workshop/core/openapi")
      return constantBody("application/json; charset=utf-8", JSON.stringify(withServerAtOrigin(documentOf(options))))
    })
  )

  // Logs it when the process starts.
  yield* dataAhead
  const ready = coalesce(Effect.provideService(notReadyReason, Directory, yield* Directory), fresh_ms)
  const metrics = coalesce(
    Effect.map(scrape, (text) => Buffer.from(text)),
    fresh_ms
  )

  return [
    at("/healthz", () => Effect.succeed(json({ status: "alive" }))),
    at("/readyz", () =>
      Effect.zipWith(ready, unavailableCells, (reason, unavailable) =>
        reason === null ? json(readiness(unavailable)) : ({ _tag: "NotReady", message: reason } as const)
      )
    ),
    at("/metrics", () => Effect.map(metrics, (body) => ({ headers: { "Content-Type": EXPOSITION_TYPE }, body }))),
    at("/openapi.json", (request) => Effect.map(openapi, (body) => constantPage(body, request))),
    yield* docsPages
  ]
})
