import { Effect } from "effect"
import { answerOffer, recordVisit } from "../decisions/clientLink.js"
import { createTicket } from "../decisions/createTicket.js"
import { changeShop, type ShopPatch } from "../decisions/shopSettings.js"
import type { ClientId, ShopId } from "../domain/Identifier.js"
import { cases, each, same, ticketIds } from "./ContractCase.js"
import { freshId, freshPhone, openAccount, openShop, placing, putting, run, ticketInput } from "./Fixtures.js"
import { TEST_START } from "./SettableClock.js"

const NEW = { via: "api", found: [] } as const

const link = (shop_id: ShopId, client_id: ClientId, blocked_at: number | null = null) =>
  putting(shop_id, { _tag: "LinkPut", row: { shop_id, client_id, known_at: TEST_START, blocked_at } })

/** The clients that a shop sees: those who know it and do not block it, as they are now (Specification, Clients and loyalty). */
export const clientsContract = cases({
  "a client is seen by the shops that know them, by id and by number, with their tickets counted": function* (bench) {
    const { reads, shop } = bench

    const other = yield* openShop()
    const { id, phone } = yield* openAccount()
    yield* run(recordVisit(shop.id, id))
    const states = ["workshop", "ready", "impossible", "collected", "abandoned", "ready"] as const
    yield* run(placing(shop.id, [...states.map((state) => ({ state, client_id: id })), { client_phone: phone }]))
    const card = { shop_id: shop.id, client_id: id, balance: 0, lifetime: 0, rewards_redeemed: 0, updated_at: null }
    const expected = {
      client: { id, display_name: "Amira Ben Salah" },
      card,
      shop,
      tickets_open: 4,
      tickets_total: 6
    }
    yield* same("by id", yield* reads.client(shop.id, { id }), expected)
    yield* same("by number", yield* reads.client(shop.id, { phone }), expected)
    yield* same("to another shop by id", yield* reads.client(other.id, { id }), null)
    yield* same("to another shop by number", yield* reads.client(other.id, { phone }), null)
  },

  "a client who never was, one the shop does not know and one who blocks it are absent alike": function* (bench) {
    const { reads, shop } = bench

    const [blocking, unknown] = [yield* openAccount(), yield* openAccount()]
    yield* run(link(shop.id, blocking.id))
    const [ticket] = yield* run(placing(shop.id, [{ client_id: blocking.id, number: 5 }]))
    yield* run(link(shop.id, blocking.id, TEST_START + 1))
    const never = { id: yield* freshId<ClientId>(), phone: yield* freshPhone }
    for (const { id, phone } of [blocking, unknown, never]) {
      yield* same("by id", yield* reads.client(shop.id, { id }), null)
      yield* same("by number", yield* reads.client(shop.id, { phone }), null)
      for (const order of [
        { _tag: "Newest", after: null },
        { _tag: "Changes", since: 0, after: null }
      ] as const) {
        yield* same("tickets of theirs", (yield* reads.tickets(shop.id, { client_id: id }, order, 9)).tickets, [])
      }
    }
    const seen = [
      yield* reads.ticket(shop.id, ticket!.id),
      yield* reads.tickets(shop.id, {}, { _tag: "Newest", after: null }, 9),
      yield* reads.tickets(shop.id, {}, { _tag: "Changes", since: 0, after: null }, 9),
      yield* reads.ticketsOfNumber(shop.id, 5, 9)
    ]
    for (const { tickets } of seen) yield* same("no client on the ticket", each(tickets, "client"), [null])
  },

  "a block is one shop's: the others see the client as before": function* ({ reads, shop }) {
    const other = yield* openShop()
    const { id } = yield* openAccount()
    yield* run(link(shop.id, id))
    yield* run(link(other.id, id))
    yield* run(placing(other.id, [{ client_id: id }]))
    yield* run(link(shop.id, id, TEST_START))
    yield* same("here", yield* reads.client(shop.id, { id }), null)
    yield* same("there", (yield* reads.client(other.id, { id }))?.tickets_total, 1)
    const { tickets } = yield* reads.tickets(other.id, { client_id: id }, { _tag: "Newest", after: null }, 9)
    yield* same("there on the ticket", tickets[0]?.client?.id, id)
  },

  "a client who hides their name is abbreviated in every read": function* ({ reads, shop }) {
    const { id } = yield* openAccount({ given_name: "Zoë", family_name: "\u{1F9F5}écru", hide_name: true })
    yield* run(link(shop.id, id))
    const [ticket] = yield* run(placing(shop.id, [{ client_id: id, number: 8 }]))
    const name = "Zoë \u{1F9F5}."
    yield* same("client", (yield* reads.client(shop.id, { id }))?.client.display_name, name)
    yield* same("ticket", (yield* reads.ticket(shop.id, ticket!.id)).tickets[0]?.client?.display_name, name)
    const { tickets } = yield* reads.ticketsOfNumber(shop.id, 8, 1)
    yield* same("number", tickets[0]?.client?.display_name, name)
  },

  "settings apply on reading: every read carries the shop as it is now": function* ({ reads, shop }) {
    const { id } = yield* openAccount()
    yield* run(link(shop.id, id))
    const [ticket] = yield* run(placing(shop.id, [{ client_id: id, number: 2 }]))
    const { shop: now } = yield* run(
      changeShop(shop.id, { program: { active: false }, forbidden_words: ["zut"] } as unknown as ShopPatch)
    )
    yield* same("changed", [now.program.active, now.program.name, now.forbidden_words], [false, "Stamps", ["zut"]])
    yield* same("ticket", (yield* reads.ticket(shop.id, ticket!.id)).shop, now)
    yield* same("list", (yield* reads.tickets(shop.id, {}, { _tag: "Newest", after: null }, 1)).shop, now)
    yield* same("number", (yield* reads.ticketsOfNumber(shop.id, 2, 1)).shop, now)
    yield* same("client", (yield* reads.client(shop.id, { id }))?.shop, now)
  },

  "whoever holds the number accepts: known, linked and counted at once": function* ({ reads, directory, shop }) {
    const { id, phone } = yield* openAccount()
    const ticket = yield* run(createTicket(shop.id, ticketInput({ service: "Hem", client_phone: phone }), NEW))
    const [offer] = yield* directory.offers(id)
    yield* same("not known yet", yield* reads.client(shop.id, { id }), null)
    yield* run(answerOffer(shop.id, offer!.id, "accepted"))
    yield* same("known", (yield* reads.client(shop.id, { phone }))?.tickets_open, 1)
    const { tickets } = yield* reads.tickets(shop.id, { client_id: id }, { _tag: "Newest", after: null }, 9)
    yield* same("linked", ticketIds(tickets), [ticket.id])
    const refusal = yield* Effect.flip(run(answerOffer(shop.id, offer!.id, "blocked")))
    yield* same("answered once", refusal._tag, "OfferClosed")
  },

  "a ticket whose client blocks the shop goes to whoever accepts it next": function* ({ reads, directory, shop }) {
    const [blocking, accepting] = [yield* openAccount(), yield* openAccount()]
    yield* run(link(shop.id, blocking.id))
    const offered = ticketInput({ service: "Hem", client_id: blocking.id, client_phone: accepting.phone })
    const ticket = yield* run(createTicket(shop.id, offered, NEW))
    const [offer] = yield* directory.offers(accepting.id)
    yield* run(link(shop.id, blocking.id, TEST_START))
    yield* run(answerOffer(shop.id, offer!.id, "accepted"))
    const newest = { _tag: "Newest", after: null } as const
    for (const [client_id, expected] of [
      [accepting.id, [ticket.id]],
      [blocking.id, []]
    ] as const) {
      const { tickets } = yield* reads.tickets(shop.id, { client_id }, newest, 9)
      yield* same("tickets of theirs", ticketIds(tickets), expected)
    }
    yield* same("counted", (yield* reads.client(shop.id, { id: accepting.id }))?.tickets_total, 1)
    yield* run(link(shop.id, blocking.id))
    yield* same("no longer theirs", (yield* reads.client(shop.id, { id: blocking.id }))?.tickets_total, 0)
  }
})
