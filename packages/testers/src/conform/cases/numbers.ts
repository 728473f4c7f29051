import { UNKNOWN_ID } from "../../testkit/Ids.js"
import type { TicketJson } from "../../testkit/ResponseTypes.js"
import { DAY, MINUTE } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectShape } from "../Expectations.js"

/** Reading one ticket by id or number, and recording that the client was notified (Specification, Endpoints). */
export const numberCases = casesOf("§4", [
  test("read-ticket (rule-read-ticket): A ticket can be read by its id. The ticket of another shop gets the same 404 as an unknown id.", async (shop) => {
    const otherShop = await shop.env.openShop()
    const { id } = await otherShop.createTicket()
    ;(await otherShop.get(`/tickets/${id}`)).expectData({ id })
    const ofOtherShop = (await shop.get(`/tickets/${id}`)).expectRefusal(404, "NOT_FOUND")
    const unknownTicket = (await shop.get(`/tickets/${UNKNOWN_ID}`)).expectRefusal(404, "NOT_FOUND")
    expectSame(
      ofOtherShop.error,
      unknownTicket.error,
      "the error for another shop's ticket, compared with that for an unknown id"
    )
  }),
  test("by-number (rule-by-number): A look-up by a number that only one ticket has returns that ticket and lists no others.", async (shop) => {
    const ticket = await shop.createTicket()
    const response = await shop.get<TicketJson>("/tickets/by-number/1")
    expectSame(response.expectOk(), ticket, "data", response.exchange)
    response.expectMeta({ others: [] })
  }),
  test("by-number-newest-open (rule-by-number): A look-up by number returns the newest of several open tickets, and lists the others.", async (shop) => {
    const first = await shop.createTicket()
    await shop.env.advance(DAY)
    await shop.changeSettings({ next_number: 1 })
    const second = await shop.createTicket()
    const { number_label, created_at } = first
    const other = { id: first.id, number: 1, number_label, state: "workshop", created_at }
    const response = await shop.get<TicketJson>("/tickets/by-number/1")
    response.expectData({ id: second.id })
    response.expectMeta({ others: [other] })
  }),
  test("by-number-open-before-closed (rule-by-number): A look-up by number prefers an older open ticket to a newer collected one.", async (shop) => {
    for (const statuses of [[], ["ready"], ["impossible"]]) {
      await shop.changeSettings({ next_number: 7 })
      const open = await shop.createAndMove(...statuses)
      await shop.env.advance(MINUTE)
      await shop.changeSettings({ next_number: 7 })
      const closed = await shop.createAndMove("ready", "collected")
      const response = await shop.get<TicketJson>("/tickets/by-number/7")
      response.expectData({ id: open.id })
      expectShape(response.meta.others?.[0], { id: closed.id, state: "collected" }, "meta.others.0", response.exchange)
      ;(await shop.setStatus(open.id, open.state === "workshop" ? "ready" : "collected")).expectOk()
      if (open.state === "workshop") (await shop.setStatus(open.id, "collected")).expectOk()
      await shop.env.advance(MINUTE)
    }
  }),
  test("by-number-none-open (rule-by-number): A look-up by number returns the newest ticket if none is open.", async (shop) => {
    const first = await shop.createAndMove("ready", "collected")
    await shop.env.advance(1)
    await shop.changeSettings({ next_number: 1 })
    const second = await shop.createAndMove("impossible", "collected")
    const response = await shop.get<TicketJson>("/tickets/by-number/1")
    response.expectData({ id: second.id })
    response.expectMeta({ others: [{ id: first.id }] })
  }),
  test("by-number-many-others (rule-by-number): A look-up by number lists at most a hundred other tickets, the newest first.", async (shop) => {
    const created: Array<string> = []
    for (let i = 0; i < 102; i++) {
      await shop.env.advance(2500)
      await shop.changeSettings({ next_number: 5 })
      created.unshift((await shop.createTicket()).id)
    }
    const response = await shop.get<TicketJson>("/tickets/by-number/5")
    response.expectData({ id: created[0] })
    expectSame(
      response.meta.others?.map(({ id }) => id),
      created.slice(1, 101),
      "the ids in meta.others",
      response.exchange
    )
  }),
  test("by-number-range (rule-by-number): A number that no ticket can have is a 400, and a number that no ticket has is a 404.", async (shop) => {
    for (const n of ["0", "10000", "-1", "x", "1.5"])
      (await shop.get(`/tickets/by-number/${n}`)).expectInvalid("path n")
    ;(await shop.get("/tickets/by-number/9999")).expectRefusal(404, "NOT_FOUND")
  }),
  ...["sms", "whatsapp", "call"].map((channel) =>
    test(`notified-${channel} (rule-notified-sms): A notification by ${channel} is recorded on the ticket and raises client.notified with its channel.`, async (shop) => {
      const { id } = await shop.createTicket()
      await shop.env.advance(1)
      const notified_at = await shop.env.readInstant()
      ;(await shop.recordNotified(id, channel)).expectData({ id, notified_at, updated_at: notified_at })
      const data = { channel, notified_at, ticket: { id, notified_at } }
      expectShape((await shop.listEvents()).at(-1), { type: "client.notified", data }, "the last event")
    })
  ),
  test("notified-channel (rule-notified-sms, key): The channel of a notification must be sms, whatsapp or call.", async (shop) => {
    const { id } = await shop.createTicket()
    for (const channel of ["app", "pigeon", null])
      (await shop.post(`/tickets/${id}/notified`, { channel })).expectInvalid("body channel")
    ;(await shop.post(`/tickets/${id}/notified`, {})).expectInvalid("body channel")
  }),
  test("notified-any-state (rule-notified-sms, key): A notification can be recorded in every state except abandoned.", async (shop) => {
    for (const statuses of [[], ["ready"], ["impossible"], ["ready", "collected"]]) {
      const { id, state } = await shop.createAndMove(...statuses)
      ;(await shop.recordNotified(id)).expectData({ state, notified_at: /^\d{4}-/ })
    }
  }),
  test("notified-abandoned (rule-status-all-refused): A notification for an abandoned ticket is refused with 409 ABANDONED.", async (shop) => {
    const { id } = await shop.createTicket()
    await shop.env.advance(60 * DAY)
    ;(await shop.recordNotified(id)).expectConflict("ABANDONED")
    ;(await shop.get(`/tickets/${id}`)).expectData({ notified_at: null })
  })
])
