import * as Http from "node:http"
import * as Net from "node:net"
import { expect } from "vitest"

/** The headers and the body of a request. */
export interface Call {
  /** The API key. If it is undefined or null, no Authorization header is sent. */
  readonly key?: string | null | undefined
  /** A body that is sent as JSON. */
  readonly body?: unknown
  /** A body that is sent unchanged, with the content type application/json by default. */
  readonly raw?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** The query parameters, or a query string that is sent unchanged. */
  readonly query?: string | Readonly<Record<string, string | number>>
  /** The Idempotency-Key. */
  readonly idempotency_key?: string
  /** The client address in X-Forwarded-For, by which requests without a valid key are limited. */
  readonly from?: string
}

/** An issue in a 400's details. */
export interface Problem {
  readonly in: string
  readonly field: string
  readonly message: string
}

export interface Failure {
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>> & { readonly issues?: ReadonlyArray<Problem> }
}

export interface ApiResponse<D = unknown> {
  readonly status: number
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly data: D
  readonly meta: Readonly<Record<string, unknown>>
  readonly error: Failure
  /** The `RateLimit-*` headers as numbers. */
  readonly limit: { readonly limit: number; readonly remaining: number; readonly reset: number }
}

// Copied by hand from Specification, Errors.
const STATUS_OF: Readonly<Record<string, number>> = {
  VALIDATION_ERROR: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  SHOP_NOT_APPROVED: 403,
  ACCOUNT_DEACTIVATED: 403,
  API_DISABLED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PROFANITY: 422,
  TOO_MANY_ATTEMPTS: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503
}

const seenRequestIds = new Set<string>()

/** Checks the rules for every response (Specification, Requests and responses; Errors; Limits; Lists and sync). */
const holdToEnvelope = (status: number, headers: ApiResponse["headers"], text: string, isHead: boolean) => {
  expect(headers["content-type"]).toBe("application/json; charset=utf-8")
  expect(headers["request-id"]).toMatch(/^\S{8,}$/)
  expect(seenRequestIds.has(headers["request-id"]!)).toBe(false)
  seenRequestIds.add(headers["request-id"]!)
  // One expectation for several headers, because every response of every test passes here.
  expect(Object.keys(headers).filter((name) => /^(access-control-|x-powered-by|server$)/.test(name))).toEqual([])
  if (status !== 503) {
    const limits = ["limit", "remaining", "reset"].map((name) => headers[`ratelimit-${name}`])
    expect(limits.filter((value) => value === undefined || !/^\d+$/.test(value))).toEqual([])
  }
  if (status === 429) expect(headers["retry-after"]).toBe(headers["ratelimit-reset"])
  else if (status === 503) expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/)
  else expect(headers["retry-after"]).toBeUndefined()
  if (isHead) return {}

  expect(Number(headers["content-length"])).toBe(Buffer.byteLength(text))
  const envelope = JSON.parse(text) as Record<string, unknown>
  if (status < 300) {
    expect(envelope.success).toBe(true)
    expect(Object.keys(envelope)).toEqual("meta" in envelope ? ["success", "data", "meta"] : ["success", "data"])
    expect(typeof envelope.data).toBe("object")
  } else {
    expect(envelope.success).toBe(false)
    expect(Object.keys(envelope)).toEqual(["success", "error"])
    const error = envelope.error as Failure
    expect(Object.keys(error).filter((name) => name !== "details")).toEqual(["code", "message"])
    expect(status).toBe(STATUS_OF[error.code])
    expect(error.message).toMatch(/^\S.{5,300}$/)
    if (status === 400) expect(error.details?.issues?.length).toBeGreaterThan(0)
    for (const issue of error.details?.issues ?? []) {
      expect(Object.keys(issue)).toEqual(["in", "field", "message"])
      expect(["body", "query", "path", "header"]).toContain(issue.in)
      expect(issue.message.length).toBeLessThan(200)
    }
  }
  return envelope
}

/** A client of one server, which sends HTTP requests or raw bytes. */
export class Wire {
  readonly #port: number
  readonly #agent = new Http.Agent({ keepAlive: true, maxSockets: 64 })

  constructor(port: number) {
    this.#port = port
  }

  close(): void {
    this.#agent.destroy()
  }

  #headers(call: Call, body: string | Uint8Array | undefined): Http.OutgoingHttpHeaders {
    const headers: Http.OutgoingHttpHeaders = {}
    if (typeof call.key === "string") headers.authorization = `Bearer ${call.key}`
    if (body !== undefined) {
      headers["content-type"] = "application/json"
      headers["content-length"] = Buffer.byteLength(body)
    }
    if (call.idempotency_key !== undefined) headers["idempotency-key"] = call.idempotency_key
    if (call.from !== undefined) headers["x-forwarded-for"] = call.from
    for (const [name, value] of Object.entries(call.headers ?? {})) {
      headers[name.toLowerCase()] = typeof value === "string" ? value : [...value]
    }
    return headers
  }

  ask<D>(method: string, path: string, call: Call): Promise<ApiResponse<D>> {
    const { query = "" } = call
    const search =
      typeof query === "string"
        ? query
        : new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()
    const body = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body))
    return new Promise((resolve, reject) => {
      const request = Http.request(
        {
          host: "127.0.0.1",
          port: this.#port,
          agent: this.#agent,
          method,
          path: search === "" ? path : `${path}?${search}`,
          headers: this.#headers(call, body)
        },
        (response) => {
          const chunks: Array<Buffer> = []
          response.on("data", (chunk) => chunks.push(chunk))
          response.on("error", reject)
          response.on("end", () => {
            try {
              resolve(answered<D>(response, Buffer.concat(chunks).toString("utf8"), method === "HEAD"))
            } catch (error) {
              reject(error)
            }
          })
        }
      )
      request.on("error", reject)
      request.end(body)
    })
  }

  /** Sends raw bytes, and returns what the server sends until it closes the connection. */
  bare(bytes: string | Uint8Array): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = Net.connect(this.#port, "127.0.0.1", () => socket.write(bytes))
      const chunks: Array<Buffer> = []
      socket.on("data", (chunk) => chunks.push(chunk))
      socket.on("error", reject)
      socket.on("close", () => resolve(Buffer.concat(chunks).toString("utf8")))
      socket.setTimeout(5000, () => socket.destroy())
    })
  }
}

const answered = <D>(response: Http.IncomingMessage, text: string, isHead: boolean): ApiResponse<D> => {
  const headers = response.headers as Record<string, string>
  const status = response.statusCode!
  const envelope = holdToEnvelope(status, headers, text, isHead) as unknown as ApiResponse<D>
  const number = (name: string) => Number(headers[`ratelimit-${name}`])
  return {
    status,
    headers,
    text,
    data: envelope.data,
    meta: envelope.meta,
    error: envelope.error,
    limit: { limit: number("limit"), remaining: number("remaining"), reset: number("reset") }
  }
}
