import { HttpRouter, HttpServerResponse } from "@effect/platform"
import { EXPOSITION_TYPE, notReadyReason, scrapeAll } from "@workshop/core"
import { Effect } from "effect"

/** The pages for Prometheus and for a load balancer. Do not let strangers reach them. */
export const health = HttpRouter.empty.pipe(
  HttpRouter.get(
    "/metrics",
    Effect.map(scrapeAll, (text) => HttpServerResponse.text(text, { contentType: EXPOSITION_TYPE }))
  ),
  HttpRouter.get(
    "/readyz",
    Effect.flatMap(notReadyReason, (reason) =>
      HttpServerResponse.json({ ready: reason === null, reason }, { status: reason === null ? 200 : 503 })
    )
  )
)
