import { Effect } from "effect"
import { toUnchangedDecision } from "../decisions/ChangeSet.js"
import { answerOffer, recordVisit } from "../decisions/clientLink.js"
import { eraseEvents, eraseIdempotencyRecords, forgetClient } from "../decisions/eraseClient.js"
import { type IdempotencyKey, makeIdempotent } from "../decisions/Idempotency.js"
import * as Load from "../decisions/Load.js"
import type { Change } from "../decisions/ShopState.js"
import { changeShop, type ShopPatch } from "../decisions/shopSettings.js"
import type { ClientId, OfferId, ShopId } from "../domain/Identifier.js"
import { ServiceLimits } from "../domain/Limits.js"
import type { Person } from "../domain/Person.js"
import type { Phone } from "../domain/Phone.js"
import { type TicketRecord, ticketView } from "../domain/Ticket.js"
import { expectSame, makeCases, pluck, ticketIds } from "./ContractCase.js"
import {
  createTestTicket,
  FIRST_PAGE,
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
import { record, statusResult } from "./TestDispatcher.js"

const makeLink = (shop_id: ShopId, client_id: ClientId, blocked_at: number | null = null) =>
  putChanges(shop_id, { _tag: "LinkPut", row: { shop_id, client_id, known_at: TEST_START, blocked_at } })

/**
 * A shop sees the current data of the clients who are known to it and do not block it (Specification, Clients and
 * loyalty).
 */
export const clientsContract = makeCases({
  "a shop that knows a client finds them by id and by number, with the counts of their tickets": function* (bench) {
    const { reads, shop } = bench
    const other = yield* openShop()
    const { id, phone } = yield* openAccount()
    yield* runCommand(recordVisit(shop.id, id))
    const states = ["workshop", "ready", "impossible", "collected", "abandoned", "ready"] as const
    yield* runCommand(
      putTickets(shop.id, [...states.map((state) => ({ state, client_id: id })), { client_phone: phone }])
    )
    const card = { shop_id: shop.id, client_id: id, balance: 0, lifetime: 0, rewards_redeemed: 0, updated_at: null }
    const expected = {
      client: { id, display_name: "Amira Ben Salah" },
      card,
      shop,
      tickets_open: 4,
      tickets_total: 6
    }
    yield* expectSame("by id", yield* reads.client(shop.id, { id }), expected)
    yield* expectSame("by number", yield* reads.client(shop.id, { phone }), expected)
    yield* expectSame("to another shop by id", yield* reads.client(other.id, { id }), null)
    yield* expectSame("to another shop by number", yield* reads.client(other.id, { phone }), null)
  },

  "reads return nothing for a client who does not exist, one whom the shop does not know and one who blocks it":
    function* (bench) {
      const { reads, shop } = bench
      const [blocking, unknown] = [yield* openAccount(), yield* openAccount()]
      yield* runCommand(makeLink(shop.id, blocking.id))
      const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_id: blocking.id, number: 5 }]))
      yield* runCommand(makeLink(shop.id, blocking.id, TEST_START + 1))
      const never = { id: yield* makeId<ClientId>(), phone: yield* freshPhone }
      for (const { id, phone } of [blocking, unknown, never]) {
        yield* expectSame("by id", yield* reads.client(shop.id, { id }), null)
        yield* expectSame("by number", yield* reads.client(shop.id, { phone }), null)
        for (const order of [FIRST_PAGE, { _tag: "Changes", since: 0, after: null }] as const) {
          yield* expectSame(
            "tickets of theirs",
            (yield* reads.tickets(shop.id, { client_id: id }, order, 9)).tickets,
            []
          )
        }
      }
      const seen = [
        yield* reads.ticket(shop.id, ticket!.id),
        yield* reads.tickets(shop.id, {}, FIRST_PAGE, 9),
        yield* reads.tickets(shop.id, {}, { _tag: "Changes", since: 0, after: null }, 9),
        yield* reads.ticketsOfNumber(shop.id, 5, 9)
      ]
      for (const { tickets } of seen) yield* expectSame("no client on the ticket", pluck(tickets, "client"), [null])
    },

  "a block hides the client from one shop, and the others see the client as before": function* ({ reads, shop }) {
    const other = yield* openShop()
    const { id } = yield* openAccount()
    yield* runCommand(makeLink(shop.id, id))
    yield* runCommand(makeLink(other.id, id))
    yield* runCommand(putTickets(other.id, [{ client_id: id }]))
    yield* runCommand(makeLink(shop.id, id, TEST_START))
    yield* expectSame("here", yield* reads.client(shop.id, { id }), null)
    yield* expectSame("there", (yield* reads.client(other.id, { id }))?.tickets_total, 1)
    const { tickets } = yield* reads.tickets(other.id, { client_id: id }, FIRST_PAGE, 9)
    yield* expectSame("there on the ticket", tickets[0]?.client?.id, id)
  },

  "every read abbreviates the family name of a client who hides it": function* ({ reads, shop }) {
    const { id } = yield* openAccount({ given_name: "Zoë", family_name: "\u{1F9F5}écru", hide_name: true })
    yield* runCommand(makeLink(shop.id, id))
    const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_id: id, number: 8 }]))
    const name = "Zoë \u{1F9F5}."
    yield* expectSame("client", (yield* reads.client(shop.id, { id }))?.client.display_name, name)
    yield* expectSame("ticket", (yield* reads.ticket(shop.id, ticket!.id)).tickets[0]?.client?.display_name, name)
    const { tickets } = yield* reads.ticketsOfNumber(shop.id, 8, 1)
    yield* expectSame("number", tickets[0]?.client?.display_name, name)
  },

  "a change of settings applies to every later read of the shop": function* ({ reads, shop }) {
    const { id } = yield* openAccount()
    yield* runCommand(makeLink(shop.id, id))
    const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_id: id, number: 2 }]))
    const { shop: now } = yield* runCommand(
      changeShop(shop.id, { program: { active: false }, forbidden_words: ["zut"] } as unknown as ShopPatch)
    )
    yield* expectSame(
      "changed",
      [now.program.active, now.program.name, now.forbidden_words],
      [false, "Stamps", ["zut"]]
    )
    yield* expectSame("ticket", (yield* reads.ticket(shop.id, ticket!.id)).shop, now)
    yield* expectSame("list", (yield* reads.tickets(shop.id, {}, FIRST_PAGE, 1)).shop, now)
    yield* expectSame("number", (yield* reads.ticketsOfNumber(shop.id, 2, 1)).shop, now)
    yield* expectSame("client", (yield* reads.client(shop.id, { id }))?.shop, now)
  },

  "a client who accepts an offer is known, linked and counted at once": function* ({ reads, directory, shop }) {
    const { id, phone } = yield* openAccount()
    const ticket = yield* runCommand(createTestTicket(shop.id, { service: "Hem", client_phone: phone }))
    const [offer] = yield* directory.offers(id)
    yield* expectSame("not known yet", yield* reads.client(shop.id, { id }), null)
    yield* runCommand(answerOffer(shop.id, offer!.id, "accepted"))
    yield* expectSame("known", (yield* reads.client(shop.id, { phone }))?.tickets_open, 1)
    const { tickets } = yield* reads.tickets(shop.id, { client_id: id }, FIRST_PAGE, 9)
    yield* expectSame("linked", ticketIds(tickets), [ticket.id])
    const refusal = yield* Effect.flip(runCommand(answerOffer(shop.id, offer!.id, "blocked")))
    yield* expectSame("answered once", refusal._tag, "OfferClosed")
  },

  "a ticket whose client blocks the shop is linked to the next client who accepts it": function* ({
    reads,
    directory,
    shop
  }) {
    const [blocking, accepting] = [yield* openAccount(), yield* openAccount()]
    yield* runCommand(makeLink(shop.id, blocking.id))
    const offeredTicket = { service: "Hem", client_id: blocking.id, client_phone: accepting.phone }
    const ticket = yield* runCommand(createTestTicket(shop.id, offeredTicket))
    const [offer] = yield* directory.offers(accepting.id)
    yield* runCommand(makeLink(shop.id, blocking.id, TEST_START))
    yield* runCommand(answerOffer(shop.id, offer!.id, "accepted"))
    for (const [client_id, expected] of [
      [accepting.id, [ticket.id]],
      [blocking.id, []]
    ] as const) {
      const { tickets } = yield* reads.tickets(shop.id, { client_id }, FIRST_PAGE, 9)
      yield* expectSame("tickets of theirs", ticketIds(tickets), expected)
    }
    yield* expectSame("counted", (yield* reads.client(shop.id, { id: accepting.id }))?.tickets_total, 1)
    yield* runCommand(makeLink(shop.id, blocking.id))
    yield* expectSame("no longer theirs", (yield* reads.client(shop.id, { id: blocking.id }))?.tickets_total, 0)
  }
})

const personOf = (client_id: ClientId, ...phones: ReadonlyArray<Phone>): Person => ({ client_id, names: [], phones })

/** The data of one person can be found, exported, rewritten and erased. */
export const personalDataContract = makeCases({
  "a corrected account is read with its new data, and a number that another account has is refused": function* ({
    directory
  }) {
    const [account, other] = [yield* openAccount(), yield* openAccount()]
    const after = { ...account, given_name: "Émira", hide_name: true, phone: yield* freshPhone }
    yield* expectSame("changed", yield* directory.changeClient(after), true)
    yield* expectSame("read", yield* directory.account(account.id), after)
    yield* expectSame("taken", yield* directory.changeClient({ ...after, phone: other.phone }), false)
    yield* expectSame("as it was", yield* directory.account(account.id), after)
    const secondAccount = yield* openAccount({ phone: account.phone })
    yield* expectSame("the former number is free", (yield* directory.account(secondAccount.id))?.phone, account.phone)
  },

  "an erasure removes the account at once, and stores the person's names and numbers until it ends": function* (bench) {
    const { personalData: personal, directory } = bench
    const { id, given_name, family_name, phone } = yield* openAccount()
    yield* expectSame("nobody", yield* personal.beginErasure(yield* makeId<ClientId>(), []), null)
    const firstResult = yield* personal.beginErasure(id, [])
    yield* expectSame("whom", firstResult, { client_id: id, names: [given_name, family_name], phones: [phone] })
    yield* expectSame("no account", yield* directory.account(id), null)
    const otherPhone = yield* freshPhone
    const second = yield* personal.beginErasure(id, [otherPhone])
    yield* expectSame("with the further number", [...(second?.phones ?? [])].sort(), [phone, otherPhone].sort())
    const third = yield* personal.beginErasure(id, [])
    yield* expectSame("which stays", [third?.names, third?.phones.length], [firstResult?.names, 2])
    yield* personal.endErasure(id)
    yield* expectSame("ended", yield* personal.beginErasure(id, []), null)
  },

  "a person's data are found by id and by number in every shop that has some": function* (bench) {
    const { personalData: personal, shop } = bench
    const [other, third] = [yield* openShop(), yield* openShop()]
    const { id: client_id, phone: client_phone } = yield* openAccount()
    const [mine, byPhone] = yield* runCommand(putTickets(shop.id, [{ client_id }, { client_phone }, {}]))
    yield* runCommand(recordVisit(other.id, client_id))
    const person = personOf(client_id, client_phone)
    yield* expectSame("shops", yield* personal.shops(person), [shop.id, other.id].sort())
    const shopData = yield* personal.readShopData(shop.id, person)
    yield* expectSame("tickets", pluck(shopData.tickets, "id").sort(), [mine!.id, byPhone!.id].sort())
    yield* expectSame(
      "a ticket as it is",
      shopData.tickets.find(({ id }) => id === mine!.id),
      mine
    )
    yield* expectSame(
      "nothing else",
      [shopData.link, shopData.card, shopData.ledger, shopData.offers, shopData.notifications],
      [null, null, [], [], []]
    )
    yield* expectSame("the link", (yield* personal.readShopData(other.id, person)).link?.client_id, client_id)
    yield* runCommand(forgetClient(other.id, person))
    yield* expectSame("the link is gone", yield* personal.shops(person), [shop.id])
    const none = yield* personal.readShopData(third.id, person)
    yield* expectSame("nothing there", [none.link, none.tickets], [null, []])
  },

  "all data of a person in a shop are found, even if they fill several pages": function* ({
    personalData: personal,
    shop
  }) {
    const { id: client_id, phone } = yield* openAccount()
    const many = Array.from({ length: ServiceLimits.personal_data_page + 3 }, (_, n) => n)
    const theirs: Array<TicketRecord> = []
    while (theirs.length < many.length)
      theirs.push(...(yield* runCommand(putTickets(shop.id, Array(100).fill({ client_id })))))
    // Tickets with the person's number, which no account was linked to.
    const byPhone = yield* runCommand(putTickets(shop.id, Array(100).fill({ client_phone: phone })))
    const offeredTickets = yield* runCommand(putTickets(shop.id, Array(100).fill({})))
    const changes: Array<Change> = []
    const view = ticketView(theirs[0]!, shop, null, null)
    const appended: Array<string> = []
    for (const n of many) {
      const row = { shop_id: shop.id, created_at: TEST_START + n }
      const line = {
        ...row,
        id: yield* makeId<string>(),
        kind: "stamps",
        stamps: 1,
        ticket_id: null,
        caller_id: null
      } as const
      const offer = { ...row, id: yield* makeId<OfferId>(), phone, ticket_id: offeredTickets[n % 100]!.id } as const
      const status = n % 2 === 0 ? "accepted" : "blocked"
      const notification = { ...row, id: yield* makeId<string>(), type: "ticket.ready", ticket: view } as const
      const toNumber = { ...notification, id: yield* makeId<string>() }
      appended.push(notification.id, toNumber.id)
      changes.push(
        { _tag: "LedgerAppended", row: { ...line, client_id } },
        { _tag: "OfferPut", row: { ...offer, status, answered_at: TEST_START } },
        { _tag: "NotificationAppended", row: { ...notification, client_id, ticket_id: theirs[n]!.id } },
        { _tag: "NotificationAppended", row: { ...toNumber, client_id: null, ticket_id: byPhone[n % 100]!.id } }
      )
    }
    yield* runCommand(putChanges(shop.id, ...changes))
    const shopData = yield* personal.readShopData(shop.id, personOf(client_id, phone))
    const idsOf = (tag: Change["_tag"]) =>
      changes.flatMap((change) => (change._tag === tag && "id" in change.row ? [change.row.id] : []))
    yield* expectSame("the ledger", pluck(shopData.ledger, "id"), idsOf("LedgerAppended"))
    yield* expectSame("the offers", pluck(shopData.offers, "id"), idsOf("OfferPut"))
    yield* expectSame("the notifications", pluck(shopData.notifications, "id").sort(), appended.sort())
    yield* expectSame(
      "the tickets",
      pluck(shopData.tickets, "id").sort(),
      pluck([...theirs, ...byPhone, ...offeredTickets], "id").sort()
    )
  },

  "a person's event is found by its ticket and by its text, and an erasure changes nothing but the text": function* (
    bench
  ) {
    const { dispatcher, personalData: personal, reads } = bench
    const shop = yield* dispatcher.open
    // The store rewrites events only during an erasure.
    const person = (yield* personal.beginErasure((yield* openAccount()).id, []))!
    yield* dispatcher.raise(shop, 1, 2, null)
    const before = yield* reads.events(shop)
    const [first, second] = before
    const [claim] = yield* dispatcher.claim(1)
    yield* record(claim!, { ...statusResult(200), head: `HTTP/1.1 200 OK\n\n${person.phones[0]}` })
    const ticket = first!.ticket_id!
    const events = yield* personal.events(shop, person, [ticket], 1)
    yield* expectSame("by ticket", events, [{ event: first, attempts: events[0]?.attempts ?? [] }])
    yield* expectSame("with its attempts", events[0]?.attempts.length, 1)
    yield* expectSame("from a place on", yield* personal.events(shop, person, [ticket], 2), [])
    const body = JSON.stringify({ data: { client: { id: person.client_id, display_name: "Amira" } } })
    yield* runCommand(putChanges(shop, { _tag: "EventRewritten", row: { ...second!, body } }))
    const namedEvents = yield* personal.events(shop, person, [], 1)
    yield* expectSame(
      "by its text",
      namedEvents.map(({ event }) => event.id),
      [second!.id]
    )
    yield* runCommand(eraseEvents(shop, person, [first!.id, second!.id]))
    const after = yield* reads.events(shop)
    yield* expectSame(
      "place and fields",
      after.map(({ body: _, ...event }) => event),
      before.map(({ body: _, ...event }) => event)
    )
    yield* expectSame("the name is gone", JSON.parse(after[1]!.body).data.client.display_name, null)
    const [again] = yield* personal.events(shop, person, [ticket], 1)
    yield* expectSame("and the head of the answer", pluck(again?.attempts, "head", "status"), [["", 200]])
  },

  "a person's idempotency records are found, and an erasure removes those whose key names the person": function* (
    bench
  ) {
    const { personalData: personal, shop } = bench
    const caller_id = yield* freshCaller
    const person = personOf(yield* makeId<ClientId>(), yield* freshPhone)
    const remember = (key: string, answer: object) =>
      runCommand(
        makeIdempotent(
          { caller_id, operation: "create ticket", key: key as IdempotencyKey, request: { key } },
          { shop_id: shop.id, loadRequests: [], run: () => toUnchangedDecision(answer) }
        )
      )
    yield* remember("one", { id: shop.id, client: person.client_id })
    yield* remember("two", { id: caller_id })
    yield* remember("three", {})
    yield* remember(`four ${person.phones[0]}`, {})
    const { records, next } = yield* personal.idempotencyRecords(shop.id, person, [caller_id as never], null)
    yield* expectSame("found", pluck(records, "key").sort(), [`four ${person.phones[0]}`, "one", "two"].sort())
    yield* expectSame("all looked at", next, null)
    yield* runCommand(eraseIdempotencyRecords(shop.id, person, records))
    const remainingRecords = yield* runCommand(readLoad(shop.id, Load.idempotencyRecords(records)))
    yield* expectSame("the key that names the person is gone", pluck(remainingRecords, "key").sort(), ["one", "two"])
  }
})
