import { Schema } from "effect"
import { wordOf } from "./views.js"

/** How a request to `/v1` can go wrong although nothing is wrong with it. */
export const faultKinds = {
  lose_answer: "the work is done, and the connection is cut before the response",
  "503": "503 with Retry-After; nothing is done",
  "429": "429 of the limit on requests; nothing is done",
  delay: "the request waits for `delay_ms` first"
} as const

/** A key of {@link faultKinds}. */
export const FaultKind = wordOf(faultKinds)

/** A fault that requests meet. */
export const Fault = Schema.Struct({
  id: Schema.String,
  /** The method that it is for; null for any. */
  method: Schema.NullOr(Schema.String),
  /** The path that it is for, such as `/v1/tickets/{id}/status`; null for any. */
  path: Schema.NullOr(Schema.String),
  fault: FaultKind,
  /** How many requests still meet it; null for all. */
  next: Schema.NullOr(Schema.Int),
  delay_ms: Schema.Int
}).annotations({ identifier: "Fault" })
/** A fault that requests meet. */
export type Fault = typeof Fault.Type

const isAnything = (segment: string): boolean => segment === "*" || /^(\{.*\}|:.*)$/.test(segment)

/** Whether a path is what a pattern means: `{id}`, `:id` and `*` stand for any one segment. */
const isMeant = (pattern: string, path: string): boolean => {
  const [wanted, sent] = [pattern.split("/"), path.split("/")]
  return wanted.length === sent.length && wanted.every((segment, i) => isAnything(segment) || segment === sent[i])
}

/** The faults of a sandbox. The first one that is meant for a request is met. */
export class Faults {
  #faults: ReadonlyArray<Fault> = []
  #made = 0

  get all(): ReadonlyArray<Fault> {
    return this.#faults
  }

  /** Puts these in the place of all. */
  set(faults: ReadonlyArray<Omit<Fault, "id">>): void {
    this.#faults = faults.map((fault) => ({ ...fault, id: String(++this.#made) }))
  }

  /** The fault that a request meets, if any; one that is used up is taken away. */
  meet(method: string, path: string): Fault | undefined {
    if (this.#faults.length === 0) return undefined
    const met = this.#faults.find(
      (fault) =>
        (fault.method === null || fault.method === method) && (fault.path === null || isMeant(fault.path, path))
    )
    if (met === undefined || met.next === null) return met
    const left = { ...met, next: met.next - 1 }
    this.#faults = this.#faults.flatMap((fault) => (fault !== met ? [fault] : left.next > 0 ? [left] : []))
    return met
  }
}
