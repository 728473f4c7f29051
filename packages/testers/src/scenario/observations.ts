import { eventTypes } from "@workshop/core"
import { toIso } from "@workshop/core/internal"
import { Effect, Predicate, Schema } from "effect"
import type { ReceivedDelivery } from "../receive/Receiver.js"
import { type CallName, calls, requestOf } from "../testkit/Calls.js"
import { Anything, type ObservationKind, requireSuccess, stepData } from "./Action.js"

/** Expands the short form of each expected entry, including entries within operators such as `$contains`. */
const expandEach =
  (expandEntry: (entry: unknown) => unknown) =>
  (expected: unknown): unknown => {
    if (Array.isArray(expected)) return expected.map(expandEntry)
    if (!Predicate.isRecord(expected)) return expected
    return Object.fromEntries(
      Object.entries(expected).map(([operator, operand]) =>
        operator === "$length"
          ? [operator, operand]
          : [operator, Array.isArray(operand) ? operand.map(expandEntry) : expandEntry(operand)]
      )
    )
  }

const isName = (entry: unknown): entry is string => typeof entry === "string" && !/^[$/<>]/.test(entry)

const expandType = (entry: unknown): unknown => (isName(entry) ? { type: entry } : entry)

const expandSigned = (entry: unknown): unknown => {
  const expanded = expandType(entry)
  return Predicate.isRecord(expanded) ? { signature: "valid", ...expanded } : expanded
}

type Observe = ObservationKind["observe"]

/** Reads a list of the shop in the sandbox. */
const observeList =
  (name: CallName, what: string): Observe =>
  ({ askSandbox, shop }) => {
    const { method, path } = requestOf(name, shop.id)
    return Effect.map(
      requireSuccess(askSandbox(method, path), what),
      (response) => (stepData(response) ?? []) as ReadonlyArray<unknown>
    )
  }

const toObservedDelivery = (received: ReceivedDelivery) => {
  const { event, refused_as, answered, outcome, signature } = received
  const seconds = /(?:^|,)\s*t=(\d+)/.exec(signature ?? "")?.[1]
  return {
    ...event,
    signature: refused_as ?? "valid",
    signatures: (signature ?? "").split(",").filter((part) => part.trim().startsWith("v1=")).length,
    sent_at: seconds === undefined ? null : toIso(Number(seconds) * 1000),
    answered,
    again: outcome === "again"
  }
}

const waitForDeliveries: Observe = (context) =>
  Effect.zipRight(
    context.moveClock({ advance_ms: 0 }),
    Effect.flatMap(context.receiver, ({ received }) =>
      Effect.map(received, (deliveries) => deliveries.map(toObservedDelivery))
    )
  )

const observeEvents = observeList("list events", "the shop's events")

/** Observes a whole list, and records how many entries it has. */
const observeAll =
  (list: string, observe: Observe): Observe =>
  (context) =>
    Effect.tap(observe(context), (entries) => Effect.sync(() => context.observedCounts.set(list, entries.length)))

/** Observes the entries since the list was last observed. */
const observeNew =
  (list: string, observe: Observe): Observe =>
  (context) =>
    Effect.suspend(() => {
      const countBefore = context.observedCounts.get(list)
      return Effect.map(observeAll(list, observe)(context), (entries) => entries.slice(countBefore))
    })

const Expected = Schema.Union(
  Schema.Array(Anything),
  Schema.Record({ key: Schema.String, value: Anything })
).annotations({
  message: () => "must be a list of what is expected, or an object such as { $length: 2 }"
})

const makeEventObservation = (
  name: string,
  description: string,
  observe: Observe,
  expand: ObservationKind["expand"],
  call?: CallName
): ObservationKind => ({
  name,
  entryKind: { what: "event", field: "type", words: Object.keys(eventTypes) },
  ...(call === undefined ? {} : { endpoint: calls[call][1] }),
  description,
  takes: Expected,
  observe,
  expand
})

const rows: ReadonlyArray<ObservationKind> = [
  makeEventObservation(
    "expect events",
    "All events of the shop, oldest first. A type alone, such as ticket.ready, matches any event of that type",
    observeAll("events", observeEvents),
    expandEach(expandType),
    "list events"
  ),
  makeEventObservation(
    "expect new events",
    "The shop's events since the last step that expected events. [] means no new events",
    observeNew("events", observeEvents),
    expandEach(expandType),
    "list events"
  ),
  makeEventObservation(
    "expect deliveries",
    "The deliveries of the shop's events: type, state, next_attempt_at, attempts",
    observeList("list deliveries", "the shop's deliveries"),
    expandEach(expandType),
    "list deliveries"
  ),
  makeEventObservation(
    "expect received",
    "All deliveries that the shop's receiver got, in order of arrival, each with a valid signature unless `signature` expects another value",
    observeAll("received", waitForDeliveries),
    expandEach(expandSigned)
  ),
  makeEventObservation(
    "expect new received",
    "The deliveries that the shop's receiver got since the last step that expected deliveries. [] means no new deliveries",
    observeNew("received", waitForDeliveries),
    expandEach(expandSigned)
  ),
  {
    name: "expect notices",
    entryKind: { what: "notice", field: "kind", words: ["webhook_failing", "webhook_off"] },
    endpoint: calls["list notices"][1],
    description: "The notices to the shop's owner about the webhook, oldest first",
    takes: Expected,
    observe: observeList("list notices", "the owner's notices"),
    expand: expandEach((entry) => (isName(entry) ? { kind: entry } : entry))
  }
]

/** Everything that a step can observe in addition to its response, by name. */
export const observations: ReadonlyMap<string, ObservationKind> = new Map(rows.map((row) => [row.name, row]))
