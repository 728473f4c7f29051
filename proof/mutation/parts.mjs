/**
 * The files that are mutated, by part, and the tests that alone must kill their mutants. A part has few tests, which
 * keeps a run short, because a mutant in a table runs all tests of its part.
 * @type {Readonly<Record<string, { readonly files: ReadonlyArray<string>, readonly tests: ReadonlyArray<string> }>>}
 */
export const parts = {
  tickets: {
    files: ["domain/Money", "domain/Phone", "domain/TicketLifecycle"],
    tests: ["domain/Money", "domain/Phone", "domain/TicketLifecycle"]
  },
  limits: {
    files: ["domain/LimitWindow", "domain/LoyaltyCard", "domain/Offer"],
    tests: ["domain/LimitWindow", "domain/takeEach", "domain/LoyaltyCard", "domain/Offer"]
  },
  time: {
    files: ["domain/Cursor", "domain/Digest", "domain/Duration", "domain/Instant"],
    tests: ["domain/Cursor", "domain/Digest", "domain/Duration", "domain/Instant"]
  },
  clients: {
    files: ["domain/ApiKey", "domain/Client", "domain/Person", "domain/SecretText"],
    tests: ["domain/Client", "domain/Person", "domain/Scope", "domain/SecretText", "decisions/keys"]
  },
  texts: {
    files: ["domain/ErrorLine", "domain/InvalidInput", "domain/Text", "domain/WebLink", "domain/quoteShell"],
    tests: [
      "domain/ErrorLine",
      "domain/InvalidInput",
      "domain/Optional",
      "domain/Text",
      "domain/WebLink",
      "domain/quoteShell"
    ]
  },
  addresses: {
    files: ["domain/PublicAddress", "domain/WebhookAddress"],
    tests: ["domain/CountedAddress", "domain/PublicAddress", "domain/WebhookAddress"]
  },
  days: {
    files: ["domain/CalendarDay", "domain/Moment", "domain/TrackingCode"],
    tests: ["domain/CalendarDay", "domain/TrackingCode", "decisions/identifiers"]
  },
  words: { files: ["domain/WordList"], tests: ["domain/WordList"] },
  pages: {
    files: ["domain/TrackedTicket", "domain/TrackingView"],
    tests: ["domain/TrackingView", "http/trackingPages"]
  },
  events: {
    files: ["domain/Event", "domain/Notification", "domain/Signature"],
    tests: ["domain/Event", "domain/Notification", "domain/Resources", "domain/Signature", "decisions/webhooks"]
  },
  webhooks: {
    files: ["domain/Delivery", "domain/Webhook"],
    tests: [
      "domain/ClaimOrder",
      "domain/Delivery",
      "domain/Signature",
      "domain/Webhook",
      "decisions/webhooks",
      "deliveries/recordAttempt",
      "deliveries/retrySchedule"
    ]
  },
  shops: {
    files: ["domain/Shop", "domain/Ticket"],
    tests: [
      "domain/Resources",
      "domain/Shop",
      "domain/TicketNumber",
      "decisions/createTicket",
      "decisions/loyaltyEarning",
      "decisions/offers",
      "decisions/quotes",
      "decisions/ticketBounds",
      "decisions/ticketNews"
    ]
  },
  stamps: {
    files: ["decisions/giveStamps", "decisions/shopSettings", "decisions/webhookSettings"],
    tests: ["domain/Resources", "decisions/keys", "decisions/shopSettings", "decisions/stamps", "decisions/webhooks"]
  },
  moves: {
    files: ["decisions/changeStatus", "decisions/clientLink", "decisions/previewActs"],
    tests: [
      "domain/Resources",
      "decisions/closures",
      "decisions/loyaltyEarning",
      "decisions/movedFields",
      "decisions/offers",
      "decisions/stateMatrix",
      "decisions/ticketBounds",
      "decisions/previewActs"
    ]
  },
  acts: {
    files: ["decisions/actOnTicket", "decisions/editTicket", "decisions/quotes", "decisions/ticketProgress"],
    tests: ["domain/Resources", "decisions/closures", "decisions/quotes", "decisions/ticketNews"]
  },
  creates: {
    files: ["decisions/createTicket", "domain/ForbiddenWord"],
    tests: [
      "domain/DefaultWords",
      "domain/Resources",
      "decisions/createRefusals",
      "decisions/createTicket",
      "decisions/identifiers",
      "decisions/offers",
      "decisions/ticketLimits"
    ]
  },
  imports: {
    files: ["decisions/importTickets"],
    tests: ["domain/Resources", "decisions/importTickets", "decisions/importedTickets"]
  },
  clocks: {
    files: ["decisions/repairClock", "decisions/sendNotification"],
    tests: ["contract", "decisions/repairClock", "decisions/sendNotification"]
  },
  attempts: {
    files: ["decisions/recordAttempt", "decisions/replayDeliveries"],
    tests: ["deliveries/overtakenAttempts", "deliveries/recordAttempt", "deliveries/replay", "deliveries/webhookHealth"]
  },
  commands: {
    files: ["decisions/ChangeSet", "decisions/Command", "decisions/Idempotency", "domain/IdempotencyRecord"],
    tests: [
      "decisions/changeSet",
      "decisions/decide",
      "decisions/eraseClient",
      "decisions/idempotency",
      "decisions/identifiers",
      "decisions/stamps"
    ]
  },
  states: {
    files: ["decisions/Load", "decisions/ShopState"],
    tests: ["decisions/load", "decisions/shopState"]
  },
  erasures: {
    files: ["decisions/eraseClient", "domain/TicketChange"],
    tests: ["domain/TicketChange", "decisions/eraseClient"]
  },
  names: {
    files: [
      "domain/DefaultWords",
      "domain/Identifier",
      "domain/Language",
      "domain/NearestName",
      "domain/OptionChecks",
      "domain/RefusalOf"
    ],
    tests: [
      "domain/DefaultWords",
      "domain/Identifier",
      "domain/NearestName",
      "domain/OptionChecks",
      "domain/RefusalOf",
      "decisions/createRefusals"
    ]
  }
}

/**
 * The files of the domain and of the decisions that contain no rule, and are not mutated, each with the test or check
 * that covers it.
 * @type {Readonly<Record<string, string>>}
 */
export const tables = {
  "decisions/Refusal": "types only",
  "domain/AuditEntry":
    "the acts of the audit log: docs/operating.md has this table, and `npm run check:generated` compares it",
  "domain/EventType": "the types of events: domain/Event.test.ts",
  "domain/Limits": "limits: domain/Limits.test.ts"
}
