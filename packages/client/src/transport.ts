import type { ApiFailure, ClientFailure, ClientResult, RateLimit, ResponseInfo } from "./result.js"

/** A request that is about to be sent. */
export interface RequestEvent {
  /** The HTTP method. */
  readonly method: "GET" | "POST"
  /** The whole address, with the query. */
  readonly url: string
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** The key of all attempts; null if the request has none. */
  readonly idempotency_key: string | null
}

/** A request that has ended, with its response if there was one. */
export interface ResponseEvent extends RequestEvent {
  /** The HTTP status; null if no response came. */
  readonly status: number | null
  /** The service's id of the request; null if the response has none. */
  readonly request_id: string | null
  /** The duration of the attempt, in milliseconds. */
  readonly duration_ms: number
  /** The milliseconds until the client retries; null if it does not. */
  readonly retry_in_ms: number | null
}

/** The options of a client. */
export interface ClientOptions {
  /** The address of the service, with or without `/v1`. */
  readonly baseUrl: string
  /** The shop's API key. */
  readonly key: string
  /**
   * The maximum number of retries of a request; 3 by default. The client retries only if a retry cannot make an act
   * happen twice.
   */
  readonly retries?: number
  /** How long the client waits for one response, in milliseconds; 15,000 by default. */
  readonly timeoutMs?: number
  /** The longest wait before another attempt, in milliseconds; 5,000 by default. A longer `Retry-After` fails the call at once. */
  readonly maxRetryDelayMs?: number
  /**
   * The name of your program, such as `my-till/1.4`, for `User-Agent`, so that the operator can distinguish programs.
   */
  readonly userAgent?: string
  /** Called before each request, for logs and traces. */
  readonly onRequest?: (event: RequestEvent) => void
  /** Called after each request, with or without a response, for logs and metrics. */
  readonly onResponse?: (event: ResponseEvent) => void
  /** Another `fetch`, such as one with a proxy; the platform's by default. */
  readonly fetch?: (request: Request) => Promise<Response>
  /** Waits until `ms` have passed or the signal is aborted; a timer by default. For tests. */
  readonly wait?: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Returns a number from 0 up to 1 that spreads the waits of many clients; `Math.random` by default. For tests. */
  readonly random?: () => number
}

/** The minimum of each numeric option. */
const MINIMUMS: Readonly<Record<string, number>> = { retries: 0, timeoutMs: 1, maxRetryDelayMs: 0 }

/** Throws an error about the first number that is wrong. */
const checkNumbers = (options: object): void => {
  for (const [name, min] of Object.entries(MINIMUMS)) {
    const value = (options as Readonly<Record<string, number | undefined>>)[name] ?? min
    if (!Number.isInteger(value) || value < min) throw new TypeError(`${name} must be a whole number from ${min}`)
  }
}

/** Options of one call. The defaults are the client's options. */
export interface CallOptions {
  /** Ends the call at once with the code `ABORTED`, even between two attempts. */
  readonly signal?: AbortSignal
  /** Like `ClientOptions.timeoutMs`. */
  readonly timeoutMs?: number
  /** Like `ClientOptions.retries`. */
  readonly retries?: number
}

/**
 * One call: its endpoint and its input.
 * @internal
 */
export interface Call extends CallOptions {
  readonly method: "GET" | "POST"
  /** The path below `/v1`. */
  readonly path: string
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly idempotencyKey?: string
}

/**
 * Sends a call.
 * @internal
 */
export type Transport = <A, C extends string, M = undefined>(call: Call) => Promise<ClientResult<A, C, M>>

const VERSION = "0.1.0"
const FIRST_WAIT_MS = 200
/**
 * The statuses after which the same request may succeed, because the store or the service behind a proxy was
 * unavailable.
 */
const RETRYABLE = [502, 503, 504]

const sleep = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timeout)
      signal?.removeEventListener("abort", end)
      resolve()
    }
    // biome-ignore lint/plugin: an API client has neither Effect nor the service's clock.
    const timeout = setTimeout(end, ms)
    signal?.addEventListener("abort", end)
  })

// biome-ignore lint/plugin: an API client has no Effect clock, and this one only measures how long a request took.
const nowMs = () => performance.now()

/** The address of the service without `/v1`, because each path begins with it. */
export const rootOf = (baseUrl: string): string => baseUrl.replace(/(?<!\/)\/+$/, "").replace(/\/v1$/, "")

const urlOf = (baseUrl: string, { path, query = {} }: Call): string => {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  const search = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))
  return `${rootOf(baseUrl)}/v1${path}${entries.length === 0 ? "" : `?${search}`}`
}

const headersOf = ({ key, userAgent }: ClientOptions, { body, idempotencyKey }: Call): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  accept: "application/json",
  // A browser sends its own `User-Agent`, and makes a preflight request for unknown headers.
  ...("document" in globalThis
    ? {}
    : { "user-agent": [userAgent, `workshop-client/${VERSION}`].filter(Boolean).join(" ") }),
  ...(body === undefined ? {} : { "content-type": "application/json" }),
  ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey })
})

type Envelope =
  | { readonly success: true; readonly data: unknown; readonly meta?: unknown }
  | {
      readonly success: false
      readonly error: { readonly code: string; readonly message: string; readonly details?: unknown }
    }

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

// Responses of other services may have a field `success` too, with other fields beside it.
const isEnvelope = (value: unknown): value is Envelope => {
  if (!isObject(value) || !("success" in value)) return false
  if (value.success === true) return "data" in value
  const error = "error" in value ? value.error : undefined
  return isObject(error) && "code" in error && typeof error.code === "string"
}

const parseEnvelope = (text: string): Envelope | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isEnvelope(value) ? value : undefined
  } catch {
    return undefined
  }
}

const parseWhole = (header: string | null): number | null =>
  header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null

const readRateLimit = (headers: Headers): RateLimit | null => {
  const [limit = null, remaining = null, reset = null] = ["limit", "remaining", "reset"].map((name) =>
    parseWhole(headers.get(`ratelimit-${name}`))
  )
  return limit === null || remaining === null || reset === null ? null : { limit, remaining, reset_seconds: reset }
}

type SettledCall =
  | { readonly ok: true; readonly value: unknown; readonly meta: unknown; readonly response: ResponseInfo }
  | { readonly ok: false; readonly error: ClientFailure }

const settle = ({ status, headers }: Response, text: string, attempts: number): SettledCall => {
  const envelope = parseEnvelope(text)
  if (envelope === undefined) {
    const message = `The response (${status}) is not from the service. Check baseUrl.`
    return { ok: false, error: { code: "MISUNDERSTOOD", status, message, attempts } }
  }
  const request_id = headers.get("request-id")
  const response = { status, request_id, rate_limit: readRateLimit(headers), attempts }
  if (envelope.success) return { ok: true, value: envelope.data, meta: envelope.meta, response }
  const { code, message, details } = envelope.error
  const retry_after_seconds = parseWhole(headers.get("retry-after"))
  return { ok: false, error: { code, message, details, ...response, retry_after_seconds } as ApiFailure }
}

const isAborted = ({ signal }: CallOptions): boolean => signal?.aborted === true

const abortedCall = (attempts: number): SettledCall => {
  const message = attempts === 0 ? "The call was aborted before anything was sent" : "The call was aborted"
  return { ok: false, error: { code: "ABORTED", message, attempts } }
}

/**
 * The message of the innermost error, such as `connect ECONNREFUSED 127.0.0.1:4010`, because the error of `fetch` does
 * not contain the reason. If that error has no message, its code.
 */
const reasonOf = (error: unknown): unknown => {
  const { cause, message, code } = Object(error) as { cause?: unknown; message?: string; code?: string }
  return cause ? reasonOf(cause) : message || code || error
}

const attemptCall = async (options: ClientOptions, call: Call, request: RequestEvent): Promise<SettledCall> => {
  const { timeoutMs = options.timeoutMs ?? 15_000, signal, body, method } = call
  const { attempt: attempts, url } = request
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    // The function calls `fetch` on `globalThis`, because browsers and workers refuse any other `this`.
    const { fetch = (request: Request) => globalThis.fetch(request) } = options
    const response = await fetch(
      new Request(url, {
        method,
        headers: headersOf(options, call),
        redirect: "manual",
        signal: AbortSignal.any(signal === undefined ? [timeout] : [timeout, signal]),
        // This is undefined for a call without a body.
        body: JSON.stringify(body)
      })
    )
    return settle(response, await response.text(), attempts)
  } catch (cause) {
    if (isAborted(call)) return abortedCall(attempts)
    const why = timeout.aborted ? `it took longer than ${timeoutMs} ms` : reasonOf(cause)
    const message = `No response from ${options.baseUrl}: ${why}`
    return { ok: false, error: { code: timeout.aborted ? "TIMED_OUT" : "UNREACHABLE", message, cause, attempts } }
  }
}

/** The milliseconds until the client sends the same request again; null if it must not. */
const retryDelayOf = (settled: SettledCall, call: Call, options: ClientOptions): number | null => {
  // biome-ignore lint/plugin: an API client has neither Effect nor the service's source of randomness.
  const { maxRetryDelayMs: max_ms = 5_000, random = Math.random } = options
  const retries = call.retries ?? options.retries ?? 3
  if (settled.ok || settled.error.code === "ABORTED" || settled.error.attempts > retries) return null
  const { error } = settled
  const isRepeatable = call.method === "GET" || call.idempotencyKey !== undefined
  // Half of the wait is fixed and half is random, so that clients that failed at the same time do not retry at the same
  // time.
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** (error.attempts - 1), max_ms)
  const wait_ms = backoff / 2 + (backoff / 2) * random()
  if (!("status" in error)) return isRepeatable ? wait_ms : null
  // A request that got a 429 was not processed, so any request may be sent again.
  if (error.status !== 429 && !(isRepeatable && RETRYABLE.includes(error.status))) return null
  const requested_ms = ((error as Partial<ApiFailure>).retry_after_seconds ?? 0) * 1000
  return requested_ms > max_ms ? null : Math.max(requested_ms, wait_ms)
}

/**
 * Sends calls with `fetch`, and retries failed ones if that is safe: reads, and requests with an Idempotency-Key, with
 * the same key, so that no act happens twice (Specification, Idempotency).
 * @internal
 */
export const makeTransport = (options: ClientOptions): Transport => {
  checkNumbers(options)
  const { wait = sleep, onRequest, onResponse } = options
  const send = async (call: Call): Promise<SettledCall> => {
    checkNumbers(call)
    const url = urlOf(options.baseUrl, call)
    if (isAborted(call)) return abortedCall(0)
    for (let attempt = 1; ; attempt++) {
      const request = { method: call.method, url, attempt, idempotency_key: call.idempotencyKey ?? null }
      onRequest?.(request)
      const startedAt = nowMs()
      const settled = await attemptCall(options, call, request)
      const retry_in_ms = retryDelayOf(settled, call, options)
      const { status, request_id } = {
        status: null,
        request_id: null,
        ...(settled.ok ? settled.response : settled.error)
      }
      onResponse?.({ ...request, status, request_id, duration_ms: nowMs() - startedAt, retry_in_ms })
      if (retry_in_ms === null) return settled
      await wait(retry_in_ms, call.signal)
      if (isAborted(call)) return abortedCall(attempt)
    }
  }
  return send as Transport
}
