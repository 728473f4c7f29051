import { addMs, DAY } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { CaseShop } from "../CaseEnvironment.js"
import { expectSame, expectShape } from "../Expectations.js"

/** The calls of the sandbox after which the sixty days begin again. */
const RESETTING_CALLS = [
  ["quote", "propose quote", { price_minor: 100 }],
  ["delay", "announce delay", { promised_at: "2099-01-01T00:00:00Z" }],
  ["part", "record part", { label: "Zip", status: "ordered" }],
  ["photo", "attach photo", { photo_url: "https://pictures.example.com/1.jpg" }]
] as const

/** Expects a ticket to close sixty days from now, and not a millisecond earlier. */
const expectClosure = async (shop: CaseShop, id: string, fields: object = {}, state = "workshop") => {
  await shop.env.advance(60 * DAY - 1)
  expectSame((await shop.readTicket(id)).state, state, "the ticket's state one millisecond before the closure")
  await shop.env.advance(1)
  ;(await shop.get(`/tickets/${id}`)).expectData({ state: "abandoned", ...fields })
}

/** The automatic closure of tickets, and its instants (Specification, States). */
export const closureCases = casesOf("§3", [
  test("closure-uncollected (rule-closure-uncollected): A ready ticket is abandoned as uncollected exactly sixty days after it became ready, and not a millisecond earlier.", async (shop) => {
    const { id } = await shop.createTicket()
    await shop.env.advance(5 * DAY)
    const { ready_at } = (await shop.setStatus(id, "ready")).expectOk()
    const shown = { abandon_reason: "uncollected", abandoned_at: addMs(ready_at ?? "", 60 * DAY) }
    await expectClosure(shop, id, shown, "ready")
  }),
  test("closure-no-news (rule-closure-uncollected): A ticket without news in the workshop is abandoned exactly sixty days after it was created.", async (shop) => {
    const { id, created_at } = await shop.createTicket()
    await expectClosure(shop, id, { abandon_reason: "no_news", abandoned_at: addMs(created_at, 60 * DAY) })
  }),
  test("closure-at-its-own-instant (rule-closure-at-its-own-instant): When the clock moves past several closures, each ticket is closed at its own instant, which its event shows.", async (shop) => {
    const first = await shop.createTicket()
    await shop.env.advance(DAY)
    const second = await shop.createTicket()
    await shop.env.advance(90 * DAY)
    const closed = (await shop.listEvents()).filter(({ type }) => type === "ticket.abandoned")
    expectShape(
      closed,
      [first, second].map(({ id, created_at }) => ({
        created_at: addMs(created_at, 60 * DAY),
        data: { reason: "no_news", ticket: { id, state: "abandoned" } }
      })),
      "the ticket.abandoned events"
    )
  }),
  test("closure-event-reason (rule-closure-at-its-own-instant): The event of a closure has the ticket and the reason.", async (shop) => {
    const { id } = await shop.createAndMove("ready")
    await shop.env.advance(60 * DAY)
    const lastEvent = (await shop.listEvents()).at(-1)
    const expected = { type: "ticket.abandoned", data: { reason: "uncollected", ticket: { id, state: "abandoned" } } }
    expectShape(lastEvent, expected, "the last event")
  }),
  test("closure-never-impossible (rule-closure-never-all): A ticket that is impossible is never abandoned.", async (shop) => {
    const { id } = await shop.createAndMove("impossible")
    await shop.env.advance(200 * DAY)
    ;(await shop.setStatus(id, "collected")).expectData({ outcome: "impossible" })
  }),
  test("closure-never-collected (rule-closure-never-all): A collected ticket is never abandoned.", async (shop) => {
    const { id } = await shop.createAndMove("ready", "collected")
    await shop.env.advance(100 * DAY)
    expectSame((await shop.readTicket(id)).state, "collected", "state")
  }),
  test("closure-ready-not-reset (rule-closure-uncollected): Only a change of state postpones the closure of a ready ticket.", async (shop) => {
    const { id } = await shop.createAndMove("ready")
    await shop.env.advance(59 * DAY)
    ;(await shop.recordNotified(id, "call")).expectOk()
    await shop.env.advance(DAY)
    expectSame((await shop.readTicket(id)).state, "abandoned", "state")
  }),
  test("closure-reset-notified (rule-closure-uncollected): Recording a notification restarts the sixty days of a ticket in the workshop.", async (shop) => {
    const { id } = await shop.createTicket()
    await shop.env.advance(59 * DAY)
    ;(await shop.recordNotified(id)).expectOk()
    await expectClosure(shop, id)
  }),
  ...RESETTING_CALLS.map(([act, call, body]) =>
    test(`closure-reset-${act} (rule-closure-uncollected): A ${act} by the shop restarts the sixty days of a ticket in the workshop.`, async (shop) => {
      const { id } = await shop.createTicket()
      await shop.env.advance(59 * DAY)
      await shop.env.callSandbox(call, id, body)
      await expectClosure(shop, id)
    })
  ),
  test("closure-reset-reopened (rule-closure-uncollected): A reopened ticket has sixty days in the workshop from its reopening.", async (shop) => {
    const { id } = await shop.createAndMove("ready")
    await shop.env.advance(59 * DAY)
    ;(await shop.setStatus(id, "workshop")).expectOk()
    await expectClosure(shop, id, { abandon_reason: "no_news" })
  }),
  test("closure-client-does-not-reset (rule-closure-uncollected): An action of the client does not restart the sixty days of a ticket in the workshop.", async (shop) => {
    const client = await shop.env.openAccount()
    const { id } = await shop.createTicket({ client_phone: client.phone, price_minor: 100 })
    await shop.env.callSandbox("propose quote", id, { price_minor: 200 })
    await shop.env.advance(59 * DAY)
    await shop.env.answerOffer(client, "accept")
    await shop.env.callSandbox("accept quote", id, {})
    await shop.env.advance(DAY)
    expectSame((await shop.readTicket(id)).state, "abandoned", "state")
  })
])
