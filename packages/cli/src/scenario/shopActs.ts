import { Effect, Schema } from "effect"
import { type Act, about, actsOf, type Doing, idOf, Nothing, open, Reference } from "./Act.js"
import { dataOf } from "./Exchange.js"
import type { Fields } from "./Fields.js"
import { TICKET_FIELDS } from "./systemActs.js"

const onTicket =
  (path: string) =>
  ({ ticket, ...body }: Fields, doing: Doing) =>
    Effect.flatMap(idOf(ticket), (id) => doing.sandbox("POST", `/tickets/${id}/${path}`, body))

const ofShop = ({ shop }: Doing, path = ""): string => `/shops/${encodeURIComponent(shop.id)}${path}`

const EDIT_FIELDS = [
  "service",
  "item",
  "description",
  "price_minor",
  "deposit_minor",
  "promised_at",
  "external_ref",
  "items_done"
] as const

/** What the shop does in its app (Specification, Sandbox). */
const appActs = actsOf("app", [
  {
    name: "create in app",
    endpoint: "POST /sandbox/shops/:id/tickets",
    description: "Creates a ticket in the app",
    takes: open(...TICKET_FIELDS),
    perform: (body: Fields, doing) => doing.sandbox("POST", ofShop(doing, "/tickets"), body)
  },
  {
    name: "edit ticket",
    endpoint: "PATCH /sandbox/tickets/:id",
    description: "Changes what was said of a ticket; items_done ticks items off by their id",
    takes: about("ticket", ...EDIT_FIELDS),
    perform: ({ ticket, ...body }: Fields, doing) =>
      Effect.flatMap(idOf(ticket), (id) => doing.sandbox("PATCH", `/tickets/${id}`, body))
  },
  {
    name: "propose quote",
    endpoint: "POST /sandbox/tickets/:id/quote",
    description: "Proposes a new price to the client",
    takes: about("ticket", "price_minor", "note"),
    perform: onTicket("quote")
  },
  {
    name: "announce delay",
    endpoint: "POST /sandbox/tickets/:id/delay",
    description: "Promises a later date",
    takes: about("ticket", "promised_at", "reason"),
    perform: onTicket("delay")
  },
  {
    name: "record part",
    endpoint: "POST /sandbox/tickets/:id/part",
    description: "Notes a part as ordered or received",
    takes: about("ticket", "label", "status", "expected_at"),
    perform: onTicket("part")
  },
  {
    name: "attach photo",
    endpoint: "POST /sandbox/tickets/:id/photo",
    description: "Puts a picture to the ticket",
    takes: about("ticket", "photo_url"),
    perform: onTicket("photo")
  }
])

const Url = Schema.Struct({ url: Schema.String })
const REPLAY_FIELDS = ["event_ids", "since", "until", "state", "dry_run"] as const

const SETTINGS = [
  "approved",
  "active",
  "api_enabled",
  "program",
  "next_number",
  "forbidden_words",
  "allowed_words",
  "languages"
] as const

const trustSecret = (doing: Doing, secret: unknown) => (typeof secret === "string" ? doing.trust(secret) : Effect.void)

/** What the shop's owner does with the shop, its keys and its webhook (Specification, Sandbox). */
const ownerActs = actsOf("owner", [
  {
    name: "change shop",
    endpoint: "PATCH /sandbox/shops/:id",
    description: `Changes the shop's settings: ${SETTINGS.join(", ")}`,
    takes: open(...SETTINGS),
    perform: (body: Fields, doing) => doing.sandbox("PATCH", ofShop(doing), body)
  },
  {
    name: "create key",
    endpoint: "POST /sandbox/shops/:id/keys",
    description: "Makes a key: a name, and scopes or the preset full or read",
    takes: open("name", "preset", "scopes"),
    perform: (body: Fields, doing) => doing.sandbox("POST", ofShop(doing, "/keys"), body)
  },
  {
    name: "list keys",
    endpoint: "GET /sandbox/shops/:id/keys",
    description: "Lists the shop's keys",
    takes: Nothing,
    perform: (_, doing) => doing.sandbox("GET", ofShop(doing, "/keys"))
  },
  {
    name: "revoke key",
    endpoint: "DELETE /sandbox/keys/:id",
    description: "Revokes a key",
    takes: Reference,
    perform: (key, doing) => Effect.flatMap(idOf(key), (id) => doing.sandbox("DELETE", `/keys/${id}`))
  },
  {
    name: "set webhook",
    endpoint: "PUT /sandbox/shops/:id/webhook",
    description: "Sets the webhook's address; a shop with `webhook` under `given` has one that leads to its receiver",
    takes: Url,
    perform: (body: Fields, doing) => doing.sandbox("PUT", ofShop(doing, "/webhook"), body)
  },
  {
    name: "get webhook",
    endpoint: "GET /sandbox/shops/:id/webhook",
    description: "Reads whether the webhook is on, and its failures in a row",
    takes: Nothing,
    perform: (_, doing) => doing.sandbox("GET", ofShop(doing, "/webhook"))
  },
  {
    name: "rotate secret",
    endpoint: "POST /sandbox/shops/:id/webhook/rotate",
    description: "Changes the webhook's secret; the receiver is told",
    takes: Nothing,
    perform: (_, doing) =>
      Effect.tap(doing.sandbox("POST", ofShop(doing, "/webhook/rotate"), {}), (answer) =>
        trustSecret(doing, (dataOf(answer) as { secret?: unknown } | undefined)?.secret)
      )
  },
  {
    name: "enable webhook",
    endpoint: "POST /sandbox/shops/:id/webhook/enable",
    description: "Turns the webhook on again",
    takes: Nothing,
    perform: (_, doing) => doing.sandbox("POST", ofShop(doing, "/webhook/enable"), {})
  },
  {
    name: "disable webhook",
    endpoint: "POST /sandbox/shops/:id/webhook/disable",
    description: "Turns the webhook off; events wait until it is on again",
    takes: Nothing,
    perform: (_, doing) => doing.sandbox("POST", ofShop(doing, "/webhook/disable"), {})
  },
  {
    name: "remove webhook",
    endpoint: "DELETE /sandbox/shops/:id/webhook",
    description: "Removes the webhook with its secrets and all deliveries that wait",
    takes: Nothing,
    perform: (_, doing) => doing.sandbox("DELETE", ofShop(doing, "/webhook"))
  },
  {
    name: "ping",
    endpoint: "POST /sandbox/shops/:id/webhook/ping",
    description: "Sends a ping, as the app's test button does",
    takes: Nothing,
    perform: (_, doing) => doing.sandbox("POST", ofShop(doing, "/webhook/ping"), {})
  },
  {
    name: "replay events",
    endpoint: "POST /sandbox/shops/:id/deliveries/replay",
    description: "Sends events again: event_ids, or since, until and state; dry_run only counts them",
    takes: open(...REPLAY_FIELDS),
    perform: (body: Fields, doing) => doing.sandbox("POST", ofShop(doing, "/deliveries/replay"), body)
  }
])

/** What the shop's people do. */
export const shopActs: ReadonlyArray<Act> = [...appActs, ...ownerActs]
