import { Effect, Either } from "effect"
import { Limits } from "../domain/Limits.js"
import { findDuplicateMembers } from "./DuplicateMembers.js"
import { type Route, toHeaderCase } from "./Endpoint.js"
import { makeRepeatedIssue, makeTooLargeIssue, type RequestIssue } from "./ErrorTable.js"
import type { BodyIncomplete, BodyTooLarge, HttpRequest } from "./HttpMessage.js"

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The raw value of a part of a request, and the issues with its form, such as JSON that cannot be parsed. */
export interface RequestPart {
  readonly value: unknown
  readonly issues: ReadonlyArray<RequestIssue>
}

const makeValidPart = (value: unknown): RequestPart => ({ value, issues: [] })

const decodeText = (text: string): string | undefined => {
  if (!/[%+]/.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return undefined
  }
}

const tooManyParameters: RequestPart = {
  value: {},
  issues: [{ in: "query", field: "query", message: `must have at most ${Limits.query_parameters_max} parameters` }]
}

/** Parses a query string. A parameter that is given twice is refused, unless it is a list, whose values are joined. */
const readQuery = (query: string, lists: ReadonlyArray<string>): RequestPart => {
  if (query === "") return makeValidPart({})
  const values: Record<string, string> = Object.create(null)
  const issues: Array<RequestIssue> = []
  const pairs = query.split("&", Limits.query_parameters_max + 1)
  if (pairs.length > Limits.query_parameters_max) return tooManyParameters
  for (const pair of pairs) {
    if (pair === "") continue
    const equals = pair.indexOf("=")
    const name = decodeText(equals < 0 ? pair : pair.slice(0, equals))
    const value = decodeText(equals < 0 ? "" : pair.slice(equals + 1))
    if (name === undefined || value === undefined)
      issues.push({ in: "query", field: name ?? "query", message: "must be percent-encoded UTF-8" })
    else if (name in values && lists.includes(name)) values[name] += `,${value}`
    else if (name in values) issues.push(makeRepeatedIssue("query", name))
    else values[name] = value
  }
  return { value: values, issues }
}

const makeMalformedPart = (message: string): RequestPart => ({
  value: undefined,
  issues: [{ in: "body", field: "body", message }]
})

/** The issue with a compressed body. */
export const COMPRESSED: RequestIssue = {
  in: "header",
  field: "Content-Encoding",
  message: "must be omitted, because the service does not accept compressed bodies"
}

/** Parses a JSON body. An empty body is an empty object, so that an endpoint without fields needs no body. */
const readJson = (bytes: Uint8Array, request: HttpRequest): RequestPart => {
  if (bytes.length === 0) return makeValidPart({})
  const type = request.header("content-type")
  if (type === undefined || !/^application\/json\s*(;|$)/i.test(type)) {
    return { value: undefined, issues: [{ in: "header", field: "Content-Type", message: "must be application/json" }] }
  }
  const encoding = request.header("content-encoding")
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return { value: undefined, issues: [COMPRESSED] }
  }
  try {
    const text = utf8.decode(bytes)
    const value: unknown = JSON.parse(text)
    return { value, issues: findDuplicateMembers(text, value).map((field) => makeRepeatedIssue("body", field)) }
  } catch {
    return makeMalformedPart("must be valid JSON in UTF-8")
  }
}

/** The body part of a request without a body. */
export const NO_BODY: RequestPart = makeValidPart(undefined)

const bodyReadIssue = (failure: BodyTooLarge | BodyIncomplete, max_bytes: number): RequestPart =>
  failure._tag === "BodyTooLarge"
    ? { value: undefined, issues: [makeTooLargeIssue(max_bytes)] }
    : makeMalformedPart("ended before it was complete")

/** Reads a JSON body of at most `max_bytes` bytes. */
export const readBody = (request: HttpRequest, max_bytes: number): Effect.Effect<RequestPart> =>
  Effect.match(request.body(max_bytes), {
    onSuccess: (bytes) => readJson(bytes, request),
    onFailure: (failure) => bodyReadIssue(failure, max_bytes)
  })

/** The part of a request that contains a service's input. */
export const inputPartOf = (method: string): RequestIssue["in"] =>
  method === "GET" || method === "HEAD" ? "query" : "body"

/** Decodes a request by the route's schemas. Fails with all issues at once (Specification, Errors). */
export const readRequest = (
  route: Route,
  request: HttpRequest,
  path: unknown,
  body: RequestPart
): Either.Either<unknown, ReadonlyArray<RequestIssue>> => {
  const query = readQuery(request.query, route.listParameters)
  const headers: Record<string, string> = {}
  const formIssues = [...query.issues, ...body.issues]
  for (const name of route.headerNames) {
    const value = request.header(name)
    if (value !== undefined) headers[name] = value
    if (request.repeats(name)) formIssues.push(makeRepeatedIssue("header", toHeaderCase(name)))
  }
  const decoded = route.decode({ path, urlParams: query.value, headers, payload: body.value })
  if (formIssues.length === 0) return decoded
  // A malformed part cannot be decoded, but the issues of the other parts are reported too.
  const isKnown = (issue: RequestIssue) =>
    (body.issues.length > 0 && body.value === undefined && issue.in === "body") ||
    formIssues.some((known) => known.in === issue.in && known.field === issue.field)
  const otherIssues = Either.isLeft(decoded) ? decoded.left.filter((issue) => !isKnown(issue)) : []
  return Either.left([...formIssues, ...otherIssues])
}
