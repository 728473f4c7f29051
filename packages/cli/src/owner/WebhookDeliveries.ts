import { ReplayInput } from "@workshop/core"
import { type Column, pluralize } from "@workshop/core/internal/terminal"
import { type DeliveryState, ServiceLimits } from "@workshop/core/store"
import { Chunk, Effect, Stream } from "effect"
import { refuse } from "../CommandRefused.js"
import { flagsOf, toggleFlag } from "../terminal/commands.js"
import { oneOf, wholeNumber } from "../terminal/decoders.js"
import { rowsOutput, sentenceOutput } from "../terminal/Output.js"
import { decodeFields, type FlagFields, fieldFlag, givenFieldsOf } from "./ownerCommand.js"
import { type Delivery, type Notice, WebhookAdmin } from "./WebhookAdmin.js"
import { webhookOptions as options, shopIdCommand, shopIdFrom, webhookSubcommand } from "./webhookSubcommand.js"

const lastAttemptOf = ({ attempts }: Delivery): string => {
  const last = attempts.at(-1)
  if (last === undefined) return "-"
  const { status, error, detail, duration_ms, address } = last
  const outcome = String(status ?? error) + (detail === null ? "" : ` (${detail})`)
  return [outcome, `${duration_ms} ms`, ...(address === null ? [] : [address])].join(", ")
}

const deliveryColumns: ReadonlyArray<Column<Delivery>> = [
  { title: "EVENT", cell: ({ event_id }) => event_id, isWhole: true },
  { title: "TYPE", cell: ({ type }) => type },
  { title: "STATE", cell: ({ state }) => state },
  { title: "ATTEMPTS", cell: ({ attempts }) => String(attempts.length), align: "right" },
  { title: "LAST", cell: lastAttemptOf },
  { title: "NEXT", cell: ({ next_attempt_at }) => next_attempt_at ?? "-" }
]

const noticeColumns: ReadonlyArray<Column<Notice>> = [
  { title: "SENT", cell: ({ created_at }) => created_at, isWhole: true },
  { title: "KIND", cell: ({ kind }) => kind },
  { title: "WHY", cell: ({ off_reason }) => off_reason ?? "-" },
  { title: "FAILURES", cell: ({ failures_in_row }) => String(failures_in_row), align: "right" },
  { title: "ADDRESS", cell: ({ url }) => url }
]

/** The deliveries to list. */
interface DeliveryFilter {
  readonly shop: string
  /** The state of the deliveries; null for any. */
  readonly state: DeliveryState | null
  readonly limit: number
}

/** Lists the shop's latest deliveries, or its latest deliveries in one state, oldest first. */
export const listDeliveries = Effect.fnUntraced(function* ({ shop, state, limit }: DeliveryFilter) {
  const id = yield* shopIdFrom(shop)
  const latestFirst = (yield* WebhookAdmin).deliveries(id).pipe(
    Stream.filter((delivery) => state === null || delivery.state === state),
    Stream.take(limit)
  )
  const deliveries = Chunk.toReadonlyArray(Chunk.reverse(yield* Stream.runCollect(latestFirst)))
  return rowsOutput(
    deliveries,
    deliveryColumns,
    state === null ? "There are no deliveries yet." : `No delivery is ${state}.`
  )
})

/** The events to send again. */
interface Replay extends FlagFields {
  readonly shop: string
  readonly ids: ReadonlyArray<string>
  readonly dry_run: boolean
}

/** Sends events again with the same ids, or only counts them. */
export const replayEvents = Effect.fnUntraced(function* ({ shop, ids, dry_run, ...bounds }: Replay) {
  const id = yield* shopIdFrom(shop)
  const filter = givenFieldsOf({ ...bounds, event_ids: ids.length === 0 ? null : ids })
  if (Object.keys(filter).length === 0) {
    return yield* refuse(
      "Choose the events with --ids, or with any of --since, --until and --state. Add --dry-run to count them without sending them."
    )
  }
  const input = yield* decodeFields(ReplayInput, { ...filter, dry_run })
  const idCount = new Set(input.event_ids).size
  const webhooks = yield* WebhookAdmin
  const { count } = yield* webhooks.replay(id, { ...input, dry_run: dry_run || idCount > 0 })
  if (idCount > 0 && count === 0) {
    return yield* refuse("This shop has no event with the given ids. List its events with workshop webhook deliveries.")
  }
  if (idCount > 0 && !dry_run) yield* webhooks.replay(id, input)
  const others =
    count < idCount
      ? ` ${idCount - count} of the ids ${idCount - count === 1 ? "matches" : "match"} no event that this shop can send.`
      : ""
  return sentenceOutput(
    { count, dry_run },
    `${pluralize(count, "event")} ${dry_run ? "would" : "will"} be sent again.${others}`
  )
})

/** Lists the notices to the owner about the webhook, oldest first. */
export const listNotices = Effect.fnUntraced(function* (shop: string) {
  const id = yield* shopIdFrom(shop)
  return rowsOutput(yield* (yield* WebhookAdmin).notices(id), noticeColumns, "There are no notices yet.")
})

const own = flagsOf("webhook")
const field = fieldFlag("webhook")
const stateFlag = (description: string) =>
  field("--state <state>", description, oneOf(["pending", "delivered", "parked", "dead"]))
const instantFlag = (name: string, description: string) => field(`--${name} <instant>`, description)

/** The commands for the deliveries of a shop's webhook. */
export const deliveriesCommands = [
  webhookSubcommand({
    name: "deliveries",
    description: "List the shop's deliveries, with the result of each",
    examples: ["workshop webhook deliveries 0197... --state dead"],
    options: {
      ...options,
      state: stateFlag("Print only deliveries in this state."),
      limit: own.value("--limit <number>", "Print at most this many deliveries, the latest ones.", {
        decoder: wholeNumber(1, 1_000_000),
        fallback: String(ServiceLimits.list_max)
      })
    },
    run: listDeliveries
  }),
  webhookSubcommand({
    name: "replay",
    description: "Send events again, under the same ids",
    remark: "Give at least one of --ids, --since, --until and --state. --since 2020-01-01 sends all events again.",
    examples: [
      "workshop webhook replay 0197... --state dead --since 2026-01-01T00:00:00Z --dry-run",
      "workshop webhook replay 0197... --ids 0198...,0199..."
    ],
    options: {
      ...options,
      ids: own.repeatable("--ids <id>", "The ids of the events. Separate them by commas or repeat the flag."),
      since: instantFlag(
        "since",
        "Choose events raised at this instant or later, such as 2026-01-31T12:00:00Z or 2026-01-31."
      ),
      until: instantFlag("until", "Choose events raised before this instant."),
      state: stateFlag("Choose events whose delivery is in this state."),
      dry_run: toggleFlag("dry-run", "Count the events without sending them.")
    },
    run: replayEvents
  }),
  shopIdCommand("notices", "List the notices to the shop's owner about the webhook", listNotices)
]
