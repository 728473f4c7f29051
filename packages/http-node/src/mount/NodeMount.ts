import type { IncomingMessage, ServerResponse } from "node:http"
import { BodyIncomplete, BodyTooLarge, type HttpRequest, type Mountable, type MountOptions } from "@workshop/core/http"
import { mustBeBoolean, requireOptions } from "@workshop/core/internal"
import { mountOptions, mountPromise } from "@workshop/core/internal/http"
import { Effect } from "effect"
import { Backlog } from "../Backlog.js"
import { listener } from "../Listener.js"
import { requestFromNode } from "../nodeRequest.js"
import { CONNECTION_LIMITS, SERVER_TIMEOUTS } from "../serverLimits.js"
import { UnreadResponses } from "../UnreadResponses.js"

/** The options of the API mounted in a Node server. */
export interface NodeMountOptions<
  Request extends IncomingMessage = IncomingMessage,
  Context extends ReadonlyArray<unknown> = []
> extends Omit<MountOptions<Request, Context>, "addressOf"> {
  /**
   * Whether to trust the last address in `X-Forwarded-For`; false by default. Set it to true only behind a proxy that
   * sets this header.
   */
  readonly trustProxy?: boolean
}

/**
 * The handler that Express and `node:http` call. Without `next`, a path outside the API gets a 404. Further arguments,
 * such as Fastify's request, are passed to `authenticate`.
 */
export type NodeHandler<
  Request extends IncomingMessage = IncomingMessage,
  Context extends ReadonlyArray<unknown> = []
> = (
  request: Request,
  response: ServerResponse,
  ...rest: Context extends readonly []
    ? [next?: (error?: unknown) => void]
    : [next: ((error?: unknown) => void) | undefined, ...context: Context]
) => void

/** The request properties in which body parsers store a body. */
interface ParsedBody {
  readonly body?: unknown
  readonly rawBody?: unknown
}

/**
 * The bytes of a body that a parser has read. If the parser stored only the parsed value, the value is serialized to
 * JSON.
 */
const bytesOfParsedBody = ({ body, rawBody }: ParsedBody): Uint8Array | undefined => {
  if (rawBody instanceof Uint8Array) return rawBody
  if (body instanceof Uint8Array) return body
  if (typeof body === "string") return Buffer.from(body)
  return body === undefined ? undefined : Buffer.from(JSON.stringify(body))
}

/** A request whose body a parser may have read already. */
const requestAfterParsers = (request: IncomingMessage, trustProxy: boolean): HttpRequest => {
  const received = requestFromNode(request, trustProxy)
  if (!request.readableEnded) return received
  return {
    ...received,
    body: (max_bytes) => {
      // The body is serialized only when the API reads it, because requests of the server's own routes also pass
      // through this mount.
      const bytes = bytesOfParsedBody(request as ParsedBody)
      if (bytes === undefined) return Effect.fail(new BodyIncomplete())
      return bytes.length > max_bytes ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes)
    }
  }
}

/**
 * The API as a handler `(req, res)` or `(req, res, next)` for `node:http`, Express, Fastify's raw requests and other
 * frameworks on Node's server. It works before and after a body parser; mounting it before saves the parser's work.
 */
export const mountNode = <
  Request extends IncomingMessage = IncomingMessage,
  Context extends ReadonlyArray<unknown> = []
>(
  workshop: Mountable,
  options: NodeMountOptions<Request, Context> = {}
): NodeHandler<Request, Context> => {
  const { trustProxy = false, ...rest } = requireOptions("mountNode", options, {
    ...mountOptions,
    trustProxy: mustBeBoolean
  })
  const { owns, handle } = mountPromise<Request, Context>(workshop, rest)
  const unreadResponses = new UnreadResponses(workshop.runtime, SERVER_TIMEOUTS, CONNECTION_LIMITS.maxUnreadBytes)
  const respond = listener(workshop.runtime, { backlog: new Backlog(), unread: unreadResponses })
  return (request, response, ...[next, ...context]) => {
    const received = { ...requestAfterParsers(request, trustProxy), source: { request, context } }
    if (next !== undefined && !owns(received.path)) return next()
    return respond(request, response, () => handle(received))
  }
}
