import { Schema } from "effect"
import { enumSchema } from "./views.js"

/** The ways in which a valid request to `/v1` can fail. */
export const faultKinds = {
  lose_answer: "the request is executed, and the connection is cut before the response",
  "503": "503 with Retry-After; the request is not executed",
  "429": "429 by the request limit; the request is not executed",
  delay: "the request waits `delay_ms` before it is executed"
} as const

/** A key of {@link faultKinds}. */
export const FaultKind = enumSchema(faultKinds)

/** A simulated fault of requests to `/v1`. */
export const Fault = Schema.Struct({
  id: Schema.String,
  /** The method of the requests that get the fault; null for any. */
  method: Schema.NullOr(Schema.String),
  /** The path of the requests that get the fault, such as `/v1/tickets/{id}/status`; null for any. */
  path: Schema.NullOr(Schema.String),
  fault: FaultKind,
  /** The number of further requests that get the fault; null for all. */
  next: Schema.NullOr(Schema.Int),
  delay_ms: Schema.Int
}).annotations({ identifier: "Fault" })
/** A simulated fault of requests to `/v1`. */
export type Fault = typeof Fault.Type

const isWildcard = (segment: string): boolean => segment === "*" || /^(\{.*\}|:.*)$/.test(segment)

/** Whether a path matches a pattern, in which `{id}`, `:id` and `*` each match one segment. */
const isMatch = (pattern: string, path: string): boolean => {
  const [patternSegments, pathSegments] = [pattern.split("/"), path.split("/")]
  return (
    patternSegments.length === pathSegments.length &&
    patternSegments.every((segment, i) => isWildcard(segment) || segment === pathSegments[i])
  )
}

/** The faults of a sandbox. A request gets the first fault that matches it. */
export class Faults {
  #faults: ReadonlyArray<Fault> = []
  #last_id = 0

  get all(): ReadonlyArray<Fault> {
    return this.#faults
  }

  /** Replaces all faults. */
  set(faults: ReadonlyArray<Omit<Fault, "id">>): void {
    this.#faults = faults.map((fault) => ({ ...fault, id: String(++this.#last_id) }))
  }

  /** Returns the fault of a request, if any. Counts the request, and removes a fault that is used up. */
  take(method: string, path: string): Fault | undefined {
    if (this.#faults.length === 0) return undefined
    const fault = this.#faults.find(
      (fault) =>
        (fault.method === null || fault.method === method) && (fault.path === null || isMatch(fault.path, path))
    )
    if (fault === undefined || fault.next === null) return fault
    const nextFault = { ...fault, next: fault.next - 1 }
    this.#faults = this.#faults.flatMap((otherFault) =>
      otherFault !== fault ? [otherFault] : nextFault.next > 0 ? [nextFault] : []
    )
    return fault
  }
}
