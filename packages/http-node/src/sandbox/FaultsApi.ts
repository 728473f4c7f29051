import { optional, toIso } from "@workshop/core/internal"
import type { GroupHandlers } from "@workshop/core/internal/http"
import { Effect, Schema } from "effect"
import { dataOnly, endpoint, groupOf } from "./endpoints.js"
import { Fault, FaultKind, type Faults, faultKinds } from "./Faults.js"
import type { Feed } from "./Feed.js"

const methods = ["GET", "POST"] as const
const MAX_FAULTS = 100
const MAX_DELAY_MS = 60_000

/** A kind of fault in a request, in which 503 and 429 may also be numbers. */
const KindInput = Schema.transform(Schema.Union(Schema.String, Schema.Number), FaultKind, {
  strict: false,
  decode: String,
  encode: (kind) => kind
}).annotations({
  jsonSchema: {
    anyOf: [
      { type: "string", enum: Object.keys(faultKinds) },
      { type: "integer", enum: [429, 503] }
    ]
  }
})

const FaultInput = Schema.Struct({
  id: optional(Schema.String),
  method: optional(Schema.Literal(...methods)),
  path: optional(
    Schema.String.pipe(
      Schema.pattern(/^\/v1\//, { message: () => "must be a path of the API, such as /v1/tickets/{id}/status" })
    )
  ),
  fault: KindInput,
  next: optional(
    Schema.Int.pipe(Schema.between(1, 1_000_000, { message: () => "must be a whole number from 1 to 1000000" }))
  ),
  delay_ms: optional(
    Schema.Int.pipe(
      Schema.between(0, MAX_DELAY_MS, { message: () => `must be a whole number from 0 to ${MAX_DELAY_MS}` })
    )
  )
})
  .pipe(
    Schema.filter(
      ({ fault, delay_ms }) =>
        fault !== "delay" || (delay_ms ?? 0) > 0
          ? true
          : { path: ["delay_ms"], message: "must be 1 or more if the fault is delay" },
      { jsonSchema: {} }
    )
  )
  .annotations({ identifier: "FaultInput" })

/** The endpoints of simulated faults of `/v1` (Specification, Sandbox). */
export class FaultsApi extends groupOf(
  "faults",
  ["Faults", "Faults that the sandbox injects into requests to the API"],
  endpoint("GET", "listFaults", "/faults", Schema.Array(Fault), [
    "List the faults",
    "Returns the faults that still apply to requests."
  ]),
  endpoint("PUT", "setFaults", "/faults", Schema.Array(Fault), [
    "Set the faults",
    "Replaces all faults. A request gets the first fault that matches its method and path. With `next`, the fault applies to only that many requests. In `path`, `{id}` or `*` matches any one segment."
  ]).setPayload(
    Schema.Struct({ faults: Schema.Array(FaultInput).pipe(Schema.maxItems(MAX_FAULTS)) }).annotations({
      identifier: "FaultsInput"
    })
  ),
  endpoint("DELETE", "clearFaults", "/faults", Schema.Array(Fault), [
    "Clear the faults",
    "Removes all faults, so that requests get their usual responses again."
  ])
) {}

/** Handles the endpoints that list, set and clear faults. */
export const faultsHandlers = (faults: Faults, feed: Feed): GroupHandlers<typeof FaultsApi, void> => {
  const set = (wanted: ReadonlyArray<typeof FaultInput.Type>) =>
    Effect.clockWith((clock) => clock.currentTimeMillis).pipe(
      Effect.map((now) => {
        faults.set(
          wanted.map(({ method, path, fault, next, delay_ms }) => ({
            method: method ?? null,
            path: path ?? null,
            fault,
            next: next ?? null,
            delay_ms: delay_ms ?? 0
          }))
        )
        feed.publish("fault", { at: toIso(now), faults: faults.all })
        return dataOnly(faults.all)
      })
    )
  return {
    listFaults: () => Effect.sync(() => dataOnly(faults.all)),
    setFaults: ({ payload }) => set(payload.faults),
    clearFaults: () => set([])
  }
}
