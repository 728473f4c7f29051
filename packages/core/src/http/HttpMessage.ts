import { Data, type Effect } from "effect"

/** The body is larger than the pipeline takes. */
export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{}> {}

/** The body ended before it was whole. */
export class BodyIncomplete extends Data.TaggedError("BodyBroken")<{}> {}

/** A request as any server hands it in. */
export interface HttpRequest {
  /** Called once the request's key was found good: servers may then take its sender for one that waits for answers. */
  readonly onAdmitted?: (() => void) | undefined
  /** In capital letters. */
  readonly method: string
  /** As sent, percent-encoded, without the query. */
  readonly path: string
  /** As sent, without the question mark; empty where there is none. */
  readonly query: string
  /** A header by its name in lower case. */
  readonly header: (name: string) => string | undefined
  /** Whether a header, by its name in lower case, came more than once. */
  readonly repeats: (name: string) => boolean
  /** Whence it came, for the limit on requests without a good key. */
  readonly address: string
  /** The body, read when it is asked for and once; at most `most` bytes. */
  readonly body: (most: number) => Effect.Effect<Uint8Array, BodyTooLarge | BodyIncomplete>
}

/** Whether a header comes more than once in a list of names and values in turn, such as Node's `rawHeaders`. */
export const isHeaderRepeated = (rawHeaders: ReadonlyArray<string>, name: string): boolean => {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const found = rawHeaders[i]!
    if (found.length === name.length && found.toLowerCase() === name) count++
  }
  return count > 1
}

/** An answer as any server sends it. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Bytes where many answers share one body. */
  readonly body: string | Uint8Array<ArrayBuffer>
}

/** An answer's body as text. */
export const bodyText = ({ body }: Pick<HttpResponse, "body">): string =>
  typeof body === "string" ? body : new TextDecoder().decode(body)
