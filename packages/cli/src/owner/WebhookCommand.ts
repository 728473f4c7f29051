import { Args, Command } from "@effect/cli"
import { Effect } from "effect"
import { webhookPort } from "../dispatch/WebhookOptions.js"
import { list, toggle, yes } from "../terminal/Flags.js"
import { nameOne } from "../terminal/nameOne.js"
import { oneOf, text } from "../terminal/Readers.js"
import { databaseOptions, idOf, own } from "./OwnerOptions.js"

const load = Effect.promise(() => Promise.all([import("./act.js"), import("./webhooks.js")]))

const shop = idOf("shop", "shop")
const options = { ...databaseOptions, shop }

const STATES = ["pending", "delivered", "parked", "dead"] as const

const flag = own("webhook")
const state = flag({
  name: "state",
  placeholder: STATES.join("|"),
  description: "Only those that are pending, delivered, parked or dead.",
  read: oneOf(STATES)
})
const instant = (name: string, description: string) => flag({ name, placeholder: "instant", description, read: text })

const setOptions = {
  ...options,
  sandbox: toggle("sandbox", "Take http and this machine too, as a server with --sandbox does."),
  webhookPort,
  enable: toggle("enable", "Turn the webhook on too, where it is off."),
  url: Args.text({ name: "url" }).pipe(Args.withDescription("An https address that the internet reaches."))
}

const replayOptions = {
  ...options,
  ids: list({
    name: "ids",
    placeholder: "event",
    description: "The events by id, between commas or one flag each.",
    read: text,
    variable: "WORKSHOP_WEBHOOK_IDS"
  }),
  since: instant("since", "Events raised at this instant or later, such as 2026-01-31T12:00:00Z."),
  until: instant("until", "Events raised before this instant."),
  state,
  dryRun: toggle("dry-run", "Only count them.")
}

const set = Command.make("set", setOptions, (asked) =>
  Effect.flatMap(load, ([{ act }, webhooks]) =>
    act(asked, webhooks.set(asked.shop, asked.url, asked.sandbox, asked.webhookPort, asked.enable))
  )
).pipe(Command.withDescription("Set the address of a shop's webhook; its secret is shown"))

const show = Command.make("show", options, (asked) =>
  Effect.flatMap(load, ([{ act }, webhooks]) => act(asked, webhooks.show(asked.shop)))
).pipe(Command.withDescription("Show where events go, and how that has been going"))

const force = toggle(
  "force",
  "Rotate also within 24 hours of the last rotation, which ends the secret before it at once."
)

const rotate = Command.make("rotate", { ...options, yes, force }, (asked) =>
  Effect.flatMap(load, ([{ act }, webhooks]) => act(asked, webhooks.rotate(asked.shop, asked.yes, asked.force)))
).pipe(Command.withDescription("Replace the secret; the old one signs beside it for 24 hours"))

const enable = Command.make("enable", options, (asked) =>
  Effect.flatMap(load, ([{ act }, webhooks]) => act(asked, webhooks.enable(asked.shop)))
).pipe(Command.withDescription("Turn the webhook on again, and send what was parked"))

const disable = Command.make("disable", options, (asked) =>
  Effect.flatMap(load, ([{ act }, webhooks]) => act(asked, webhooks.disable(asked.shop)))
).pipe(Command.withDescription("Turn the webhook off; its events wait until it is on again"))

const remove = Command.make("remove", { ...options, yes }, (asked) =>
  Effect.flatMap(load, ([{ act }, webhooks]) => act(asked, webhooks.remove(asked.shop, asked.yes)))
).pipe(Command.withDescription("Remove the webhook, its secrets and all deliveries that wait"))

const ping = Command.make("ping", options, (asked) =>
  Effect.flatMap(load, ([{ act }, webhooks]) => act(asked, webhooks.ping(asked.shop)))
).pipe(Command.withDescription("Raise a ping"))

const deliveries = Command.make("deliveries", { ...options, state }, (asked) =>
  Effect.flatMap(load, ([{ act }, webhooks]) => act(asked, webhooks.deliveries(asked.shop, asked.state)))
).pipe(Command.withDescription("List what became of each event"))

const replay = Command.make("replay", replayOptions, (asked) =>
  Effect.flatMap(load, ([{ act }, webhooks]) => act(asked, webhooks.replay(asked)))
).pipe(Command.withDescription("Send events again, under the same ids"))

const notices = Command.make("notices", options, (asked) =>
  Effect.flatMap(load, ([{ act }, webhooks]) => act(asked, webhooks.notices(asked.shop)))
).pipe(Command.withDescription("List what the owner was told"))

/** `workshop webhook` (Specification, Commands): a shop's webhook and its deliveries. */
export const webhookCommand = Command.make("webhook", {}, () => nameOne("webhook")).pipe(
  Command.withDescription("A shop's webhook and its deliveries, against a database"),
  Command.withSubcommands([set, show, rotate, enable, disable, remove, ping, deliveries, replay, notices])
)
