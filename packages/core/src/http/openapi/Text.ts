import { eventTypes } from "../../domain/EventType.js"
import { DAY_MS, HOUR_MS } from "../../domain/Instant.js"
import { Limits, Policies } from "../../domain/Limits.js"
import {
  type ClosureMove,
  closureMoves,
  type StatusMove,
  statusMoves,
  type TicketState
} from "../../domain/TicketLifecycle.js"

/** The meaning of each state at the counter (Specification, States). */
export const stateMeanings = {
  workshop: "The item is in the workshop, and somebody is working on it",
  ready: "The work is done; the client can pick up the item",
  impossible: "The work cannot be done; the client can pick up the item as it is",
  collected: "The client took the item back; `outcome` says whether the work was done",
  abandoned: "The service closed the ticket; `abandon_reason` says why. This state is final"
} as const satisfies Record<TicketState, string>

const formatHours = (ms: number) => `${ms / HOUR_MS} hours`
const formatDays = (ms: number) => `${ms / DAY_MS} days`

const COUNTS_FROM = {
  ready_at: "after it became ready",
  shop_changed_at: "after the shop's last change to it"
} as const satisfies Record<ClosureMove["counts_from"], string>

const conditionOf = ({ within_ms }: StatusMove): string =>
  within_ms === undefined ? "" : `at most ${formatHours(within_ms)} after collection`

const formatFields = (names: ReadonlyArray<string>) => names.map((name) => `\`${name}\``).join(", ")

const effectsOf = ({ notifies_client, earns_stamps, dates, outcome, clears }: StatusMove): string =>
  [
    ...(dates === undefined ? [] : [`sets ${formatFields([dates])}`]),
    ...(outcome === undefined ? [] : [`\`outcome\` is \`${outcome}\``]),
    ...(clears === undefined ? [] : [`clears ${formatFields(clears)}`]),
    ...(notifies_client
      ? [
          "a linked client is notified in the app",
          "a client without an account is notified through the operator's own channel, if one is set"
        ]
      : []),
    ...(earns_stamps ? ["the ticket earns loyalty stamps, unless it earned them before"] : [])
  ].join("; ")

const closureConditionOf = ({ after_ms, counts_from }: ClosureMove): string =>
  `${formatDays(after_ms)} ${COUNTS_FROM[counts_from]}`

const formatTable = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")

/** The states and their meanings, as a table in Markdown. */
export const statesTable = formatTable(
  ["state", "meaning"],
  Object.entries(stateMeanings).map(([state, meaning]) => [`\`${state}\``, meaning])
)

/** Every move that a ticket makes, as a table in Markdown, from the tables that the service itself looks up. */
export const movesTable = formatTable(
  ["from", "to", "made by", "when", "event", "effects"],
  [
    ["–", "`workshop`", "`POST /v1/tickets`", "", "`ticket.created`", ""],
    ...(statusMoves as ReadonlyArray<StatusMove>).map((move) => [
      `\`${move.from}\``,
      `\`${move.to}\``,
      `\`POST /v1/tickets/{id}/status\` with \`${move.to}\``,
      conditionOf(move),
      `\`${move.event}\``,
      effectsOf(move)
    ]),
    ...closureMoves.map((move) => [
      `\`${move.from}\``,
      "`abandoned`",
      "the service",
      closureConditionOf(move),
      "`ticket.abandoned`",
      `\`abandon_reason\` is \`${move.reason}\``
    ])
  ]
)

const labelOf = (move: StatusMove): string => {
  const within = move.within_ms === undefined ? "" : `, within ${formatHours(move.within_ms)}`
  return `${move.to}${within}`
}

/** The moves as a Mermaid state diagram. */
export const stateDiagram = [
  "stateDiagram-v2",
  "    [*] --> workshop: create",
  ...(statusMoves as ReadonlyArray<StatusMove>).map((move) => `    ${move.from} --> ${move.to}: ${labelOf(move)}`),
  ...closureMoves.map((move) => `    ${move.from} --> abandoned: ${formatDays(move.after_ms)}, ${move.reason}`),
  "    abandoned --> [*]"
].join("\n")

/** The types of events and when each is sent, as a table in Markdown. */
export const eventsTable = formatTable(
  ["type", "sent when"],
  Object.entries(eventTypes).map(([type, when]) => [`\`${type}\``, when])
)

const policies = Object.entries(Policies)
  .map(([name, { limit, counts, per, window }]) => {
    const span = window === "calendar_day" ? "day of the shop" : window
    return `| \`${name}\` | ${limit} ${counts} | ${per} | ${span} |`
  })
  .join("\n")

/** The introduction to read before the first call, in Markdown. */
export const introduction = `A shop's till, ERP or online shop creates workshop tickets, moves them from state to state, looks up clients and adds stamps to their loyalty cards. Each API key gives access to one shop only.

## Requests and responses

Send the key as \`Authorization: Bearer <key>\` and bodies as \`application/json\`. Every response is an envelope: \`success\` true with \`data\` (and sometimes \`meta\`), or \`success\` false with \`error\`. A field or parameter that is unknown, or is given twice, is refused, and the error names it. \`null\` for an optional field of a body means that it is absent. Responses may get new fields, so ignore fields that you do not know.

\`HEAD\` gets the response of \`GET\` without the body. With a valid key, an unknown path or method is a 404 \`NOT_FOUND\`.

Amounts are whole numbers of the currency's minor unit. Instants are ISO 8601 in UTC with milliseconds.

## How a ticket moves

${statesTable}

${movesTable}

Every other move is a 409, whose \`details.allowed\` lists the statuses that the ticket accepts. Every 409 of a ticket except \`IDEMPOTENCY_KEY_REUSED\` has the ticket's present \`details.state\` and \`details.updated_at\`.

## Repeating a request

The operations that take an \`Idempotency-Key\` may be repeated with the same key for ${Limits.idempotency_memory_ms / DAY_MS} days. The repeated request gets the first response's \`data\` with \`meta.replayed\` true and the header \`Idempotent-Replayed\`. The service does not remember refusals, so a corrected request may use the same key. After a success, a different request with the same key is a 409. The key is optional for changing a status and for recording a notification.

## Limits

| policy | at most | per | window |
| --- | --- | --- | --- |
${policies}

Minutes and hours start with the first use. A request beyond a limit gets a 429: \`details.limit\` names the policy, and \`Retry-After\` says how many seconds to wait. Only a 503, and a response to bytes that are not HTTP, may lack the \`RateLimit-*\` headers.

## Events

A shop's webhook receives these events. Each is signed. The section Webhooks has the details.

${eventsTable}`

/** The tag of the webhooks section. */
export const webhooksTag = { name: "Webhooks", description: "The events that a shop's webhook receives" }
