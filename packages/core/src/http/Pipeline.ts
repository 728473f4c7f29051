import { bytesToHex } from "@noble/hashes/utils.js"
import { Effect } from "effect"
import { Entropy } from "../ports/Entropy.js"
import { RateLimits } from "../ports/RateLimits.js"
import { readClock } from "../ports/readClock.js"
import { addressLimit } from "./Admission.js"
import type { Arrival, Departure } from "./Arrival.js"
import { type Branch, inputPart } from "./Branch.js"
import { fail, type Stamp } from "./Departures.js"

/** Turns any request into an answer. It never fails, and answers nothing but the envelope (Specification, Requests and answers). */
export type Pipeline = (arrival: Arrival) => Effect.Effect<Departure>

/**
 * Looks on while a request is answered, to count, log and trace; it changes nothing of the answer. It may take the fiber that
 * runs it for the request's own.
 */
export type Watch = (arrival: Arrival, stamp: Stamp, answer: Effect.Effect<Departure>) => Effect.Effect<Departure>

const REQUEST_ID_BYTES = 12

/** A new `Request-Id`. */
export const requestId = (bytes: (n: number) => Uint8Array): string => bytesToHex(bytes(REQUEST_ID_BYTES))

/** Whether a path is that of a prefix, such as `/v1`, or lies below it. */
export const owns = (prefix: string, path: string): boolean => path === prefix || path.startsWith(`${prefix}/`)

/** The branches as one service; a path of none of them is not found, and no key is asked (Specification, Commands). */
export const pipeline = (
  branches: ReadonlyArray<Branch>,
  watch?: Watch
): Effect.Effect<Pipeline, never, Entropy | RateLimits> =>
  Effect.gen(function* () {
    const { bytes } = yield* Entropy
    const limits = yield* RateLimits

    const limitOf = addressLimit(limits)
    const lost = (arrival: Arrival, stamp: Stamp): Effect.Effect<Departure> =>
      Effect.succeed(fail({ _tag: "RouteNotFound" }, stamp, limitOf(arrival, stamp.now)))

    return (arrival) =>
      readClock((clock) => {
        const now = clock.unsafeCurrentTimeMillis()
        const branch = branches.find(({ prefix }) => owns(prefix, arrival.path))
        const route = branch === undefined ? null : branch.prefix
        const stamp: Stamp = { request_id: requestId(bytes), now, part: inputPart(arrival.method), route }
        const answer = branch === undefined ? lost(arrival, stamp) : branch.answer(arrival, stamp)
        return watch === undefined ? answer : watch(arrival, stamp, answer)
      })
  })
