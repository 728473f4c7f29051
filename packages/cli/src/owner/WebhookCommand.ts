import type { Effect } from "effect"
import { webhookPort } from "../dispatch/WebhookOptions.js"
import { repeatable, toggle, value, yes } from "../terminal/commands.js"
import { oneOf, wholeNumber } from "../terminal/decoders.js"
import type { Output } from "../terminal/Output.js"
import { group, Operand } from "../terminal/program.js"
import { idOf, own, ownerCommand, type Refusal, type Services } from "./ownerCommand.js"
import * as webhooks from "./webhooks.js"

const flag = own("webhook")
const options = { shop: idOf("shop") }
const state = flag({
  ...oneOf(["pending", "delivered", "parked", "dead"]),
  flag: "--state <state>",
  description: "Only those in this state."
})
const instant = (name: string, description: string) => flag({ flag: `--${name} <instant>`, description })

/** A command that needs a shop's id and nothing else. */
const onShop = <E extends Refusal>(
  name: string,
  description: string,
  act: (shop: string) => Effect.Effect<Output, E, Services>
) =>
  ownerCommand({
    name,
    description,
    examples: [`workshop webhook ${name} 0197...`],
    options,
    act: ({ shop }) => act(shop)
  })

const set = ownerCommand({
  name: "set",
  description: "Set the address of a shop's webhook; its secret is shown",
  examples: ["workshop webhook set 0197... https://shop.example/events"],
  options: {
    ...options,
    sandbox: toggle("sandbox", "Take http and this machine too, as a server with --sandbox does."),
    webhookPort,
    enable: toggle("enable", "Turn the webhook on too, where it is off."),
    url: new Operand<string>("<url>", "An https address that the internet reaches.")
  },
  act: (flags) => webhooks.set(flags.shop, flags.url, flags.sandbox, flags.webhookPort, flags.enable)
})

const show = onShop("show", "Show where events go, and how that has been going", webhooks.show)

const rotate = ownerCommand({
  name: "rotate",
  description: "Replace the secret; the old one signs beside it for 24 hours",
  examples: ["workshop webhook rotate 0197... --yes"],
  options: {
    ...options,
    yes,
    force: toggle("force", "Rotate also within 24 hours of the last rotation, which ends the secret before it at once.")
  },
  act: (flags) => webhooks.rotate(flags.shop, flags.yes, flags.force)
})

const enable = onShop("enable", "Turn the webhook on again, and send what was parked", webhooks.enable)

const disable = onShop("disable", "Turn the webhook off; its events wait until it is on again", webhooks.disable)

const remove = ownerCommand({
  name: "remove",
  description: "Remove the webhook, its secrets and all deliveries that wait",
  examples: ["workshop webhook remove 0197... --yes"],
  options: { ...options, yes },
  act: (flags) => webhooks.remove(flags.shop, flags.yes)
})

const ping = onShop("ping", "Raise a ping", webhooks.ping)

const deliveries = ownerCommand({
  name: "deliveries",
  description: "List what became of each event",
  examples: ["workshop webhook deliveries 0197... --state dead"],
  options: {
    ...options,
    state,
    limit: value({
      flag: "--limit <number>",
      description: "How many at most, the latest ones.",
      decoder: wholeNumber(1, 1_000_000),
      fallback: "10000",
      variable: "WORKSHOP_WEBHOOK_LIMIT"
    })
  },
  act: (flags) => webhooks.deliveries(flags.shop, flags.state, flags.limit)
})

const replay = ownerCommand({
  name: "replay",
  description: "Send events again, under the same ids",
  examples: [
    "workshop webhook replay 0197... --state dead --since 2026-01-01T00:00:00Z --dry-run",
    "workshop webhook replay 0197... --ids 0198...,0199..."
  ],
  options: {
    ...options,
    ids: repeatable({
      flag: "--ids <event>",
      description: "The events by id, between commas or one flag each.",
      variable: "WORKSHOP_WEBHOOK_IDS"
    }),
    since: instant("since", "Events raised at this instant or later, such as 2026-01-31T12:00:00Z or 2026-01-31."),
    until: instant("until", "Events raised before this instant."),
    state,
    dry_run: toggle("dry-run", "Only count them.")
  },
  act: (fields) => webhooks.replay(fields)
})

const notices = onShop("notices", "List what the owner was notified of", webhooks.notices)

/** `workshop webhook` (Specification, Commands): a shop's webhook and its deliveries. */
export const webhookCommand = group(
  {
    name: "webhook",
    examples: ["workshop webhook set 0197... https://shop.example/events", "workshop webhook deliveries 0197..."]
  },
  [set, show, rotate, enable, disable, remove, ping, deliveries, replay, notices]
)
