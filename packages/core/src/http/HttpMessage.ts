import { Data, type Effect } from "effect"
import type { LimitStatus } from "../domain/LimitWindow.js"

/** The body is larger than the service accepts. */
export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{}> {}

/** The body ended before all of it was received. */
export class BodyIncomplete extends Data.TaggedError("BodyIncomplete")<{}> {}

/** A request in a form that does not depend on the server that received it. */
export interface HttpRequest {
  /** The method in capital letters. */
  readonly method: string
  /** The path as it was sent, percent-encoded, without the query. */
  readonly path: string
  /** The query as it was sent, without the question mark; empty if there is none. */
  readonly query: string
  /** Returns a header by its name in lower case. */
  readonly header: (name: string) => string | undefined
  /** Returns whether a header, by its name in lower case, was sent more than once. */
  readonly repeats: (name: string) => boolean
  /** The sender's address, for the limit on requests without a valid key. */
  readonly address: string
  /** Reads the body, at most `max_bytes` bytes. Call it once, and run its effect once. */
  readonly body: (max_bytes: number) => Effect.Effect<Uint8Array, BodyTooLarge | BodyIncomplete>
  /** The framework's own request, if the API is mounted in one, for the embedder's `authenticate`. */
  readonly source?: unknown
}

/** Whether a header occurs more than once in a list that alternates names and values, such as Node's `rawHeaders`. */
export const isHeaderRepeated = (rawHeaders: ReadonlyArray<string>, name: string): boolean => {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i]!
    if (header.length === name.length && header.toLowerCase() === name) count++
  }
  return count > 1
}

/** The bytes of all chunks, one after the other. */
export const concatBytes = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** A response in a form that does not depend on the server that sends it. */
export interface HttpResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers by their names; the server adds those of the connection, such as `Content-Length`. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, as bytes if many responses share it. */
  readonly body: string | Uint8Array<ArrayBuffer>
  /**
   * Sends more text after the body, until the client disconnects or the server stops. Only a sandbox has such
   * responses.
   */
  readonly follow?: StreamBody
  /** Whether the connection is closed without a response, which testers of a sandbox can request. */
  readonly closesConnection?: boolean
}

/** Calls `send` with each new text, until the function that it returns is called. */
export type StreamBody = (send: (text: string) => void) => () => void

/** A response's body as text. */
export const bodyText = ({ body }: Pick<HttpResponse, "body">): string =>
  typeof body === "string" ? body : new TextDecoder().decode(body)

/** The result of a handler, which `respond` puts into the envelope. */
export interface HandlerResult {
  /** The status of the response, 200 by default. */
  readonly status?: number
  readonly data: unknown
  readonly meta?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Limits that the result counted against, for the headers. */
  readonly limitStatuses?: ReadonlyArray<LimitStatus>
}

/** A response without an envelope. It counts against no limit and shows none (Specification, Commands). */
export interface Page {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: HttpResponse["body"]
  readonly follow?: StreamBody
}

/** The outcome of a handler that did not fail. */
export type HandlerOutcome = HandlerResult | Page
