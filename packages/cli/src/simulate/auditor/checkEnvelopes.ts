import { reporter, shown } from "./Reading.js"
import type { RecordedRequest, Trace, Violation } from "./Trace.js"

const report = reporter("envelope", "Specification, Requests and answers")

/** The codes of Specification, Errors, with their statuses. */
const CODES: Readonly<Record<string, number>> = {
  VALIDATION_ERROR: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  SHOP_NOT_APPROVED: 403,
  ACCOUNT_DEACTIVATED: 403,
  API_DISABLED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PROFANITY: 422,
  TOO_MANY_ATTEMPTS: 429
}

const wrong = (exchange: RecordedRequest): string | null => {
  const { answer } = exchange
  if (answer === null) return null
  const { status, headers, body } = answer
  if (status >= 500) return `the service failed with ${status}`
  if (headers["request-id"] === undefined) return "the answer has no Request-Id"
  if (["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].some((name) => headers[name] === undefined))
    return "the answer lacks RateLimit headers"
  if (body.success !== status < 300) return "success does not agree with the status"
  if (body.success) return body.data === undefined ? "a success has no data" : null
  if (body.error === undefined) return "a failure has no error"
  if (CODES[body.error.code] !== status) return `${body.error.code} does not go with ${status}`
  return status === 409 && body.error.details?.reason === undefined ? "a 409 has no details.reason" : null
}

/** Every answer wears the envelope, with a code that goes with its status, and none is a 5xx (Specification, Requests and answers; Errors). */
export const checkEnvelopes = ({ exchanges }: Trace): ReadonlyArray<Violation> =>
  exchanges.flatMap((exchange) => report(wrong(exchange), shown(exchange)))
