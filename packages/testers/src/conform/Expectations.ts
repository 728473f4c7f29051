import { createHmac } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { Data, Predicate } from "effect"
import { type Envelope, type Exchange, envelopeOf } from "../testkit/Api.js"
import type { CapturedDelivery } from "./Target.js"

/** The server breaks the rule of a case. The error has the expected and the actual value. */
export class ExpectationFailed extends Data.TaggedError("ExpectationFailed")<{
  readonly expected: string
  readonly actual: string
  /** The request that showed the failure; by default the last request of the case. */
  readonly exchange?: Exchange | undefined
}> {
  override get message() {
    return `Expected ${this.expected}, but found ${this.actual}`
  }
}

const MAX_SHOWN_CHARACTERS = 600

/** Formats a value for a report. */
const formatValue = (value: unknown): string => {
  if (value instanceof RegExp) return `a text that matches ${value}`
  const text = value === undefined ? "nothing" : JSON.stringify(value)
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text
}

/**
 * The first difference between a value and the expected one. An object may have further fields, but a list no further
 * entries. A text is tested against an expected regular expression.
 */
const findDifference = (
  actual: unknown,
  expected: unknown,
  path: string
): { readonly path: string; readonly actual: unknown; readonly expected: unknown } | undefined => {
  const difference = { path, actual, expected }
  if (expected instanceof RegExp) return typeof actual === "string" && expected.test(actual) ? undefined : difference
  if (!Predicate.isRecord(expected) && !Array.isArray(expected))
    return Object.is(actual, expected) ? undefined : difference
  const isSameKind = Array.isArray(expected)
    ? Array.isArray(actual) && actual.length === expected.length
    : Predicate.isRecord(actual)
  if (!isSameKind) return difference
  for (const [name, value] of Object.entries(expected)) {
    const inner = findDifference(
      (actual as Record<string, unknown>)[name],
      value,
      path === "" ? name : `${path}.${name}`
    )
    if (inner !== undefined) return inner
  }
  return undefined
}

/** Expects a value to have the given fields; see `findDifference` for how they are compared. */
export const expectShape = (actual: unknown, expected: unknown, what: string, exchange?: Exchange): void => {
  const mismatch = findDifference(actual, expected, what)
  if (mismatch === undefined) return
  throw new ExpectationFailed({
    expected: `${mismatch.path} to be ${formatValue(mismatch.expected)}`,
    actual: formatValue(mismatch.actual),
    exchange
  })
}

/** Expects two values to be equal in all fields. */
export const expectSame = (actual: unknown, expected: unknown, what: string, exchange?: Exchange): void => {
  if (isDeepStrictEqual(actual, expected)) return
  throw new ExpectationFailed({
    expected: `${what} to be ${formatValue(expected)}`,
    actual: formatValue(actual),
    exchange
  })
}

/** Expects a condition that is not a comparison of two values. */
export const expectThat = (isMet: boolean, expected: string, actual: unknown, exchange?: Exchange): void => {
  if (!isMet) throw new ExpectationFailed({ expected, actual: formatValue(actual), exchange })
}

/** The fields that `meta` may hold (Specification, Lists and sync). */
interface Meta {
  readonly replayed?: boolean
  readonly has_more?: boolean
  readonly next_cursor?: string | null
  readonly synced_until?: string
  readonly others?: ReadonlyArray<{ readonly id: string; readonly number: number; readonly state: string }>
}

/** A response of the server with methods that check it. `D` is the type of its `data`. */
export class TestResponse<D = unknown> {
  readonly exchange: Exchange
  readonly status: number
  readonly data: D
  readonly meta: Meta
  readonly error: Partial<NonNullable<Envelope["error"]>>
  readonly #envelope: Envelope | undefined

  constructor(exchange: Exchange) {
    const envelope = envelopeOf(exchange.response)
    this.exchange = exchange
    this.status = exchange.response.status
    this.data = envelope?.data as D
    this.meta = envelope?.meta ?? {}
    this.error = envelope?.error ?? {}
    this.#envelope = envelope
  }

  /** A header by its name in lower case. */
  readonly header = (name: string): string | undefined => this.exchange.response.headers[name]

  #expect(isMet: boolean, status: number, body: string): void {
    if (isMet && this.status === status) return
    const { success, data, error } = this.#envelope ?? {}
    const isSuccess = success === true && data !== undefined
    const shownBody = error !== undefined ? formatValue(error) : isSuccess ? "a success" : "a body without the envelope"
    throw new ExpectationFailed({
      expected: `status ${status} with ${body}`,
      actual: `status ${this.status} with ${shownBody}`,
      exchange: this.exchange
    })
  }

  /** Expects a success with its envelope (Specification, Requests and responses). */
  expectOk(status = 200): D {
    const isSuccess = this.#envelope?.success === true && this.data !== undefined
    this.#expect(isSuccess, status, '{"success":true,"data":…}')
    return this.data
  }

  /** Expects a failure with its envelope and at least these details (Specification, Errors). */
  expectRefusal(status: number, code: string, details?: Readonly<Record<string, unknown>>): this {
    const isFailure = this.#envelope?.success === false && this.error.code === code
    this.#expect(isFailure, status, `{"success":false,"error":{"code":"${code}",…}}`)
    if (details !== undefined) expectShape(this.error.details, details, "error.details", this.exchange)
    return this
  }

  /**
   * Expects 400 with issues at least at these places, such as `body service`, in upper or lower case (Specification,
   * Errors).
   */
  expectInvalid(...places: ReadonlyArray<string>): this {
    this.expectRefusal(400, "VALIDATION_ERROR")
    const issues = this.error.details?.issues as ReadonlyArray<{ in?: string; field?: string }> | undefined
    const issuePlaces = (Array.isArray(issues) ? issues : []).map((issue) => `${issue.in} ${issue.field}`)
    for (const place of places) {
      const isReported = issuePlaces.some((issue) => issue.toLowerCase() === place.toLowerCase())
      expectThat(isReported, `an issue at "${place}"`, issuePlaces, this.exchange)
    }
    return this
  }

  /** Expects 409 with a reason (Specification, Errors). */
  expectConflict(reason: string, details: Readonly<Record<string, unknown>> = {}): this {
    return this.expectRefusal(409, "CONFLICT", { reason, ...details })
  }

  /** Expects 429 by a limit (Specification, Limits). */
  expectLimited(limit: string): this {
    return this.expectRefusal(429, "TOO_MANY_ATTEMPTS", { limit })
  }

  /** Expects a success whose data has these fields. */
  expectData(fields: unknown, status = 200): D {
    expectShape(this.expectOk(status), fields, "data", this.exchange)
    return this.data
  }

  /** Expects `meta` to have these fields. */
  expectMeta(fields: Readonly<Record<string, unknown>>): this {
    expectShape(this.#envelope?.meta, fields, "meta", this.exchange)
    return this
  }

  /** Expects a header. */
  expectHeader(name: string, value: string | RegExp | undefined): this {
    expectShape(this.header(name.toLowerCase()), value, `the header ${name}`, this.exchange)
    return this
  }
}

/** Reads the signature header of a delivery, `t=…,v1=…` (Specification, Webhooks). */
export const signatureOf = (delivery: CapturedDelivery | undefined) => {
  if (delivery === undefined) throw new ExpectationFailed({ expected: "a delivery", actual: "none" })
  const { headers, signatureHeader: name } = delivery
  const header = headers[name.toLowerCase()]
  if (header === undefined) {
    throw new ExpectationFailed({
      expected: `the header ${name} (if the header has another name, add --signature-header)`,
      actual: formatValue(Object.keys(headers))
    })
  }
  expectShape(header, /^t=\d+(,v1=[0-9a-f]{64})+$/, `the header ${name}`)
  const [time = "", ...v1] = header.split(",").map((part) => part.split("=")[1] ?? "")
  return { t: Number(time), v1 }
}

/** Expects a delivery to be signed by these secrets, and by no other, at an instant (Specification, Webhooks). */
export const expectSigned = (
  delivery: CapturedDelivery | undefined,
  secrets: ReadonlyArray<string>,
  at: string
): void => {
  const { t, v1 } = signatureOf(delivery)
  expectSame(t, Math.floor(Date.parse(at) / 1000), "t in the signature header, the send time in seconds")
  expectSame(v1.length, secrets.length, "the number of v1 values")
  for (const secret of secrets) {
    const hex = createHmac("sha256", secret).update(`${t}.${delivery?.body}`).digest("hex")
    expectThat(v1.includes(hex), "a v1 that is the HMAC-SHA256 of t, a dot and the raw body", v1)
  }
}
