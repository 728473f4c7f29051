import type { Exchange } from "../../testkit/Api.js"
import { DAY } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { Person, Shop } from "../Environment.js"
import { type Environment, NOBODY } from "../Environment.js"
import { expectSame, expectShape, expectThat, type TestResponse } from "../Expectations.js"

/** Expects two answers to be alike in all but what is different with every answer. */
const expectAlike = (hidden: Exchange, absent: Exchange): void => {
  const [one, other] = [hidden.response, absent.response]
  expectSame(one.status, other.status, "the status of a client who blocks", hidden)
  for (const name of new Set([...Object.keys(one.headers), ...Object.keys(other.headers)])) {
    if (name === "request-id" || name === "date") continue
    expectSame(one.headers[name], other.headers[name], `the header ${name} of a client who blocks`, hidden)
  }
  expectSame(one.body, other.body, "the body of a client who blocks", hidden)
}

/** Asks the same of a client whom nobody knows and of one who blocks the shop, each in a shop of its own. */
const compare = async (env: Environment, ask: (shop: Shop, client: Person) => Promise<TestResponse>) => {
  const unknown = await (await env.openShop()).program()
  const blocked = await (await env.openShop()).program()
  // The same number of requests goes before, so that the limits stand alike.
  await unknown.ticket({ client_phone: env.phone() })
  const blocker = await blocked.blocker()
  const absent = (await ask(unknown, { id: NOBODY, phone: env.phone() })).refused(404, "NOT_FOUND")
  const hidden = (await ask(blocked, blocker)).refused(404, "NOT_FOUND")
  expectAlike(hidden.exchange, absent.exchange)
}

/** Who is seen of a shop (Specification, Endpoints; Clients and loyalty). */
export const clientCases = casesOf("§4", [
  test("client-by-phone (rule-client-by-phone): A client who came to the counter is found by their number and by their id, with the same answer.", async (shop) => {
    await shop.program({ active: false })
    const { id, phone } = await shop.known()
    const found = (await shop.lookUp(phone)).shows({
      id,
      display_name: "Amira Ben Salah",
      tickets_open: 0,
      tickets_total: 0,
      loyalty: null
    })
    expectSame((await shop.get(`/clients/${id}`)).ok(), found, "the client by id")
  }),
  test("client-bare-plus (rule-create-phone-e164): A plus that was not escaped in the query is read as one.", async (shop) => {
    const { id, phone } = await shop.known()
    ;(await shop.get(`/clients?phone=${phone}`)).shows({ id })
  }),
  test("client-phone-invalid (rule-create-phone-e164): A look-up without a number, or with one that is none, is a 400.", async (shop) => {
    for (const query of ["", "?phone=", "?phone=015123456789", "?phone=nobody"])
      (await shop.get(`/clients${query}`)).invalid("query phone")
  }),
  test("client-hidden-name (rule-client-hidden-name): A client who hides their name is shown by given name and initial.", async (shop) => {
    const { id, phone } = await shop.known({ hide_name: true })
    ;(await shop.lookUp(phone)).shows({ display_name: "Amira B." })
    ;(await shop.create({ client_id: id })).shows({ client: { id, display_name: "Amira B." } }, 201)
  }),
  test("client-counts (rule-client-counts): A client's tickets are counted with this shop alone: those that are open, and all.", async (shop) => {
    const other = await shop.env.openShop()
    const client = await shop.known()
    await other.visit(client)
    await other.ticket({ client_id: client.id })
    for (const statuses of [[], ["ready"], ["impossible"], ["ready", "collected"]]) {
      const { id } = await shop.ticket({ client_id: client.id })
      for (const status of statuses) (await shop.status(id, status)).ok()
    }
    ;(await shop.lookUp(client.phone)).shows({ tickets_open: 3, tickets_total: 4 })
  }),
  test("client-known-by-offer (rule-client-known-by-offer): A client is not seen while an offer is open, and is once it is accepted.", async (shop) => {
    const client = await shop.env.person()
    await shop.ticket({ client_phone: client.phone })
    ;(await shop.lookUp(client.phone)).refused(404, "NOT_FOUND")
    ;(await shop.get(`/clients/${client.id}`)).refused(404, "NOT_FOUND")
    await shop.env.answerOffer(client, "accept")
    ;(await shop.lookUp(client.phone)).shows({ id: client.id, tickets_open: 1 })
  }),
  test("client-of-another-shop (rule-client-by-phone): A client whom another shop knows is not seen by this one.", async (shop) => {
    const other = await shop.env.openShop()
    const client = await other.known()
    ;(await shop.lookUp(client.phone)).refused(404, "NOT_FOUND")
    ;(await shop.get(`/clients/${client.id}`)).refused(404, "NOT_FOUND")
    ;(await shop.get(`/clients/${client.id}/loyalty`)).refused(404, "NOT_FOUND")
  }),
  test("privacy-look-up (rule-privacy-look-up): A look-up of somebody who blocks the shop is the 404 of a number nobody has: status, headers, body.", (shop) =>
    compare(shop.env, (shop, { phone }) => shop.lookUp(phone))),
  test("privacy-by-id (rule-privacy-look-up): A client who blocks the shop is by their id the 404 of nobody.", (shop) =>
    compare(shop.env, (shop, { id }) => shop.get(`/clients/${id}`))),
  test("privacy-loyalty (rule-privacy-look-up): Their card is the 404 of nobody.", (shop) =>
    compare(shop.env, (shop, { id }) => shop.get(`/clients/${id}/loyalty`))),
  test("privacy-stamps (rule-privacy-look-up): Stamps for them and a reward of theirs are the 404 of nobody.", async (shop) => {
    await compare(shop.env, (shop, client) => shop.stamps(client, 1))
    await compare(shop.env, (shop, client) => shop.redeem(client))
  }),
  test("privacy-create (rule-privacy-look-up): A ticket for them is the 404 of nobody.", (shop) =>
    compare(shop.env, (shop, { id }) => shop.create({ client_id: id }))),
  test("privacy-offer (rule-create-offer): A ticket with a phone number is answered alike whether nobody holds it, somebody does, or they block the shop.", async (shop) => {
    const made = async (prepare: (shop: Shop) => Promise<string>) => {
      const client_phone = await prepare(shop)
      const before = (await shop.types()).length
      const answer = await shop.create({ client_phone })
      const { client, state } = answer.ok(201)
      const types = (await shop.types()).slice(before)
      const names = Object.keys(answer.exchange.response.headers).sort()
      return { client, state, types, meta: answer.meta, names }
    }
    const nobody = await made(async () => shop.env.phone())
    expectSame(await made(async () => (await shop.env.person()).phone), nobody, "what is seen where an account exists")
    const blocked = await made(async (shop) => (await shop.blocker()).phone)
    expectSame(blocked, nobody, "what is seen where its holder blocks the shop")
  }),
  test("block-hides-tickets (rule-privacy-look-up): Who blocks the shop is gone from its tickets, and no event speaks of them any more.", async (shop) => {
    await shop.program()
    const client = await shop.known()
    const { id } = await shop.ticket({ client_id: client.id })
    await shop.ticket({ client_phone: client.phone })
    await shop.env.answerOffer(client, "block")
    expectSame((await shop.read(id)).client, null, "the ticket's client")
    const before = (await shop.types()).length
    ;(await shop.status(id, "ready")).shows({ client: null, notified_at: null })
    const events = (await shop.events()).slice(before)
    expectShape(events, [{ type: "ticket.ready", data: { ticket: { client: null } } }], "the events since")
  }),
  test("block-frees-ticket (rule-client-known-by-offer): A ticket whose client blocked the shop is linked to whoever accepts it next.", async (shop) => {
    const [blocker, other] = [await shop.known(), await shop.env.person()]
    const { id } = await shop.ticket({ client_id: blocker.id, client_phone: other.phone })
    await shop.ticket({ client_phone: blocker.phone })
    await shop.env.answerOffer(blocker, "block")
    await shop.env.answerOffer(other, "accept")
    expectShape((await shop.read(id)).client, { id: other.id }, "the ticket's client")
    const [last] = (await shop.events()).slice(-1)
    expectShape(last, { type: "client.linked", data: { ticket: { id }, client: { id: other.id } } }, "the last event")
  }),
  test("offer-abandoned (rule-client-known-by-offer): Accepting the offer of an abandoned ticket makes the client known and leaves the ticket as it is.", async (shop) => {
    const client = await shop.env.person()
    const { id } = await shop.ticket({ client_phone: client.phone })
    await shop.env.advance(60 * DAY)
    const before = await shop.read(id)
    expectShape(before, { state: "abandoned", client: null }, "the ticket")
    await shop.env.answerOffer(client, "accept")
    expectSame(await shop.read(id), before, "the ticket after the acceptance")
    ;(await shop.get(`/clients/${client.id}`)).ok()
  }),
  test("offer-own-client (rule-client-known-by-offer): A ticket of a client whom the shop names is not offered to that client again.", async (shop) => {
    const client = await shop.known()
    await shop.ticket({ client_id: client.id, client_phone: client.phone })
    expectSame(await shop.env.act("get offers", client.id), [], "the client's offers")
  }),
  test("block-stays (rule-privacy-look-up): A later visit does not lift a block.", async (shop) => {
    const client = await shop.blocker()
    await shop.visit(client)
    ;(await shop.lookUp(client.phone)).refused(404, "NOT_FOUND")
  }),
  test("block-one-shop (rule-privacy-look-up): A client blocks one shop; others see them as before.", async (shop) => {
    const other = await shop.env.openShop()
    const client = await shop.blocker()
    await other.visit(client)
    const answer = await other.lookUp(client.phone)
    expectThat(answer.ok().id === client.id, "the client", answer.data)
  })
])
