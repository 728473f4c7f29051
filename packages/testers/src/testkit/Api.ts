import { Data, Effect, Predicate } from "effect"

/** Sends a request as `fetch` does; a service in this process can take its place. */
export type Fetch = (request: Request) => Promise<Response>

/** A request as it was sent, and its response. */
export interface Exchange {
  /** The method of the request, such as `POST`. */
  readonly method: string
  /** The whole URL of the request. */
  readonly url: string
  /** The headers of the request, as they were sent. */
  readonly headers: Readonly<Record<string, string>>
  /** The body of the request as it was sent; undefined if it had none. */
  readonly body: string | undefined
  /** The response to the request. */
  readonly response: ApiResponse
}

/** A response, read to its end. */
export interface ApiResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The whole body, as text. */
  readonly body: string
}

/** The parts of a request other than its method and path. */
export interface CallOptions {
  /** The bearer token. */
  readonly bearer?: string | null | undefined
  /** The value of the Idempotency-Key header. */
  readonly idempotencyKey?: string | null | undefined
  /** The body, which is sent as JSON. */
  readonly body?: unknown
  /** A body that is sent unchanged in place of `body`. */
  readonly raw?: string
  /** Further headers. They replace headers of the same name that the other options set. */
  readonly headers?: Readonly<Record<string, string>>
}

/** No response came. `code` is the system's error code if there is one, such as ECONNREFUSED. */
export class NoResponse extends Data.TaggedError("NoResponse")<{
  readonly url: string
  readonly detail: string
  readonly code: string | undefined
}> {
  /** The reason in one line, with advice. */
  override get message() {
    return `No response came from ${this.url} (${this.code ?? this.detail}). Check that the server runs there, or give its address with --base-url.`
  }
}

/** The tested service cannot be reached or does not respond as specified, or no receiver can be opened for it. */
export class EnvironmentFailed extends Data.TaggedError("EnvironmentFailed")<{ readonly message: string }> {}

/** The address of a service that was named with or without `/v1`, `/sandbox` or a slash at its end. */
const originOf = (baseUrl: string): string => baseUrl.replace(/(?<!\/)\/+$/, "").replace(/\/(v1|sandbox)$/, "")

/** The largest response that is read, in bytes. A list of a hundred tickets has at most one MiB. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024
const TIMEOUT_MS = 60_000

/**
 * Reads the text of a response up to `max` bytes, because the tested server may send an endless body, or a small one
 * that decompresses to a large one.
 */
export const responseText = async (response: Response, max = MAX_RESPONSE_BYTES): Promise<string> => {
  const decoder = new TextDecoder()
  let [text, left] = ["", max]
  for await (const chunk of response.body ?? []) {
    left -= chunk.length
    if (left < 0) throw new Error(`its response is longer than ${max} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

const toNoResponse = (url: string, error: unknown): NoResponse => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return new NoResponse({ url, detail: String(cause), code: undefined })
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined
  return new NoResponse({ url, detail: cause.message || String(error), code })
}

/**
 * The HTTP client of all testers' commands: it sends requests to a service, follows no redirect, and ends a request
 * that takes too long.
 */
export class Api {
  /** The address of the service, without `/v1` and without a slash at its end. */
  readonly origin: string
  readonly #fetch: Fetch
  readonly #sandboxToken: string | null
  /** The last exchange, for reports. */
  lastExchange: Exchange | undefined

  constructor(baseUrl: string, options: { readonly fetch?: Fetch; readonly sandboxToken?: string | null } = {}) {
    this.origin = originOf(baseUrl)
    this.#fetch = options.fetch ?? fetch
    this.#sandboxToken = options.sandboxToken ?? null
  }

  /** Sends a request; rejects with {@link NoResponse}. */
  async send(method: string, path: string, options: CallOptions = {}, signal?: AbortSignal): Promise<Exchange> {
    const { bearer = path.startsWith("/sandbox") ? this.#sandboxToken : null, idempotencyKey, body, raw } = options
    const text = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const givenHeaders = new Set(Object.keys(options.headers ?? {}).map((name) => name.toLowerCase()))
    const defaultHeaders = Object.entries({
      Authorization: bearer === null ? null : `Bearer ${bearer}`,
      "Idempotency-Key": idempotencyKey ?? null,
      "Content-Type": text === undefined ? null : "application/json"
    }).filter((entry): entry is [string, string] => entry[1] !== null && !givenHeaders.has(entry[0].toLowerCase()))
    const headers = { ...Object.fromEntries(defaultHeaders), ...options.headers }
    const url = `${this.origin}${path}`
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const response = await this.#fetch(
        new Request(url, {
          method,
          headers,
          redirect: "manual",
          signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
          ...(text === undefined ? {} : { body: text })
        })
      )
      const read = {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await responseText(response)
      }
      this.lastExchange = { method, url, headers, body: text, response: read }
      return this.lastExchange
    } catch (error) {
      throw toNoResponse(url, error)
    }
  }

  /** The same as {@link send}, as an effect whose interruption aborts the request. */
  call(method: string, path: string, options: CallOptions = {}): Effect.Effect<Exchange, NoResponse> {
    return Effect.tryPromise({
      try: (signal) => this.send(method, path, options, signal),
      catch: (error) => error as NoResponse
    })
  }
}

/** The body of every response (Specification, Requests and responses). */
export interface Envelope {
  /** True for a 2xx response, and false for an error. */
  readonly success?: boolean
  /** The result of a successful request. */
  readonly data?: unknown
  /** Facts about the response, such as `replayed` or `next_cursor`. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** The error of a refused request. */
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly details?: Readonly<Record<string, unknown>>
  }
}

/** The envelope in a response; undefined if the body is not an envelope. */
export const envelopeOf = ({ body }: ApiResponse): Envelope | undefined => {
  try {
    const json: unknown = JSON.parse(body)
    return Predicate.isRecord(json) ? json : undefined
  } catch {
    return undefined
  }
}

/** The `data` of a success; undefined if the response is not a success. */
export const dataOf = <D>({ response }: Exchange): D | undefined =>
  response.status >= 200 && response.status < 300 ? (envelopeOf(response)?.data as D | undefined) : undefined

/**
 * Removes keys and secrets from a text, including those that the run created, because reports are stored and shared.
 */
export const maskSecrets = (text: string): string =>
  text
    .replaceAll(/\b(wk_live_|wk_test_|whsec_)[\w-]+/g, "$1…")
    .replaceAll(/"(key|secret)" ?: ?"[^"]*"/g, (whole, name) => (whole.includes("…") ? whole : `"${name}":"…"`))
