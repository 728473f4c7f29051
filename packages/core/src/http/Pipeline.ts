import { bytesToHex } from "@noble/hashes/utils.js"
import { Effect } from "effect"
import { Entropy } from "../ports/Entropy.js"
import { RateLimits } from "../ports/RateLimits.js"
import { anonymous } from "./Admission.js"
import type { Arrival, Departure } from "./Arrival.js"
import { type Branch, inputPart } from "./Branch.js"
import { fail, type Stamp } from "./Departures.js"

/** Turns any request into an answer. It never fails, and answers nothing but the envelope (spec §1). */
export type Pipeline = (arrival: Arrival) => Effect.Effect<Departure>

const REQUEST_ID_BYTES = 12

const owns = (prefix: string, path: string): boolean => path === prefix || path.startsWith(`${prefix}/`)

/** The branches as one service; a path of none of them is not found, and no key is asked (contract §11). */
export const pipeline = (branches: ReadonlyArray<Branch>): Effect.Effect<Pipeline, never, Entropy | RateLimits> =>
  Effect.gen(function* () {
    const { bytes } = yield* Entropy
    const limits = yield* RateLimits

    const lost = (arrival: Arrival, stamp: Stamp): Effect.Effect<Departure> =>
      Effect.match(limits.look(anonymous(arrival), stamp.now), {
        onSuccess: (usage) => fail({ _tag: "RouteNotFound" }, stamp, [usage]),
        onFailure: (refusal) => fail(refusal, stamp, [])
      })

    return (arrival) =>
      Effect.clockWith((clock) => {
        const now = clock.unsafeCurrentTimeMillis()
        const stamp: Stamp = { request_id: bytesToHex(bytes(REQUEST_ID_BYTES)), now, part: inputPart(arrival.method) }
        const branch = branches.find(({ prefix }) => owns(prefix, arrival.path))
        return branch === undefined ? lost(arrival, stamp) : branch.answer(arrival, stamp)
      })
  })
