/** What the document says of an operation. */
export interface OperationWords {
  /** Its name for generated clients. */
  readonly id: string
  readonly summary: string
  readonly description: string
}

const said = (id: string, summary: string, description: string): OperationWords => ({ id, summary, description })

/** Every operation of the sandbox, by its group and its name there. */
export const operationWords: Readonly<Record<string, OperationWords>> = {
  "clock.read": said("readClock", "Read the clock", "The sandbox's present, and whether it stands still."),
  "clock.move": said(
    "moveClock",
    "Move or stop the clock",
    "Moves the clock forward, by `advance_ms` or to `set`, and answers once everything that is due by then has run, each thing at its own instant. `freeze` stops it or lets it run. It never goes back."
  ),
  "shops.open": said(
    "openShop",
    "Open a shop",
    "The shop is approved and active, with the API switched on and a key with full access, which is shown this once."
  ),
  "shops.read": said("readShop", "Read a shop's settings", "Everything that can be set of the shop."),
  "shops.change": said(
    "changeShop",
    "Change a shop's settings",
    "What is left out stays. `next_number` is the number of the shop's next ticket."
  ),
  "shops.audit": said("listActs", "List what the owner and the operator did", "Who did what, and when."),
  "keys.list": said("listKeys", "List a shop's keys", "Revoked keys too, without their texts."),
  "keys.create": said(
    "createKey",
    "Create a key",
    "With `scopes`, or with a `preset`: `full` has all rights, `read` those that change nothing. The text of the key is shown this once."
  ),
  "keys.revoke": said("revokeKey", "Revoke a key", "It stops working within a minute, for good."),
  "webhook.set": said(
    "setWebhook",
    "Set the webhook's address",
    "The first address makes a secret; another address keeps it. Loopback addresses and http are allowed here."
  ),
  "webhook.read": said(
    "readWebhook",
    "Read the webhook",
    "Its address, whether it is on, and how it has been failing."
  ),
  "webhook.rotate": said(
    "rotateWebhookSecret",
    "Change the secret",
    "Deliveries are signed with the new and the old secret for 24 hours."
  ),
  "webhook.ping": said("pingWebhook", "Send a ping", "Answers the event, which is delivered like any other."),
  "webhook.enable": said(
    "enableWebhook",
    "Turn the webhook on",
    "Releases the deliveries that waited while it was off."
  ),
  "webhook.disable": said("disableWebhook", "Turn the webhook off", "Events wait until it is on again."),
  "webhook.remove": said("removeWebhook", "Remove the webhook", "Its secrets and all deliveries that wait go with it."),
  "webhook.deliveries": said(
    "listDeliveries",
    "List the deliveries",
    "Every event that was to be sent, with what came of each attempt."
  ),
  "webhook.replay": said(
    "replayDeliveries",
    "Send events again",
    "Name the events, or give bounds and a state. The events go out under the ids that they had. `dry_run` only counts them."
  ),
  "webhook.notices": said("listNotices", "List what the owner was told", "Oldest first."),
  "webhook.events": said("listEvents", "List the events", "As they were sent, oldest first."),
  "people.register": said("registerClient", "Open a client's account", "An account belongs to no shop."),
  "people.visit": said("recordVisit", "Visit a shop's counter", "Makes the client known to the shop."),
  "people.offers": said(
    "listOffers",
    "List a client's offers",
    "The tickets that were offered to the client's number."
  ),
  "people.inbox": said("readInbox", "Read a client's inbox", "What the app told the client, oldest first."),
  "people.accept": said(
    "acceptOffer",
    "Accept an offer",
    "Makes the client known to the shop, and links the ticket unless it is abandoned or linked already."
  ),
  "people.block": said(
    "blockShop",
    "Block the shop of an offer",
    "For that shop, the client does not exist from then on."
  ),
  "appTickets.create": said(
    "createTicketInApp",
    "Create a ticket in the app",
    "As `POST /v1/tickets`, with `created_via` `app`. It needs no `Idempotency-Key`; the limits on tickets hold."
  ),
  "appTickets.quote": said(
    "proposeQuote",
    "Propose a new price",
    "Takes the place of a price that was proposed before."
  ),
  "appTickets.acceptQuote": said(
    "acceptQuote",
    "Accept the price",
    "As the client does; the ticket has the new price."
  ),
  "appTickets.refuseQuote": said("refuseQuote", "Refuse the price", "As the client does; the ticket keeps its price."),
  "appTickets.delay": said(
    "announceDelay",
    "Postpone the promised date",
    "The ticket keeps the date before, with the reason."
  ),
  "appTickets.part": said("recordPart", "Note a part", "As ordered, or as received."),
  "appTickets.edit": said(
    "editTicket",
    "Edit a ticket",
    "Changes what was said of a ticket: a field left out stays, null empties it. Raises ticket.updated."
  ),
  "appTickets.photo": said("attachPhoto", "Attach a photo", "An https address of a picture.")
}

/** The groups of operations, by name. */
export const groupWords: Readonly<Record<string, { readonly title: string; readonly description: string }>> = {
  clock: { title: "Clock", description: "The clock by which every rule goes" },
  shops: { title: "Shops", description: "What the operator does with shops" },
  keys: { title: "Keys", description: "What a shop's owner does with API keys" },
  webhook: { title: "Webhook", description: "What a shop's owner does with the webhook, and what it was sent" },
  people: { title: "Clients", description: "What clients do" },
  appTickets: { title: "Tickets", description: "What the shop does with tickets in its app" }
}

/** What `{id}` names, by the part of the path before it. */
export const pathIds: Readonly<Record<string, string>> = {
  shops: "The shop's id",
  keys: "The key's id",
  clients: "The client's id",
  offers: "The offer's id",
  tickets: "The ticket's id"
}

/** What a tester has to know before the first call, in Markdown. */
export const introduction = `Everything that the shop's app, its owner, its clients and the clock would do, so that a tester in any language can drive every rule over HTTP. A server answers here where it was started with \`--sandbox\`.

Answers wear the envelope of the API. No API key is asked; where the sandbox was given a token, send it as \`Authorization: Bearer <token>\`. These requests count against no limit.`
