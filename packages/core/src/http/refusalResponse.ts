import type { Refusal } from "../decisions/Refusal.js"
import type { StoreUnavailable } from "../ports/StorePorts.js"
import type { WorkshopStopped } from "../services/WorkshopStopped.js"
import { failureStatusAndBody } from "./Envelope.js"
import { type ErrorCode, type Failure, failureRows } from "./ErrorTable.js"
import { retryAfterOf } from "./respond.js"

/** The API's response to a refusal, for any framework. */
export interface RefusalResponse {
  /** The HTTP status. */
  readonly status: 400 | 401 | 403 | 404 | 409 | 422 | 429 | 500 | 503
  /** `Retry-After`, if waiting helps. */
  readonly headers: Readonly<Record<string, string>>
  /** The envelope of the API. */
  readonly body: {
    readonly success: false
    readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: unknown }
  }
}

/** A refusal of the services: the `refusal` of a result, or the error with which a promise of `orThrow` rejects. */
export type AnyRefusal = Refusal | StoreUnavailable | WorkshopStopped

const BUG: Failure = { _tag: "InternalError", message: "The service failed" }

/** Whether something that was thrown is a refusal of the services, for your framework's error handler. */
export const isRefusal = (error: unknown): error is AnyRefusal =>
  error instanceof Error && "_tag" in error && Object.hasOwn(failureRows, String(error._tag))

/**
 * The response of the API to a refusal, for routes of your own, with the same status, code, reason and fields. For any
 * other error that was thrown, it is a 500 without details. Express: `response.status(status).set(headers).json(body)`;
 * Fastify: `reply.code(status).headers(headers).send(body)`; Hono: `c.json(body, status, headers)`.
 */
export const refusalResponse = (error: unknown): RefusalResponse => {
  const refusal: Failure = isRefusal(error) ? error : BUG
  const wait = retryAfterOf(refusal)
  return {
    ...(failureStatusAndBody(refusal) as Pick<RefusalResponse, "status" | "body">),
    headers: wait === undefined ? {} : { "Retry-After": wait }
  }
}
