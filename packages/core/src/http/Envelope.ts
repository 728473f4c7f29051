import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { Schema } from "effect"
import { Scope } from "../domain/ApiKey.js"
import { toIso } from "../domain/Instant.js"
import { Limits, Policies, type PolicyName } from "../domain/Limits.js"
import { TicketState, TicketStatus } from "../domain/TicketLifecycle.js"
import { type ErrorCode, errorCodes, type Failure, failureRows, type RequestIssue } from "./ErrorTable.js"

/**
 * The envelope of a result: `success`, `data` and, for some endpoints, `meta` (Specification, Requests and responses;
 * Lists and sync).
 */
export const SuccessBody = <D extends Schema.Schema.All>(data: D) =>
  Schema.Struct({ success: Schema.Literal(true), data })

/** The envelope of a result with a `meta`. */
export const SuccessBodyWithMeta = <D extends Schema.Schema.All, M extends Schema.Schema.All>(data: D, meta: M) =>
  Schema.Struct({ success: Schema.Literal(true), data, meta })

/** Annotates an envelope with the status 201. */
export const withStatus201 = <A, I, R>(envelope: Schema.Schema<A, I, R>) =>
  envelope.annotations(HttpApiSchema.annotations({ status: 201 }))

/** The `meta` of endpoints that take an `Idempotency-Key`: whether this is a repetition of the first response (Specification, Lists and sync). */
export const RepeatableMeta = Schema.Struct({ replayed: Schema.Boolean }).annotations({
  identifier: "RepeatableMeta",
  description: "Whether the response repeats an earlier one"
})

const literalOf = <const T extends string>(literals: ReadonlyArray<T>) =>
  Schema.Literal(...(literals as [T, ...Array<T>]))

/** Every reason of a 409 (Specification, Errors). */
const reasons = Object.values(failureRows).flatMap((row) => ("reason" in row ? [row.reason] : []))

const Issue = Schema.Struct({
  in: Schema.Literal("body", "query", "path", "header"),
  field: Schema.String,
  message: Schema.String
}).annotations({ identifier: "RequestIssue", description: "One problem of a request" })

const optionalKey = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** The fields of `details`, by status (Specification, Errors). */
const Details = {
  400: Schema.Struct({
    issues: Schema.Array(Issue).pipe(Schema.maxItems(Limits.issues_max)),
    has_more: optionalKey(
      Schema.Literal(true).annotations({ description: "True if some issues were omitted, otherwise absent" })
    )
  }).annotations({ identifier: "IssueDetails", description: "With the code VALIDATION_ERROR" }),
  403: Schema.Struct({ scope: Scope }).annotations({
    identifier: "ScopeDetails",
    description: "With the code FORBIDDEN"
  }),
  409: Schema.Struct({
    reason: literalOf(reasons),
    from: optionalKey(TicketState),
    to: optionalKey(TicketStatus),
    allowed: optionalKey(Schema.Array(TicketStatus)),
    state: optionalKey(TicketState),
    updated_at: optionalKey(Schema.String)
  }).annotations({ identifier: "ConflictDetails", description: "With the code CONFLICT" }),
  422: Schema.Struct({ field: Schema.String }).annotations({
    identifier: "FieldDetails",
    description: "With the code PROFANITY"
  }),
  429: Schema.Struct({ limit: literalOf(Object.keys(Policies) as Array<PolicyName>) }).annotations({
    identifier: "LimitDetails",
    description: "With the code TOO_MANY_ATTEMPTS"
  })
} as const

type AnyDetails = Schema.Schema<Readonly<Record<string, unknown>>>
// The status decides which of three types `details` has, which the compiler cannot infer.
type MaybeDetails = { readonly details: ReturnType<typeof optionalKey<Readonly<Record<string, unknown>>, unknown>> }

/**
 * The `details` of a status: required if they contain the cause, optional in a 403, where only one code has them, and
 * else absent.
 */
const detailsOfStatus = (status: number): MaybeDetails => {
  if (!(status in Details)) return {} as MaybeDetails
  const details = Details[status as keyof typeof Details] as unknown as AnyDetails
  const field = status === errorCodes.FORBIDDEN.status ? optionalKey(details) : details
  return { details: field } as unknown as MaybeDetails
}

const toCamelCase = (code: string) =>
  code.toLowerCase().replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())

/** The envelope of failures with one of the given codes, which share a status. */
export const FailureBodyOf = <const Codes extends readonly [ErrorCode, ...Array<ErrorCode>]>(...codes: Codes) =>
  Schema.Struct({
    success: Schema.Literal(false),
    error: Schema.Struct({
      code: Schema.Literal(...codes),
      message: Schema.String,
      ...detailsOfStatus(errorCodes[codes[0]].status)
    })
  }).annotations({
    identifier: `${toCamelCase(codes[0])}Response`,
    ...HttpApiSchema.annotations({ status: errorCodes[codes[0]].status }),
    description: codes.map((code) => `${code}: ${errorCodes[code].meaning}`).join(". ")
  })

/** The body of a failure's response. */
export interface FailureBody {
  readonly success: false
  readonly error: {
    readonly code: ErrorCode
    readonly message: string
    readonly details?: Readonly<Record<string, unknown>>
  }
}

/** A failure's envelope and status. */
export const makeFailureBody = (
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>
): FailureBody => ({
  success: false,
  error: details === undefined ? { code, message } : { code, message, details }
})

/**
 * The first issues, with names cut to a maximum length because clients choose them, and whether there are more issues.
 */
const issueDetailsOf = (issues: ReadonlyArray<RequestIssue>) => {
  const max = Limits.issue_field_characters
  const shown = issues
    .slice(0, Limits.issues_max)
    .map((issue) => (issue.field.length > max ? { ...issue, field: `${issue.field.slice(0, max)}...` } : issue))
  return issues.length > shown.length ? { issues: shown, has_more: true } : { issues: shown }
}

const detailsOf = (failure: Failure, part: RequestIssue["in"]): Readonly<Record<string, unknown>> | undefined => {
  const row = failureRows[failure._tag]
  if ("reason" in row) {
    const refusedMove = "from" in failure ? { from: failure.from, to: failure.to, allowed: failure.allowed } : {}
    const present = "state" in failure ? { state: failure.state, updated_at: toIso(failure.updated_at) } : {}
    return { reason: row.reason, ...refusedMove, ...present }
  }
  switch (failure._tag) {
    case "InvalidRequest":
      return issueDetailsOf(failure.issues)
    case "InvalidInput":
      return issueDetailsOf(failure.issues.map(({ field, message, api }) => ({ in: part, field, ...api, message })))
    case "ScopeMissing":
      return { scope: failure.scope }
    case "ForbiddenWord":
      return { field: failure.field }
    case "LimitReached":
      return { limit: failure.decisive.policy }
    default:
      return undefined
  }
}

/**
 * The response to a failure, from its row of the table. `part` is the part of the request that contains a service's
 * input.
 */
export const failureStatusAndBody = (
  failure: Failure,
  part: RequestIssue["in"] = "body"
): { readonly status: number; readonly body: FailureBody } => {
  const row = failureRows[failure._tag]
  const message = "message" in row ? row.message : "message" in failure ? failure.message : errorCodes[row.code].meaning
  return { status: errorCodes[row.code].status, body: makeFailureBody(row.code, message, detailsOf(failure, part)) }
}
