import { expectSame, expectShape, expectThat } from "../Broken.js"
import { casesOf } from "../Case.js"
import type { Ticket } from "../Shapes.js"

const FIELDS = [
  "id",
  "number",
  "number_label",
  "state",
  "outcome",
  "type",
  "service",
  "item",
  "description",
  "items",
  "money",
  "quote",
  "promised_at",
  "delay",
  "part",
  "client",
  "client_phone",
  "tracking_code",
  "tracking_url",
  "photo_url",
  "created_at",
  "updated_at",
  "ready_at",
  "collected_at",
  "abandoned_at",
  "abandon_reason",
  "notified_at",
  "created_via",
  "external_ref"
]

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** What a ticket shows (Specification, Resources; Tickets). */
export const fieldCases = casesOf("§2", [
  {
    id: "ticket-fields",
    rule: "A ticket shows every field of the specification, also those that hold nothing yet.",
    anchor: "rule-ticket-fields",
    needs: "key",
    run: async (world) => {
      const ticket = await (await world.shop()).ticket()
      expectSame(
        FIELDS.filter((name) => !(name in ticket)),
        [],
        "the list of missing fields"
      )
    }
  },
  {
    id: "ticket-fresh",
    rule: "A fresh ticket is in the workshop, a repair, made through the API, and nothing has happened to it.",
    anchor: "rule-ticket-fields",
    needs: "key",
    run: async (world) => {
      const nothing = Object.fromEntries(
        ["outcome", "item", "description", "quote", "promised_at", "delay", "part", "client", "client_phone"]
          .concat("photo_url", "ready_at", "collected_at", "abandoned_at", "abandon_reason", "notified_at")
          .map((name) => [name, null])
      )
      const created = await (await world.shop()).create({ service: "Resoling" })
      created.shows(
        { ...nothing, state: "workshop", type: "repair", service: "Resoling", items: [], created_via: "api" },
        201
      )
    }
  },
  {
    id: "ticket-id",
    rule: "Ids are UUIDs of version 7.",
    anchor: "rule-ticket-id",
    needs: "key",
    run: async (world) => {
      const ticket = await (await world.shop()).ticket()
      expectThat(UUID.test(ticket.id), "a UUID of version 7", ticket.id)
    }
  },
  {
    id: "ticket-as-given",
    rule: "What was given at creation is what the ticket shows, then and when it is read.",
    anchor: "rule-ticket-fields",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const given = {
        service: "Taking in",
        type: "prepare",
        item: "Grey suit",
        description: "Two cm at the waist\nand the sleeves",
        promised_at: "2031-01-02T03:04:05.678Z",
        external_ref: world.fresh("ref")
      }
      const made = (await shop.create(given)).shows(given, 201)
      expectSame(await shop.read(made.id), made, "the ticket when read")
    }
  },
  {
    id: "ticket-items",
    rule: "Each item has an id of its own, its label, service and price, and is not done.",
    anchor: "rule-ticket-items",
    needs: "key",
    run: async (world) => {
      const items = [{ label: "Left shoe", service: "Heel", price_minor: 900 }, { label: "Right shoe" }]
      const ticket = (await (await world.shop()).create({ items })).shows(
        {
          items: [
            { label: "Left shoe", service: "Heel", price_minor: 900, done: false },
            { label: "Right shoe", service: null, price_minor: null, done: false }
          ]
        },
        201
      )
      expectThat(new Set(ticket.items.map(({ id }) => id)).size === 2, "two ids", ticket.items)
    }
  },
  {
    id: "money-remaining",
    rule: "What remains is the price less the deposit; without a deposit it is the price.",
    anchor: "rule-money-remaining",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const both = await shop.create({ price_minor: 5000, deposit_minor: 1200 })
      both.shows({ money: { price_minor: 5000, deposit_minor: 1200, remaining_minor: 3800, before_minor: null } }, 201)
      const price = await shop.create({ price_minor: 5000 })
      price.shows({ money: { price_minor: 5000, deposit_minor: null, remaining_minor: 5000 } }, 201)
    }
  },
  {
    id: "money-without-price",
    rule: "Without a price nothing is said to remain, and the items' prices do not make one.",
    anchor: "rule-money-remaining",
    needs: "key",
    run: async (world) => {
      const items = [
        { label: "One", price_minor: 100 },
        { label: "Two", price_minor: 200 }
      ]
      const answer = await (await world.shop()).create({ items })
      answer.shows({ money: { price_minor: null, remaining_minor: null } }, 201)
    }
  },
  {
    id: "number-label",
    rule: "The label of a number has four digits.",
    anchor: "rule-create-numbers",
    run: async (world) => {
      const shop = await (await world.shop()).set({ next_number: 42 })
      ;(await shop.create()).shows({ number: 42, number_label: "0042" }, 201)
    }
  },
  {
    id: "tracking-code",
    rule: "Tracking codes are two groups of four Crockford characters, and differ.",
    anchor: "rule-tracking-code",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const codes = [await shop.ticket(), await shop.ticket(), await shop.ticket()].map((it) => it.tracking_code)
      for (const code of codes) expectShape(code, /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/, "tracking_code")
      expectThat(new Set(codes).size === 3, "three different codes", codes)
    }
  },
  {
    id: "tracking-url",
    rule: "The tracking address is the shop's own base with the code behind it; without a base there is none.",
    anchor: "rule-tracking-code",
    run: async (world) => {
      const base = "https://shop.example.com/t/"
      const ticket = await (await world.shop({ tracking_base_url: base })).ticket()
      expectSame(ticket.tracking_url, `${base}${ticket.tracking_code}`, "tracking_url")
      expectSame((await (await world.shop()).ticket()).tracking_url, null, "tracking_url without a base")
    }
  },
  {
    id: "quote-proposed",
    rule: "A proposed quote shows its price, note and instant, and does not change the price.",
    anchor: "rule-quote-proposed",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket({ price_minor: 1000 })
      await world.act("POST", `/tickets/${id}/quote`, { price_minor: 1500, note: "New sole" })
      const quote = { status: "proposed", price_minor: 1500, note: "New sole", proposed_at: await world.instant() }
      const answer = await shop.get<Ticket>(`/tickets/${id}`)
      answer.shows({ quote: { ...quote, answered_at: null }, money: { price_minor: 1000, before_minor: null } })
    }
  },
  {
    id: "quote-accepted",
    rule: "An accepted quote becomes the price, and the price before it stays to be seen.",
    anchor: "rule-quote-proposed",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket({ price_minor: 1000, deposit_minor: 300 })
      await world.act("POST", `/tickets/${id}/quote`, { price_minor: 1500 })
      await world.advance(1)
      await world.act("POST", `/tickets/${id}/quote/accept`, {})
      ;(await shop.get<Ticket>(`/tickets/${id}`)).shows({
        quote: { status: "accepted", price_minor: 1500, answered_at: await world.instant() },
        money: { price_minor: 1500, before_minor: 1000, remaining_minor: 1200 }
      })
    }
  },
  {
    id: "quote-refused",
    rule: "A refused quote leaves the price as it was.",
    anchor: "rule-quote-proposed",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket({ price_minor: 1000 })
      await world.act("POST", `/tickets/${id}/quote`, { price_minor: 1500 })
      await world.act("POST", `/tickets/${id}/quote/refuse`, {})
      ;(await shop.get<Ticket>(`/tickets/${id}`)).shows({
        quote: { status: "refused" },
        money: { price_minor: 1000, before_minor: null }
      })
    }
  },
  {
    id: "delay",
    rule: "A delay shows the promise before it, its reason and when it was announced, and moves the promise.",
    anchor: "rule-delay",
    run: async (world) => {
      const shop = await world.shop()
      const before = "2031-01-01T10:00:00.000Z"
      const { id } = await shop.ticket({ promised_at: before })
      const promised_at = "2031-01-05T10:00:00.000Z"
      await world.act("POST", `/tickets/${id}/delay`, { promised_at, reason: "The leather is late" })
      ;(await shop.get<Ticket>(`/tickets/${id}`)).shows({
        promised_at,
        delay: { previous_promised_at: before, reason: "The leather is late", announced_at: await world.instant() }
      })
    }
  },
  {
    id: "part-and-photo",
    rule: "A part shows whether it was ordered or received and when; a photo shows its address.",
    anchor: "rule-part-and-photo",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket()
      const photo_url = "https://pictures.example.com/1.jpg"
      await world.act("POST", `/tickets/${id}/photo`, { photo_url })
      const expected_at = "2031-01-01T10:00:00.000Z"
      await world.act("POST", `/tickets/${id}/part`, { label: "Zip", status: "ordered", expected_at })
      const ordered_at = await world.instant()
      const part = { label: "Zip", status: "ordered", ordered_at, expected_at, received_at: null }
      ;(await shop.get<Ticket>(`/tickets/${id}`)).shows({ photo_url, part })
      await world.advance(1)
      await world.act("POST", `/tickets/${id}/part`, { label: "Zip", status: "received" })
      const received = { status: "received", ordered_at, received_at: await world.instant() }
      ;(await shop.get<Ticket>(`/tickets/${id}`)).shows({ part: received })
    }
  },
  {
    id: "created-via",
    rule: "A ticket tells whether it was made in the app or through the API.",
    anchor: "rule-created-via",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = (await shop.app()).data
      ;(await shop.get<Ticket>(`/tickets/${id}`)).shows({ created_via: "app", number: 1 })
      ;(await shop.create()).shows({ created_via: "api", number: 2 }, 201)
    }
  }
])
