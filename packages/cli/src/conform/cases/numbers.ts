import { expectSame, expectShape } from "../Broken.js"
import { casesOf, type Row } from "../Case.js"
import type { Ticket } from "../Shapes.js"
import { DAY, MINUTE, NOBODY } from "../World.js"

/** Reading one ticket, and telling that the client was told (Specification, Endpoints). */
export const numberCases = casesOf("§4", [
  {
    id: "read-ticket",
    rule: "A ticket is read by its id; one of nobody or of another shop is the same 404.",
    anchor: "rule-read-ticket",
    run: async (world) => {
      const [shop, other] = [await world.shop(), await world.shop()]
      const { id } = await other.ticket()
      ;(await other.get(`/tickets/${id}`)).shows({ id })
      const foreign = (await shop.get(`/tickets/${id}`)).refused(404, "NOT_FOUND")
      const absent = (await shop.get(`/tickets/${NOBODY}`)).refused(404, "NOT_FOUND")
      expectSame(foreign.error, absent.error, "the error of another shop's ticket, as of none")
    }
  },
  {
    id: "by-number",
    rule: "A number that was given once is that ticket, without others.",
    anchor: "rule-by-number",
    run: async (world) => {
      const shop = await world.shop()
      const ticket = await shop.ticket()
      const answer = await shop.get<Ticket>("/tickets/by-number/1")
      expectSame(answer.ok(), ticket, "data", answer.exchange)
      answer.withMeta({ others: [] })
    }
  },
  {
    id: "by-number-newest-open",
    rule: "Of several open tickets with a number the newest is answered, and the other is told.",
    anchor: "rule-by-number",
    run: async (world) => {
      const shop = await world.shop()
      const first = await shop.ticket()
      await world.advance(DAY)
      await shop.set({ next_number: 1 })
      const second = await shop.ticket()
      const { number_label, created_at } = first
      const other = { id: first.id, number: 1, number_label, state: "workshop", created_at }
      const answer = await shop.get<Ticket>("/tickets/by-number/1")
      answer.shows({ id: second.id })
      answer.withMeta({ others: [other] })
    }
  },
  {
    id: "by-number-open-before-closed",
    rule: "An older ticket that is open comes before a newer one that was collected.",
    anchor: "rule-by-number",
    run: async (world) => {
      const shop = await world.shop()
      for (const statuses of [[], ["ready"], ["impossible"]]) {
        await shop.set({ next_number: 7 })
        const open = await shop.moved(...statuses)
        await world.advance(MINUTE)
        await shop.set({ next_number: 7 })
        const closed = await shop.moved("ready", "collected")
        const answer = await shop.get<Ticket>("/tickets/by-number/7")
        answer.shows({ id: open.id })
        expectShape(answer.meta.others?.[0], { id: closed.id, state: "collected" }, "meta.others.0", answer.exchange)
        ;(await shop.status(open.id, open.state === "workshop" ? "ready" : "collected")).ok()
        if (open.state === "workshop") (await shop.status(open.id, "collected")).ok()
        await world.advance(MINUTE)
      }
    }
  },
  {
    id: "by-number-none-open",
    rule: "Where none is open the newest is answered.",
    anchor: "rule-by-number",
    run: async (world) => {
      const shop = await world.shop()
      const first = await shop.moved("ready", "collected")
      await world.advance(1)
      await shop.set({ next_number: 1 })
      const second = await shop.moved("impossible", "collected")
      const answer = await shop.get<Ticket>("/tickets/by-number/1")
      answer.shows({ id: second.id })
      answer.withMeta({ others: [{ id: first.id }] })
    }
  },
  {
    id: "by-number-many-others",
    rule: "At most a hundred others are listed, the newest first.",
    anchor: "rule-by-number",
    run: async (world) => {
      const shop = await world.shop()
      const made: Array<string> = []
      for (let i = 0; i < 102; i++) {
        await world.advance(2500)
        await shop.set({ next_number: 5 })
        made.unshift((await shop.ticket()).id)
      }
      const answer = await shop.get<Ticket>("/tickets/by-number/5")
      answer.shows({ id: made[0] })
      expectSame(
        answer.meta.others?.map(({ id }) => id),
        made.slice(1, 101),
        "the ids in meta.others",
        answer.exchange
      )
    }
  },
  {
    id: "by-number-range",
    rule: "A number that no ticket can have is a 400; one that none has is a 404.",
    anchor: "rule-by-number",
    run: async (world) => {
      const shop = await world.shop()
      for (const n of ["0", "10000", "-1", "x", "1.5"]) (await shop.get(`/tickets/by-number/${n}`)).invalid("path n")
      ;(await shop.get("/tickets/by-number/9999")).refused(404, "NOT_FOUND")
    }
  },
  ...["sms", "whatsapp", "call"].map(
    (channel) =>
      ({
        id: `notified-${channel}`,
        rule: `Telling the client by ${channel} is kept on the ticket and raises client.notified with its channel.`,
        anchor: "rule-notified-sms",
        run: async (world) => {
          const shop = await world.shop()
          const { id } = await shop.ticket()
          await world.advance(1)
          const notified_at = await world.instant()
          ;(await shop.notified(id, channel)).shows({ id, notified_at, updated_at: notified_at })
          const data = { channel, notified_at, ticket: { id, notified_at } }
          expectShape((await shop.events()).at(-1), { type: "client.notified", data }, "the last event")
        }
      }) satisfies Row
  ),
  {
    id: "notified-channel",
    rule: "The channel is sms, whatsapp or call and nothing else.",
    anchor: "rule-notified-sms",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket()
      for (const channel of ["app", "pigeon", null]) {
        ;(await shop.post(`/tickets/${id}/notified`, { channel })).invalid("body channel")
      }
      ;(await shop.post(`/tickets/${id}/notified`, {})).invalid("body channel")
    }
  },
  {
    id: "notified-any-state",
    rule: "It works in every state but abandoned.",
    anchor: "rule-notified-sms",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      for (const statuses of [[], ["ready"], ["impossible"], ["ready", "collected"]]) {
        const { id, state } = await shop.moved(...statuses)
        ;(await shop.notified(id)).shows({ state, notified_at: /^\d{4}-/ })
      }
    }
  },
  {
    id: "notified-abandoned",
    rule: "Of an abandoned ticket nothing can be told any more: 409 ABANDONED.",
    anchor: "rule-status-all-refused",
    run: async (world) => {
      const shop = await world.shop()
      const { id } = await shop.ticket()
      await world.advance(60 * DAY)
      ;(await shop.notified(id)).conflict("ABANDONED")
      ;(await shop.get(`/tickets/${id}`)).shows({ notified_at: null })
    }
  }
])
