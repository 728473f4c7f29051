import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { EXPOSITION_TYPE, notReadyReason, scrapeAll } from "@workshop/core"
import { Effect, Schema } from "effect"

const Ready = Schema.Struct({ ready: Schema.Literal(true) })
const NotReady = Schema.Struct({ ready: Schema.Literal(false), reason: Schema.String })

/** The pages for Prometheus and for a load balancer, as a group of an `HttpApi`. Do not let strangers reach them. */
export class Health extends HttpApiGroup.make("health")
  .add(HttpApiEndpoint.get("metrics", "/metrics").addSuccess(HttpApiSchema.Text({ contentType: EXPOSITION_TYPE })))
  .add(HttpApiEndpoint.get("readyz", "/readyz").addSuccess(Ready).addError(NotReady, { status: 503 })) {}

export const metrics = () => scrapeAll

export const readyz = () =>
  Effect.flatMap(notReadyReason, (reason) =>
    reason === null ? Effect.succeed({ ready: true } as const) : Effect.fail({ ready: false, reason } as const)
  )
