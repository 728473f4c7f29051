import { Effect, Either } from "effect"
import type { Command } from "../decisions/Command.js"
import type { IdempotencyKey } from "../decisions/Idempotency.js"
import { idempotent } from "../decisions/Idempotency.js"
import * as Need from "../decisions/Load.js"
import { type ApiKeyRecord, keyHash } from "../domain/ApiKey.js"
import type { EventId, KeyId, TicketId } from "../domain/Identifier.js"
import { DAY_MS } from "../domain/Instant.js"
import type { ShopHead, ShopRecord } from "../domain/Shop.js"
import type { TicketRecord } from "../domain/Ticket.js"
import type { Webhook } from "../domain/Webhook.js"
import { cases, same } from "./ContractCase.js"
import { freshCaller, freshId, loaded, openShop, placing, putting, run } from "./Fixtures.js"
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
  notifications_per_day: null
})

/** Every kind of change of a shop's own is there again for the reads and the needs that ask for it, field by field. */
export const changesContract = cases({
  "TicketPut: every field, full and empty, is read back as it was put": function* ({ reads, shop }) {
    const full = fullTicket(shop, yield* freshId<TicketId>())
    yield* run(putting(shop.id, { _tag: "TicketPut", row: full }))
    const [empty] = yield* run(placing(shop.id, [{}]))
    for (const row of [full, empty!]) {
      yield* same("by id", (yield* reads.ticket(shop.id, row.id)).tickets, [{ record: row, client: null }])
      yield* same("by a need", yield* run(loaded(shop.id, Need.ticket(row.id))), { record: row, linked: null })
    }
    // What a ticket is given once, it keeps.
    const { id, number, tracking_code, created_via } = empty!
    const emptied = { ...full, id, number, tracking_code, created_via, change_seq: 11 }
    yield* run(putting(shop.id, { _tag: "TicketPut", row: emptied }))
    yield* same("put again", (yield* reads.ticket(shop.id, empty!.id)).tickets[0]?.record, emptied)
  },

  "HeadPut, ShopPut, WebhookPut: the shop as it is from now on": function* ({ reads, shop }) {
    const head: ShopHead = {
      shop_id: shop.id,
      next_number: 9999,
      change_seq: 2 ** 40,
      event_seq: 2 ** 41,
      last_instant: TEST_START,
      ids_made: 7,
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
      steps_told: 1,
      generation: 2,
      released_at: TEST_START
    }
    yield* same("no webhook at first", (yield* reads.shop(shop.id))?.webhook, null)
    yield* run(
      putting(
        shop.id,
        { _tag: "HeadPut", row: head },
        { _tag: "ShopPut", row: changed },
        { _tag: "WebhookPut", row: webhook }
      )
    )
    const state = yield* reads.shop(shop.id)
    yield* same("head", state?.head, head)
    yield* same("shop", state?.shop, changed)
    yield* same("webhook", state?.webhook, webhook)
    const on = { ...webhook, previous_secret: null, previous_until: null, off_reason: null, first_failure_at: null }
    yield* run(putting(shop.id, { _tag: "WebhookPut", row: on }))
    yield* same("webhook put again", (yield* reads.shop(shop.id))?.webhook, on)
  },

  "KeyPut: the shop's keys, oldest first, revoked ones too": function* ({ reads, directory, shop }) {
    const key = (name: string, created_at: number, id: KeyId): ApiKeyRecord => ({
      id,
      shop_id: shop.id,
      name,
      scopes: ["tickets:read", "loyalty:write"],
      hash: keyHash(id),
      last_four: "abcd",
      created_at,
      revoked_at: null,
      expires_at: created_at === TEST_START ? LATER : null,
      last_used_at: null
    })
    const old = key(AWKWARD.trim(), TEST_START, yield* freshId<KeyId>())
    const young = key("till", TEST_START + 1, yield* freshId<KeyId>())
    yield* run(putting(shop.id, { _tag: "KeyPut", row: old }))
    yield* run(putting(shop.id, { _tag: "KeyPut", row: young }))
    yield* same("both", yield* reads.keys(shop.id), [old, young])
    const revoked = { ...old, revoked_at: LATER }
    yield* run(putting(shop.id, { _tag: "KeyPut", row: revoked }))
    yield* same("read", yield* reads.keys(shop.id), [revoked, young])
    yield* same("needed", yield* run(loaded(shop.id, Need.keys)), [revoked, young])
    yield* same("by hash", (yield* directory.keyByHash(old.hash))?.key, revoked)
  },

  "RememberedPut: the first answer is given again until it is forgotten": function* ({ shop }) {
    const caller_id = yield* freshCaller
    let ran = 0
    const command = (): Command<{ readonly ran: number; readonly text: string }> => ({
      shop_id: shop.id,
      asks: [],
      run: () => Either.right({ answer: { ran: ++ran, text: AWKWARD }, changes: [], usages: [] })
    })
    const ask = (operation: string, key: string, request: unknown) =>
      run(idempotent({ caller_id, operation, key: key as IdempotencyKey, request }, command()))
    const first = yield* ask("a", AWKWARD.slice(0, 40), 1)
    const again = yield* ask("a", AWKWARD.slice(0, 40), 1)
    yield* same("first", first.replayed, false)
    yield* same("again", again, { data: first.data, replayed: true })
    const reused = yield* Effect.flip(ask("a", AWKWARD.slice(0, 40), 2))
    yield* same("for another request", reused._tag, "IdempotencyKeyReused")
    yield* same("of another operation", (yield* ask("b", AWKWARD.slice(0, 40), 1)).replayed, false)
    yield* same("under another key", (yield* ask("a", "k", 1)).replayed, false)
  },

  "EventRaised: the shop's events in their order, each text as it was frozen": function* ({ reads, shop }) {
    const other = yield* openShop()
    const [ticket] = yield* run(placing(shop.id, [{}]))
    const raised = []
    for (const seq of [1, 2, 3]) {
      const body = `{"a" : ${seq},  "text":${JSON.stringify(AWKWARD)}}`
      const ticket_id = seq === 2 ? null : ticket!.id
      const type = seq === 2 ? "ping" : "ticket.created"
      const id = yield* freshId<EventId>()
      raised.push({ shop_id: shop.id, id, type, seq, ticket_id, created_at: TEST_START, body } as const)
    }
    yield* run(putting(shop.id, ...raised.slice(0, 2).map((row) => ({ _tag: "EventRaised", row }) as const)))
    yield* run(putting(shop.id, { _tag: "EventRaised", row: raised[2]! }))
    yield* same("events", yield* reads.events(shop.id), raised)
    yield* same("of this shop alone", yield* reads.events(other.id), [])
  }
})
