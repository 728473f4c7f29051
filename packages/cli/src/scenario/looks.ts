import { eventTypes } from "@workshop/core/domain/EventType"
import { toIso } from "@workshop/core/domain/Instant"
import { Effect, Schema } from "effect"
import type { Received } from "../receive/Received.js"
import { Anything, type Doing, type Look, needed } from "./Act.js"
import { dataOf } from "./Exchange.js"
import { isObject } from "./Fields.js"

/** Writes out the short form of each entry that is expected, also within `$contains` and its like. */
const each =
  (written: (entry: unknown) => unknown) =>
  (expected: unknown): unknown => {
    if (Array.isArray(expected)) return expected.map(written)
    if (!isObject(expected)) return expected
    return Object.fromEntries(
      Object.entries(expected).map(([operator, operand]) =>
        operator === "$length"
          ? [operator, operand]
          : [operator, Array.isArray(operand) ? operand.map(written) : written(operand)]
      )
    )
  }

const isName = (entry: unknown): entry is string => typeof entry === "string" && !/^[$/<>]/.test(entry)

const byType = (entry: unknown): unknown => (isName(entry) ? { type: entry } : entry)

const signed = (entry: unknown): unknown => {
  const written = byType(entry)
  return isObject(written) ? { signature: "valid", ...written } : written
}

/** A list of the shop's in the sandbox. */
const listOf = (path: string, what: string) => (doing: Doing) =>
  Effect.map(
    needed(doing.sandbox("GET", `/shops/${encodeURIComponent(doing.shop.id)}/${path}`), what),
    (answer) => (dataOf(answer) ?? []) as ReadonlyArray<unknown>
  )

const readable = (received: Received) => {
  const { event, doubt, answered, outcome, signature } = received
  const seconds = /(?:^|,)\s*t=(\d+)/.exec(signature ?? "")?.[1]
  return {
    ...event,
    signature: doubt ?? "valid",
    signatures: (signature ?? "").split(",").filter((part) => part.trim().startsWith("v1=")).length,
    sent_at: seconds === undefined ? null : toIso(Number(seconds) * 1000),
    answered,
    again: outcome === "again"
  }
}

const arrived = (doing: Doing) =>
  Effect.zipRight(
    doing.clock({ advance_ms: 0 }),
    Effect.flatMap(doing.receiver, ({ received }) => Effect.map(received, (all) => all.map(readable)))
  )

const events = listOf("events", "the shop's events")

const byEvent = { what: "event", field: "type", words: Object.keys(eventTypes) }

type See = Look["see"]

/** All of a list, noting that it was looked at. */
const all =
  (list: string, see: See): See =>
  (doing) =>
    Effect.tap(see(doing), (found) => Effect.sync(() => doing.looked.upTo(list, found.length)))

/** What has come since the list was last looked at. */
const fresh =
  (list: string, see: See): See =>
  (doing) =>
    Effect.suspend(() => {
      const before = doing.looked.at(list)
      return Effect.map(all(list, see)(doing), (found) => found.slice(before))
    })

const Expected = Schema.Union(
  Schema.Array(Anything),
  Schema.Record({ key: Schema.String, value: Anything })
).annotations({
  message: () => "must be a list of what is expected, or an object such as { $length: 2 }"
})

/** What a tester can look at besides answers; each is what is expected of it. */
export const looks: ReadonlyArray<Look> = [
  {
    name: "expect events",
    named: byEvent,
    endpoint: "GET /sandbox/shops/:id/events",
    description: "All events of the shop, oldest first; a name alone stands for an event of that type",
    takes: Expected,
    see: all("events", events),
    expand: each(byType)
  },
  {
    name: "expect new events",
    named: byEvent,
    endpoint: "GET /sandbox/shops/:id/events",
    description: "The shop's events since they were last looked at; [] for none",
    takes: Expected,
    see: fresh("events", events),
    expand: each(byType)
  },
  {
    name: "expect deliveries",
    named: byEvent,
    endpoint: "GET /sandbox/shops/:id/deliveries",
    description: "The deliveries of the shop's events: type, state, next_attempt_at, attempts",
    takes: Expected,
    see: listOf("deliveries", "the shop's deliveries"),
    expand: each(byType)
  },
  {
    name: "expect received",
    named: byEvent,
    description:
      "All that the shop's receiver got, in order of arrival, rightly signed unless `signature` says otherwise",
    takes: Expected,
    see: all("received", arrived),
    expand: each(signed)
  },
  {
    name: "expect new received",
    named: byEvent,
    description: "What the shop's receiver got since it was last looked at; [] for nothing",
    takes: Expected,
    see: fresh("received", arrived),
    expand: each(signed)
  },
  {
    name: "expect notices",
    named: { what: "notice", field: "kind", words: ["webhook_failing", "webhook_off"] },
    endpoint: "GET /sandbox/shops/:id/notices",
    description: "What the shop's owner was told of the webhook, oldest first",
    takes: Expected,
    see: listOf("notices", "the owner's notices"),
    expand: each((entry) => (isName(entry) ? { kind: entry } : entry))
  }
]
