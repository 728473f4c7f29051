import { unchanged } from "../decisions/Command.js"
import { recordVisit } from "../decisions/clientLink.js"
import { eraseAnswers, eraseEvents, forgetClient } from "../decisions/eraseClient.js"
import { type IdempotencyKey, idempotent } from "../decisions/Idempotency.js"
import * as Need from "../decisions/Load.js"
import type { ClientId } from "../domain/Identifier.js"
import type { Person } from "../domain/Person.js"
import type { Phone } from "../domain/Phone.js"
import { cases, each, same } from "./ContractCase.js"
import { freshCaller, freshId, freshPhone, loaded, openAccount, openShop, placing, putting, run } from "./Fixtures.js"
import { answered, record } from "./TestDispatcher.js"

const personOf = (client_id: ClientId, ...phones: ReadonlyArray<Phone>): Person => ({ client_id, names: [], phones })

/** The data of one person: found, handed out, rewritten and taken away. */
export const personalDataContract = cases({
  "an account that is corrected is read so; a number that another holds is refused": function* ({ directory }) {
    const [account, other] = [yield* openAccount(), yield* openAccount()]
    const after = { ...account, given_name: "Émira", hide_name: true, phone: yield* freshPhone }
    yield* same("changed", yield* directory.changeClient(after), true)
    yield* same("read", yield* directory.account(account.id), after)
    yield* same("taken", yield* directory.changeClient({ ...after, phone: other.phone }), false)
    yield* same("as it was", yield* directory.account(account.id), after)
    const again = yield* openAccount({ phone: account.phone })
    yield* same("the former number is free", (yield* directory.account(again.id))?.phone, account.phone)
  },

  "an erasure takes the account away at once and remembers whom to look for until it ends": function* (bench) {
    const { personalData: personal, directory } = bench

    const { id, given_name, family_name, phone } = yield* openAccount()
    yield* same("nobody", yield* personal.beginErasure(yield* freshId<ClientId>(), []), null)
    const first = yield* personal.beginErasure(id, [])
    yield* same("whom", first, { client_id: id, names: [given_name, family_name], phones: [phone] })
    yield* same("no account", yield* directory.account(id), null)
    const further = yield* freshPhone
    const second = yield* personal.beginErasure(id, [further])
    yield* same("with the further number", [...(second?.phones ?? [])].sort(), [phone, further].sort())
    const third = yield* personal.beginErasure(id, [])
    yield* same("which stays", [third?.names, third?.phones.length], [first?.names, 2])
    yield* personal.endErasure(id)
    yield* same("ended", yield* personal.beginErasure(id, []), null)
  },

  "what a shop has of a person is found by id and by number, in the shops that have it": function* (bench) {
    const { personalData: personal, shop } = bench

    const [other, third] = [yield* openShop(), yield* openShop()]
    const { id: client_id, phone: client_phone } = yield* openAccount()
    const [mine, byPhone] = yield* run(placing(shop.id, [{ client_id }, { client_phone }, {}]))
    yield* run(recordVisit(other.id, client_id))
    const person = personOf(client_id, client_phone)
    yield* same("shops", yield* personal.shops(person), [shop.id, other.id].sort())
    const held = yield* personal.held(shop.id, person)
    yield* same("tickets", each(held.tickets, "id").sort(), [mine!.id, byPhone!.id].sort())
    yield* same(
      "a ticket as it is",
      held.tickets.find(({ id }) => id === mine!.id),
      mine
    )
    yield* same(
      "nothing else",
      [held.link, held.card, held.ledger, held.offers, held.notifications],
      [null, null, [], [], []]
    )
    yield* same("the link", (yield* personal.held(other.id, person)).link?.client_id, client_id)
    yield* run(forgetClient(other.id, person, { offers: [], notifications: [] }))
    yield* same("the link is gone", yield* personal.shops(person), [shop.id])
    const none = yield* personal.held(third.id, person)
    yield* same("nothing there", [none.link, none.tickets], [null, []])
  },

  "an event is found by its ticket and by what its text says; rewritten, it keeps all but its text": function* (bench) {
    const { dispatcher, personalData: personal, reads } = bench

    const shop = yield* dispatcher.open
    // Events are rewritten within an erasure alone.
    const person = (yield* personal.beginErasure((yield* openAccount()).id, []))!
    yield* dispatcher.raise(shop, 1, 2, null)
    const before = yield* reads.events(shop)
    const [first, second] = before
    const [claim] = yield* dispatcher.claim(1)
    yield* record(claim!, { ...answered(200), head: `HTTP/1.1 200 OK\n\n${person.phones[0]}` })
    const ticket = first!.ticket_id!
    const found = yield* personal.events(shop, person, [ticket], 1)
    yield* same("by ticket", found, [{ event: first, attempts: found[0]?.attempts ?? [] }])
    yield* same("with its attempts", found[0]?.attempts.length, 1)
    yield* same("from a place on", yield* personal.events(shop, person, [ticket], 2), [])
    const body = JSON.stringify({ data: { client: { id: person.client_id, display_name: "Amira" } } })
    yield* run(putting(shop, { _tag: "EventRewritten", row: { ...second!, body } }))
    const named = yield* personal.events(shop, person, [], 1)
    yield* same(
      "by its text",
      named.map(({ event }) => event.id),
      [second!.id]
    )
    yield* run(eraseEvents(shop, person, [first!.id, second!.id]))
    const after = yield* reads.events(shop)
    yield* same(
      "place and fields",
      after.map(({ body: _, ...event }) => event),
      before.map(({ body: _, ...event }) => event)
    )
    yield* same("the name is gone", JSON.parse(after[1]!.body).data.client.display_name, null)
    const [again] = yield* personal.events(shop, person, [ticket], 1)
    yield* same("and the head of the answer", each(again?.attempts, "head", "status"), [["", 200]])
  },

  "a remembered answer is found, forgotten by half, or forgotten where its key names the person": function* (bench) {
    const { personalData: personal, shop } = bench

    const caller_id = yield* freshCaller
    const person = personOf(yield* freshId<ClientId>(), yield* freshPhone)
    const remember = (key: string, answer: object) =>
      run(
        idempotent(
          { caller_id, operation: "create ticket", key: key as IdempotencyKey, request: { key } },
          { shop_id: shop.id, asks: [], run: () => unchanged(answer) }
        )
      )
    yield* remember("one", { id: shop.id, client: person.client_id })
    yield* remember("two", { id: caller_id })
    yield* remember("three", {})
    yield* remember(`four ${person.phones[0]}`, {})
    const { found, next } = yield* personal.answers(shop.id, person, [caller_id as never], null)
    yield* same("found", each(found, "key").sort(), [`four ${person.phones[0]}`, "one", "two"].sort())
    yield* same("all looked at", next, null)
    yield* run(eraseAnswers(shop.id, person, found))
    const left = yield* run(loaded(shop.id, Need.remembered(found)))
    yield* same("the key that names the person is gone", each(left, "key").sort(), ["one", "two"])
  }
})
