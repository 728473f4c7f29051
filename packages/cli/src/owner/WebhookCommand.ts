import { webhookPort } from "../dispatch/WebhookOptions.js"
import { group, Operand } from "../terminal/commands.js"
import { oneOf, text, wholeNumber } from "../terminal/decoders.js"
import { list, toggle, value, yes } from "../terminal/flags.js"
import { idOf, own, ownerCommand } from "./ownerCommand.js"

const command = ownerCommand(() => import("./webhooks.js"))

const flag = own("webhook")
const options = { shop: idOf("shop") }
const state = flag({
  ...oneOf(["pending", "delivered", "parked", "dead"]),
  name: "state",
  placeholder: "state",
  description: "Only those in this state."
})
const instant = (name: string, description: string) =>
  flag({ name, placeholder: "instant", description, decoder: text })

const set = command({
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
  act: (webhooks, flags) => webhooks.set(flags.shop, flags.url, flags.sandbox, flags.webhookPort, flags.enable)
})

const show = command({
  name: "show",
  description: "Show where events go, and how that has been going",
  examples: ["workshop webhook show 0197..."],
  options,
  act: (webhooks, flags) => webhooks.show(flags.shop)
})

const rotate = command({
  name: "rotate",
  description: "Replace the secret; the old one signs beside it for 24 hours",
  examples: ["workshop webhook rotate 0197... --yes"],
  options: {
    ...options,
    yes,
    force: toggle("force", "Rotate also within 24 hours of the last rotation, which ends the secret before it at once.")
  },
  act: (webhooks, flags) => webhooks.rotate(flags.shop, flags.yes, flags.force)
})

const enable = command({
  name: "enable",
  description: "Turn the webhook on again, and send what was parked",
  examples: ["workshop webhook enable 0197..."],
  options,
  act: (webhooks, flags) => webhooks.enable(flags.shop)
})

const disable = command({
  name: "disable",
  description: "Turn the webhook off; its events wait until it is on again",
  examples: ["workshop webhook disable 0197..."],
  options,
  act: (webhooks, flags) => webhooks.disable(flags.shop)
})

const remove = command({
  name: "remove",
  description: "Remove the webhook, its secrets and all deliveries that wait",
  examples: ["workshop webhook remove 0197... --yes"],
  options: { ...options, yes },
  act: (webhooks, flags) => webhooks.remove(flags.shop, flags.yes)
})

const ping = command({
  name: "ping",
  description: "Raise a ping",
  examples: ["workshop webhook ping 0197..."],
  options,
  act: (webhooks, flags) => webhooks.ping(flags.shop)
})

const deliveries = command({
  name: "deliveries",
  description: "List what became of each event",
  examples: ["workshop webhook deliveries 0197... --state dead"],
  options: {
    ...options,
    state,
    limit: value({
      name: "limit",
      placeholder: "number",
      description: "How many at most, the latest ones.",
      decoder: wholeNumber(1, 1_000_000),
      fallback: "10000",
      variable: "WORKSHOP_WEBHOOK_LIMIT"
    })
  },
  act: (webhooks, flags) => webhooks.deliveries(flags.shop, flags.state, flags.limit)
})

const replay = command({
  name: "replay",
  description: "Send events again, under the same ids",
  examples: [
    "workshop webhook replay 0197... --state dead --since 2026-01-01T00:00:00Z --dry-run",
    "workshop webhook replay 0197... --ids 0198...,0199..."
  ],
  options: {
    ...options,
    ids: list({
      name: "ids",
      placeholder: "event",
      description: "The events by id, between commas or one flag each.",
      decoder: text,
      variable: "WORKSHOP_WEBHOOK_IDS"
    }),
    since: instant("since", "Events raised at this instant or later, such as 2026-01-31T12:00:00Z or 2026-01-31."),
    until: instant("until", "Events raised before this instant."),
    state,
    dryRun: toggle("dry-run", "Only count them.")
  },
  act: (webhooks, flags) => webhooks.replay(flags)
})

const notices = command({
  name: "notices",
  description: "List what the owner was notified of",
  examples: ["workshop webhook notices 0197..."],
  options,
  act: (webhooks, flags) => webhooks.notices(flags.shop)
})

/** `workshop webhook` (Specification, Commands): a shop's webhook and its deliveries. */
export const webhookCommand = group(
  {
    name: "webhook",
    description: "A shop's webhook and its deliveries, against a database",
    examples: ["workshop webhook set 0197... https://shop.example/events", "workshop webhook deliveries 0197..."]
  },
  [set, show, rotate, enable, disable, remove, ping, deliveries, replay, notices]
)
