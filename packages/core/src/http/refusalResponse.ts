import type { Refusal } from "../decisions/Refusal.js"
import { failureStatusAndBody } from "./Envelope.js"
import type { ErrorCode } from "./ErrorTable.js"
import { retryAfter } from "./respond.js"

/** The API's response to a refusal, for any framework. */
export interface RefusalResponse {
  /** The HTTP status. */
  readonly status: 400 | 401 | 403 | 404 | 409 | 422 | 429 | 500 | 503
  /** `Retry-After`, where waiting helps. */
  readonly headers: Readonly<Record<string, string>>
  /** The envelope of the API. */
  readonly body: {
    readonly success: false
    readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: unknown }
  }
}

/** A refusal of the services: what `refusal` of a result may be. */
type AnyRefusal = Refusal | { readonly _tag: "StoreUnavailable" }

/**
 * The response that the API gives to a refusal, for routes of your own: the same status, code, reason and fields. Express:
 * `response.status(status).set(headers).json(body)`; Fastify: `reply.code(status).headers(headers).send(body)`; Hono: `c.json(body, status, headers)`.
 */
export const refusalResponse = (refusal: AnyRefusal, now: number = globalThis.Date.now()): RefusalResponse => {
  const wait = retryAfter(refusal, now)
  return {
    ...(failureStatusAndBody(refusal) as Pick<RefusalResponse, "status" | "body">),
    headers: wait === undefined ? {} : { "Retry-After": wait }
  }
}
