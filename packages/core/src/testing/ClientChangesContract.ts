import { Effect } from "effect"
import type { Change } from "../decisions/Change.js"
import * as Need from "../decisions/Load.js"
import type { KeyId, OfferId } from "../domain/Identifier.js"
import { DAY_MS } from "../domain/Instant.js"
import { Limits } from "../domain/Limits.js"
import { blankCard, type CardRecord } from "../domain/LoyaltyCard.js"
import type { NotificationRecord } from "../domain/Notification.js"
import type { OfferRecord } from "../domain/Offer.js"
import { ticketView } from "../domain/Ticket.js"
import { cases, each, same } from "./ContractCase.js"
import { freshCaller, freshId, freshPhone, loaded, openAccount, openShop, placing, putting, run } from "./Fixtures.js"
import { TEST_START } from "./SettableClock.js"

const LATER = TEST_START + 40 * DAY_MS + 1

/** Every kind of change that tells of a client is there again for the reads and the needs that ask for it. */
export const clientChangesContract = cases({
  "LinkPut, CardPut: the client as the shop knows them, with the card": function* ({ reads, shop }) {
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
    yield* run(putting(shop.id, { _tag: "LinkPut", row: link }, { _tag: "CardPut", row: card }))
    yield* same("read", (yield* reads.client(shop.id, { id }))?.card, card)
    yield* same("needed", (yield* run(loaded(shop.id, Need.client(id)))).card, card)
    yield* same("the link", (yield* run(loaded(shop.id, Need.account(id)))).link, link)
    const blocked = { ...link, blocked_at: LATER }
    yield* run(putting(shop.id, { _tag: "LinkPut", row: blocked }))
    yield* same("the block", (yield* run(loaded(shop.id, Need.account(id)))).link, blocked)
    yield* same("unseen", (yield* Effect.flip(run(loaded(shop.id, Need.client(id)))))._tag, "ClientNotFound")
  },

  "a ticket's need brings its client and the card, as the shop sees them": function* ({ shop }) {
    const { id } = yield* openAccount({ given_name: "Sami", family_name: "Trabelsi", hide_name: true })
    const link = { shop_id: shop.id, client_id: id, known_at: TEST_START, blocked_at: null }
    yield* run(putting(shop.id, { _tag: "LinkPut", row: link }))
    const [ticket] = yield* run(placing(shop.id, [{ client_id: id }]))
    const card = { shop_id: shop.id, client_id: id, balance: 0, lifetime: 0, rewards_redeemed: 0, updated_at: null }
    const { linked } = yield* run(loaded(shop.id, Need.ticket(ticket!.id)))
    yield* same("linked", linked, { client: { id, display_name: "Sami T." }, card })
    yield* run(putting(shop.id, { _tag: "LinkPut", row: { ...link, blocked_at: LATER } }))
    yield* same("blocked", (yield* run(loaded(shop.id, Need.ticket(ticket!.id)))).linked, null)
  },

  "OfferPut: the offer, its ticket with its client, and whoever holds the number by then": function* (bench) {
    const { directory, shop } = bench

    const [holder, client] = [yield* openAccount(), yield* openAccount({ given_name: "Sami" })]
    const link = { shop_id: shop.id, client_id: client.id, known_at: TEST_START, blocked_at: null }
    yield* run(putting(shop.id, { _tag: "LinkPut", row: link }))
    const [ticket] = yield* run(placing(shop.id, [{ client_id: client.id }]))
    const row: OfferRecord = {
      id: yield* freshId<OfferId>(),
      shop_id: shop.id,
      ticket_id: ticket!.id,
      phone: holder.phone,
      status: "open",
      created_at: TEST_START,
      answered_at: null
    }
    yield* run(putting(shop.id, { _tag: "OfferPut", row }))
    const linked = {
      client: { id: client.id, display_name: "Sami Ben Salah" },
      card: blankCard(shop.id, client.id)
    }
    const expected = { record: row, ticket: ticket!, linked, holder, link: null }
    yield* same("needed", yield* run(loaded(shop.id, Need.offer(row.id))), expected)
    yield* same("listed", yield* directory.offers(holder.id), [row])
    const answered = { ...row, status: "accepted", answered_at: LATER } as const
    yield* run(putting(shop.id, { _tag: "OfferPut", row: answered }))
    yield* same("answered", yield* directory.offers(holder.id), [answered])
    const nobodys = {
      ...row,
      id: yield* freshId<OfferId>(),
      phone: yield* freshPhone
    }
    yield* run(putting(shop.id, { _tag: "OfferPut", row: nobodys }))
    const nobody = yield* Effect.flip(run(loaded(shop.id, Need.offer(nobodys.id))))
    yield* same("to a number that nobody holds", nobody._tag, "OfferNotFound")
  },

  "StampsUsedPut: counted by caller and client": function* ({ shop }) {
    const { id: client_id } = yield* openAccount()
    const [caller_id, other] = [yield* freshCaller, yield* freshCaller]
    const row = { used: 7, resets_at: LATER }
    const needed = (caller: KeyId) => run(loaded(shop.id, Need.stampsUsed({ caller_id: caller, client_id })))
    yield* same("none yet", yield* needed(caller_id), undefined)
    yield* run(putting(shop.id, { _tag: "StampsUsedPut", key: { caller_id, client_id }, row }))
    yield* same("counted", yield* needed(caller_id), row)
    yield* same("another caller", yield* needed(other), undefined)
    const more = { used: 20, resets_at: LATER + 1 }
    yield* run(putting(shop.id, { _tag: "StampsUsedPut", key: { caller_id, client_id }, row: more }))
    yield* same("counted on", yield* needed(caller_id), more)
  },

  "LedgerAppended, NotificationAppended: the client's inbox, oldest first": function* ({ directory, shop }) {
    const { id: client_id } = yield* openAccount()
    const [ticket] = yield* run(placing(shop.id, [{ client_id }]))
    const told: Array<NotificationRecord> = []
    for (const type of ["ticket.impossible", "ticket.ready"] as const) {
      const row: NotificationRecord = {
        id: yield* freshId<string>(),
        shop_id: shop.id,
        client_id,
        type,
        ticket: ticketView(ticket!, shop, null),
        ticket_id: ticket!.id,
        created_at: TEST_START + told.length
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
      yield* run(putting(shop.id, { _tag: "NotificationAppended", row }, { _tag: "LedgerAppended", row: line }))
      told.push(row)
    }
    yield* same("inbox", yield* directory.inbox(client_id), told)
    yield* same("of another client", yield* directory.inbox((yield* openAccount()).id), [])
  },

  "a shop fills no client's lists: of each shop they hold the latest alone": function* ({ directory }) {
    const { id: client_id, phone } = yield* openAccount()
    const many = Limits.client_list_of_shop_max + 3
    const wanted: Array<string> = []
    let created_at = TEST_START
    for (const count of [1, many, 1]) {
      const shop = yield* openShop()
      const [ticket] = yield* run(placing(shop.id, [{ client_id }]))
      const { id: ticket_id } = ticket!
      const view = ticketView(ticket!, shop, null)
      const changes: Array<Change> = []
      for (let n = 0; n < count; n++) {
        const row = { id: yield* freshId<string>(), shop_id: shop.id, ticket_id, created_at: created_at++ }
        const status = n % 2 === 0 ? "accepted" : "blocked"
        const offer = { ...row, id: row.id as OfferId, phone, status, answered_at: TEST_START } as const
        const told = { ...row, client_id, type: "ticket.ready", ticket: view } as const
        changes.push({ _tag: "OfferPut", row: offer }, { _tag: "NotificationAppended", row: told })
      }
      yield* run(putting(shop.id, ...changes))
      const ids = changes.flatMap(({ _tag, row }) => (_tag === "OfferPut" ? [row.id as string] : []))
      wanted.push(...ids.slice(-Limits.client_list_of_shop_max))
    }
    const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => each(rows, "id")
    yield* same("inbox", idsOf(yield* directory.inbox(client_id)), wanted)
    yield* same("offers", idsOf(yield* directory.offers(client_id)), wanted)
  }
})
