import { dataAhead, Probes, type StoreUnavailable } from "@workshop/core"
import { type Failure, failureRows, type HttpRequest, type Page } from "@workshop/core/http"
import type { DocumentOptions } from "@workshop/core/openapi"
import { Directory } from "@workshop/core/store"
import { Cause, Effect, Option } from "effect"
import { coalesce, onceAsked } from "./coalesce.js"
import { docsPages } from "./docsPages.js"
import { EXPOSITION_TYPE, scrape } from "./metrics/exposition.js"
import { constantBody, constantPage, pageGroup } from "./page.js"

/** How long the store may take to answer before the process counts as not ready, in milliseconds. */
const READY_MS = 2_000

/** For how long `/readyz` and `/metrics` show the same, in milliseconds. */
const FRESH_MS = 1_000

/** The settings of the pages. */
export interface PagesOptions extends DocumentOptions {
  /** How long `/readyz` and `/metrics` show the same, in milliseconds; a second where it is left out. */
  readonly fresh_ms?: number
}

/** A page at one path (Specification, Commands). */
const at = (path: `/${string}`, show: (request: HttpRequest) => Effect.Effect<Page | Failure>) =>
  pageGroup(path, (request) => (request.path === path ? show(request) : undefined))

const json = (value: unknown): Page => ({ body: JSON.stringify(value) })

/** Why a process that the store answers should get no requests all the same; null where nothing is wrong. */
const complaint = Effect.gen(function* () {
  for (const { complaint = Effect.succeed(null) } of (yield* Probes) ?? []) {
    const found = yield* complaint
    if (found !== null) return found
  }
  return null
})

/** The cells that do not answer, whose shops alone are refused. */
const cellsAway = Effect.gen(function* () {
  const found: Array<string> = []
  for (const { away = Effect.succeed([]) } of (yield* Probes) ?? []) found.push(...(yield* away))
  return found
})

const STORE_UNAVAILABLE = failureRows.StoreUnavailable.message

/** The operator's remedy for a failure, if the store knows one (Specification, Commands). */
const remedyIn = (cause: Cause.Cause<StoreUnavailable | Cause.TimeoutException>): Option.Option<string> =>
  Option.flatMapNullable(Cause.failureOption(cause), (failure) => ("remedy" in failure ? failure.remedy : null))

/**
 * The pages beside the API, which need no key: liveness, readiness, metrics, the OpenAPI document, and a page to try the API.
 * Give it the dispatcher's options, so that the document is true of what is delivered.
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
        Option.match(remedyIn(cause), { onNone: () => [STORE_UNAVAILABLE], onSome: (remedy) => [remedy] })
      )
    )
  )
  const ready = coalesce(reasons, fresh_ms)
  const metrics = coalesce(
    Effect.map(scrape, (text) => Buffer.from(text)),
    fresh_ms
  )

  return [
    at("/healthz", () => Effect.succeed(json({ status: "alive" }))),
    at("/readyz", () =>
      Effect.zipWith(ready, cellsAway, ([reason], away) =>
        reason === undefined
          ? json({ status: "ready", ...(away.length > 0 && { away }) })
          : ({ _tag: "NotReady", message: reason } as const)
      )
    ),
    at("/metrics", () => Effect.map(metrics, (body) => ({ headers: { "Content-Type": EXPOSITION_TYPE }, body }))),
    at("/openapi.json", (request) => Effect.map(openapi, (body) => constantPage(body, request))),
    yield* docsPages
  ]
})
