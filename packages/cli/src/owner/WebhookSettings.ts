import { Limits, productionAddresses, type ShopId, sandboxAddresses, type WebhookOffReason } from "@workshop/core"
import { Effect } from "effect"
import { webhookPort } from "../dispatch/WebhookOptions.js"
import { toggleFlag, yesFlag } from "../terminal/commands.js"
import { confirm } from "../terminal/confirm.js"
import { formatDuration } from "../terminal/formatDuration.js"
import { recordOutput, secretOutput, sentenceOutput } from "../terminal/Output.js"
import { Operand } from "../terminal/program.js"
import type { ServiceRefusal } from "./ownerCommand.js"
import { WebhookAdmin } from "./WebhookAdmin.js"
import { webhookOptions as options, shopIdCommand, shopIdFrom, webhookSubcommand } from "./webhookSubcommand.js"

const OVERLAP = formatDuration(Limits.secret_overlap_ms)

const OFF_REASONS: Readonly<Record<WebhookOffReason, string>> = {
  gone: "its receiver responded 410 (Gone)",
  failing: "its receiver failed for too long",
  disabled: "its owner turned it off"
}

/** The flags of `workshop webhook set`. */
interface SetFlags {
  readonly shop: string
  readonly url: string
  /** Also accepts http and addresses of this machine. */
  readonly sandbox: boolean
  readonly webhookPort: ReadonlyArray<number>
  readonly enable: boolean
}

/**
 * Sets the address, and shows the secret (Specification, Webhooks). A webhook that is off stays off unless `enable` is
 * true, and the output says so.
 */
export const setWebhook = Effect.fnUntraced(function* ({ shop, url: address, sandbox, webhookPort, enable }: SetFlags) {
  const id = yield* shopIdFrom(shop)
  const webhooks = yield* WebhookAdmin
  const policy = { ...(sandbox ? sandboxAddresses : productionAddresses), ports: webhookPort }
  const set = yield* webhooks.set(id, address, policy)
  const { url, secret } = set
  const { on, off_reason } = enable && !set.on ? yield* webhooks.enable(id) : set
  const warning = set.isUndelivered
    ? " Only a server with --sandbox delivers to this address, and the database does not belong to a sandbox."
    : ""
  const what =
    off_reason === null
      ? `Events go to ${url}.${warning}`
      : `The address is ${url}, but the webhook is off because ${OFF_REASONS[off_reason]}, so events wait. Turn the webhook on with workshop webhook enable.${warning}`
  return secretOutput({ url, secret, on, off_reason }, `${what} The secret that signs them`, secret)
})

type Admin = typeof WebhookAdmin.Service

const recordOf = (read: (webhooks: Admin, id: ShopId) => Effect.Effect<object, ServiceRefusal>) =>
  Effect.fnUntraced(function* (shop: string) {
    const id = yield* shopIdFrom(shop)
    return recordOutput(yield* read(yield* WebhookAdmin, id))
  })

/** Shows the webhook's address, state and health. */
export const showWebhook = recordOf((webhooks, id) => webhooks.status(id))

/** The flags of `workshop webhook rotate`. */
interface RotateFlags {
  readonly shop: string
  readonly yes: boolean
  /** Rotates even if this ends the oldest secret early. */
  readonly force: boolean
}

/** Creates a new secret. For 24 hours, deliveries are signed with the old one as well (Specification, Webhooks). */
export const rotateSecret = Effect.fnUntraced(function* ({ shop, yes, force }: RotateFlags) {
  const id = yield* shopIdFrom(shop)
  const webhooks = yield* WebhookAdmin
  const until = yield* webhooks.previousSecretUntil(id)
  if (until === null) {
    const what = `This replaces the webhook's secret. For ${OVERLAP}, deliveries are signed with the old secret as well.`
    yield* confirm(what, yes || force)
  } else {
    const what = `The secret was already replaced within the last ${OVERLAP}. Another rotation stops signing with the oldest secret at once, instead of at ${until}.`
    yield* confirm(what, force, "--force")
  }
  const rotated = yield* webhooks.rotate(id)
  return secretOutput(rotated, "The new secret", rotated.secret)
})

/** Turns the webhook on again. */
export const enableWebhook = recordOf((webhooks, id) => webhooks.enable(id))

/** Turns the webhook off: its events wait until it is on again. */
export const disableWebhook = recordOf((webhooks, id) => webhooks.disable(id))

/** Removes the webhook with its secrets and its waiting deliveries. */
export const removeWebhook = Effect.fnUntraced(function* ({
  shop,
  yes
}: {
  readonly shop: string
  readonly yes: boolean
}) {
  const id = yield* shopIdFrom(shop)
  yield* confirm("This permanently removes the webhook, its secrets and all waiting deliveries.", yes)
  const removed = yield* (yield* WebhookAdmin).remove(id)
  return sentenceOutput(removed, `The shop ${id} no longer has a webhook, and its events are recorded but not sent.`)
})

/** Sends a ping. */
export const sendPing = Effect.fnUntraced(function* (shop: string) {
  const id = yield* shopIdFrom(shop)
  const webhooks = yield* WebhookAdmin
  const event = yield* webhooks.ping(id)
  const { url, on } = yield* webhooks.status(id)
  const becomes =
    url === null
      ? "was recorded but not sent, because the shop has no webhook. Set a webhook with workshop webhook set."
      : on
        ? "will be sent. See its result with workshop webhook deliveries."
        : "waits, because the webhook is off. Turn the webhook on with workshop webhook enable."
  return sentenceOutput(event, `The ping ${event.id} ${becomes}`)
})

/** The commands for the address, the secret and the state of a shop's webhook. */
export const settingsCommands = [
  webhookSubcommand({
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
    run: setWebhook
  }),
  shopIdCommand("show", "Show the webhook's URL, state and health", showWebhook),
  webhookSubcommand({
    name: "rotate",
    description: `Replace the secret; for ${OVERLAP}, the old secret signs as well`,
    examples: ["workshop webhook rotate 0197... --yes"],
    options: {
      ...options,
      yes: yesFlag,
      force: toggleFlag(
        "force",
        `Rotate even within ${OVERLAP} of the last rotation. The oldest secret then stops signing at once.`
      )
    },
    run: rotateSecret
  }),
  shopIdCommand("enable", "Turn the webhook on again, and send the events that wait", enableWebhook),
  shopIdCommand("disable", "Turn the webhook off; its events wait until it is on again", disableWebhook),
  webhookSubcommand({
    name: "remove",
    description: "Remove the webhook, its secrets and all waiting deliveries",
    examples: ["workshop webhook remove 0197... --yes"],
    options: { ...options, yes: yesFlag },
    run: removeWebhook
  }),
  shopIdCommand("ping", "Send a ping", sendPing)
]
