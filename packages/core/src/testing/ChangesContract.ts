import { Effect, Either } from "effect"
import { type Command, withAuditEntry } from "../decisions/Command.js"
import { type IdempotencyKey, makeIdempotent } from "../decisions/Idempotency.js"
import * as Load from "../decisions/Load.js"
import type { Change } from "../decisions/ShopState.js"
import { changeShop, type ShopPatch } from "../decisions/shopSettings.js"
import { type ApiKeyRecord, hashKey } from "../domain/ApiKey.js"
import { type AuditEntry, NO_SHOP } from "../domain/AuditEntry.js"
import type { CallerId, EventId, KeyId, OfferId, ShopId, TicketId } from "../domain/Identifier.js"
import { DAY_MS } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import { blankCard, type CardRecord } from "../domain/LoyaltyCard.js"
import type { NotificationRecord } from "../domain/Notification.js"
import type { OfferRecord } from "../domain/Offer.js"
import type { ShopHead, ShopRecord } from "../domain/Shop.js"
import { type TicketRecord, ticketView } from "../domain/Ticket.js"
import type { Webhook } from "../domain/Webhook.js"
import { expectSame, makeCases, pluck } from "./ContractCase.js"
import {
  freshCaller,
  freshPhone,
  makeId,
  openAccount,
  openShop,
  putChanges,
  putTickets,
  readLoad,
  runCommand
} from "./Fixtures.js"
import { TEST_START } from "./SettableClock.js"

const AWKWARD = "Ourlet “d’été” — \u{1F9F5} 测试\n\ttab, 'quote', \\ back, NULL, {}, $1"
const LATER = TEST_START + 40 * DAY_MS + 1

const fullTicket = (shop: ShopRecord, id: TicketId): TicketRecord => ({
  shop_id: shop.id,
  id,
  number: 9999,
  state: "collected",
  outcome: "impossible",
  type: "prepare",
  service: AWKWARD,
  item: AWKWARD,
  description: AWKWARD.repeat(20),
  items: [
    { id: "one", label: AWKWARD, service: AWKWARD, price_minor: 1_000_000_000_000, done: true },
    { id: "two", label: "b", service: null, price_minor: null, done: false }
  ],
  price_minor: 1_000_000_000_000,
  deposit_minor: 999_999_999_999,
  before_minor: 0,
  quote: { status: "refused", price_minor: 7, note: AWKWARD, proposed_at: TEST_START, answered_at: LATER },
  promised_at: -62_135_596_800_000,
  delay: { previous_promised_at: 253_402_300_799_999, reason: AWKWARD, announced_at: LATER },
  part: { label: AWKWARD, status: "received", ordered_at: TEST_START, expected_at: LATER, received_at: LATER },
  client_id: null,
  client_phone: null,
  tracking_code: "ABCD-EFGH",
  photo_url: "https://p.example/1.jpg?a=1&b=%20",
  created_at: TEST_START,
  updated_at: LATER,
  ready_at: TEST_START + 1,
  collected_at: LATER,
  abandoned_at: LATER + 1,
  abandon_reason: "no_news",
  notified_at: TEST_START + 2,
  notified_channel: "whatsapp",
  created_via: "app",
  external_ref: AWKWARD.slice(0, 60),
  change_seq: 10,
  shop_changed_at: TEST_START + 3,
  stamps_earned: true,
  moves_per_day: { used: 3, resets_at: LATER },
  notifications_per_day: null,
  history: [
    { at: TEST_START, type: "ticket.created", by: "caller", caller_id: AWKWARD.slice(0, 80) },
    { at: LATER, type: "ticket.updated", changed: ["promised_at", "delay"], by: "client", caller_id: null }
  ]
})

/** Later reads and loads return each change of a shop's own data with every field unchanged. */
export const changesContract = makeCases({
  "TicketPut: a ticket with every field set, and one with none, are read back unchanged": function* ({ reads, shop }) {
    const full = fullTicket(shop, yield* makeId<TicketId>())
    yield* runCommand(putChanges(shop.id, { _tag: "TicketPut", row: full }))
    const [empty] = yield* runCommand(putTickets(shop.id, [{}]))
    for (const row of [full, empty!]) {
      yield* expectSame("by id", (yield* reads.ticket(shop.id, row.id)).tickets, [{ record: row, client: null }])
      yield* expectSame("by a load", yield* runCommand(readLoad(shop.id, Load.ticket(row.id))), {
        record: row,
        linked: null
      })
    }
    // A later change of a ticket cannot change these fields.
    const { id, number, tracking_code, created_via } = empty!
    const emptied = { ...full, id, number, tracking_code, created_via, change_seq: 11 }
    yield* runCommand(putChanges(shop.id, { _tag: "TicketPut", row: emptied }))
    yield* expectSame("put again", (yield* reads.ticket(shop.id, empty!.id)).tickets[0]?.record, emptied)
  },

  "HeadPut, ShopPut, WebhookPut: later reads return the changed shop": function* ({ reads, shop }) {
    const head: ShopHead = {
      shop_id: shop.id,
      next_number: 9999,
      change_seq: 2 ** 40,
      event_seq: 2 ** 41,
      last_recorded_at: TEST_START,
      id_counter: 7,
      tickets_per_hour: { used: 149, resets_at: LATER },
      tickets_per_day: { used: 600, resets_at: LATER + 1 }
    }
    const changed: ShopRecord = {
      ...shop,
      name: AWKWARD.trim(),
      tracking_base_url: null,
      approved: false,
      active: false,
      api_enabled: false,
      program: { active: false, name: null, stamps_required: 1, stamps_per_ticket: 0, reward_label: null },
      forbidden_words: ["zut", "à l’eau", "a,b", '"'],
      allowed_words: ["pas de chance", "a,b"],
      languages: ["ar", "it"]
    }
    const webhook: Webhook = {
      shop_id: shop.id,
      url: "https://shop.example.com/hook?a=b",
      secret: "whsec_a",
      previous_secret: "whsec_b",
      previous_until: LATER,
      off_reason: "failing",
      failures_in_row: 20,
      first_failure_at: TEST_START,
      failure_steps_notified: 1,
      generation: 2,
      enabled_at: TEST_START
    }
    yield* expectSame("no webhook at first", (yield* reads.shop(shop.id))?.webhook, null)
    yield* runCommand(
      putChanges(
        shop.id,
        { _tag: "HeadPut", row: head },
        { _tag: "ShopPut", row: changed },
        { _tag: "WebhookPut", row: webhook }
      )
    )
    const state = yield* reads.shop(shop.id)
    yield* expectSame("head", state?.head, head)
    yield* expectSame("shop", state?.shop, changed)
    yield* expectSame("webhook", state?.webhook, webhook)
    const webhookOn = {
      ...webhook,
      previous_secret: null,
      previous_until: null,
      off_reason: null,
      first_failure_at: null
    }
    yield* runCommand(putChanges(shop.id, { _tag: "WebhookPut", row: webhookOn }))
    yield* expectSame("webhook put again", (yield* reads.shop(shop.id))?.webhook, webhookOn)
  },

  "KeyPut: reads return the shop's keys, including revoked ones, oldest first": function* ({ reads, directory, shop }) {
    const key = (name: string, created_at: number, id: KeyId): ApiKeyRecord => ({
      id,
      shop_id: shop.id,
      name,
      scopes: ["tickets:read", "loyalty:write"],
      hash: hashKey(id),
      last_four: "abcd",
      created_at,
      revoked_at: null,
      expires_at: created_at === TEST_START ? LATER : null,
      last_used_at: null
    })
    const old = key(AWKWARD.trim(), TEST_START, yield* makeId<KeyId>())
    const young = key("till", TEST_START + 1, yield* makeId<KeyId>())
    yield* runCommand(putChanges(shop.id, { _tag: "KeyPut", row: old }))
    yield* runCommand(putChanges(shop.id, { _tag: "KeyPut", row: young }))
    yield* expectSame("both", yield* reads.keys(shop.id), [old, young])
    const revoked = { ...old, revoked_at: LATER }
    yield* runCommand(putChanges(shop.id, { _tag: "KeyPut", row: revoked }))
    yield* expectSame("read", yield* reads.keys(shop.id), [revoked, young])
    yield* expectSame("loaded", yield* runCommand(readLoad(shop.id, Load.keys)), [revoked, young])
    yield* expectSame("by hash", (yield* directory.keyByHash(old.hash))?.key, revoked)
  },

  "IdempotencyRecordPut: the same request with the same key gets the first response, and other requests do not":
    function* ({ shop }) {
      const caller_id = yield* freshCaller
      let ran = 0
      const command = (): Command<{ readonly ran: number; readonly text: string }> => ({
        shop_id: shop.id,
        loadRequests: [],
        run: () => Either.right({ result: { ran: ++ran, text: AWKWARD }, changes: [], limitStatuses: [] })
      })
      const makeRecord = (operation: string, key: string, request: unknown) =>
        runCommand(makeIdempotent({ caller_id, operation, key: key as IdempotencyKey, request }, command()))
      const first = yield* makeRecord("a", AWKWARD.slice(0, 40), 1)
      const again = yield* makeRecord("a", AWKWARD.slice(0, 40), 1)
      yield* expectSame("first", first.replayed, false)
      yield* expectSame("again", again, { data: first.data, replayed: true })
      const reused = yield* Effect.flip(makeRecord("a", AWKWARD.slice(0, 40), 2))
      yield* expectSame("for another request", reused._tag, "IdempotencyKeyReused")
      yield* expectSame("of another operation", (yield* makeRecord("b", AWKWARD.slice(0, 40), 1)).replayed, false)
      yield* expectSame("under another key", (yield* makeRecord("a", "k", 1)).replayed, false)
    },

  "EventRaised: reads return the shop's events in order, with their texts unchanged": function* ({ reads, shop }) {
    const other = yield* openShop()
    const [ticket] = yield* runCommand(putTickets(shop.id, [{}]))
    const raised = []
    for (const seq of [1, 2, 3]) {
      const body = `{"a" : ${seq},  "text":${JSON.stringify(AWKWARD)}}`
      const ticket_id = seq === 2 ? null : ticket!.id
      const type = seq === 2 ? "ping" : "ticket.created"
      const id = yield* makeId<EventId>()
      raised.push({ shop_id: shop.id, id, type, seq, ticket_id, created_at: TEST_START, body } as const)
    }
    yield* runCommand(putChanges(shop.id, ...raised.slice(0, 2).map((row) => ({ _tag: "EventRaised", row }) as const)))
    yield* runCommand(putChanges(shop.id, { _tag: "EventRaised", row: raised[2]! }))
    yield* expectSame("events", yield* reads.events(shop.id), raised)
    yield* expectSame("of this shop alone", yield* reads.events(other.id), [])
  }
})

/** Later reads and loads return each change of a client's data. */
export const clientChangesContract = makeCases({
  "LinkPut, CardPut: a shop reads the client with link and card, until the client blocks it": function* ({
    reads,
    shop
  }) {
    const { id } = yield* openAccount()
    const link = { shop_id: shop.id, client_id: id, known_at: TEST_START, blocked_at: null }
    const card: CardRecord = {
      shop_id: shop.id,
      client_id: id,
      balance: 12,
      lifetime: 30,
      rewards_redeemed: 4,
      updated_at: LATER
    }
    yield* runCommand(putChanges(shop.id, { _tag: "LinkPut", row: link }, { _tag: "CardPut", row: card }))
    yield* expectSame("read", (yield* reads.client(shop.id, { id }))?.card, card)
    yield* expectSame("loaded", (yield* runCommand(readLoad(shop.id, Load.client(id)))).card, card)
    yield* expectSame("the link", (yield* runCommand(readLoad(shop.id, Load.account(id)))).link, link)
    const blocked = { ...link, blocked_at: LATER }
    yield* runCommand(putChanges(shop.id, { _tag: "LinkPut", row: blocked }))
    yield* expectSame("the block", (yield* runCommand(readLoad(shop.id, Load.account(id)))).link, blocked)
    yield* expectSame(
      "unseen",
      (yield* Effect.flip(runCommand(readLoad(shop.id, Load.client(id)))))._tag,
      "ClientNotFound"
    )
  },

  "LinkRemoved: if one command puts and removes a row, the later change wins": function* ({ shop }) {
    const { id } = yield* openAccount()
    const link = { shop_id: shop.id, client_id: id, known_at: TEST_START, blocked_at: null }
    const [put, again, removed] = [
      { _tag: "LinkPut", row: link },
      { _tag: "LinkPut", row: { ...link, blocked_at: LATER } },
      { _tag: "LinkRemoved", row: link }
    ] as const
    const linkNow = Effect.map(runCommand(readLoad(shop.id, Load.account(id))), (account) => account.link)
    yield* runCommand(putChanges(shop.id, put, removed))
    yield* expectSame("put and removed", yield* linkNow, null)
    yield* runCommand(putChanges(shop.id, put))
    yield* runCommand(putChanges(shop.id, removed, again))
    yield* expectSame("removed and put", yield* linkNow, again.row)
    yield* runCommand(putChanges(shop.id, removed))
    yield* expectSame("removed", yield* linkNow, null)
  },

  "a ticket is loaded with its client and card, and without both if the client blocks the shop": function* ({ shop }) {
    const { id } = yield* openAccount({ given_name: "Sami", family_name: "Trabelsi", hide_name: true })
    const link = { shop_id: shop.id, client_id: id, known_at: TEST_START, blocked_at: null }
    yield* runCommand(putChanges(shop.id, { _tag: "LinkPut", row: link }))
    const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_id: id }]))
    const card = { shop_id: shop.id, client_id: id, balance: 0, lifetime: 0, rewards_redeemed: 0, updated_at: null }
    const { linked } = yield* runCommand(readLoad(shop.id, Load.ticket(ticket!.id)))
    yield* expectSame("linked", linked, { client: { id, display_name: "Sami T." }, card })
    yield* runCommand(putChanges(shop.id, { _tag: "LinkPut", row: { ...link, blocked_at: LATER } }))
    yield* expectSame("blocked", (yield* runCommand(readLoad(shop.id, Load.ticket(ticket!.id)))).linked, null)
  },

  "OfferPut: an offer is loaded with its ticket, the ticket's client, and the account that has the number now":
    function* (bench) {
      const { directory, shop } = bench
      const [holder, client] = [yield* openAccount(), yield* openAccount({ given_name: "Sami" })]
      const link = { shop_id: shop.id, client_id: client.id, known_at: TEST_START, blocked_at: null }
      yield* runCommand(putChanges(shop.id, { _tag: "LinkPut", row: link }))
      const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_id: client.id }]))
      const row: OfferRecord = {
        id: yield* makeId<OfferId>(),
        shop_id: shop.id,
        ticket_id: ticket!.id,
        phone: holder.phone,
        status: "open",
        created_at: TEST_START,
        answered_at: null
      }
      yield* runCommand(putChanges(shop.id, { _tag: "OfferPut", row }))
      const linked = {
        client: { id: client.id, display_name: "Sami Ben Salah" },
        card: blankCard(shop.id, client.id)
      }
      const expected = { record: row, ticket: ticket!, linked, holder, link: null }
      yield* expectSame("loaded", yield* runCommand(readLoad(shop.id, Load.offer(row.id))), expected)
      yield* expectSame("listed", yield* directory.offers(holder.id), [row])
      const answered = { ...row, status: "accepted", answered_at: LATER } as const
      yield* runCommand(putChanges(shop.id, { _tag: "OfferPut", row: answered }))
      yield* expectSame("answered", yield* directory.offers(holder.id), [answered])
      const unknownOffer = {
        ...row,
        id: yield* makeId<OfferId>(),
        phone: yield* freshPhone
      }
      yield* runCommand(putChanges(shop.id, { _tag: "OfferPut", row: unknownOffer }))
      const refusal = yield* Effect.flip(runCommand(readLoad(shop.id, Load.offer(unknownOffer.id))))
      yield* expectSame("to a number that nobody holds", refusal._tag, "OfferNotFound")
    },

  "StampLimitPut: used stamps are stored for each pair of caller and client": function* ({ shop }) {
    const { id: client_id } = yield* openAccount()
    const [caller_id, other] = [yield* freshCaller, yield* freshCaller]
    const row = { used: 7, resets_at: LATER }
    const readUses = (caller: CallerId) =>
      runCommand(readLoad(shop.id, Load.stampLimit({ caller_id: caller, client_id })))
    yield* expectSame("none yet", yield* readUses(caller_id), undefined)
    yield* runCommand(putChanges(shop.id, { _tag: "StampLimitPut", key: { caller_id, client_id }, row }))
    yield* expectSame("counted", yield* readUses(caller_id), row)
    yield* expectSame("another caller", yield* readUses(other), undefined)
    const more = { used: 20, resets_at: LATER + 1 }
    yield* runCommand(putChanges(shop.id, { _tag: "StampLimitPut", key: { caller_id, client_id }, row: more }))
    yield* expectSame("counted on", yield* readUses(caller_id), more)
  },

  "LedgerAppended, NotificationAppended: a client's inbox lists notifications oldest first": function* ({
    directory,
    shop
  }) {
    const { id: client_id } = yield* openAccount()
    const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_id }]))
    const appended: Array<NotificationRecord> = []
    for (const type of ["ticket.impossible", "ticket.ready"] as const) {
      const row: NotificationRecord = {
        id: yield* makeId<string>(),
        shop_id: shop.id,
        client_id,
        type,
        ticket: ticketView(ticket!, shop, null, null),
        ticket_id: ticket!.id,
        created_at: TEST_START + appended.length
      }
      const line = {
        shop_id: shop.id,
        id: row.id,
        client_id,
        kind: "stamps",
        stamps: 1,
        ticket_id: null,
        caller_id: yield* freshCaller,
        created_at: TEST_START
      } as const
      yield* runCommand(
        putChanges(shop.id, { _tag: "NotificationAppended", row }, { _tag: "LedgerAppended", row: line })
      )
      appended.push(row)
    }
    yield* expectSame("inbox", yield* directory.inbox(client_id), appended)
    yield* expectSame("of another client", yield* directory.inbox((yield* openAccount()).id), [])
  },

  "a client's inbox and offers contain only the latest rows of each shop, so that no shop can fill them": function* ({
    directory
  }) {
    const { id: client_id, phone } = yield* openAccount()
    const offersCount = Limits.client_list_of_shop_max + 3
    const wanted: Array<string> = []
    let created_at = TEST_START
    for (const count of [1, offersCount, 1]) {
      const shop = yield* openShop()
      const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_id }]))
      const { id: ticket_id } = ticket!
      const view = ticketView(ticket!, shop, null, null)
      const changes: Array<Change> = []
      for (let n = 0; n < count; n++) {
        const row = { id: yield* makeId<string>(), shop_id: shop.id, ticket_id, created_at: created_at++ }
        const status = n % 2 === 0 ? "accepted" : "blocked"
        const offer = { ...row, id: row.id as OfferId, phone, status, answered_at: TEST_START } as const
        const notification = { ...row, client_id, type: "ticket.ready", ticket: view } as const
        changes.push({ _tag: "OfferPut", row: offer }, { _tag: "NotificationAppended", row: notification })
      }
      yield* runCommand(putChanges(shop.id, ...changes))
      const ids = changes.flatMap(({ _tag, row }) => (_tag === "OfferPut" ? [row.id as string] : []))
      wanted.push(...ids.slice(-Limits.client_list_of_shop_max))
    }
    const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => pluck(rows, "id")
    yield* expectSame("inbox", idsOf(yield* directory.inbox(client_id)), wanted)
    yield* expectSame("offers", idsOf(yield* directory.offers(client_id)), wanted)
  },

  "a client's inbox and offers contain rows of a limited number of shops, those with the lowest ids": function* ({
    directory
  }) {
    const { id: client_id, phone } = yield* openAccount()
    const wanted: Array<readonly [ShopId, string]> = []
    for (let n = 0; n < Limits.client_list_shops_max + 2; n++) {
      const shop = yield* openShop()
      const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_id }]))
      const row = { id: yield* makeId<string>(), shop_id: shop.id, ticket_id: ticket!.id, created_at: TEST_START + n }
      const offer = { ...row, id: row.id as OfferId, phone, status: "open", answered_at: null } as const
      const notification = {
        ...row,
        client_id,
        type: "ticket.ready",
        ticket: ticketView(ticket!, shop, null, null)
      } as const
      yield* runCommand(
        putChanges(shop.id, { _tag: "OfferPut", row: offer }, { _tag: "NotificationAppended", row: notification })
      )
      wanted.push([shop.id, row.id])
    }
    const first = wanted.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, Limits.client_list_shops_max)
    const ids = wanted.flatMap((one) => (first.includes(one) ? [one[1]] : []))
    yield* expectSame("inbox", pluck(yield* directory.inbox(client_id), "id"), ids)
    yield* expectSame("offers", pluck(yield* directory.offers(client_id), "id"), ids)
  }
})

const PATCH = {} as ShopPatch

/** Runs a change of the shop without any changed field, and records it in the audit log. */
const recordAct = (shop_id: ShopId, note: string) =>
  runCommand(
    withAuditEntry(changeShop(shop_id, PATCH), "owner:amira", () => ({ act: "shop.changed", details: { note } }))
  )

const notesOf = (entries: ReadonlyArray<AuditEntry>) => entries.map(({ details }) => details.note)

/** The audit log. */
export const auditContract = makeCases({
  "an act is saved in the transaction of its command with every field, and acts are listed latest first": function* ({
    clock,
    auditLog: log,
    shop
  }) {
    const other = yield* openShop()
    for (const note of ["one", "two", "three"]) {
      clock.advance(1)
      yield* recordAct(shop.id, note)
    }
    yield* recordAct(other.id, "another shop's")
    const entries = yield* log.list(shop.id, null, 10)
    yield* expectSame("the shop's alone", notesOf(entries), ["three", "two", "one"])
    const [latest, ...earlier] = entries
    yield* expectSame("fields", latest, {
      shop_id: shop.id,
      id: latest?.id,
      created_at: clock.unsafeCurrentTimeMillis(),
      actor: "owner:amira",
      act: "shop.changed",
      details: { note: "three" }
    })
    yield* expectSame("a page", yield* log.list(shop.id, null, 1), [latest])
    yield* expectSame("the next", yield* log.list(shop.id, latest!.id, 5), earlier)
    yield* expectSame("none is left", yield* log.list(shop.id, earlier.at(-1)!.id, 5), [])
  },

  "a command that returns no act leaves no entry": function* ({ shop, auditLog }) {
    yield* runCommand(withAuditEntry(changeShop(shop.id, PATCH), "owner:amira", () => null))
    yield* expectSame("nothing", yield* auditLog.list(shop.id, null, 10), [])
  },

  "an act without a shop is listed among all acts, and not among those of a shop": function* ({
    clock,
    auditLog: log,
    shop
  }) {
    yield* recordAct(shop.id, "first")
    clock.advance(1)
    const entry: AuditEntry = {
      shop_id: NO_SHOP,
      id: yield* makeId<string>(),
      created_at: clock.unsafeCurrentTimeMillis(),
      actor: "cli:“ops” \u{1F9F5}",
      act: "client.exported",
      details: { client_id: yield* makeId<string>() }
    }
    yield* log.append(entry)
    // The entries of other cases are in the log too, some with later dates.
    const all = yield* log.list(null, null, 50)
    const ours = all.filter(({ id, shop_id }) => id === entry.id || shop_id === shop.id)
    yield* expectSame("all", [ours[0], ours[1]?.details.note, ours.length], [entry, "first", 2])
    yield* expectSame("the shop's", (yield* log.list(shop.id, null, 10)).length, 1)
  }
})
