import type { ErrorCode } from "../http/ErrorTable.js"
import type { AnsweredFailure, ClientFailure, ClientResult } from "./ClientFailure.js"

/** The options of a client. */
export interface ClientOptions {
  /** Where the service is, with or without `/v1`. */
  readonly baseUrl: string
  /** The shop's API key. */
  readonly key: string
  /** How often a call is made again that may be: reads, and those under an Idempotency-Key; 3 by default. */
  readonly retries?: number
  /** For how long one attempt is waited for, in milliseconds; 15,000 by default. */
  readonly timeoutMs?: number
  /** The longest wait before another attempt, in milliseconds; 5,000 by default. A longer `Retry-After` is answered at once. */
  readonly longestWaitMs?: number
  /** Another `fetch`; the platform's by default. */
  readonly fetch?: (request: Request) => Promise<Response>
  /** Waits, no longer than until the signal says that the call was given up; a timer by default. For tests. */
  readonly wait?: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** The further options of one call. */
export interface CallOptions {
  /** Gives the call up: at once, also between two attempts. */
  readonly signal?: AbortSignal
}

/** One call, as the wire has it. */
export interface Call extends CallOptions {
  readonly method: "GET" | "POST"
  /** Below `/v1`. */
  readonly path: string
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly idempotencyKey?: string | undefined
}

/** Makes calls. */
export type Exchange = <A, C extends ErrorCode, M = undefined>(call: Call) => Promise<ClientResult<A, C, M>>

const FIRST_PAUSE_MS = 200
/** Answers after which the same call may succeed: the store was away, or a proxy found nobody. */
const PASSING = [502, 503, 504]

const timer = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timeout)
      signal?.removeEventListener("abort", end)
      resolve()
    }
    // biome-ignore lint/plugin: a caller of the API has neither Effect nor a clock of ours.
    const timeout = setTimeout(end, ms)
    signal?.addEventListener("abort", end)
  })

const queryOf = (query: Call["query"] = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

/** The service's root without `/v1`, which each path brings. */
export const rootOf = (baseUrl: string): string => baseUrl.replace(/(?<!\/)\/+$/, "").replace(/\/v1$/, "")

const requestOf = ({ baseUrl, key, timeoutMs = 15_000 }: ClientOptions, call: Call): Request => {
  const headers: Record<string, string> = { authorization: `Bearer ${key}`, accept: "application/json" }
  if (call.body !== undefined) headers["content-type"] = "application/json"
  if (call.idempotencyKey !== undefined) headers["idempotency-key"] = call.idempotencyKey
  const timeout = AbortSignal.timeout(timeoutMs)
  return new Request(`${rootOf(baseUrl)}/v1${call.path}${queryOf(call.query)}`, {
    method: call.method,
    headers,
    redirect: "manual",
    signal: call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal]),
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) })
  })
}

type Envelope =
  | { readonly success: true; readonly data: unknown; readonly meta?: unknown }
  | {
      readonly success: false
      readonly error: { readonly code: string; readonly message: string; readonly details?: unknown }
    }

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

// Others too answer with a `success`, of another shape.
const isEnvelope = (value: unknown): value is Envelope => {
  if (!isObject(value) || !("success" in value)) return false
  if (value.success === true) return "data" in value
  const error = "error" in value ? value.error : undefined
  return isObject(error) && "code" in error && typeof error.code === "string"
}

const envelopeIn = (text: string): Envelope | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isEnvelope(value) ? value : undefined
  } catch {
    return undefined
  }
}

const secondsIn = (header: string | null): number | null =>
  header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null

type Settled = { readonly ok: true; readonly value: unknown; readonly meta: unknown } | Failed
type Failed = { readonly ok: false; readonly error: ClientFailure }

const settle = ({ status, headers }: Response, text: string): Settled => {
  const envelope = envelopeIn(text)
  if (envelope === undefined) {
    const message = `The answer (${status}) is not the service's: check the address`
    return { ok: false, error: { code: "MISUNDERSTOOD", status, message } }
  }
  if (envelope.success) return { ok: true, value: envelope.data, meta: envelope.meta }
  const { code, message, details } = envelope.error
  const request_id = headers.get("request-id")
  const error = { code, message, details, status, request_id, retry_after_s: secondsIn(headers.get("retry-after")) }
  return { ok: false, error: error as AnsweredFailure }
}

const attempt = async (options: ClientOptions, call: Call): Promise<Settled> => {
  try {
    // Called as a method of nothing: browsers and workers refuse `fetch` on another `this`.
    const { fetch = (request: Request) => globalThis.fetch(request) } = options
    const response = await fetch(requestOf(options, call))
    return settle(response, await response.text())
  } catch (cause) {
    const message = `No answer from ${options.baseUrl}: ${cause instanceof Error ? cause.message : String(cause)}`
    return { ok: false, error: { code: "UNREACHABLE", message, cause } }
  }
}

/** How long to wait before the same call is made again; undefined where it must not be. */
const pauseOf = (error: ClientFailure, call: Call, attempts: number, longestMs: number): number | undefined => {
  if (call.signal?.aborted === true) return undefined
  const mayRepeat = call.method === "GET" || call.idempotencyKey !== undefined
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** attempts, longestMs)
  if (error.code === "UNREACHABLE") return mayRepeat ? pause : undefined
  const told = "retry_after_s" in error ? error.retry_after_s : null
  const ms = told === null ? pause : told * 1000
  // A 429 has done nothing, so it may be repeated whatever it was.
  const isPassing = error.status === 429 || (mayRepeat && PASSING.includes(error.status))
  return isPassing && ms <= longestMs ? ms : undefined
}

/**
 * Makes calls by `fetch`, and makes them again where that is safe: after a lost answer only reads, and what bears an
 * Idempotency-Key, under the same one, so that nothing happens twice (Specification, Idempotency).
 */
export const exchange = (options: ClientOptions): Exchange => {
  const { retries = 3, longestWaitMs = 5_000, wait = timer } = options
  const ask = async (call: Call): Promise<Settled> => {
    let settled = await attempt(options, call)
    for (let attempts = 0; !settled.ok && attempts < retries; attempts++) {
      const pause = pauseOf(settled.error, call, attempts, longestWaitMs)
      if (pause === undefined) break
      await wait(pause, call.signal)
      if (call.signal?.aborted === true) break
      settled = await attempt(options, call)
    }
    return settled
  }
  return ask as Exchange
}
