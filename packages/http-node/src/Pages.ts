import { dataAhead, Probes, type StoreUnavailable } from "@workshop/core"
import {
  failureBody,
  failureResponse,
  failureRows,
  type HttpRequest,
  type HttpResponse,
  pageResponse,
  type RequestContext,
  type RouteGroup
} from "@workshop/core/http"
import type { DocumentOptions } from "@workshop/core/openapi"
import { Directory } from "@workshop/core/store"
import { Cause, Effect, Option } from "effect"
import { constantBody, sendConstant } from "./ConstantBody.js"
import { coalesce, onceAsked } from "./coalesce.js"
import { docsRoutes } from "./docs/docsRoutes.js"
import { EXPOSITION_TYPE } from "./metrics/exposition.js"
import { scrape } from "./metrics/scrape.js"

/** How long the store may take to answer before the process counts as not ready, in milliseconds. */
const READY_MS = 2_000

/** How long `/readyz` and `/metrics` show what was found for the one who asked first, in milliseconds. */
const FRESH_MS = 1_000

/** What is told of the pages. */
export interface PagesOptions extends DocumentOptions {
  /** How long `/readyz` and `/metrics` show the same, in milliseconds; a second where it is left out. */
  readonly fresh_ms?: number
}

type Page = (arrival: HttpRequest, stamp: RequestContext) => Effect.Effect<HttpResponse>

/**
 * A page at one path, read with GET or HEAD; anything else there is not found, in the envelope (Specification, Commands). Pages
 * count against no limit and therefore show none.
 */
const at = (path: `/${string}`, show: Page): RouteGroup => ({
  prefix: path,
  answer: (arrival, stamp) =>
    arrival.path === path && (arrival.method === "GET" || arrival.method === "HEAD")
      ? show(arrival, stamp)
      : Effect.succeed(failureResponse({ _tag: "RouteNotFound" }, stamp, []))
})

/** Why a process that the store answers should get no requests all the same; null where nothing is wrong. */
const complaint = Effect.gen(function* () {
  for (const { complaint = Effect.succeed(null) } of (yield* Probes) ?? []) {
    const found = yield* complaint
    if (found !== null) return found
  }
  return null
})

/** A 503 that says what is wrong. */
const notReady = (reason: string, stamp: RequestContext): HttpResponse => {
  const departure = failureResponse({ _tag: "StoreUnavailable" }, stamp, [])
  return { ...departure, body: JSON.stringify(failureBody("UNAVAILABLE", reason)) }
}

const STORE_AWAY = failureRows.StoreUnavailable.message

/** What the operator has to do, where the store knows it (Specification, Commands). */
const remedyIn = (cause: Cause.Cause<StoreUnavailable | Cause.TimeoutException>): Option.Option<string> =>
  Option.flatMapNullable(Cause.failureOption(cause), (failure) => ("remedy" in failure ? failure.remedy : null))

/**
 * What is served without a key beside the API: whether the process lives, whether it is ready, how it fares, what the API
 * is, and a page to try it. Tell it what the dispatcher was told, so that the document says the same.
 */
export const pages = Effect.fnUntraced(function* ({ fresh_ms = FRESH_MS, ...options }: PagesOptions = {}) {
  const directory = yield* Directory
  const ahead = yield* dataAhead
  // Loaded and written out when it is first asked for: that takes longer than all else that a start does.
  const openapi = onceAsked(
    Effect.promise(async () => {
      const { documentOf, served } = await import("@workshop/core/openapi")
      return constantBody("application/json; charset=utf-8", JSON.stringify(served(documentOf(options))))
    })
  )

  // No key has this hash: a look-up that the store must really make.
  const reasons = Effect.zipRight(directory.keyByHash("readyz"), complaint).pipe(
    Effect.flatMap((found) => (found === null ? ahead : Effect.succeed(found))),
    Effect.timeout(READY_MS),
    Effect.map((reason) => (reason === null ? [] : [reason])),
    Effect.catchAllCause((cause) =>
      Effect.as(
        Effect.logWarning("Not ready: the store does not answer", cause),
        Option.match(remedyIn(cause), { onNone: () => [STORE_AWAY], onSome: (remedy) => [remedy] })
      )
    )
  )
  const ready = coalesce(reasons, fresh_ms)
  const metrics = coalesce(
    Effect.map(scrape, (text) => Buffer.from(text)),
    fresh_ms
  )

  return [
    at("/healthz", (_, stamp) => Effect.succeed(pageResponse(JSON.stringify({ status: "alive" }), stamp))),
    at("/readyz", (_, stamp) =>
      Effect.map(ready, ([reason]) =>
        reason === undefined ? pageResponse(JSON.stringify({ status: "ready" }), stamp) : notReady(reason, stamp)
      )
    ),
    at("/metrics", (_, stamp) =>
      Effect.map(metrics, (body) => {
        const { headers, status } = pageResponse("", stamp)
        return { status, headers: { ...headers, "Content-Type": EXPOSITION_TYPE }, body }
      })
    ),
    at("/openapi.json", (arrival, stamp) => Effect.map(openapi, (json) => sendConstant(json, arrival, stamp))),
    yield* docsRoutes
  ]
})
