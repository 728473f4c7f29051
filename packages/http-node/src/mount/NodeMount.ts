import type { IncomingMessage, ServerResponse } from "node:http"
import { mountOptions } from "@workshop/core/adapter"
import {
  BodyIncomplete,
  BodyTooLarge,
  type HttpRequest,
  type Mountable,
  type MountOptions,
  mountPromise
} from "@workshop/core/http"
import { checkedOptions, isBoolean } from "@workshop/core/internal"
import { Effect } from "effect"
import { Backlog } from "../Backlog.js"
import { listener } from "../Listener.js"
import { requestFromNode } from "../nodeRequest.js"
import { CONNECTION_LIMITS, SERVER_TIMEOUTS } from "../serverLimits.js"
import { UnreadResponses } from "../UnreadResponses.js"

/** How the API is mounted inside a Node server. */
export interface NodeMountOptions<
  Request extends IncomingMessage = IncomingMessage,
  Context extends ReadonlyArray<unknown> = []
> extends Omit<MountOptions<Request, Context>, "addressOf"> {
  /** Trust the last address of `X-Forwarded-For`: only behind a proxy that sets it. False if it is omitted. */
  readonly trustProxy?: boolean
}

/**
 * The handler that Express and `node:http` call. Without `next`, a path that is not the API's gets a 404. `authenticate` gets all
 * that follows, such as Fastify's own request.
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

/** The fields in which body parsers leave a body that they have read. */
interface Parsed {
  readonly body?: unknown
  readonly rawBody?: unknown
}

/** The bytes of a body that a parser has read; if it kept only the value, that is written as JSON again. */
const parsedBody = ({ body, rawBody }: Parsed): Uint8Array | undefined => {
  if (rawBody instanceof Uint8Array) return rawBody
  if (body instanceof Uint8Array) return body
  if (typeof body === "string") return Buffer.from(body)
  return body === undefined ? undefined : Buffer.from(JSON.stringify(body))
}

/** A request whose body a parser may have read already. */
const afterParsers = (request: IncomingMessage, trustProxy: boolean): HttpRequest => {
  const received = requestFromNode(request, trustProxy)
  if (!request.readableEnded) return received
  return {
    ...received,
    body: (most) => {
      // Only when the API reads it, because requests of the server's own routes pass here too.
      const bytes = parsedBody(request as Parsed)
      if (bytes === undefined) return Effect.fail(new BodyIncomplete())
      return bytes.length > most ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes)
    }
  }
}

/**
 * The API as `(req, res)` and `(req, res, next)`: for `node:http`, Express, Fastify's raw requests and whatever else
 * is built on Node's server. It works before and after a body parser; before it saves the parser's work.
 */
export const mountNode = <
  Request extends IncomingMessage = IncomingMessage,
  Context extends ReadonlyArray<unknown> = []
>(
  workshop: Mountable,
  options: NodeMountOptions<Request, Context> = {}
): NodeHandler<Request, Context> => {
  const { trustProxy = false, ...rest } = checkedOptions("mountNode", options, {
    ...mountOptions,
    trustProxy: isBoolean
  })
  const { owns, handle } = mountPromise<Request, Context>(workshop, rest)
  const unread = new UnreadResponses(workshop.runtime, SERVER_TIMEOUTS, CONNECTION_LIMITS.maxUnreadBytes)
  const respond = listener(workshop.runtime, { backlog: new Backlog(), unread })
  return (request, response, ...[next, ...context]) => {
    const received = { ...afterParsers(request, trustProxy), source: { request, context } }
    if (next !== undefined && !owns(received.path)) return next()
    return respond(request, response, () => handle(received))
  }
}
