import {
  type Event,
  parseWebhookAddress,
  productionAddresses,
  type ShopId,
  Shops,
  sandboxAddresses,
  type WebhookAddressPolicy,
  type WebhookOffReason,
  Webhooks
} from "@workshop/core"
import { overlapEndOf, toIso } from "@workshop/core/internal"
import { Directory } from "@workshop/core/store"
import { Clock, Effect, Either } from "effect"
import { refuse } from "../CommandRefused.js"
import { webhookPort } from "../dispatch/WebhookOptions.js"
import { toggleFlag, yesFlag } from "../terminal/commands.js"
import { confirm } from "../terminal/confirm.js"
import { type Output, recordOutput, secretOutput, sentenceOutput } from "../terminal/Output.js"
import { Operand } from "../terminal/program.js"
import { type FlagFields, ownerCommand } from "./ownerCommand.js"
import { webhookOptions as options, shopIdCommand, shopIdFrom } from "./shopIdCommand.js"

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

/** A warning if only a sandbox delivers to an address, and no sandbox created the data. */
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

/** The commands for the address, the secret and the state of a shop's webhook. */
export const settingsCommands = [
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
  shopIdCommand("disable", "Turn the webhook off; its events wait until it is on again", disableWebhook, (shop, ask) =>
    Effect.map(ask<FlagFields>("disable webhook", shop), recordOutput)
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
  )
]
