import { Effect, Either } from "effect"
import { answerOffer } from "../decisions/clientLink.js"
import { createKey, type KeyInput, revokeKey } from "../decisions/shopSettings.js"
import { hashKey, KEY_BYTES, makeKeyText } from "../domain/ApiKey.js"
import type { ClientId, KeyId, OfferId, ShopId, TicketId } from "../domain/Identifier.js"
import { HOUR_MS } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import { trackedTicket } from "../domain/TrackedTicket.js"
import { Entropy } from "../ports/Entropy.js"
import { Reads } from "../ports/StorePorts.js"
import { expectSame, makeCases, pluck } from "./ContractCase.js"
import {
  createTestTicket,
  freshPhone,
  makeId,
  openAccount,
  openShop,
  putChanges,
  putTickets,
  runCommand
} from "./Fixtures.js"
import { TEST_START } from "./SettableClock.js"

const KEY = { name: "Till", scopes: ["tickets:read"] } as unknown as KeyInput

const createWithPhone = (shop_id: ShopId, client_phone: string) =>
  runCommand(createTestTicket(shop_id, { service: "Hem", client_phone }))

/** The data that do not belong to a single shop (docs/how-it-is-built.md). */
export const directoryContract = makeCases({
  "a new shop has its settings, unused counters, no webhook and no keys": function* ({ reads }) {
    const shop = yield* openShop({
      ...{ tracking_base_url: null, decimals: 0, currency: "JPY" },
      ...{ forbidden_words: ["zut"], allowed_words: ["dick"], languages: ["de", "en"] }
    })
    const state = yield* reads.shop(shop.id)
    const { next_number, change_seq, event_seq } = state!.head
    yield* expectSame("settings", state?.shop, shop)
    yield* expectSame("head", [next_number, change_seq, event_seq], [1, 1, 1])
    yield* expectSame("webhook", state?.webhook, null)
    yield* expectSame("keys", yield* reads.keys(shop.id), [])
    yield* expectSame("no such shop", yield* reads.shop(yield* makeId<ShopId>()), null)
  },

  "hasShops is true once a shop exists, and at most one caller claims the first shop (docs/how-it-is-built.md)":
    function* ({ directory }) {
      yield* openShop()
      yield* expectSame("has shops", yield* directory.hasShops, true)
      const claims = yield* Effect.replicateEffect(directory.claimFirstShop, 4, { concurrency: "unbounded" })
      yield* expectSame("claimed at most once", claims.filter((isFirst) => isFirst).length <= 1, true)
      yield* expectSame("claimed", yield* directory.claimFirstShop, false)
    },

  "data marked as a sandbox's stay marked (Specification, Keys and scopes)": function* (bench) {
    const { directory } = bench
    yield* directory.markSandboxMade
    yield* directory.markSandboxMade
    yield* expectSame("marked", yield* directory.isSandboxMade, true)
  },

  "a ticket is found by its tracking code alone, without its private fields": function* ({ directory }) {
    const [shop, other] = [yield* openShop({ name: "Atelier Lac" }), yield* openShop({ active: false })]
    const row = {
      ...{ item: "Boots", description: "Careful: the left heel", client_phone: yield* freshPhone },
      ...{ price_minor: 45_000, deposit_minor: 10_000, notified_at: TEST_START, notified_channel: "sms" as const },
      part: { label: "Heel", status: "ordered", ordered_at: TEST_START, expected_at: null, received_at: null }
    } as const
    const [ticket] = yield* runCommand(putTickets(shop.id, [row, {}]))
    const { tracking_code } = ticket!
    yield* expectSame("found", yield* directory.tracked(tracking_code), [trackedTicket(ticket!, shop)])

    // Tracking codes are unique only within a shop.
    const [twin] = yield* runCommand(putTickets(other.id, [{}]))
    const same_code = { ...twin!, id: yield* makeId<TicketId>(), change_seq: twin!.change_seq + 1, tracking_code }
    yield* runCommand(putChanges(other.id, { _tag: "TicketPut", row: same_code }))
    const tickets = yield* directory.tracked(tracking_code)
    yield* expectSame("shops of both", tickets.map(({ shop }) => shop.id).toSorted(), [shop.id, other.id].toSorted())
    const fields = tickets.flatMap(({ ticket, shop }) => [...Object.keys(ticket), ...Object.keys(shop)])
    const isPrivate = (field: string) =>
      ["description", "client_phone", "client_id", "external_ref", "quote"].includes(field)
    yield* expectSame("private fields", fields.filter(isPrivate), [])
    yield* expectSame("an unknown code", yield* directory.tracked("0000-000U"), [])
  },

  "shops are listed by id, one page at a time": function* ({ directory }) {
    const shops = [yield* openShop(), yield* openShop({ name: "Atelier Port" }), yield* openShop({ active: false })]
    const byId = shops.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const [first, second, third] = byId
    const seen: Array<string> = []
    let after: ShopId | null = null
    for (;;) {
      const page: ReadonlyArray<{ readonly id: ShopId }> = yield* directory.listShops(after, 2)
      if (page.length > 2) seen.push("a page too long")
      seen.push(...pluck(page, "id"))
      if (page.length < 2) break
      after = page[1]!.id
    }
    const ids = byId.map(({ id }) => id as string)
    yield* expectSame(
      "every shop once, in order",
      seen.filter((id) => ids.includes(id)),
      ids
    )
    yield* expectSame("no shop twice", new Set(seen).size, seen.length)
    const rest = yield* directory.listShops(first!.id, 10_000)
    yield* expectSame(
      "settings",
      rest.filter(({ id }) => id === second!.id || id === third!.id),
      [second, third]
    )
    yield* expectSame(
      "after the last",
      yield* directory.listShops("ffffffff-ffff-ffff-ffff-ffffffffffff" as ShopId, 5),
      []
    )
  },

  "an account is read back unchanged": function* ({ directory }) {
    const account = yield* openAccount({ given_name: "Zoë", family_name: "O’Neill \u{1F9F5}", hide_name: true })
    yield* expectSame("account", yield* directory.account(account.id), account)
    yield* expectSame("no such account", yield* directory.account(yield* makeId<ClientId>()), null)
  },

  "accounts are listed by id, after a given id": function* ({ directory }) {
    const accounts = [yield* openAccount(), yield* openAccount(), yield* openAccount()]
    const [first, second, third] = accounts.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const ids = accounts.map(({ id }) => id)
    const listed = (yield* directory.listClients(null, 10_000)).filter(({ id }) => ids.includes(id))
    yield* expectSame("all", listed, [first, second, third])
    const rest = yield* directory.listClients(first!.id, 10_000)
    yield* expectSame(
      "after the first",
      rest.filter(({ id }) => ids.includes(id)),
      [second, third]
    )
    yield* expectSame("no more than asked for", (yield* directory.listClients(null, 1)).length, 1)
    yield* expectSame(
      "after the last",
      yield* directory.listClients("ffffffff-ffff-ffff-ffff-ffffffffffff" as ClientId, 5),
      []
    )
  },

  "accounts are found by their numbers": function* ({ directory }) {
    const [first, second] = [yield* openAccount(), yield* openAccount()]
    const holders = yield* directory.holders([second.phone, yield* freshPhone, first.phone])
    yield* expectSame("found", new Set(pluck(holders, "id")).size, 2)
    for (const account of [first, second])
      yield* expectSame(
        "account",
        holders.find(({ id }) => id === account.id),
        account
      )
    yield* expectSame("of no number", yield* directory.holders([]), [])
  },

  "a number has one holder, even if many accounts are opened with it at once": function* ({ directory }) {
    const first = yield* openAccount()
    const second = { ...first, id: yield* makeId<ClientId>() }
    yield* expectSame("taken", yield* directory.createClient(second), false)
    yield* expectSame("nothing opened", yield* directory.account(second.id), null)
    const phone = yield* freshPhone
    const wanting = yield* Effect.replicateEffect(
      Effect.map(makeId<ClientId>(), (id) => ({ ...first, id, phone })),
      10
    )
    const opened = yield* Effect.forEach(wanting, directory.createClient, { concurrency: "unbounded" })
    const there = yield* Effect.forEach(wanting, ({ id }) => directory.account(id))
    yield* expectSame("one opened", opened.filter(Boolean).length, 1)
    yield* expectSame(
      "and the one that is there",
      there.map((account) => account !== null),
      opened
    )
  },

  "a key is found by its hash, even if it is revoked, with the shop's present settings": function* ({
    clock,
    directory,
    shop
  }) {
    const text = makeKeyText("live", yield* Entropy.draw(KEY_BYTES))
    const hash = hashKey(text)
    yield* expectSame("no such key", yield* directory.keyByHash(hash), null)
    const record = yield* runCommand(createKey(shop.id, KEY, text))
    yield* expectSame("found", yield* directory.keyByHash(hash), { key: record, shop })
    const closed = { ...shop, active: false }
    yield* runCommand(putChanges(shop.id, { _tag: "ShopPut", row: closed }))
    yield* expectSame("its shop as it is now", yield* directory.keyByHash(hash), { key: record, shop: closed })
    clock.advance(5)
    const revoked = yield* runCommand(revokeKey(shop.id, record.id))
    yield* expectSame("revoked", yield* directory.keyByHash(hash), { key: revoked, shop: closed })
    yield* expectSame("when", revoked.revoked_at, clock.unsafeCurrentTimeMillis())
  },

  "the last use of a key is the latest recorded one, and neither an earlier record nor a command sets it back":
    function* ({ directory, shop }) {
      const [used, unused] = yield* Effect.replicateEffect(
        Effect.flatMap(Entropy.draw(KEY_BYTES), (bytes) =>
          runCommand(createKey(shop.id, KEY, makeKeyText("live", bytes)))
        ),
        2
      )
      const lastUses = Effect.map(
        Effect.flatMap(Reads, (reads) => reads.keys(shop.id)),
        (keys) => pluck(keys, "last_used_at")
      )
      yield* expectSame("none yet", yield* lastUses, [null, null])
      yield* directory.keysUsed(
        new Map([
          [used!.id, 1_000_000_000_000],
          [yield* makeId<KeyId>(), 5]
        ])
      )
      yield* directory.keysUsed(new Map([[used!.id, 999_999_999_999]]))
      yield* expectSame("the latest", yield* lastUses, [1_000_000_000_000, null])
      yield* runCommand(
        putChanges(shop.id, { _tag: "KeyPut", row: { ...used!, revoked_at: 7, last_used_at: 1_000_000_000_000 } })
      )
      yield* expectSame("also once revoked", yield* lastUses, [1_000_000_000_000, null])
      yield* directory.keysUsed(new Map([[unused!.id, 3]]))
      yield* expectSame("each its own", yield* lastUses, [1_000_000_000_000, 3])
      yield* directory.keysUsed(new Map())
    },

  "a shop has five active keys at most, even if ten are created at once": function* ({ reads, shop }) {
    const texts = yield* Effect.replicateEffect(
      Effect.map(Entropy.draw(KEY_BYTES), (bytes) => makeKeyText("live", bytes)),
      10
    )
    const outcomes = yield* Effect.forEach(texts, (text) => Effect.either(runCommand(createKey(shop.id, KEY, text))), {
      concurrency: "unbounded"
    })
    yield* expectSame("made", outcomes.filter(({ _tag }) => _tag === "Right").length, 5)
    yield* expectSame("kept", (yield* reads.keys(shop.id)).length, 5)
  },

  "a key that expired or was revoked does not count towards the five active ones": function* ({ clock, reads, shop }) {
    const expires_at = clock.unsafeCurrentTimeMillis() + HOUR_MS
    const create = (input: KeyInput = KEY) =>
      Effect.flatMap(Entropy.draw(KEY_BYTES), (bytes) =>
        runCommand(createKey(shop.id, input, makeKeyText("live", bytes)))
      )
    const isMade = Effect.map(Effect.either(create()), Either.isRight)
    const [revoked] = yield* Effect.replicateEffect(create(), 4)
    yield* create({ ...KEY, expires_at })
    clock.set(expires_at - 1)
    yield* expectSame("a millisecond before one expires", yield* isMade, false)
    clock.set(expires_at)
    yield* expectSame("once it has expired", yield* isMade, true)
    yield* expectSame("no second one", yield* isMade, false)
    yield* runCommand(revokeKey(shop.id, revoked!.id))
    yield* expectSame("once another was revoked", yield* isMade, true)
    yield* expectSame("all are kept", (yield* reads.keys(shop.id)).length, 7)
  },

  "shopOf returns the shop of a ticket, an offer or a key, and null for an unknown id": function* ({
    directory,
    shop
  }) {
    const other = yield* openShop()
    const holder = yield* openAccount()
    const key = yield* runCommand(createKey(other.id, KEY, makeKeyText("live", yield* Entropy.draw(KEY_BYTES))))
    const ticket = yield* createWithPhone(shop.id, holder.phone)
    const [offer] = yield* directory.offers(holder.id)
    const id = ticket.id as TicketId
    yield* expectSame("ticket", yield* directory.shopOf({ _tag: "Ticket", id }), shop.id)
    yield* expectSame("offer", yield* directory.shopOf({ _tag: "Offer", id: offer!.id }), shop.id)
    yield* expectSame("key", yield* directory.shopOf({ _tag: "Key", id: key.id }), other.id)
    yield* expectSame("no ticket", yield* directory.shopOf({ _tag: "Ticket", id: yield* makeId<TicketId>() }), null)
    yield* expectSame("no offer", yield* directory.shopOf({ _tag: "Offer", id: yield* makeId<OfferId>() }), null)
    yield* expectSame("no key", yield* directory.shopOf({ _tag: "Key", id: yield* makeId<KeyId>() }), null)
    yield* expectSame("an id of another kind", yield* directory.shopOf({ _tag: "Key", id: ticket.id as KeyId }), null)
  },

  "a client's offers are those of every shop to their number, oldest first": function* ({ clock, directory, shop }) {
    const other = yield* openShop()
    const holder = yield* openAccount()
    const tickets: Array<string> = []
    for (const { id } of [shop, other, shop]) {
      tickets.push((yield* createWithPhone(id, holder.phone)).id)
      clock.advance(1)
    }
    yield* createWithPhone(shop.id, (yield* openAccount()).phone)
    const offers = yield* directory.offers(holder.id)
    yield* expectSame("offers", pluck(offers, "ticket_id"), tickets)
    yield* expectSame("of nobody", yield* directory.offers(yield* makeId<ClientId>()), [])
    yield* runCommand(answerOffer(shop.id, offers[0]!.id, "accepted"))
    const statuses = pluck(yield* directory.offers(holder.id), "status")
    yield* expectSame("answered ones stay", statuses, ["accepted", "open", "open"])
  },

  "an offer made before its number had an account is shown to the client who opens one later": function* (bench) {
    const { directory, shop } = bench
    const phone = yield* freshPhone
    const ticket = yield* createWithPhone(shop.id, phone)
    const holder = yield* openAccount({ phone })
    yield* expectSame("offers", pluck(yield* directory.offers(holder.id), "ticket_id"), [ticket.id])
  },

  "a client who blocks a shop no longer sees its open offers, and sees those of others as before": function* (bench) {
    const { clock, directory, shop } = bench
    const other = yield* openShop()
    const holder = yield* openAccount()
    for (const { id } of [shop, shop, other]) {
      clock.advance(1)
      yield* createWithPhone(id, holder.phone)
    }
    const [first, , third] = yield* directory.offers(holder.id)
    yield* runCommand(answerOffer(shop.id, first!.id, "blocked"))
    yield* createWithPhone(shop.id, holder.phone)
    const remainingOffers = pluck(yield* directory.offers(holder.id), "id", "status")
    const expected = [
      [first!.id, "blocked"],
      [third!.id, "open"]
    ]
    yield* expectSame("left", remainingOffers, expected)
  },

  "`latest` returns the instant of the latest command of all shops (docs/how-it-is-built.md)": function* (bench) {
    const { clock, directory, shop } = bench
    yield* openShop()
    clock.set(4_000_000_000_000)
    yield* runCommand(putTickets(shop.id, [{}]))
    yield* expectSame("latest", yield* directory.latest, 4_000_000_000_000)
  },

  "`ahead` counts the shops with a command after an instant, and returns the first of their ids": function* (bench) {
    const { clock, directory } = bench
    const ids: Array<string> = []
    clock.set(5_000_000_000_000)
    for (let n = 0; n < ServiceLimits.data_ahead_named + 2; n++) {
      const { id } = yield* openShop()
      yield* runCommand(putTickets(id, [{}]))
      ids.push(id)
    }
    const first = ids.sort().slice(0, ServiceLimits.data_ahead_named)
    yield* expectSame("ahead", yield* directory.shopsAhead(4_999_999_999_999), { count: ids.length, first })
    yield* expectSame("none", yield* directory.shopsAhead(5_000_000_000_000), { count: 0, first: [] })
  },

  "a client's inbox has notifications of every shop": function* ({ clock, directory }) {
    const { id: client_id } = yield* openAccount()
    const appended: Array<string> = []
    for (const shop of [yield* openShop(), yield* openShop()]) {
      clock.advance(10)
      const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_id }]))
      const row = {
        id: yield* makeId<string>(),
        shop_id: shop.id,
        client_id,
        type: "ticket.ready",
        ticket: yield* createWithPhone(shop.id, "+21671000000"),
        ticket_id: ticket!.id,
        created_at: clock.unsafeCurrentTimeMillis()
      } as const
      yield* runCommand(putChanges(shop.id, { _tag: "NotificationAppended", row }))
      appended.push(row.id)
    }
    yield* expectSame("inbox", pluck(yield* directory.inbox(client_id), "id"), appended)
  }
})
