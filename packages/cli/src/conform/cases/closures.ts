import { expectSame, expectShape } from "../Broken.js"
import { type Case, casesOf, type Row } from "../Case.js"
import { DAY, later } from "../World.js"

/** What the shop does that starts the sixty days anew, by a call of the sandbox. */
const news = [
  ["quote", { price_minor: 100 }],
  ["delay", { promised_at: "2099-01-01T00:00:00Z" }],
  ["part", { label: "Zip", status: "ordered" }],
  ["photo", { photo_url: "https://pictures.example.com/1.jpg" }]
] as const

/** What closes by itself, and when (Specification, States). */
export const closureCases: ReadonlyArray<Case> = casesOf("§3", [
  {
    id: "closure-uncollected",
    rule: "A ready ticket is abandoned as uncollected at exactly sixty days after it was ready, not a millisecond before.",
    anchor: "rule-closure-uncollected",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket()
      await world.advance(5 * DAY)
      const { ready_at } = (await shop.status(id, "ready")).ok()
      await world.advance(60 * DAY - 1)
      expectSame((await shop.read(id)).state, "ready", "the state one millisecond before")
      await world.advance(1)
      const abandoned_at = later(ready_at ?? "", 60 * DAY)
      const shown = { state: "abandoned", abandon_reason: "uncollected", abandoned_at }
      ;(await shop.get(`/tickets/${id}`)).shows(shown)
    }
  },
  {
    id: "closure-no-news",
    rule: "A ticket left in the workshop is abandoned for want of news at exactly sixty days after it was made.",
    anchor: "rule-closure-uncollected",
    run: async (world) => {
      const shop = await world.shop()
      const { id, created_at } = await shop.ticket()
      await world.advance(60 * DAY - 1)
      expectSame((await shop.read(id)).state, "workshop", "the state one millisecond before")
      await world.advance(1)
      const abandoned_at = later(created_at, 60 * DAY)
      ;(await shop.get(`/tickets/${id}`)).shows({ state: "abandoned", abandon_reason: "no_news", abandoned_at })
    }
  },
  {
    id: "closure-at-its-own-instant",
    rule: "A clock moved far past them closes tickets each at its own instant, and their events say so.",
    anchor: "rule-closure-at-its-own-instant",
    run: async (world) => {
      const shop = await world.shop()
      const first = await shop.ticket()
      await world.advance(DAY)
      const second = await shop.ticket()
      await world.advance(90 * DAY)
      const closed = (await shop.events()).filter(({ type }) => type === "ticket.abandoned")
      expectShape(
        closed,
        [first, second].map(({ id, created_at }) => ({
          created_at: later(created_at, 60 * DAY),
          data: { reason: "no_news", ticket: { id, state: "abandoned" } }
        })),
        "the ticket.abandoned events"
      )
    }
  },
  {
    id: "closure-event-reason",
    rule: "The event of a closure tells its reason beside the ticket.",
    anchor: "rule-closure-at-its-own-instant",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("ready")
      await world.advance(60 * DAY)
      const last = (await shop.events()).at(-1)
      const expected = { type: "ticket.abandoned", data: { reason: "uncollected", ticket: { id, state: "abandoned" } } }
      expectShape(last, expected, "the last event")
    }
  },
  {
    id: "closure-never-impossible",
    rule: "A ticket that is impossible waits for its client for ever.",
    anchor: "rule-closure-never-all",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("impossible")
      await world.advance(200 * DAY)
      ;(await shop.status(id, "collected")).shows({ outcome: "impossible" })
    }
  },
  {
    id: "closure-never-collected",
    rule: "A collected ticket is not abandoned.",
    anchor: "rule-closure-never-all",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("ready", "collected")
      await world.advance(100 * DAY)
      expectSame((await shop.read(id)).state, "collected", "state")
    }
  },
  {
    id: "closure-ready-not-reset",
    rule: "Nothing but leaving the state puts off the closure of a ready ticket.",
    anchor: "rule-closure-uncollected",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("ready")
      await world.advance(59 * DAY)
      ;(await shop.notified(id, "call")).ok()
      await world.advance(DAY)
      expectSame((await shop.read(id)).state, "abandoned", "state")
    }
  },
  {
    id: "closure-reset-notified",
    rule: "Telling the client starts the sixty days in the workshop anew.",
    anchor: "rule-closure-uncollected",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket()
      await world.advance(59 * DAY)
      ;(await shop.notified(id)).ok()
      await world.advance(60 * DAY - 1)
      expectSame((await shop.read(id)).state, "workshop", "the state one millisecond before")
      await world.advance(1)
      expectSame((await shop.read(id)).state, "abandoned", "the state sixty days after")
    }
  },
  ...news.map(
    ([act, body]) =>
      ({
        id: `closure-reset-${act}`,
        rule: `A ${act} by the shop starts the sixty days in the workshop anew.`,
        anchor: "rule-closure-uncollected",
        run: async (world) => {
          const shop = await world.shop()
          const { id } = await shop.ticket()
          await world.advance(59 * DAY)
          await world.act("POST", `/tickets/${id}/${act}`, body)
          await world.advance(60 * DAY - 1)
          expectSame((await shop.read(id)).state, "workshop", "the state one millisecond before")
          await world.advance(1)
          expectSame((await shop.read(id)).state, "abandoned", "the state sixty days after")
        }
      }) satisfies Row
  ),
  {
    id: "closure-reset-reopened",
    rule: "A reopened ticket has sixty days in the workshop from its reopening.",
    anchor: "rule-closure-uncollected",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.moved("ready")
      await world.advance(59 * DAY)
      ;(await shop.status(id, "workshop")).ok()
      await world.advance(60 * DAY - 1)
      expectSame((await shop.read(id)).state, "workshop", "the state one millisecond before")
      await world.advance(1)
      ;(await shop.get(`/tickets/${id}`)).shows({ state: "abandoned", abandon_reason: "no_news" })
    }
  },
  {
    id: "closure-client-does-not-reset",
    rule: "What the client does is no news from the shop: the sixty days run on.",
    anchor: "rule-closure-uncollected",
    run: async (world) => {
      const shop = await world.shop()
      const client = await world.person()
      const { id } = await shop.ticket({ client_phone: client.phone, price_minor: 100 })
      await world.act("POST", `/tickets/${id}/quote`, { price_minor: 200 })
      await world.advance(59 * DAY)
      await world.answerOffer(client, "accept")
      await world.act("POST", `/tickets/${id}/quote/accept`, {})
      await world.advance(DAY)
      expectSame((await shop.read(id)).state, "abandoned", "state")
    }
  }
])
