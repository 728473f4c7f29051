import { below } from "./Bug.mjs"

/** @typedef {import("./Bug.mjs").Bug} Bug */

const domain = below("core/src/domain")
const decision = below("core/src/decisions")
const service = below("core/src/services")
const http = below("core/src/http")
const memory = below("store-memory/src")
const postgres = below("store-pg/src")
const node = below("http-node/src")

/** @type {ReadonlyArray<Bug>} */
const ofTickets = [
  domain(
    "TicketLifecycle",
    "reopen-a-millisecond-late",
    "a collected ticket may be reopened 24 h and 1 ms later",
    "now <= ticket.collected_at + move.within_ms)",
    "now <= ticket.collected_at + move.within_ms + 1)"
  ),
  domain(
    "TicketLifecycle",
    "reopen-window-exclusive",
    "a collected ticket may not be reopened at exactly 24 h",
    "now <= ticket.collected_at + move.within_ms)",
    "now < ticket.collected_at + move.within_ms)"
  ),
  domain(
    "TicketLifecycle",
    "reopen-keeps-outcome",
    "a reopened ticket keeps its outcome",
    'clears: ["ready_at", "collected_at", "outcome"]',
    'clears: ["ready_at", "collected_at"]'
  ),
  domain(
    "TicketLifecycle",
    "reopen-keeps-ready-at",
    "a reopened ticket keeps the instant at which it was ready",
    'clears: ["ready_at", "collected_at", "outcome"]',
    'clears: ["collected_at", "outcome"]'
  ),
  domain(
    "TicketLifecycle",
    "impossible-earns",
    "an impossible ticket earns stamps when it is collected",
    '{ from: "impossible", ...collected, outcome: "impossible", earns_stamps: false }',
    '{ from: "impossible", ...collected, outcome: "impossible", earns_stamps: true }'
  ),
  domain(
    "TicketLifecycle",
    "collected-outcome-swapped",
    "an impossible ticket is collected as ready",
    '{ from: "impossible", ...collected, outcome: "impossible", earns_stamps: false }',
    '{ from: "impossible", ...collected, outcome: "ready", earns_stamps: false }'
  ),
  domain(
    "TicketLifecycle",
    "collection-earns-nothing",
    "a ticket without stamps earns none when it is collected",
    '{ from: "ready", ...collected, outcome: "ready", earns_stamps: true }',
    '{ from: "ready", ...collected, outcome: "ready", earns_stamps: false }'
  ),
  domain(
    "TicketLifecycle",
    "impossible-is-silent",
    "the client is not notified of an impossible ticket",
    'event: "ticket.impossible", notifies_client: true',
    'event: "ticket.impossible", notifies_client: false'
  ),
  domain(
    "TicketLifecycle",
    "same-state-is-invalid",
    "a ticket that is in the state already is refused as an invalid transition",
    "ticket.state === to ? new SameState(refused)",
    "ticket.state !== to ? new SameState(refused)"
  ),
  domain(
    "TicketLifecycle",
    "closure-counts-from-creation",
    "a ready ticket closes 60 days after the shop's last change, not after it was ready",
    'reason: "uncollected", counts_from: "ready_at"',
    'reason: "uncollected", counts_from: "shop_changed_at"'
  ),
  decision(
    "changeStatus",
    "closure-a-millisecond-early",
    "a ticket closes a millisecond before its 60 days are over",
    "moment.now < due.due_at) return",
    "moment.now < due.due_at - 1) return"
  ),
  decision(
    "changeStatus",
    "closure-dated-late",
    "a closure has the time at which it ran instead of its due time",
    "abandoned_at: due.due_at",
    "abandoned_at: moment.now + 1"
  ),
  decision(
    "changeStatus",
    "closure-wins-over-command",
    "a ticket closes although the shop changed it since",
    "if (due === null || moment.now < due.due_at) return toUnchangedDecision<Ticket | null>(null)",
    "if (due === null) return toUnchangedDecision<Ticket | null>(null)"
  ),
  decision(
    "changeStatus",
    "status-is-no-news",
    "a status does not count as news from the shop",
    "      shop_changed_at: now,\n",
    ""
  ),
  decision(
    "changeStatus",
    "earns-twice",
    "a ticket earns its stamps each time it is ready",
    "stamps_earned: record.stamps_earned || stamps !== null",
    "stamps_earned: false"
  ),
  decision(
    "changeStatus",
    "notified-at-not-set",
    "a ticket whose client was notified has no notified_at",
    '...(notifies && { notified_at: now, notified_channel: "app" as const }),',
    ""
  ),
  decision(
    "changeStatus",
    "reopened-without-from",
    "ticket.reopened does not say from which state",
    'move.event === "ticket.reopened" ? { ticket, from: record.state } : { ticket }',
    "({ ticket }) as never"
  ),
  decision(
    "changeStatus",
    "event-lost-on-collect",
    "a collected ticket raises no event",
    "    changes.raiseEvent(move.event, data, id)\n",
    '    if (move.event !== "ticket.collected") changes.raiseEvent(move.event, data, id)\n'
  ),
  decision(
    "changeStatus",
    "event-before-change",
    "ticket.ready carries the ticket as it was before",
    "const ticket = changes.putTicket(next, linked?.client ?? null)\n    const data",
    "changes.putTicket(next, linked?.client ?? null)\n    const ticket = changes.putSequencedTicket({ ...next, state: record.state, ...changes.nextChange }, linked?.client ?? null)\n    const data"
  ),
  decision(
    "actOnTicket",
    "client-postpones-closure",
    "a client's answer to a quote delays the closure",
    'act.actor === "shop" ? moment.now : record.shop_changed_at',
    "moment.now"
  ),
  decision(
    "actOnTicket",
    "abandoned-still-changes",
    "the shop can still record a notification for an abandoned ticket",
    'if (state === "abandoned") return',
    'if (state === "abandoned" && act.by !== "shop") return'
  ),
  decision(
    "quotes",
    "quote-answered-twice",
    "a quote can be accepted a second time",
    'if (quote?.status !== "proposed") return Either.left(refuseClosedQuote(record))',
    "if (quote === null) return Either.left(refuseClosedQuote(record))"
  ),
  decision(
    "quotes",
    "accepted-price-not-taken",
    "an accepted quote leaves the price as it was",
    "before_minor: price_minor, price_minor: quote.price_minor",
    "before_minor: price_minor"
  ),
  decision(
    "createTicket",
    "limit-counted-before-refusal",
    "a ticket that is refused for its words counts against the limit",
    "    if (forbidden !== null) return Either.left(new ForbiddenWord({ field: forbidden }))\n\n    const limitUses",
    "    if (forbidden !== null) return changes.updateHead(Either.match(takeUses(head, POLICIES, { bounds, now: moment.now, time_zone: shop.time_zone }), { onLeft: () => head, onRight: ({ windows }) => windows })).decided(null as never)\n\n    const limitUses"
  ),
  decision(
    "createTicket",
    "number-skipped",
    "a ticket's number is skipped at every fortieth change",
    "next_number: nextNumber(head.next_number), ...windows })",
    "next_number: head.change_seq % 40 === 0 ? nextNumber(nextNumber(head.next_number)) : nextNumber(head.next_number), ...windows })"
  ),
  decision(
    "createTicket",
    "hour-not-looked-at",
    "the hourly limit on tickets is not checked",
    "takeUses(head, POLICIES, { bounds,",
    "takeUses(head, POLICIES, { bounds: bounds && { ...bounds, tickets_per_hour: Number.POSITIVE_INFINITY },"
  ),
  decision(
    "createTicket",
    "offer-not-made",
    "a ticket with a phone number makes no offer",
    "if (client_phone !== null && client_phone !== client?.phone)",
    "if (client_phone !== null && client_phone === client?.phone)"
  ),
  decision(
    "createTicket",
    "linked-event-missing",
    "a ticket created for a known client raises no client.linked",
    'if (ticket.client !== null) changes.raiseEvent("client.linked"',
    'if (ticket.client !== null && ticket.number === 0) changes.raiseEvent("client.linked"'
  ),
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
    "a tracking code that two tickets have shows one of them",
    "visibleTickets.length === 1 ?",
    "visibleTickets.length >= 1 ?"
  ),
  domain(
    "TrackingView",
    "tracking-asks-for-money",
    "the page of a collected ticket shows the amount that remains to be paid",
    "isOpen(state) ? computeRemaining(price_minor, deposit_minor) : null",
    "computeRemaining(price_minor, deposit_minor)"
  ),
  decision(
    "importTickets",
    "import-of-tomorrow",
    "a ticket can be imported with dates of tomorrow",
    "if (at > now) yield",
    "if (at > now + 86400000) yield"
  ),
  domain(
    "Ticket",
    "by-number-newest-of-all",
    "a number means the newest ticket that has it, although an older one is still in the shop",
    "tickets.find((ticket) => isOpen(stateOf(ticket))) ?? tickets[0]",
    "tickets[0]"
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
    'key,\n        { caller_id: caller.caller_id, operation: "tickets.notified"',
    'key && undefined,\n        { caller_id: caller.caller_id, operation: "tickets.notified"'
  ),
  memory(
    "ShopData",
    "closure-out-of-order",
    "after a clock was set back, a ticket that is due to close before an earlier ticket closes late",
    "    if (due_at < this.#latest) this.#isSorted = false\n",
    ""
  ),
  postgres(
    "reads/TicketList",
    "sync-begins-late",
    "a sync on Postgres leaves out changes at exactly the requested instant",
    "t.updated_at + 0 >= ",
    "t.updated_at + 0 > "
  ),
  decision(
    "importTickets",
    "imported-number-again",
    "the next ticket gets a number that was imported",
    "if (row.number === undefined || row.number === null || row.number >= next_number) next",
    "if (row.number === undefined || row.number === null) next"
  ),
  domain(
    "CalendarDay",
    "day-of-changed-clocks",
    "a day on which the clocks change ends an hour early or late",
    "return Math.max(changed, next_day * DAY_MS - new_offset)",
    "return unchanged"
  ),
  decision(
    "repairClock",
    "repaired-ids-go-back",
    "after a wrong clock was corrected, new tickets are listed below older ones",
    "head.id_counter + (head.last_recorded_at - now) * IDENTIFIERS_PER_MS",
    "head.id_counter"
  ),
  decision(
    "createTicket",
    "offer-to-the-linked",
    "an offer is made to the client who is linked already",
    "if (client_phone !== null && client_phone !== client?.phone)",
    "if (client_phone !== null)"
  ),
  decision(
    "quotes",
    "quote-below-deposit",
    "a quote may be lower than the deposit",
    "price_minor < (record.deposit_minor ?? 0)",
    "price_minor < 0"
  ),
  decision(
    "ticketProgress",
    "received-part-ordered-now",
    "a part that is received counts as ordered at that instant",
    "ordered_at: current?.ordered_at ?? now",
    "ordered_at: now"
  ),
  domain(
    "TicketLifecycle",
    "reopen-forgets-notified",
    "a reopened ticket forgets that its client was notified",
    'clears: ["ready_at", "collected_at", "outcome"]',
    'clears: ["ready_at", "collected_at", "outcome", "notified_at"] as never'
  ),
  decision(
    "quotes",
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
  decision(
    "changeStatus",
    "earning-nothing-is-not-earning",
    "a ticket that was ready while tickets earned no stamps earns some when it is collected",
    "record.stamps_earned || stamps !== null",
    "record.stamps_earned || (stamps ?? 0) > 0"
  )
]

/** @type {ReadonlyArray<Bug>} */
const ofClients = [
  domain(
    "LoyaltyCard",
    "lifetime-falls",
    "a redeemed reward lowers the card's lifetime",
    "lifetime: card.lifetime + Math.max(0, entry.stamps)",
    "lifetime: card.lifetime + entry.stamps"
  ),
  domain(
    "LoyaltyCard",
    "redeem-not-counted",
    "a redeemed reward is not counted on the card",
    'entry.kind === "redeem" ? 1 : 0',
    'entry.kind === "stamps" ? 0 : 0'
  ),
  domain(
    "LoyaltyCard",
    "reward-rounded-up",
    "a card shows a reward for which a stamp is missing",
    "Math.floor(card.balance / program.stamps_required)",
    "Math.floor((card.balance + 1) / program.stamps_required)"
  ),
  decision(
    "giveStamps",
    "redeem-costs-less",
    "a reward costs a stamp less than the programme says",
    "stamps: -stamps_required",
    "stamps: 1 - stamps_required"
  ),
  domain(
    "LimitWindow",
    "stamps-limit-ignored",
    "more than 20 stamps a day can be given",
    "!hasRoom(window, policy, n, limit)",
    "!hasRoom(window, policy, 1, limit)"
  ),
  decision("giveStamps", "stamps-not-counted", "stamps are given without being counted", "n: count\n", "n: 1\n"),
  decision(
    "giveStamps",
    "stamps-while-off",
    "stamps can be added while the programme is off",
    "if (!shop.program.active) return Either.left(new LoyaltyOff())",
    ""
  ),
  domain(
    "Client",
    "block-is-seen",
    "a client who blocks the shop is still seen by it",
    "export const visibleLink = { known_at: true, blocked_at: false }",
    "export const visibleLink = { known_at: true }"
  ),
  domain(
    "Client",
    "hidden-name-shown",
    "a hidden name is shown in full",
    "hide_name ? ",
    "hide_name && family_name === given_name ? "
  ),
  decision(
    "clientLink",
    "block-forgets-nothing",
    "a client who blocks stays known",
    "blocked_at: now }\n      return changes.add",
    "blocked_at: null }\n      return changes.add"
  ),
  decision(
    "clientLink",
    "accept-does-not-link",
    "an accepted offer makes the client known and links nothing",
    'if (linked === null && client !== null && ticket.state !== "abandoned")',
    'if (linked !== null && client !== null && ticket.state !== "abandoned")'
  ),
  decision(
    "clientLink",
    "offer-answered-twice",
    "an offer can be answered a second time",
    'if (record.status !== "open" || isBlocked(link))',
    "if (isBlocked(link))"
  ),
  decision(
    "clientLink",
    "visit-lifts-block",
    "a visit lifts a block",
    "if (loaded.known.link !== null) return toUnchangedDecision<void>(undefined)",
    "if (loaded.known.link !== null && loaded.known.link.blocked_at === null) return toUnchangedDecision<void>(undefined)"
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
    "an erasure leaves receivers' stored responses, which may repeat the client's data",
    'if (attempt.head !== "") changes',
    'if (attempt.head === "never") changes'
  ),
  decision(
    "eraseClient",
    "erasure-keeps-notifications",
    "an erased client's waiting notifications are still sent",
    'changes.add({ _tag: "QueuedNotificationRemoved", row: { shop_id, id } })',
    "void id"
  ),
  memory(
    "MemoryCells",
    "cell-keeps-earlier-holder",
    "in a cell's copy, a phone number that moved to another account belongs to both accounts",
    "if (holder !== undefined && holder.id !== id) memory",
    "if (holder === undefined) memory"
  ),
  memory(
    "MemoryCells",
    "cell-copied-too-early",
    "a cell counts as having the newest copy of an account when an older one arrives",
    "if (ofAccount?.get(cell) !== change_number) return false",
    "if (ofAccount === undefined) return false"
  ),
  memory(
    "MemoryReads",
    "blocked-client-filters",
    "the tickets of a client who blocks the shop can be listed by the client's id",
    "  if (client_id !== undefined && clientOf(data, client_id) === null) return () => false\n",
    ""
  ),
  memory(
    "MemoryPersonalData",
    "erasure-misses-typed-number",
    "an erased client's number stays on tickets that have only the number",
    "      (ticket.client_phone !== null && phones.includes(ticket.client_phone)) ||\n",
    ""
  ),
  domain(
    "Client",
    "half-an-initial",
    "an initial outside the basic plane is cut in half",
    '[...family_name][0] ?? ""',
    "family_name.slice(0, 1)"
  )
]

/** @type {ReadonlyArray<Bug>} */
const ofRequests = [
  decision(
    "Idempotency",
    "answer-not-remembered",
    "a request whose idempotency key was used is executed again after a day",
    "moment.now + Limits.idempotency_memory_ms",
    "moment.now + Limits.idempotency_memory_ms / 720"
  ),
  decision(
    "Idempotency",
    "another-request-replayed",
    "a different request with the same key gets the first response",
    "storedRecord.fingerprint === requestFingerprint || storedRecord.fingerprint === ERASED_FINGERPRINT",
    "storedRecord.fingerprint !== null"
  ),
  decision(
    "Idempotency",
    "replay-not-flagged",
    "a replay says that it is not a replay",
    "as A, replayed: true }",
    "as A, replayed: false }"
  ),
  decision(
    "Idempotency",
    "memory-outside-commit",
    "the first response is not in the commit of its effect",
    'changes: [...changes, { _tag: "IdempotencyRecordPut", row }]',
    'changes: changes.length > 4 ? changes : [...changes, { _tag: "IdempotencyRecordPut", row }]'
  ),
  domain(
    "ApiKey",
    "revoked-key-works",
    "a revoked key keeps working",
    "  revoked_at === null && (expires_at === null || now < expires_at)",
    "  revoked_at !== 0 && (expires_at === null || now < expires_at)"
  ),
  decision(
    "shopSettings",
    "sixth-key",
    "a shop may have six active keys",
    "active.length >= Limits.active_keys_per_shop",
    "active.length > Limits.active_keys_per_shop"
  ),
  http(
    "Checks",
    "refused-request-not-given-back",
    "a request that got a 429 stays counted",
    "? Effect.as(giveBackLimits(limits, givenBackUses, reached), response)",
    "? Effect.succeed(response)"
  ),
  domain(
    "LimitWindow",
    "limit-off-by-one",
    "one more use is allowed than a limit says",
    "): boolean => window.used + n <= limit",
    "): boolean => window.used + n <= limit + 1"
  ),
  domain(
    "LimitWindow",
    "window-never-resets-at-its-end",
    "a window still counts at the instant at which it resets",
    "now < resets_at && resets_at - now",
    "now <= resets_at && resets_at - now"
  ),
  domain(
    "LimitWindow",
    "day-in-utc",
    "a day of a limit is a day of UTC",
    "return nextMidnight(now, time_zone)",
    "return (Math.floor(now / 86400000) + 1) * 86400000"
  ),
  domain(
    "LimitWindow",
    "plentiful-shown",
    "headers describe the limit with the most uses left",
    "a.remaining < b.remaining ||",
    "a.remaining > b.remaining ||"
  ),
  service(
    "TicketQuery",
    "sync-by-time-alone",
    "the pages of a sync continue by time alone, so changes of the same instant are lost",
    'order._tag === "Changes" ? String(record.change_seq)',
    'order._tag === "Changes" ? String(record.change_seq + 1)'
  ),
  service(
    "TicketQuery",
    "synced-until-too-late",
    "synced_until is a millisecond after the last change",
    "toIso(Math.min(syncedUntil, now))",
    "toIso(syncedUntil + 1)"
  ),
  service(
    "TicketQuery",
    "last-page-says-more",
    "a page that is exactly full says that there is more",
    "const isFull = found.length > limit",
    "const isFull = found.length >= limit"
  ),
  domain(
    "Cursor",
    "cursor-not-bound",
    "a cursor works in another shop's list",
    "JSON.stringify([shop_id, filters, position])",
    "JSON.stringify([filters, position])"
  ),
  memory(
    "MemoryReads",
    "page-repeats-its-end",
    "the next page begins with the last ticket of the previous page",
    "if (after > ids[middle]!) low",
    "if (after >= ids[middle]!) low"
  ),
  memory(
    "ShopData",
    "change-of-one-instant-lost",
    "a sync leaves out a change at exactly the requested instant",
    "entry.updated_at >= since && entry.change_seq > after",
    "entry.updated_at > since && entry.change_seq > after"
  ),
  service(
    "ApiKeyCache",
    "key-cached-too-long",
    "a process uses a cached key for two minutes",
    "Math.min(now + api_key_cache_ms,",
    "Math.min(now + 4 * api_key_cache_ms,"
  ),
  service(
    "ApiKeyCache",
    "key-cache-clock-back",
    "a cached key outlives a clock that steps back",
    "now < entry.read_at || now >= entry.until",
    "now >= entry.until"
  ),
  service(
    "ApiKeyCache",
    "lookup-revives-key",
    "a look-up that began before a revocation puts the key back into the cache",
    "if (invalidationsBefore === invalidations) {",
    "if (invalidationsBefore <= invalidations) {"
  ),
  service(
    "ApiKeyCache",
    "invalidation-lost",
    "a shop's keys stay cached after another process has changed the shop",
    "yield* Effect.forkScoped(Stream.runForEach(directory.changedShops, discard))",
    "void Stream"
  ),
  service(
    "cells/Cells",
    "unavailable-cell-takes-others",
    "while a cell is unavailable, keys of other cells' shops are not found",
    "Effect.flatMap(shopCells.cellOfKeyHash(hash), (cell) =>",
    "Effect.flatMap(Effect.zipRight(allCells.askEvery(({ reads }) => reads.shop(hash)), shopCells.cellOfKeyHash(hash)), (cell) =>"
  ),
  http(
    "respond",
    "response-may-be-cached",
    "a proxy may cache a response with a client's data and return it to somebody else",
    '"Cache-Control": "no-store"',
    '"Cache-Control": "max-age=60"'
  ),
  http(
    "DuplicateMembers",
    "escaped-member-twice",
    "a JSON member may be given twice if its name is escaped in one place",
    "level.at = JSON.parse(text.slice(at, end + 1)) as string",
    "level.at = text.slice(at + 1, end)"
  ),
  service(
    "CachedRateLimits",
    "given-back-not-forgotten",
    "a process refuses requests until the minute ends, although a use was given back",
    "for (const { policy, subject } of uses) rememberedWindows.get(policy)?.delete(subject)",
    "void uses"
  ),
  http(
    "RequestReader",
    "list-in-two-parts",
    "if a list is given in two parameters, only the last parameter counts",
    "lists.includes(name)) values[name] += ",
    "lists.includes(name)) values[name] = value || "
  ),
  service(
    "ApiKeyCache",
    "expired-key-from-memory",
    "a process uses a cached key for half a minute after it has expired",
    "Math.min(now + api_key_cache_ms, stored.key.expires_at ?? Number.POSITIVE_INFINITY)",
    "now + api_key_cache_ms"
  ),
  http(
    "workshopRoutes",
    "shop-refusals-swapped",
    "a deactivated shop that is not approved is refused as not approved",
    'if (!shop.active) return { _tag: "AccountDeactivated" }',
    'if (!shop.active && shop.approved) return { _tag: "AccountDeactivated" }'
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
    "HEAD gets a 404",
    'request.method === "HEAD" ? "GET" : request.method',
    "request.method"
  ),
  domain(
    "LimitWindow",
    "long-day-counts-anew",
    "in the first hour of a day of 25 hours, each use starts the count again",
    "calendar_day: 26 * HOUR_MS",
    "calendar_day: 24 * HOUR_MS + window_clock_skew_ms"
  ),
  decision(
    "shopSettings",
    "expired-key-is-active",
    "an expired key counts among the five active ones",
    "loaded.keys.filter((existingKey) => isActive(existingKey, moment.now))",
    "loaded.keys.filter(({ revoked_at }) => revoked_at === null)"
  ),
  node(
    "nodeRequest",
    "forwarded-by-the-caller",
    "behind a proxy, the caller's own X-Forwarded-For is trusted",
    'split(",").at(-1)',
    'split(",").at(0)'
  )
]

/** @type {ReadonlyArray<Bug>} */
const ofDeliveries = [
  decision(
    "ChangeSet",
    "event-not-delivered-while-off",
    "events raised while the webhook is off are never delivered",
    "if (this.#webhook !== null) this.add",
    "if (this.#webhook !== null && this.#webhook.off_reason === null) this.add"
  ),
  decision(
    "Command",
    "time-goes-back",
    "a shop's records go back with a clock that steps back",
    "recorded_at: Math.max(moment.now, state.head.last_recorded_at)",
    "recorded_at: moment.now"
  ),
  decision(
    "ChangeSet",
    "due-by-recorded-time",
    "a delivery is due by the shop's recorded time instead of the current clock",
    "firstDelivery(row, this.#webhook, now)",
    "firstDelivery(row, this.#webhook, recorded_at + 0 * now)"
  ),
  decision(
    "ChangeSet",
    "notice-due-by-recorded-time",
    "a notification is due by the shop's recorded time instead of the current clock",
    "attempts_made: 0, due_at: this.#moment.now }",
    "attempts_made: 0, due_at: this.#moment.recorded_at }"
  ),
  decision(
    "recordAttempt",
    "first-failure-forgotten",
    "the retry table starts again after every failure",
    "presentSchedule(delivery, webhook).attempts_since_reset + 1",
    "Math.min(1, presentSchedule(delivery, webhook).attempts_since_reset + 1)"
  ),
  decision(
    "recordAttempt",
    "gone-is-not-parked",
    "a delivery whose last attempt got a 410 is given up",
    "?? (isGone(sent) ? now : null)",
    "?? (isGone(sent) ? null : null)"
  ),
  decision(
    "recordAttempt",
    "other-address-judged",
    "an attempt to a previous address counts against the new address",
    "if (url !== webhook.url) return { webhook, notice: null }",
    "if (url === null) return { webhook, notice: null }"
  ),
  decision(
    "recordAttempt",
    "echo-counts-twice",
    "a record that is repeated because its response was lost counts twice",
    "token: delivery.token + 1\n    }\n    changes.add",
    "token: delivery.token\n    }\n    changes.add"
  ),
  decision(
    "recordAttempt",
    "late-outcome-swallowed",
    "the outcome of an attempt that a replay overtook is not logged",
    "if (webhook === null || attempts.some((attempt) => isSameAttempt(attempt, attempted)))",
    "if (webhook === null || attempts.length >= 0)"
  ),
  decision(
    "recordAttempt",
    "owner-not-told",
    "the owner is not notified that the webhook turned off",
    "if (notice !== null) changes.notifyOwner",
    'if (notice === "webhook_failing") changes.notifyOwner'
  ),
  decision(
    "recordAttempt",
    "health-unsaved",
    "a success does not end a series of failures",
    "if (after !== webhook) changes.add",
    "if (after.failures_in_row > 0) changes.add"
  ),
  decision(
    "Load",
    "unfenced-acknowledgement",
    "an attempt is recorded although another claim had taken it over",
    "row === undefined || row.token !== token ? null : row",
    "row === undefined || row.token < token ? null : row"
  ),
  domain(
    "Webhook",
    "old-secret-signs-on",
    "the previous secret signs for 25 hours",
    "previous_until: now + Limits.secret_overlap_ms",
    "previous_until: now + Limits.secret_overlap_ms + 3600000"
  ),
  domain(
    "Webhook",
    "off-too-early",
    "twenty failures turn a webhook off although the first is not 72 hours old",
    'failures: 20, age_ms: 72 * HOUR_MS, kind: "webhook_off"',
    'failures: 20, age_ms: 48 * HOUR_MS, kind: "webhook_off"'
  ),
  domain("Webhook", "gone-ignored", "a 410 does not turn the webhook off", "status === 410", "status === 411"),
  domain(
    "Webhook",
    "three-hundred-acknowledges",
    "a redirect counts as an acknowledgement",
    "{ first: 200, last: 299 }",
    "{ first: 200, last: 399 }"
  ),
  domain(
    "Delivery",
    "released-starts-where-it-was",
    "released deliveries keep their number of attempts",
    "delivery.generation < webhook.generation ? { attempts_since_reset: 0, due_at: webhook.enabled_at } : delivery",
    "delivery"
  ),
  domain(
    "Delivery",
    "retry-early",
    "a retry comes a second early",
    ": ended_at + delay_ms +",
    ": ended_at - 1000 + delay_ms +"
  ),
  domain(
    "Delivery",
    "seven-attempts",
    "a delivery is given up after seven attempts",
    "const delay_ms = retryDelays_ms[attempts_made - 1]",
    "const delay_ms = attempts_made === 7 ? undefined : retryDelays_ms[attempts_made - 1]"
  ),
  domain(
    "Signature",
    "signed-with-milliseconds",
    "a signature has its time in milliseconds",
    "Math.floor(at / SECOND_MS)",
    "Math.floor(at / 1)"
  ),
  domain(
    "Signature",
    "old-secret-first",
    "only the previous secret signs in its last day",
    "[secret, previous_secret] : [secret]",
    "[previous_secret] : [secret]"
  ),
  decision(
    "webhookSettings",
    "address-keeps-failures",
    "a new address inherits the failures of the previous address",
    "loaded.webhook?.url === url ? current : recordSuccess({ ...current, url })",
    "loaded.webhook?.url === url ? current : current"
  ),
  decision(
    "webhookSettings",
    "release-forgets",
    "turning a webhook on releases no deliveries",
    "off_reason: null, generation: webhook.generation + 1, enabled_at: now",
    "off_reason: null, enabled_at: now"
  ),
  decision(
    "webhookSettings",
    "address-change-new-secret",
    "a new address gets a new secret",
    "recordSuccess({ ...current, url })), url }",
    "recordSuccess({ ...current, url, secret })), url }"
  ),
  decision(
    "replayDeliveries",
    "replay-swallows-attempt",
    "a replay takes over an attempt in flight, whose outcome is lost",
    'if (is_in_flight) return { _tag: "DeliveryRenewed", row: { ...delivery, attempts_since_reset: 0 } }',
    "void is_in_flight"
  ),
  decision(
    "replayDeliveries",
    "replay-overtakes-live",
    "replayed deliveries are sent before live ones",
    "is_replay: true,",
    "is_replay: false,"
  ),
  decision(
    "replayDeliveries",
    "replay-stops-one-short",
    "a replay leaves out the last event",
    "after_seq >= record.until_seq - 1",
    "after_seq >= record.until_seq - 2"
  ),
  memory(
    "ShopDeliveryQueue",
    "two-of-a-ticket",
    "two deliveries of a ticket go out at once",
    "    ticketQueue.inFlight = event_id\n    this.#updateEntries(ticketQueue)\n    return claimed",
    "    this.#updateEntries(ticketQueue)\n    return claimed"
  ),
  memory(
    "ShopDeliveryQueue",
    "five-in-flight",
    "a shop may have five deliveries in flight",
    "this.#inFlight.size < Limits.deliveries_in_flight_per_shop",
    "this.#inFlight.size <= Limits.deliveries_in_flight_per_shop"
  ),
  memory(
    "ShopDeliveryQueue",
    "claim-without-token",
    "a claim does not raise the delivery's token",
    "const claimed = { ...row, token: row.token + 1 }",
    "const claimed = { ...row }"
  ),
  memory(
    "ShopDeliveryQueue",
    "lease-never-ends",
    "the delivery of a process that died is never made again",
    ".filter(([, until]) => until <= now)",
    ".filter(([, until]) => until < 0n * now)"
  ),
  memory(
    "ShopDeliveryQueue",
    "ticket-out-of-order",
    "the newest event of a ticket goes first",
    "untried[at - 1]!.seq > waiting.seq) at--",
    "untried[at - 1]!.seq < waiting.seq) at--"
  ),
  memory(
    "ShopTurns",
    "one-shop-starves-all",
    "a shop that was served stays first in the queue",
    "    this.#served.set(shop_id, turn)",
    "    void shop_id\n    void turn"
  ),
  service(
    "background/DeliveryAttempt",
    "recorded-before-sent",
    "a dispatcher does not retry the record of a delivery's result",
    "Effect.catchAll(() => Effect.delay(Effect.retry(recording, RECORD_RETRIES), FIRST_RETRY)),",
    'Effect.catchAll(() => Effect.succeed({ result: "superseded" as const, limitStatuses: [] })),'
  ),
  service(
    "background/Dispatcher",
    "nobody-reclaims",
    "no process reclaims the deliveries of a dead process",
    "const reclaimThenWait = Effect.zipRight(logFailure(deliveries.reclaim),",
    "const reclaimThenWait = Effect.zipRight(Effect.void,"
  ),
  service(
    "background/DeliveryAttempt",
    "superseded-outcome-dropped",
    "the outcome of an attempt whose claim was taken over is dropped",
    'recorded.result.outcome === "superseded"',
    'recorded.result.outcome === ("never" as never)'
  ),
  decision(
    "sendNotification",
    "notification-forgotten-when-begun",
    "a notification is removed as soon as its first attempt begins",
    'changes.add({ _tag: "QueuedNotificationPut", row: { ...notification, attempts_made: attempts_made + 1, due_at } })',
    "void due_at\n    removed(changes, notification)"
  ),
  decision(
    "recordAttempt",
    "late-attempt-taken-for-another",
    "an attempt that was overtaken is dropped if the other began at the same instant",
    "logged.status === sent.status &&",
    "(logged.status === sent.status || true) &&"
  ),
  decision(
    "recordAttempt",
    "late-failure-has-a-number",
    "an attempt that was overtaken uses up a number, so the delivery's last attempt is not its last",
    "const n = Math.max(1, ...attempts",
    "const n = 1 + Math.max(0, ...attempts"
  ),
  decision(
    "ShopState",
    "late-failure-is-last",
    "the failure of an attempt that was overtaken makes a delivery that arrived one given up",
    "ofEvent.splice(ofEvent.findLastIndex((attempt) => attemptOrder(attempt, row) <= 0) + 1, 0, row)",
    "ofEvent.push(row)"
  ),
  decision(
    "ShopState",
    "late-failure-by-the-clock",
    "the failure of an attempt that a fast clock says began later makes a delivery that arrived one given up",
    "  Order.mapInput(Order.boolean, acknowledges),\n",
    ""
  ),
  service(
    "background/DeliveryAttempt",
    "signed-at-claim",
    "a delivery is signed with the secrets of two days ago",
    "signingSecrets(webhook, started_at)",
    "signingSecrets(webhook, started_at - 172800000)"
  ),
  service(
    "background/NotificationSender",
    "notification-recorded-as-told",
    "a notification that failed counts as delivered",
    "recordNotification(attempted, Exit.isSuccess(exit))",
    "recordNotification(attempted, Exit.isSuccess(exit) || true)"
  ),
  domain(
    "Delivery",
    "replay-until-inclusive",
    "a replay of a period includes an event of exactly the instant at which the period ends",
    "event.created_at < until)",
    "event.created_at <= until)"
  ),
  domain(
    "PublicAddress",
    "embedded-address-called",
    "a webhook may be sent to a private IPv4 address that an IPv6 address embeds",
    'address.match(GLOBAL_UNICAST) && address.range() === "unicast" && ',
    "address.match(GLOBAL_UNICAST) && "
  ),
  postgres(
    "commands/SaveStatements",
    "renewed-loses-lease",
    "a replay ends the lease of an attempt in flight, so the event is sent twice at once",
    "update workshop.delivery d set attempts_since_reset = 0 from",
    "update workshop.delivery d set attempts_since_reset = 0, lease_until = null from"
  ),
  postgres(
    "commands/SaveStatements",
    "put-after-remove-lost",
    "a row that a batch removes and writes again is removed",
    "    this.#removed.get(table)?.delete(key)\n",
    ""
  ),
  postgres(
    "retention/Retention",
    "waiting-notification-removed",
    "an old notification that is still to be sent is removed",
    "\n            and not exists (select from workshop.queued_notification m where m.shop_id = n.shop_id and m.id = n.id) limit",
    " limit"
  ),
  service(
    "CommittedEvents",
    "announced-before-commit",
    "listeners get the events of a caller's transaction that is rolled back later",
    "if (open === null) return notifyAll()",
    "if (open === null || listeners.size > 0) return notifyAll()"
  ),
  domain(
    "Webhook",
    "second-rotation-keeps-first",
    "after a second rotation within a day the first secret signs, and the second one does not",
    "previous_secret: webhook.secret,",
    "previous_secret: webhook.previous_secret ?? webhook.secret,"
  ),
  postgres(
    "deliveries/ClaimStatements",
    "later-delivery-hides-earlier",
    "a delivery that is due later keeps an earlier one of its shop from being sent",
    "due_from = least(delivery_queue.due_from, excluded.due_from)",
    "due_from = excluded.due_from"
  ),
  domain(
    "Webhook",
    "off-one-step-at-a-time",
    "a webhook whose owner was not warned turns off after two more failures",
    `steps.at(-1)
  if (step === undefined || steps.length <= webhook.failure_steps_notified) return { webhook: failing, notice: null }
  const off_reason = step.kind === "webhook_off" ? "failing" : null
  return { webhook: { ...failing, failure_steps_notified: steps.length, off_reason }`,
    `steps[webhook.failure_steps_notified]
  if (step === undefined) return { webhook: failing, notice: null }
  const off_reason = step.kind === "webhook_off" ? "failing" : null
  return { webhook: { ...failing, failure_steps_notified: webhook.failure_steps_notified + 1, off_reason }`
  )
]

/** Every bug that can be planted. */
export const bugs = [...ofTickets, ...ofClients, ...ofRequests, ...ofDeliveries]
