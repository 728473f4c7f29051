import type { Answer } from "../Answer.js"
import { expectSame, expectShape, expectThat } from "../Broken.js"
import { casesOf } from "../Case.js"
import type { Exchange } from "../Exchange.js"
import type { Person, Shop } from "../Shop.js"
import { DAY, NOBODY, type World } from "../World.js"

/** Expects two answers to be alike in all but what is different with every answer. */
const expectAlike = (hidden: Exchange, absent: Exchange): void => {
  const [one, other] = [hidden.answer, absent.answer]
  expectSame(one.status, other.status, "the status of a client who blocks", hidden)
  for (const name of new Set([...Object.keys(one.headers), ...Object.keys(other.headers)])) {
    if (name === "request-id" || name === "date") continue
    expectSame(one.headers[name], other.headers[name], `the header ${name} of a client who blocks`, hidden)
  }
  expectSame(one.body, other.body, "the body of a client who blocks", hidden)
}

/** Asks the same of a client whom nobody knows and of one who blocks the shop, each in a shop of its own. */
const compare = async (world: World, ask: (shop: Shop, client: Person) => Promise<Answer>) => {
  const unknown = await (await world.shop()).program()
  const blocked = await (await world.shop()).program()
  // The same number of requests goes before, so that the limits stand alike.
  await unknown.ticket({ client_phone: world.phone() })
  const blocker = await blocked.blocker()
  const absent = (await ask(unknown, { id: NOBODY, phone: world.phone() })).refused(404, "NOT_FOUND")
  const hidden = (await ask(blocked, blocker)).refused(404, "NOT_FOUND")
  expectAlike(hidden.exchange, absent.exchange)
}

/** Who is seen of a shop (Specification, Endpoints; Clients and loyalty). */
export const clientCases = casesOf("§4", [
  {
    id: "client-by-phone",
    rule: "A client who came to the counter is found by their number and by their id, with the same answer.",
    anchor: "rule-client-by-phone",
    run: async (world) => {
      const shop = await (await world.shop()).program({ active: false })
      const { id, phone } = await shop.known()
      const found = (await shop.lookUp(phone)).shows({
        id,
        display_name: "Amira Ben Salah",
        tickets_open: 0,
        tickets_total: 0,
        loyalty: null
      })
      expectSame((await shop.get(`/clients/${id}`)).ok(), found, "the client by id")
    }
  },
  {
    id: "client-bare-plus",
    rule: "A plus that was not escaped in the query is read as one.",
    anchor: "rule-create-phone-e164",
    run: async (world) => {
      const shop = await world.shop()
      const { id, phone } = await shop.known()
      ;(await shop.get(`/clients?phone=${phone}`)).shows({ id })
    }
  },
  {
    id: "client-phone-invalid",
    rule: "A look-up without a number, or with one that is none, is a 400.",
    anchor: "rule-create-phone-e164",
    run: async (world) => {
      const shop = await world.shop()
      for (const query of ["", "?phone=", "?phone=015123456789", "?phone=nobody"]) {
        ;(await shop.get(`/clients${query}`)).invalid("query phone")
      }
    }
  },
  {
    id: "client-hidden-name",
    rule: "A client who hides their name is shown by given name and initial.",
    anchor: "rule-client-hidden-name",
    run: async (world) => {
      const shop = await world.shop()
      const { id, phone } = await shop.known({ hide_name: true })
      ;(await shop.lookUp(phone)).shows({ display_name: "Amira B." })
      ;(await shop.create({ client_id: id })).shows({ client: { id, display_name: "Amira B." } }, 201)
    }
  },
  {
    id: "client-counts",
    rule: "A client's tickets are counted with this shop alone: those that are open, and all.",
    anchor: "rule-client-counts",
    run: async (world) => {
      const [shop, other] = [await world.shop(), await world.shop()]
      const client = await shop.known()
      await world.act("POST", `/clients/${client.id}/visits`, { shop_id: other.id })
      await other.ticket({ client_id: client.id })
      for (const statuses of [[], ["ready"], ["impossible"], ["ready", "collected"]]) {
        const { id } = await shop.ticket({ client_id: client.id })
        for (const status of statuses) (await shop.status(id, status)).ok()
      }
      ;(await shop.lookUp(client.phone)).shows({ tickets_open: 3, tickets_total: 4 })
    }
  },
  {
    id: "client-known-by-offer",
    rule: "A client is not seen while an offer is open, and is once it is accepted.",
    anchor: "rule-client-known-by-offer",
    run: async (world) => {
      const shop = await world.shop()
      const client = await world.person()
      await shop.ticket({ client_phone: client.phone })
      ;(await shop.lookUp(client.phone)).refused(404, "NOT_FOUND")
      ;(await shop.get(`/clients/${client.id}`)).refused(404, "NOT_FOUND")
      await world.answerOffer(client, "accept")
      ;(await shop.lookUp(client.phone)).shows({ id: client.id, tickets_open: 1 })
    }
  },
  {
    id: "client-of-another-shop",
    rule: "A client whom another shop knows is not seen by this one.",
    anchor: "rule-client-by-phone",
    run: async (world) => {
      const [shop, other] = [await world.shop(), await world.shop()]
      const client = await other.known()
      ;(await shop.lookUp(client.phone)).refused(404, "NOT_FOUND")
      ;(await shop.get(`/clients/${client.id}`)).refused(404, "NOT_FOUND")
      ;(await shop.get(`/clients/${client.id}/loyalty`)).refused(404, "NOT_FOUND")
    }
  },
  {
    id: "privacy-look-up",
    rule: "A look-up of somebody who blocks the shop is the 404 of a number nobody has: status, headers, body.",
    anchor: "rule-privacy-look-up",
    run: (world) => compare(world, (shop, { phone }) => shop.lookUp(phone))
  },
  {
    id: "privacy-by-id",
    rule: "A client who blocks the shop is by their id the 404 of nobody.",
    anchor: "rule-privacy-look-up",
    run: (world) => compare(world, (shop, { id }) => shop.get(`/clients/${id}`))
  },
  {
    id: "privacy-loyalty",
    rule: "Their card is the 404 of nobody.",
    anchor: "rule-privacy-look-up",
    run: (world) => compare(world, (shop, { id }) => shop.get(`/clients/${id}/loyalty`))
  },
  {
    id: "privacy-stamps",
    rule: "Stamps for them and a reward of theirs are the 404 of nobody.",
    anchor: "rule-privacy-look-up",
    run: async (world) => {
      await compare(world, (shop, client) => shop.stamps(client, 1))
      await compare(world, (shop, client) => shop.redeem(client))
    }
  },
  {
    id: "privacy-create",
    rule: "A ticket for them is the 404 of nobody.",
    anchor: "rule-privacy-look-up",
    run: (world) => compare(world, (shop, { id }) => shop.create({ client_id: id }))
  },
  {
    id: "privacy-offer",
    rule: "A ticket with a phone number is answered alike whether nobody holds it, somebody does, or they block the shop.",
    anchor: "rule-create-offer",
    run: async (world) => {
      const made = async (prepare: (shop: Shop) => Promise<string>) => {
        const shop = await world.shop()
        const client_phone = await prepare(shop)
        const before = (await shop.types()).length
        const answer = await shop.create({ client_phone })
        const { client, state } = answer.ok(201)
        const types = (await shop.types()).slice(before)
        const names = Object.keys(answer.exchange.answer.headers).sort()
        return { client, state, types, meta: answer.meta, names }
      }
      const nobody = await made(async () => world.phone())
      expectSame(await made(async () => (await world.person()).phone), nobody, "what is seen where an account exists")
      const blocked = await made(async (shop) => (await shop.blocker()).phone)
      expectSame(blocked, nobody, "what is seen where its holder blocks the shop")
    }
  },
  {
    id: "block-hides-tickets",
    rule: "Who blocks the shop is gone from its tickets, and no event speaks of them any more.",
    anchor: "rule-privacy-look-up",
    run: async (world) => {
      const shop = await (await world.shop()).program()
      const client = await shop.known()
      const { id } = await shop.ticket({ client_id: client.id })
      await shop.ticket({ client_phone: client.phone })
      await world.answerOffer(client, "block")
      expectSame((await shop.read(id)).client, null, "the ticket's client")
      const before = (await shop.types()).length
      ;(await shop.status(id, "ready")).shows({ client: null, notified_at: null })
      const events = (await shop.events()).slice(before)
      expectShape(events, [{ type: "ticket.ready", data: { ticket: { client: null } } }], "the events since")
    }
  },
  {
    id: "block-frees-ticket",
    rule: "A ticket whose client blocked the shop is linked to whoever accepts it next.",
    anchor: "rule-client-known-by-offer",
    run: async (world) => {
      const shop = await world.shop()
      const [blocker, other] = [await shop.known(), await world.person()]
      const { id } = await shop.ticket({ client_id: blocker.id, client_phone: other.phone })
      await shop.ticket({ client_phone: blocker.phone })
      await world.answerOffer(blocker, "block")
      await world.answerOffer(other, "accept")
      expectShape((await shop.read(id)).client, { id: other.id }, "the ticket's client")
      const [last] = (await shop.events()).slice(-1)
      expectShape(last, { type: "client.linked", data: { ticket: { id }, client: { id: other.id } } }, "the last event")
    }
  },
  {
    id: "offer-abandoned",
    rule: "Accepting the offer of an abandoned ticket makes the client known and leaves the ticket as it is.",
    anchor: "rule-client-known-by-offer",
    run: async (world) => {
      const shop = await world.shop()
      const client = await world.person()
      const { id } = await shop.ticket({ client_phone: client.phone })
      await world.advance(60 * DAY)
      const before = await shop.read(id)
      expectShape(before, { state: "abandoned", client: null }, "the ticket")
      await world.answerOffer(client, "accept")
      expectSame(await shop.read(id), before, "the ticket after the acceptance")
      ;(await shop.get(`/clients/${client.id}`)).ok()
    }
  },
  {
    id: "offer-own-client",
    rule: "A ticket of a client whom the shop names is not offered to that client again.",
    anchor: "rule-client-known-by-offer",
    run: async (world) => {
      const shop = await world.shop()
      const client = await shop.known()
      await shop.ticket({ client_id: client.id, client_phone: client.phone })
      expectSame(await world.act("GET", `/clients/${client.id}/offers`), [], "the client's offers")
    }
  },
  {
    id: "block-stays",
    rule: "A later visit does not lift a block.",
    anchor: "rule-privacy-look-up",
    run: async (world) => {
      const shop = await world.shop()
      const client = await shop.blocker()
      await world.act("POST", `/clients/${client.id}/visits`, { shop_id: shop.id })
      ;(await shop.lookUp(client.phone)).refused(404, "NOT_FOUND")
    }
  },
  {
    id: "block-one-shop",
    rule: "A client blocks one shop; others see them as before.",
    anchor: "rule-privacy-look-up",
    run: async (world) => {
      const [shop, other] = [await world.shop(), await world.shop()]
      const client = await shop.blocker()
      await world.act("POST", `/clients/${client.id}/visits`, { shop_id: other.id })
      const answer = await other.lookUp(client.phone)
      expectThat(answer.ok().id === client.id, "the client", answer.data)
    }
  }
])
