import { below } from "./Bug.mjs"

/** @typedef {import("./Bug.mjs").Bug} Bug */

const domain = below("core/src/domain")
const decision = below("core/src/decisions")
const service = below("core/src/services")
const http = below("core/src/http")
const memory = below("store-memory/src")
const postgres = below("store-pg/src")
const node = below("http-node/src")

/** Planted by somebody who had not seen the others, where none of them was. @type {ReadonlyArray<Bug>} */
const withFreshEyes = [
  http(
    "tracking/trackingRoutes",
    "tracking-uncounted",
    "requests for tracking pages count against no limit, so codes can be guessed",
    "yield* limits.take([useOf(request)], now)",
    "void useOf"
  ),
  domain(
    "TrackingView",
    "tracking-of-inactive-shop",
    "a deactivated shop's tickets still have pages",
    "shop.approved && shop.active && (",
    "shop.approved && ("
  ),
  domain(
    "TrackingView",
    "tracking-two-tickets",
    "a code of two tickets shows one of them",
    "shown.length === 1 ?",
    "shown.length >= 1 ?"
  ),
  domain(
    "TrackingView",
    "tracking-asks-for-money",
    "the page of a collected ticket says what remains to be paid",
    "isOpen(state) ? remaining(price_minor, deposit_minor) : null",
    "remaining(price_minor, deposit_minor)"
  ),
  decision(
    "importTickets",
    "import-of-tomorrow",
    "a ticket can be imported with dates of tomorrow",
    "if (at > now) yield",
    "if (at > now + 86400000) yield"
  ),
  decision(
    "importTickets",
    "import-unexplained-stamps",
    "a card can be imported whose stamps were spent on nothing",
    "(spent > 0 && redeemed === 0)",
    "spent < 0"
  ),
  decision(
    "eraseClient",
    "erasure-keeps-responses",
    "an erasure leaves what receivers responded, which may repeat the client's data",
    'if (attempt.head !== "") changes',
    'if (attempt.head === "never") changes'
  ),
  decision(
    "eraseClient",
    "erasure-keeps-messages",
    "an erased client's waiting notifications are still sent",
    'changes.add({ _tag: "MessageRemoved", row: { shop_id, id } })',
    "void id"
  ),
  memory(
    "MemoryCells",
    "cell-keeps-earlier-holder",
    "in a cell's copy, a number that changed hands has two holders",
    "if (holder !== undefined && holder.id !== id) memory",
    "if (holder === undefined) memory"
  ),
  memory(
    "MemoryCells",
    "cell-copied-too-early",
    "a cell counts as having the newest copy of an account when an older one arrives",
    "if (ofAccount?.get(cell) !== n) return false",
    "if (ofAccount === undefined) return false"
  ),
  service(
    "Cells",
    "cell-away-takes-others",
    "a cell that is away keeps keys of the other cells' shops from being found",
    "Effect.flatMap(router.keyByHash(hash), (cell) =>",
    "Effect.flatMap(Effect.zipRight(everywhere.all(({ reads }) => reads.shop(hash)), router.keyByHash(hash)), (cell) =>"
  )
]

/** Ten more, chosen from the specification and the contract, in rules that no other bug touches. @type {ReadonlyArray<Bug>} */
const withFresherEyes = [
  domain(
    "Delivery",
    "replay-until-inclusive",
    "a replay of a period includes the event of the very instant at which it ends",
    "event.created_at < until)",
    "event.created_at <= until)"
  ),
  domain(
    "Ticket",
    "by-number-newest-of-all",
    "a number means the newest ticket that has it, although an older one is still in the shop",
    "tickets.find((ticket) => isOpen(stateOf(ticket))) ?? tickets[0]",
    "tickets[0]"
  ),
  memory(
    "MemoryReads",
    "blocked-client-filters",
    "the tickets of a client who blocks the shop can be listed by the client's id",
    "  if (client_id !== undefined && clientOf(data, client_id) === null) return () => false\n",
    ""
  ),
  http(
    "respond",
    "response-may-be-cached",
    "a response with a client's data may be kept by a proxy and shown to somebody else",
    '"Cache-Control": "no-store",\n    "Request-Id": id,\n    "RateLimit-Limit"',
    '"Cache-Control": "max-age=60",\n    "Request-Id": id,\n    "RateLimit-Limit"'
  ),
  memory(
    "MemoryStore",
    "taken-code-loses-ticket",
    "a ticket whose tracking code was taken is lost, and its event is raised",
    "if (changes.some((change) => data.rejects(change))) continue\n        for (const change of changes) memory",
    "for (const change of changes) if (!data.rejects(change)) memory"
  ),
  service(
    "Tickets",
    "notified-again",
    "a repeated record of a notification raises its event again",
    "repeatable(run)(noting(caller, id, channel, limits), key, {",
    "repeatable(run)(noting(caller, id, channel, limits), key && undefined, {"
  ),
  domain(
    "PublicAddress",
    "embedded-address-called",
    "a webhook may be sent to a private IPv4 address that an IPv6 address embeds",
    'address.match(GLOBAL_UNICAST) && address.range() === "unicast" && ',
    "address.match(GLOBAL_UNICAST) && "
  ),
  http(
    "DuplicateMembers",
    "escaped-member-twice",
    "a member may be given twice if its name is escaped once",
    "level.at = JSON.parse(text.slice(at, end + 1)) as string",
    "level.at = text.slice(at + 1, end)"
  ),
  memory(
    "ShopData",
    "closure-out-of-order",
    "a ticket whose closure is due before that of an earlier one closes late, since a clock was set back",
    "    if (due_at < this.#latest) this.#isSorted = false\n",
    ""
  ),
  memory(
    "MemoryPersonalData",
    "erasure-misses-typed-number",
    "an erased client's number stays on tickets for which it was only typed",
    "      (ticket.client_phone !== null && phones.includes(ticket.client_phone)) ||\n",
    ""
  )
]

/** Ten of other classes: batches, SQL, retention, import, memory of limits, calendars, queries, transactions of one's own, a corrected clock. @type {ReadonlyArray<Bug>} */
const ofOtherClasses = [
  postgres(
    "commands/SaveStatements",
    "renewed-loses-lease",
    "a replay ends the lease of an attempt in flight, so the event is sent twice at once",
    "update workshop.delivery d set attempts_in_round = 0 from",
    "update workshop.delivery d set attempts_in_round = 0, lease_until = null from"
  ),
  postgres(
    "commands/SaveStatements",
    "put-after-remove-lost",
    "a row that a batch removes and writes again is removed",
    "    this.#removed.get(table)?.delete(key)\n",
    ""
  ),
  postgres(
    "reads/TicketList",
    "sync-begins-late",
    "a sync on Postgres leaves out the changes of the very instant asked for",
    "t.updated_at + 0 >= ",
    "t.updated_at + 0 > "
  ),
  postgres(
    "retention/Retention",
    "waiting-notification-removed",
    "a notification that is still to be sent is removed when it is old",
    "\n            and not exists (select from workshop.message m where m.shop_id = n.shop_id and m.id = n.id) limit",
    " limit"
  ),
  decision(
    "importTickets",
    "imported-number-again",
    "the next ticket gets a number that was imported",
    "if (row.number === undefined || row.number === null || row.number >= next_number) next",
    "if (row.number === undefined || row.number === null) next"
  ),
  http(
    "ExhaustedLimits",
    "given-back-not-forgotten",
    "a process refuses requests until the minute ends, although a use was given back",
    "for (const { policy, subject } of takes) known.get(policy)?.delete(subject)",
    "void takes"
  ),
  domain(
    "CalendarDay",
    "day-of-changed-clocks",
    "a day on which the clocks change ends an hour early or late",
    "return Math.max(changed, next_day * DAY_MS - new_offset)",
    "return unchanged"
  ),
  http(
    "RequestReader",
    "list-in-two-parts",
    "of a list that is given in two parameters, the last one alone counts",
    "lists.includes(name)) values[name] += ",
    "lists.includes(name)) values[name] = value || "
  ),
  service(
    "CommittedEvents",
    "announced-before-commit",
    "listeners get events of one's own transaction that is rolled back later",
    "if (open === null) return notifyAll()",
    "if (open === null || listeners.size > 0) return notifyAll()"
  ),
  decision(
    "repairClock",
    "repaired-ids-go-back",
    "after a wrong clock was corrected, new tickets are listed below older ones",
    "head.ids_made + (head.last_instant - now) * IDENTIFIERS_PER_MS",
    "head.ids_made"
  )
]

/** Ten more, chosen before it was known which of the last ones the machines miss. @type {ReadonlyArray<Bug>} */
const ofRulesLeftOver = [
  decision(
    "createTicket",
    "offer-to-the-linked",
    "an offer is made to the client who is linked already",
    "if (client_phone !== null && client_phone !== wanted?.phone)",
    "if (client_phone !== null)"
  ),
  decision(
    "actOnTicket",
    "quote-below-deposit",
    "a quote may be lower than the deposit",
    "price_minor < (record.deposit_minor ?? 0)",
    "price_minor < 0"
  ),
  decision(
    "actOnTicket",
    "received-part-ordered-now",
    "a part that is received counts as ordered at that instant",
    "ordered_at: known?.ordered_at ?? now",
    "ordered_at: now"
  ),
  domain(
    "TicketLifecycle",
    "reopen-forgets-notified",
    "a reopened ticket forgets that its client was notified",
    'clears: ["ready_at", "collected_at", "outcome"]',
    'clears: ["ready_at", "collected_at", "outcome", "notified_at"] as never'
  ),
  domain(
    "Webhook",
    "second-rotation-keeps-first",
    "after a second rotation within a day the first secret signs, and the second one does not",
    "previous_secret: webhook.secret,",
    "previous_secret: webhook.previous_secret ?? webhook.secret,"
  ),
  service(
    "ApiKeyCache",
    "expired-key-from-memory",
    "a key that expires is used from memory for half a minute more",
    "Math.min(now + api_key_cache_ms, found.key.expires_at ?? Number.POSITIVE_INFINITY)",
    "now + api_key_cache_ms"
  ),
  http(
    "workshopRoutes",
    "shop-refusals-swapped",
    "a deactivated shop that is not approved is refused as not approved",
    'if (!shop!.active) return { _tag: "AccountDeactivated" }',
    'if (!shop!.active && shop!.approved) return { _tag: "AccountDeactivated" }'
  ),
  service(
    "TicketQuery",
    "synced-until-stays",
    "a sync whose filter matches nothing does not advance",
    "(unread_from?.updated_at ?? last_change_at)",
    "(unread_from?.updated_at ?? last?.record.updated_at)"
  ),
  http(
    "Pipeline",
    "head-is-unknown",
    "HEAD is answered with 404",
    'request.method === "HEAD" ? "GET" : request.method',
    "request.method"
  ),
  postgres(
    "deliveries/ClaimStatements",
    "later-delivery-hides-earlier",
    "a delivery that is due later keeps an earlier one of its shop from being sent",
    "due_from = least(delivery_turn.due_from, excluded.due_from)",
    "due_from = excluded.due_from"
  )
]

/** Ten chosen from the sources alone, by somebody who had seen neither the tests nor the other bugs. @type {ReadonlyArray<Bug>} */
const fromSourcesAlone = [
  decision(
    "actOnTicket",
    "before-first-quote",
    "after a second accepted quote, before_minor is still the price before the first one",
    "before_minor: price_minor,",
    "before_minor: record.before_minor ?? price_minor,"
  ),
  postgres(
    "reads/PgReads",
    "one-other-too-few",
    "of a number's 100 other tickets, Postgres lists 99",
    "sql.literal(String(Limits.others_max + 1))",
    "sql.literal(String(Limits.others_max))"
  ),
  domain(
    "LimitWindow",
    "long-day-counts-anew",
    "in the first hour of a day of 25 hours, each use begins to count anew",
    "calendar_day: 26 * HOUR_MS",
    "calendar_day: 24 * HOUR_MS + window_clock_skew_ms"
  ),
  service(
    "Tickets",
    "notified-of-any-ticket",
    "a key used for one ticket's notified repeats its response for another ticket",
    "request: { id, channel }",
    "request: { channel }"
  ),
  postgres(
    "reads/TicketList",
    "created-before-misses-ahead",
    "created_before on Postgres leaves out tickets whose identifiers are ahead of their instants",
    "::bigint + $",
    "::bigint + 0 * $"
  ),
  domain(
    "Client",
    "half-an-initial",
    "an initial outside the basic plane is cut in half",
    '[...family_name][0] ?? ""',
    "family_name.slice(0, 1)"
  ),
  decision(
    "changeStatus",
    "earning-nothing-is-not-earning",
    "a ticket that earned no stamps because a ticket earned none earns some when it is collected",
    "record.stamps_earned || stamps !== null",
    "record.stamps_earned || (stamps ?? 0) > 0"
  ),
  domain(
    "Webhook",
    "off-one-step-at-a-time",
    "a webhook whose owner has had no warning turns off after two more failures",
    `reached.at(-1)
  if (step === undefined || reached.length <= webhook.steps_told) return { webhook: failing, notice: null }
  const off_reason = step.kind === "webhook_off" ? "failing" : null
  return { webhook: { ...failing, steps_told: reached.length, off_reason }`,
    `reached[webhook.steps_told]
  if (step === undefined) return { webhook: failing, notice: null }
  const off_reason = step.kind === "webhook_off" ? "failing" : null
  return { webhook: { ...failing, steps_told: webhook.steps_told + 1, off_reason }`
  ),
  decision(
    "shopSettings",
    "expired-key-is-active",
    "an expired key counts among the five active ones",
    "loaded.keys.filter((known) => isActive(known, moment.now))",
    "loaded.keys.filter(({ revoked_at }) => revoked_at === null)"
  ),
  node(
    "nodeRequest",
    "forwarded-by-the-caller",
    "behind a proxy, the caller's own X-Forwarded-For is believed",
    'split(",").at(-1)',
    'split(",").at(0)'
  )
]

/** Bugs that were planted to see whether the machines catch what nobody had thought of. */
export const freshBugs = [
  ...withFreshEyes,
  ...withFresherEyes,
  ...ofOtherClasses,
  ...ofRulesLeftOver,
  ...fromSourcesAlone
]
