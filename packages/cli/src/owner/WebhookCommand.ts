import {
  DeliveryHistory,
  type Event,
  type OwnerPage,
  parseWebhookAddress,
  productionAddresses,
  ReplayInput,
  ShopId,
  Shops,
  sandboxAddresses,
  type WebhookAddressPolicy,
  type WebhookOffReason,
  Webhooks
} from "@workshop/core"
import { overlapEndOf, toIso } from "@workshop/core/internal"
import { type Column, pluralize } from "@workshop/core/internal/terminal"
import { type DeliveryState, Directory } from "@workshop/core/store"
import { deliveryView, noticeView } from "@workshop/http-node/internal"
import type { NoResponse } from "@workshop/testers/internal"
import { Clock, Effect, Either } from "effect"
import { type CommandRefused, refuse } from "../CommandRefused.js"
import { webhookPort } from "../dispatch/WebhookOptions.js"
import type { AskSandbox } from "../sandbox/Sandbox.js"
import { flagsOf, toggleFlag, yesFlag } from "../terminal/commands.js"
import { confirm } from "../terminal/confirm.js"
import { oneOf, wholeNumber } from "../terminal/decoders.js"
import { type Output, recordOutput, rowsOutput, secretOutput, sentenceOutput } from "../terminal/Output.js"
import { group, Operand } from "../terminal/program.js"
import {
  decodeFields,
  type FlagFields,
  fieldFlag,
  givenFieldsOf,
  idFrom,
  idOf,
  ownerCommand,
  type ServiceRefusal,
  type Services
} from "./ownerCommand.js"

const shopIdFrom = (typed: string) => idFrom(ShopId, "a shop", typed)

type Delivery = ReturnType<typeof deliveryView>

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

const noticeColumns: ReadonlyArray<Column<ReturnType<typeof noticeView>>> = [
  { title: "SENT", cell: ({ created_at }) => created_at, isWhole: true },
  { title: "KIND", cell: ({ kind }) => kind },
  { title: "WHY", cell: ({ off_reason }) => off_reason ?? "-" },
  { title: "FAILURES", cell: ({ failures_in_row }) => String(failures_in_row), align: "right" },
  { title: "ADDRESS", cell: ({ url }) => url }
]

/** The advice if an address is refused only because of its port. */
const portRemedy = (typed: string, policy: WebhookAddressPolicy): string => {
  const port = URL.canParse(typed) ? Number(new URL(typed).port || "443") : 0
  return port > 0 && Either.isRight(parseWebhookAddress(typed, { ...policy, ports: [port] }))
    ? `. To allow its port, add --webhook-port ${port}, and pass the same --webhook-port to serve and dispatch`
    : ""
}

const OFF_REASONS: Readonly<Record<WebhookOffReason, string>> = {
  gone: "its receiver responded 410 (Gone)",
  failing: "its receiver failed for too long",
  disabled: "its owner turned it off"
}

/** A warning if only a sandbox delivers to an address, and the data are not those of a sandbox. */
const sandboxOnlyWarning = (url: string, ports: WebhookAddressPolicy["ports"]) =>
  Effect.gen(function* () {
    const isForAll = Either.isRight(parseWebhookAddress(url, { ...productionAddresses, ports }))
    if (isForAll || (yield* (yield* Directory).isSandboxMade)) return ""
    return " Only a server with --sandbox delivers to this address, and the database does not belong to a sandbox."
  })

/**
 * Sets the address, and shows the secret (Specification, Webhooks). A webhook that is off stays off unless `enable` is
 * true, and the output says so.
 */
export const setWebhook = Effect.fnUntraced(function* (
  shop: string,
  typed: string,
  isSandbox: boolean,
  ports = productionAddresses.ports,
  enable = false
) {
  const id = yield* shopIdFrom(shop)
  const policy = { ...(isSandbox ? sandboxAddresses : productionAddresses), ports }
  const url = yield* Either.mapLeft(parseWebhookAddress(typed, policy), (must) =>
    refuse(`The address ${must}${portRemedy(typed, policy)}.`)
  )
  const { secret, ...webhook } = yield* Webhooks.set(id, url)
  const { on, off_reason } = enable && !webhook.on ? yield* Webhooks.enable(id) : webhook
  return setOutput({ url, secret, on, off_reason }, yield* sandboxOnlyWarning(url, ports))
})

type WebhookState = { readonly on: boolean; readonly off_reason: WebhookOffReason | null }

const setOutput = (set: WebhookState & { readonly url: string; readonly secret: string }, warning = ""): Output => {
  const { url, secret, off_reason } = set
  const goes =
    off_reason === null
      ? `Events go to ${url}.${warning}`
      : `The address is ${url}, but the webhook is off because ${OFF_REASONS[off_reason]}, so events wait. Turn the webhook on with workshop webhook enable.`
  return secretOutput(set, `${goes} The secret that signs them`, secret)
}

const recordOf =
  <E, R>(read: (id: ShopId) => Effect.Effect<object, E, R>) =>
  (shop: string) =>
    Effect.map(Effect.flatMap(shopIdFrom(shop), read), (state) => recordOutput(state))

/** Shows the webhook's address, state and health. */
export const showWebhook = recordOf(Webhooks.status)

const ROTATION_WARNING =
  "This replaces the webhook's secret. For 24 hours, deliveries are signed with the old secret as well."
const REMOVAL_WARNING = "This permanently removes the webhook, its secrets and all waiting deliveries."

/** Creates a new secret. For 24 hours, deliveries are signed with the old one as well (Specification, Webhooks). */
export const rotateSecret = Effect.fnUntraced(function* (shop: string, isWanted: boolean, isForced = false) {
  const id = yield* shopIdFrom(shop)
  const { webhook } = yield* Shops.byId(id)
  const until = webhook === null ? null : overlapEndOf(webhook, yield* Clock.currentTimeMillis)
  if (until === null) {
    yield* confirm(ROTATION_WARNING, isWanted || isForced)
  } else {
    const what = `The secret was already replaced within the last 24 hours. Another rotation stops signing with the oldest secret at once, instead of at ${toIso(until)}.`
    yield* confirm(what, isForced, "--force")
  }
  const rotated = yield* Webhooks.rotate(id)
  return secretOutput(rotated, "The new secret", rotated.secret)
})

/** Turns the webhook on again. */
export const enableWebhook = recordOf(Webhooks.enable)

/** Turns the webhook off: its events wait until it is on again. */
export const disableWebhook = recordOf(Webhooks.disable)

/** Removes the webhook with its secrets and its waiting deliveries. */
export const removeWebhook = Effect.fnUntraced(function* (shop: string, isWanted: boolean) {
  const id = yield* shopIdFrom(shop)
  yield* confirm(REMOVAL_WARNING, isWanted)
  return removedOutput(id, yield* Webhooks.remove(id))
})

const removedOutput = (id: string, removed: Parameters<typeof sentenceOutput>[0]): Output =>
  sentenceOutput(removed, `The shop ${id} no longer has a webhook, and its events are recorded but not sent.`)

/** Sends a ping. */
export const sendPing = Effect.fnUntraced(function* (shop: string) {
  const id = yield* shopIdFrom(shop)
  const event = JSON.parse((yield* Webhooks.ping(id)).body) as Event
  return pingOutput(event, yield* Webhooks.status(id))
})

const pingOutput = (event: Event, { url, on }: { readonly url: string | null; readonly on: boolean }): Output => {
  const becomes =
    url === null
      ? "was recorded but not sent, because the shop has no webhook. Set a webhook with workshop webhook set."
      : on
        ? "is being sent. See its result with workshop webhook deliveries."
        : "waits, because the webhook is off. Turn the webhook on with workshop webhook enable."
  return sentenceOutput(event, `The ping ${event.id} ${becomes}`)
}

/** Lists the deliveries of the shop's latest events, or its latest deliveries in one state, oldest first. */
export const listDeliveries = Effect.fnUntraced(function* (shop: string, state: DeliveryState | null, limit: number) {
  const id = yield* shopIdFrom(shop)
  const deliveries: Array<Delivery> = []
  for (let page: OwnerPage = {}; deliveries.length < limit; ) {
    const batch = yield* DeliveryHistory.list(id, page)
    if (batch.length === 0) break
    const matching = batch.filter((delivery) => state === null || delivery.state === state)
    deliveries.unshift(...matching.slice(deliveries.length - limit).map(deliveryView))
    page = { before: batch[0]!.seq }
  }
  return deliveriesOutput(deliveries, state)
})

const deliveriesOutput = (deliveries: ReadonlyArray<Delivery>, state: string | null): Output =>
  rowsOutput(deliveries, deliveryColumns, state === null ? "There are no deliveries yet." : `No delivery is ${state}.`)

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
  const idCount = new Set(ids).size
  const input = yield* decodeFields(ReplayInput, { ...filter, dry_run })
  const { count } = yield* DeliveryHistory.replay(id, { ...input, dry_run: dry_run || idCount > 0 })
  if (idCount > 0 && count === 0) {
    return yield* refuse("This shop has no event with the given ids. List its events with workshop webhook deliveries.")
  }
  if (idCount > 0 && !dry_run) yield* DeliveryHistory.replay(id, input)
  return replayOutput({ count, dry_run }, idCount)
})

const replayOutput = ({ count, dry_run }: { readonly count: number; readonly dry_run: boolean }, idCount: number) => {
  const others = count < idCount ? ` ${idCount - count} of the ids match no event that this shop can send.` : ""
  return sentenceOutput(
    { count, dry_run },
    `${pluralize(count, "event")} ${dry_run ? "would" : "will"} be sent again.${others}`
  )
}

/** Lists the notices to the owner about the webhook, oldest first. */
export const listNotices = Effect.fnUntraced(function* (shop: string) {
  const notices = yield* DeliveryHistory.notices(yield* shopIdFrom(shop))
  return noticesOutput(notices.map(noticeView))
})

const noticesOutput = (notices: ReadonlyArray<ReturnType<typeof noticeView>>): Output =>
  rowsOutput(notices, noticeColumns, "There are no notices yet.")

const own = flagsOf("webhook")
const field = fieldFlag("webhook")
const options = { shop: idOf("shop") }
const state = field(
  "--state <state>",
  "Print only deliveries in this state.",
  oneOf(["pending", "delivered", "parked", "dead"])
)
const instantFlag = (name: string, description: string) => field(`--${name} <instant>`, description)

/** A command that needs a shop's id and nothing else. */
const shopIdCommand = <E extends ServiceRefusal>(
  name: string,
  description: string,
  act: (shop: string) => Effect.Effect<Output, E, Services>,
  remote: (shop: string, ask: AskSandbox) => Effect.Effect<Output, CommandRefused | NoResponse>
) =>
  ownerCommand({
    remote: ({ shop }, ask) => remote(shop, ask),
    name,
    description,
    examples: [`workshop webhook ${name} 0197...`],
    options,
    act: ({ shop }) => act(shop)
  })

/** `workshop webhook` (Specification, Commands): a shop's webhook and its deliveries. */
export const webhookCommand = group(
  {
    name: "webhook",
    examples: ["workshop webhook set 0197... https://shop.example/events", "workshop webhook deliveries 0197..."]
  },
  [
    ownerCommand({
      name: "set",
      description: "Set the address of a shop's webhook, and show its secret",
      examples: ["workshop webhook set 0197... https://shop.example/events"],
      options: {
        ...options,
        sandbox: toggleFlag(
          "sandbox",
          "Also accept http addresses and addresses of this machine, as a server with --sandbox does."
        ),
        webhookPort,
        enable: toggleFlag("enable", "Also turn the webhook on, if it is off."),
        url: new Operand<string>("<url>", "An https address that can be reached from the internet.")
      },
      act: (flags) => setWebhook(flags.shop, flags.url, flags.sandbox, flags.webhookPort, flags.enable),
      remote: Effect.fnUntraced(function* ({ shop, url, enable }, ask) {
        const webhook = yield* ask<Parameters<typeof setOutput>[0]>("set webhook", shop, { url })
        return setOutput(
          enable && !webhook.on ? { ...webhook, ...(yield* ask<WebhookState>("enable webhook", shop)) } : webhook
        )
      })
    }),
    shopIdCommand("show", "Show the webhook's URL, state and health", showWebhook, (shop, ask) =>
      Effect.map(ask<FlagFields>("get webhook", shop), recordOutput)
    ),
    ownerCommand({
      name: "rotate",
      description: "Replace the secret; for 24 hours, the old secret signs as well",
      examples: ["workshop webhook rotate 0197... --yes"],
      options: {
        ...options,
        yes: yesFlag,
        force: toggleFlag(
          "force",
          "Rotate even within 24 hours of the last rotation. The oldest secret then stops signing at once."
        )
      },
      act: (flags) => rotateSecret(flags.shop, flags.yes, flags.force),
      remote: Effect.fnUntraced(function* ({ shop, yes, force }, ask) {
        yield* confirm(ROTATION_WARNING, yes || force)
        const rotated = yield* ask<{ readonly secret: string }>("rotate secret", shop)
        return secretOutput(rotated, "The new secret", rotated.secret)
      })
    }),
    shopIdCommand("enable", "Turn the webhook on again, and send the events that wait", enableWebhook, (shop, ask) =>
      Effect.map(ask<FlagFields>("enable webhook", shop), recordOutput)
    ),
    shopIdCommand(
      "disable",
      "Turn the webhook off; its events wait until it is on again",
      disableWebhook,
      (shop, ask) => Effect.map(ask<FlagFields>("disable webhook", shop), recordOutput)
    ),
    ownerCommand({
      name: "remove",
      description: "Remove the webhook, its secrets and all waiting deliveries",
      examples: ["workshop webhook remove 0197... --yes"],
      options: { ...options, yes: yesFlag },
      act: (flags) => removeWebhook(flags.shop, flags.yes),
      remote: ({ shop, yes }, ask) =>
        Effect.zipRight(
          confirm(REMOVAL_WARNING, yes),
          Effect.map(ask<FlagFields>("remove webhook", shop), (removed) => removedOutput(shop, removed))
        )
    }),
    shopIdCommand("ping", "Send a ping", sendPing, (shop, ask) =>
      Effect.zipWith(ask<Event>("ping", shop), ask<Parameters<typeof pingOutput>[1]>("get webhook", shop), pingOutput)
    ),
    ownerCommand({
      name: "deliveries",
      description: "List the shop's deliveries, with the result of each",
      examples: ["workshop webhook deliveries 0197... --state dead"],
      options: {
        ...options,
        state,
        limit: own.value("--limit <number>", "Print at most this many deliveries, the latest ones.", {
          decoder: wholeNumber(1, 1_000_000),
          fallback: "10000"
        })
      },
      act: (flags) => listDeliveries(flags.shop, flags.state, flags.limit),
      remote: ({ shop, state, limit }, ask) =>
        Effect.map(ask<ReadonlyArray<Delivery>>("list deliveries", shop), (deliveries) =>
          deliveriesOutput(deliveries.filter((one) => state === null || one.state === state).slice(-limit), state)
        )
    }),
    ownerCommand({
      name: "replay",
      description: "Send events again, under the same ids",
      remark: "Give at least one of --ids, --since, --until and --state. --since 2020-01-01 sends all events again.",
      examples: [
        "workshop webhook replay 0197... --state dead --since 2026-01-01T00:00:00Z --dry-run",
        "workshop webhook replay 0197... --ids 0198...,0199..."
      ],
      options: {
        ...options,
        ids: own.repeatable("--ids <event>", "The ids of the events. Separate them by commas or repeat the flag."),
        since: instantFlag(
          "since",
          "Choose events raised at this instant or later, such as 2026-01-31T12:00:00Z or 2026-01-31."
        ),
        until: instantFlag("until", "Choose events raised before this instant."),
        state,
        dry_run: toggleFlag("dry-run", "Count the events without sending them.")
      },
      act: replayEvents,
      remote: ({ shop, ids, dry_run, since, until, state }, ask) => {
        const filter = {
          ...givenFieldsOf({ since, until, state }),
          ...(ids.length === 0 ? {} : { event_ids: ids }),
          dry_run
        }
        return Effect.map(ask<{ readonly count: number }>("replay events", shop, filter), ({ count }) =>
          replayOutput({ count, dry_run }, new Set(ids).size)
        )
      }
    }),
    shopIdCommand("notices", "List the notices to the shop's owner about the webhook", listNotices, (shop, ask) =>
      Effect.map(ask<Parameters<typeof noticesOutput>[0]>("list notices", shop), noticesOutput)
    )
  ]
)
