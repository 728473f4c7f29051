import { expectSame, expectShape } from "../Broken.js"
import { casesOf } from "../Case.js"
import { receiving } from "../receiving.js"
import type { Event } from "../Shapes.js"
import { DAY } from "../World.js"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Which events are raised, and what they hold (Specification, Webhooks). */
export const eventCases = casesOf("§6", [
  {
    id: "event-envelope",
    rule: "An event has an id, its type, its instant, the API's version, the shop and its data.",
    anchor: "rule-event-envelope",
    run: async (world) => {
      const shop = await world.shop()
      const ticket = await shop.ticket()
      const [event] = await shop.events()
      const fields = { id: UUID, type: "ticket.created", created_at: ticket.created_at, api_version: "1" }
      expectShape(event, { ...fields, shop_id: shop.id, data: { ticket: { id: ticket.id } } }, "the event")
    }
  },
  {
    id: "event-steps",
    rule: "Every step of a ticket is told, in order, each with the ticket as it stood then.",
    anchor: "rule-event-steps",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("ready", "workshop", "impossible", "collected")
      const told = (await shop.events()).map(
        ({ type, data }) => `${type} ${data.ticket?.id === id} ${data.ticket?.state}`
      )
      const steps = [
        "created true workshop",
        "ready true ready",
        "reopened true workshop",
        "impossible true impossible"
      ]
      expectSame(
        told,
        [...steps, "collected true collected"].map((step) => `ticket.${step}`),
        "the events"
      )
    }
  },
  {
    id: "event-quote-accepted",
    rule: "A price that is proposed, accepted or refused is told with the ticket and the quote.",
    anchor: "rule-event-steps",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket({ price_minor: 100 })
      await world.act("POST", `/tickets/${id}/quote`, { price_minor: 150 })
      await world.act("POST", `/tickets/${id}/quote/refuse`, {})
      await world.act("POST", `/tickets/${id}/quote`, { price_minor: 120, note: "Less" })
      await world.act("POST", `/tickets/${id}/quote/accept`, {})
      const raised = (await shop.events()).filter(({ type }) => type.startsWith("quote."))
      const told = (type: string, price_minor: number, money: object) => {
        const quote = { status: type.slice("quote.".length), price_minor }
        return { type, data: { ticket: { id, money, quote }, quote } }
      }
      const [before, after] = [{ price_minor: 100 }, { price_minor: 120, before_minor: 100 }]
      const expected = [
        told("quote.proposed", 150, before),
        told("quote.refused", 150, before),
        told("quote.proposed", 120, before),
        told("quote.accepted", 120, after)
      ]
      expectShape(raised, expected, "the events of the quotes")
    }
  },
  {
    id: "event-updated",
    rule: "An edit, a delay, a part and a photo are told with the ticket and the fields that changed.",
    anchor: "rule-event-steps",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket()
      await world.act("PATCH", `/tickets/${id}`, { item: "Coat", price_minor: 100 })
      await world.act("POST", `/tickets/${id}/delay`, { promised_at: "2099-12-24T09:00:00Z" })
      await world.act("POST", `/tickets/${id}/part`, { label: "Zip", status: "ordered" })
      await world.act("POST", `/tickets/${id}/photo`, { photo_url: "https://photos.example/1.jpg" })
      const raised = (await shop.events()).slice(1).map(({ type, data }) => ({
        type,
        id: data.ticket?.id,
        changed: [...((data as { changed?: ReadonlyArray<string> }).changed ?? [])].sort()
      }))
      const changed = [["item", "money"], ["delay", "promised_at"], ["part"], ["photo_url"]]
      const expected = changed.map((fields) => ({ type: "ticket.updated", id, changed: fields }))
      expectSame(raised, expected, "the events of the updates")
    }
  },
  {
    id: "quote-answered-twice",
    rule: "A quote is answered once; without one there is nothing to answer.",
    anchor: "rule-quote-answered-twice",
    run: async (world) => {
      const { id } = await (await world.shop()).ticket()
      ;(await world.sandbox("POST", `/tickets/${id}/quote/accept`, {})).conflict("QUOTE_CLOSED")
      await world.act("POST", `/tickets/${id}/quote`, { price_minor: 150 })
      await world.act("POST", `/tickets/${id}/quote/refuse`, {})
      ;(await world.sandbox("POST", `/tickets/${id}/quote/accept`, {})).conflict("QUOTE_CLOSED")
    }
  },
  {
    id: "quote-left-shop",
    rule: "Once a ticket is collected its quote can no longer be answered, and the price stays.",
    anchor: "rule-quote-answered-twice",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket({ price_minor: 100 })
      await world.act("POST", `/tickets/${id}/quote`, { price_minor: 150 })
      for (const status of ["ready", "collected"]) (await shop.status(id, status)).ok()
      for (const answer of ["accept", "refuse"])
        (await world.sandbox("POST", `/tickets/${id}/quote/${answer}`, {})).conflict("QUOTE_CLOSED")
      expectShape((await shop.read(id)).money, { price_minor: 100 }, "the ticket's money")
    }
  },
  {
    id: "event-app",
    rule: "What is done in the app raises the same events as through the API.",
    anchor: "rule-create",
    run: async (world) => {
      const shop = await world.shop()
      await shop.app()
      const [event] = await shop.events()
      expectShape(event, { type: "ticket.created", data: { ticket: { created_via: "app" } } }, "the event")
    }
  },
  {
    id: "event-ping",
    rule: "The test button sends a ping without data, also recorded among the events.",
    anchor: "rule-event-ping",
    run: async (world) => {
      const { shop, inbox } = await receiving(world)
      const ping = await world.act<Event>("POST", `/shops/${shop.id}/webhook/ping`, {})
      expectShape(ping, { type: "ping", shop_id: shop.id }, "the ping")
      expectSame(ping.data, {}, "its data")
      await world.settle()
      expectSame(
        inbox.posts.map(({ event }) => event),
        [ping],
        "what the receiver got"
      )
    }
  },
  {
    id: "event-frozen",
    rule: "An event stays as it was committed, whatever becomes of the ticket.",
    anchor: "rule-event-frozen",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket()
      const [before] = await shop.events()
      ;(await shop.status(id, "ready")).ok()
      await world.advance(70 * DAY)
      expectSame((await shop.events())[0], before, "the first event")
    }
  },
  {
    id: "event-client-linked",
    rule: "Accepting an offer is told as client.linked with the client as the ticket shows them.",
    anchor: "rule-event-steps",
    run: async (world) => {
      const shop = await world.shop()
      const client = await world.person({ hide_name: true })
      const { id } = await shop.ticket({ client_phone: client.phone })
      await world.answerOffer(client, "accept")
      const badge = { id: client.id, display_name: "Amira B." }
      const last = (await shop.events()).at(-1)
      const expected = { type: "client.linked", data: { client: badge, ticket: { id, client: badge } } }
      expectShape(last, expected, "the last event")
    }
  }
])
