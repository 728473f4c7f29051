import { Cause, Effect, Either, Option } from "effect"
import type { LimitStatus } from "../domain/LimitWindow.js"
import type { HandlerResult, Route } from "./Endpoint.js"
import type { Failure, RequestIssue } from "./ErrorTable.js"
import type { HttpRequest, HttpResponse } from "./HttpMessage.js"
import { NO_BODY, type RequestPart, readRequest, withBody } from "./RequestReader.js"
import { checkResponse, failureResponse, internalError, type RequestContext, unavailable } from "./responses.js"

/** A part of the service's paths, and how it is answered. It never fails: whatever happens becomes an answer. */
export interface RouteGroup {
  /** The first segment of its paths, such as `/v1`. */
  readonly prefix: `/${string}`
  readonly answer: (arrival: HttpRequest, stamp: RequestContext) => Effect.Effect<HttpResponse>
}

/** The refusal in a cause, or none where it is a bug. */
export const failureIn = <E extends Failure>(cause: Cause.Cause<E>): E | undefined =>
  Option.getOrUndefined(Cause.failureOption(cause))

/** Answers a cause: a refusal by the table of errors, anything else as a crash. */
export const causeResponse = (
  cause: Cause.Cause<Failure>,
  stamp: RequestContext,
  usages: ReadonlyArray<LimitStatus>
): Effect.Effect<HttpResponse> => {
  const refusal = failureIn(cause)
  if (refusal === undefined) return internalError(cause, stamp, usages)
  return refusal._tag === "StoreUnavailable"
    ? unavailable(refusal, stamp, usages)
    : Effect.succeed(failureResponse(refusal, stamp, usages))
}

/** The part of a request in which a service's own input issues stand. */
export const inputPart = (method: string): RequestIssue["in"] =>
  method === "GET" || method === "HEAD" ? "query" : "body"

/** Reads a request and runs its handler; `before` comes between the two. `isHeld` holds each result to the contract. */
export const respondWith =
  <C>({ isHeld }: { readonly isHeld: boolean }) =>
  (
    { route, path }: { readonly route: Route<C>; readonly path: unknown },
    arrival: HttpRequest,
    context: C,
    before?: Effect.Effect<ReadonlyArray<LimitStatus>, Failure>
  ): Effect.Effect<HandlerResult, Failure> => {
    const handle = (body: RequestPart): Effect.Effect<HandlerResult, Failure> => {
      const read = readRequest(route, arrival, path, body)
      if (Either.isLeft(read)) return Effect.fail({ _tag: "InvalidRequest", issues: read.left })
      if (before === undefined) return route.handle(read.right, context)
      return Effect.flatMap(before, (counted) =>
        Effect.map(route.handle(read.right, context), (reply) => ({
          ...reply,
          usages: [...counted, ...(reply.usages ?? [])]
        }))
      )
    }
    const handled = route.method === "GET" ? Effect.suspend(() => handle(NO_BODY)) : withBody(arrival, handle)
    return isHeld ? Effect.tap(handled, (reply) => checkResponse(route, reply)) : handled
  }
