import type { IncomingMessage, ServerResponse } from "node:http"
import {
  BodyIncomplete,
  BodyTooLarge,
  type HttpRequest,
  type Mountable,
  type MountOptions,
  mountPromise
} from "@workshop/core/http"
import { Effect } from "effect"
import { Backlog, listener } from "../Listener.js"
import { httpRequestOf } from "../nodeRequest.js"
import { CONNECTION_LIMITS, SERVER_TIMEOUTS } from "../serverLimits.js"
import { UnreadResponses } from "../UnreadResponses.js"

/** How the API is mounted inside a Node server. */
export interface NodeMountOptions extends Omit<MountOptions<IncomingMessage>, "addressOf"> {
  /** Believe the last address of `X-Forwarded-For`: only behind a proxy that sets it. False where it is left out. */
  readonly trustProxy?: boolean
}

/** What Express and its kin call, and `node:http` too: without `next`, whatever is not the API's is answered 404. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void

/** What body parsers leave on a request that they have read. */
interface Parsed {
  readonly body?: unknown
  readonly rawBody?: unknown
}

/** The bytes of a body that a parser took before us; written out again where it kept no bytes. */
const parsedBody = ({ body, rawBody }: Parsed): Uint8Array | undefined => {
  if (rawBody instanceof Uint8Array) return rawBody
  if (body instanceof Uint8Array) return body
  if (typeof body === "string") return Buffer.from(body)
  return body === undefined ? undefined : Buffer.from(JSON.stringify(body))
}

/** A request of whose body a parser that ran before may have read all. */
const afterParsers = (request: IncomingMessage, trustProxy: boolean): HttpRequest & { source: IncomingMessage } => {
  const received = { ...httpRequestOf(request, trustProxy), source: request }
  if (!request.readableEnded) return received
  return {
    ...received,
    body: (most) => {
      // Written out only where the API asks for it: requests of the server's own pass here too.
      const bytes = parsedBody(request as Parsed)
      if (bytes === undefined) return Effect.fail(new BodyIncomplete())
      return bytes.length > most ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes)
    }
  }
}

/**
 * The API as `(req, res)` and `(req, res, next)`: for `node:http`, Express, Fastify's raw requests and whatever else
 * stands on Node's server. It goes before or after a body parser, though before spares work.
 */
export const mountNode = (workshop: Mountable, options: NodeMountOptions = {}): NodeHandler => {
  const { trustProxy = false, ...rest } = options
  const { owns, answer } = mountPromise<IncomingMessage>(workshop, rest)
  const unread = new UnreadResponses(workshop.runtime, SERVER_TIMEOUTS, CONNECTION_LIMITS.maxUnreadBytes)
  const settings = { trustProxy, backlog: new Backlog(), unread }
  return (request, response, next) => {
    const received = afterParsers(request, trustProxy)
    if (next !== undefined && !owns(received.path)) return next()
    return listener(() => answer(received), workshop.runtime, settings)(request, response)
  }
}
