import { bytesToHex } from "@noble/hashes/utils.js"
import { Effect } from "effect"
import { Entropy } from "../ports/Entropy.js"
import { RateLimits } from "../ports/RateLimits.js"
import { readClock } from "../ports/readClock.js"
import { addressLimit } from "./Admission.js"
import type { HttpRequest, HttpResponse } from "./HttpMessage.js"
import { inputPart, type RouteGroup } from "./RouteGroup.js"
import { failureResponse, type RequestContext } from "./responses.js"

/** Turns any request into an answer. It never fails, and answers nothing but the envelope (Specification, Requests and answers). */
export type Pipeline = (arrival: HttpRequest) => Effect.Effect<HttpResponse>

/**
 * Looks on while a request is answered, to count, log and trace; it changes nothing of the answer. It may take the fiber that
 * runs it for the request's own.
 */
export type RequestObserver = (
  arrival: HttpRequest,
  stamp: RequestContext,
  answer: Effect.Effect<HttpResponse>
) => Effect.Effect<HttpResponse>

const REQUEST_ID_BYTES = 12

/** A new `Request-Id`. */
export const requestId = (bytes: (n: number) => Uint8Array): string => bytesToHex(bytes(REQUEST_ID_BYTES))

/** Whether a path is that of a prefix, such as `/v1`, or lies below it. */
export const isBelow = (prefix: string, path: string): boolean => path === prefix || path.startsWith(`${prefix}/`)

/** The branches as one service; a path of none of them is not found, and no key is asked (Specification, Commands). */
export const pipeline = (
  branches: ReadonlyArray<RouteGroup>,
  watch?: RequestObserver
): Effect.Effect<Pipeline, never, Entropy | RateLimits> =>
  Effect.gen(function* () {
    const { bytes } = yield* Entropy
    const limits = yield* RateLimits

    const limitOf = addressLimit(limits)
    const lost = (arrival: HttpRequest, stamp: RequestContext): Effect.Effect<HttpResponse> =>
      Effect.succeed(failureResponse({ _tag: "RouteNotFound" }, stamp, limitOf(arrival, stamp.now)))

    return (arrival) =>
      readClock((clock) => {
        const now = clock.unsafeCurrentTimeMillis()
        const branch = branches.find(({ prefix }) => isBelow(prefix, arrival.path))
        const route = branch === undefined ? null : branch.prefix
        const stamp: RequestContext = { request_id: requestId(bytes), now, part: inputPart(arrival.method), route }
        const answer = branch === undefined ? lost(arrival, stamp) : branch.answer(arrival, stamp)
        return watch === undefined ? answer : watch(arrival, stamp, answer)
      })
  })
