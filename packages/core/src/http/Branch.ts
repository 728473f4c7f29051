import { Cause, Effect, Either, Option } from "effect"
import type { Usage } from "../domain/LimitWindow.js"
import type { Arrival, Departure } from "./Arrival.js"
import { away, crash, fail, kept, type Stamp } from "./Departures.js"
import type { Reply, Route } from "./Endpoint.js"
import type { Failure, RequestIssue } from "./ErrorTable.js"
import { NO_BODY, type Part, readRequest, withBody } from "./RequestReader.js"

/** A part of the service's paths, and how it is answered. It never fails: whatever happens becomes an answer. */
export interface Branch {
  /** The first segment of its paths, such as `/v1`. */
  readonly prefix: `/${string}`
  readonly answer: (arrival: Arrival, stamp: Stamp) => Effect.Effect<Departure>
}

/** The refusal in a cause, or none where it is a bug. */
export const refusalIn = <E extends Failure>(cause: Cause.Cause<E>): E | undefined =>
  Option.getOrUndefined(Cause.failureOption(cause))

/** Answers a cause: a refusal by the table of errors, anything else as a crash. */
export const answerCause = (
  cause: Cause.Cause<Failure>,
  stamp: Stamp,
  usages: ReadonlyArray<Usage>
): Effect.Effect<Departure> => {
  const refusal = refusalIn(cause)
  if (refusal === undefined) return crash(cause, stamp, usages)
  return refusal._tag === "StoreUnavailable"
    ? away(refusal, stamp, usages)
    : Effect.succeed(fail(refusal, stamp, usages))
}

/** The part of a request in which a service's own input issues stand. */
export const inputPart = (method: string): RequestIssue["in"] =>
  method === "GET" || method === "HEAD" ? "query" : "body"

/** Reads a request and runs its handler; `before` comes between the two. `isHeld` holds each result to the contract. */
export const serve =
  <C>({ isHeld }: { readonly isHeld: boolean }) =>
  (
    { route, path }: { readonly route: Route<C>; readonly path: unknown },
    arrival: Arrival,
    context: C,
    before?: Effect.Effect<ReadonlyArray<Usage>, Failure>
  ): Effect.Effect<Reply, Failure> => {
    const handle = (body: Part): Effect.Effect<Reply, Failure> => {
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
    return isHeld ? Effect.tap(handled, (reply) => kept(route, reply)) : handled
  }
