import type { TicketJson } from "../../testkit/ResponseTypes.js"
import { DAY } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { CaseShop } from "../CaseEnvironment.js"
import { expectSame, expectShape } from "../Expectations.js"

/** Creates a ticket, by its state. */
const creators: Readonly<Record<string, (shop: CaseShop) => Promise<TicketJson>>> = {
  workshop: (shop) => shop.createAndMove(),
  ready: (shop) => shop.createAndMove("ready"),
  impossible: (shop) => shop.createAndMove("impossible"),
  collected: (shop) => shop.createAndMove("ready", "collected"),
  abandoned: async (shop) => {
    const { id } = await shop.createAndMove()
    await shop.env.advance(60 * DAY)
    return shop.readTicket(id)
  }
}

/** The allowed moves: the state before, the status, the event, and the other fields of the ticket that change. */
const moves = [
  ["workshop", "ready", "ticket.ready", { outcome: null }],
  ["workshop", "impossible", "ticket.impossible", { outcome: null }],
  ["ready", "collected", "ticket.collected", { outcome: "ready" }],
  ["impossible", "collected", "ticket.collected", { outcome: "impossible" }],
  ["ready", "workshop", "ticket.reopened", { outcome: null, ready_at: null }],
  ["impossible", "workshop", "ticket.reopened", { outcome: null }],
  ["collected", "workshop", "ticket.reopened", { outcome: null, ready_at: null, collected_at: null }]
] as const

/** The refused moves: the state before, the status, the reason, and the statuses that the state accepts. */
const refusals = [
  ["workshop", "workshop", "SAME_STATE", ["ready", "impossible"]],
  ["workshop", "collected", "INVALID_TRANSITION", ["ready", "impossible"]],
  ["ready", "ready", "SAME_STATE", ["collected", "workshop"]],
  ["ready", "impossible", "INVALID_TRANSITION", ["collected", "workshop"]],
  ["impossible", "impossible", "SAME_STATE", ["collected", "workshop"]],
  ["impossible", "ready", "INVALID_TRANSITION", ["collected", "workshop"]],
  ["collected", "collected", "SAME_STATE", ["workshop"]],
  ["collected", "ready", "INVALID_TRANSITION", ["workshop"]],
  ["collected", "impossible", "INVALID_TRANSITION", ["workshop"]],
  ["abandoned", "workshop", "ABANDONED", []],
  ["abandoned", "ready", "ABANDONED", []],
  ["abandoned", "impossible", "ABANDONED", []],
  ["abandoned", "collected", "ABANDONED", []]
] as const

const needSuffixOf = (from: string): string => (from === "abandoned" ? "" : ", key")

/** Every status in every state, its further effects, and reopening (Specification, States; Endpoints). */
export const statusCases = casesOf("§3", [
  ...moves.map(([from, to, event, fields]) =>
    test(`status-${from}-${to} (rule-status-workshop-ready): A ticket that is ${from} becomes ${to} on request, with the event ${event}.`, async (shop) => {
      const { id } = await creators[from]!(shop)
      await shop.env.advance(1)
      const response = await shop.setStatus(id, to)
      const moved = response.expectData({ state: to, ...fields })
      expectSame(await shop.readTicket(id), moved, "the ticket when read again")
      const lastEvent = (await shop.listEvents()).at(-1)
      expectShape(lastEvent, { type: event, data: { ticket: { id, state: to } } }, "the last event", response.exchange)
    })
  ),
  ...refusals.map(([from, to, reason, allowed]) =>
    test(`status-${from}-${to}-refused (rule-status-all-refused${needSuffixOf(from)}): A ticket that is ${from} refuses ${to} with ${reason}, names the statuses that it accepts, and does not change.`, async (shop) => {
      const ticket = await creators[from]!(shop)
      const response = await shop.setStatus(ticket.id, to)
      response.expectConflict(reason, { from, to, state: from, updated_at: ticket.updated_at })
      const would = (response.error.details?.allowed ?? null) as ReadonlyArray<string> | null
      expectSame(would === null ? null : [...would].sort(), [...allowed].sort(), "details.allowed")
      expectSame(await shop.readTicket(ticket.id), ticket, "the ticket afterwards", response.exchange)
    })
  ),
  test("status-instants (rule-status-instants): A ticket keeps the instants at which it became ready and was collected.", async (shop) => {
    const { id } = await shop.createTicket()
    await shop.env.advance(1000)
    const ready_at = await shop.env.readInstant()
    ;(await shop.setStatus(id, "ready")).expectData({ ready_at, collected_at: null, updated_at: ready_at })
    await shop.env.advance(1000)
    const collected_at = await shop.env.readInstant()
    ;(await shop.setStatus(id, "collected")).expectData({ ready_at, collected_at, updated_at: collected_at })
  }),
  test("status-unknown-value (rule-status-unknown-value, key): A status other than the four allowed values is a 400.", async (shop) => {
    const { id } = await shop.createTicket()
    for (const status of ["abandoned", "READY", "", null])
      (await shop.post(`/tickets/${id}/status`, { status })).expectInvalid("body status")
    ;(await shop.post(`/tickets/${id}/status`, {})).expectInvalid("body status")
  }),
  test("status-refused-is-silent (rule-status-all-refused): A refused status raises no event.", async (shop) => {
    const { id } = await shop.createAndMove("ready")
    const eventsBefore = await shop.listEventTypes()
    ;(await shop.setStatus(id, "impossible")).expectConflict("INVALID_TRANSITION")
    expectSame(await shop.listEventTypes(), eventsBefore, "the shop's events")
  }),
  test("notified-ready (rule-notified-ready): When the ticket of a linked client becomes ready, the client is notified in the app, and the ticket shows when.", async (shop) => {
    const { client, id } = await shop.createClientTicket()
    await shop.env.advance(1)
    const notified_at = await shop.env.readInstant()
    ;(await shop.setStatus(id, "ready")).expectData({ notified_at })
    const notified = (await shop.listEvents()).filter(({ type }) => type === "client.notified")
    expectShape(notified, [{ data: { channel: "app", notified_at, ticket: { id } } }], "the client.notified events")
    const inbox = await shop.env.callSandbox<ReadonlyArray<unknown>>("get inbox", client.id)
    expectSame(inbox.length, 1, "the number of notifications in the client's inbox")
  }),
  test("notified-impossible (rule-notified-ready): When the ticket of a linked client becomes impossible, the client is notified in the app.", async (shop) => {
    const { id } = await shop.createClientTicket()
    ;(await shop.setStatus(id, "impossible")).expectData({ notified_at: await shop.env.readInstant() })
    const notified = (await shop.listEvents()).filter(({ type }) => type === "client.notified")
    expectShape(notified, [{ data: { channel: "app", ticket: { id } } }], "the client.notified events")
  }),
  test("notified-nobody (rule-notified-ready): A ticket without a linked client shows no notification.", async (shop) => {
    const { id } = await shop.createTicket()
    ;(await shop.setStatus(id, "ready")).expectData({ notified_at: null })
    expectSame(await shop.listEventTypes(), ["ticket.created", "ticket.ready"], "the shop's events")
  }),
  test("earns-once (rule-earns-all): A ticket earns its stamps when it first becomes ready. Reopening it neither removes the stamps nor earns them again.", async (shop) => {
    await shop.enableProgram({ stamps_per_ticket: 2 })
    const { client, id } = await shop.createClientTicket()
    const expectBalance = async (stamps: number, when: string) => {
      const { loyalty } = (await shop.lookUp(client.phone)).expectOk()
      expectShape(loyalty, { balance: stamps, lifetime: stamps }, `the card ${when}`)
    }
    await expectBalance(0, "at first")
    ;(await shop.setStatus(id, "ready")).expectOk()
    await expectBalance(2, "once ready")
    ;(await shop.setStatus(id, "workshop")).expectOk()
    await expectBalance(2, "after the reopening")
    ;(await shop.setStatus(id, "ready")).expectOk()
    ;(await shop.setStatus(id, "collected")).expectOk()
    await expectBalance(2, "at the end")
  }),
  test("earns-at-collection (rule-earns-all): A ticket whose client was linked after it became ready earns its stamps when it is collected.", async (shop) => {
    await shop.enableProgram()
    const client = await shop.env.openAccount()
    const { id } = await shop.createTicket({ client_phone: client.phone })
    ;(await shop.setStatus(id, "ready")).expectOk()
    await shop.env.answerOffer(client, "accept")
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: { balance: 0 } })
    ;(await shop.setStatus(id, "collected")).expectOk()
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: { balance: 1 } })
  }),
  test("earns-nothing-impossible (rule-earns-all): A ticket whose work was impossible earns no stamps, even when it is collected.", async (shop) => {
    await shop.enableProgram()
    const { client, id } = await shop.createClientTicket()
    ;(await shop.setStatus(id, "impossible")).expectOk()
    ;(await shop.setStatus(id, "collected")).expectOk()
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: { balance: 0, lifetime: 0 } })
  }),
  test("earns-when-switched-on (rule-earns-all): A ticket that became ready while the programme was off earns its stamps when it is collected.", async (shop) => {
    await shop.enableProgram({ active: false })
    const { client, id } = await shop.createClientTicket()
    ;(await shop.setStatus(id, "ready")).expectOk()
    await shop.enableProgram({ stamps_per_ticket: 2 })
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: { balance: 0 } })
    ;(await shop.setStatus(id, "collected")).expectOk()
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: { balance: 2, lifetime: 2 } })
  }),
  test("earns-nothing-once (rule-earns-all): A ticket that becomes ready while the programme gives no stamps per ticket earns none at its collection either.", async (shop) => {
    await shop.enableProgram({ stamps_per_ticket: 0 })
    const { client, id } = await shop.createClientTicket()
    ;(await shop.setStatus(id, "ready")).expectOk()
    await shop.enableProgram({ stamps_per_ticket: 2 })
    ;(await shop.setStatus(id, "collected")).expectOk()
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: { balance: 0, lifetime: 0 } })
  }),
  test("reopen-at-24h (rule-reopen-at-24h): A ticket can be reopened exactly 24 hours after its collection.", async (shop) => {
    const { id } = await shop.createAndMove("ready", "collected")
    await shop.env.advance(DAY)
    ;(await shop.setStatus(id, "workshop")).expectData({ state: "workshop", collected_at: null })
  }),
  test("reopen-past-24h (rule-reopen-at-24h): A ticket cannot be reopened 24 hours and a millisecond after its collection, and the reason is REOPEN_WINDOW.", async (shop) => {
    const { id } = await shop.createAndMove("ready", "collected")
    await shop.env.advance(DAY + 1)
    ;(await shop.setStatus(id, "workshop")).expectConflict("REOPEN_WINDOW", { allowed: [] })
    expectSame((await shop.readTicket(id)).state, "collected", "state")
  }),
  test("reopen-past-24h-any-status (rule-reopen-at-24h): 24 hours after its collection, a ticket refuses every status with REOPEN_WINDOW.", async (shop) => {
    const { id } = await shop.createAndMove("ready", "collected")
    await shop.env.advance(2 * DAY)
    for (const status of ["ready", "impossible", "collected", "workshop"])
      (await shop.setStatus(id, status)).expectConflict("REOPEN_WINDOW", { from: "collected", to: status })
  }),
  test("reopen-keeps-notified (rule-status-instants): Reopening a ticket clears ready_at, collected_at and outcome, and keeps notified_at.", async (shop) => {
    const { id } = await shop.createAndMove("ready")
    const notified_at = await shop.env.readInstant()
    ;(await shop.recordNotified(id, "call")).expectData({ notified_at })
    ;(await shop.setStatus(id, "collected")).expectOk()
    await shop.env.advance(1)
    const cleared = { ready_at: null, collected_at: null, outcome: null }
    ;(await shop.setStatus(id, "workshop")).expectData({ ...cleared, notified_at })
  }),
  test("reopen-event-from (rule-status-instants): The event of a reopening names the state that the ticket had before.", async (shop) => {
    for (const path of [["ready"], ["impossible"], ["ready", "collected"]]) {
      const { id } = await shop.createAndMove(...path)
      ;(await shop.setStatus(id, "workshop")).expectOk()
      const event = (await shop.listEvents()).at(-1)
      expectShape(event, { type: "ticket.reopened", data: { from: path.at(-1), ticket: { id } } }, "the last event")
    }
  }),
  test("reopen-second-window (rule-reopen-at-24h): A ticket that is collected a second time can be reopened for another 24 hours.", async (shop) => {
    const { id } = await shop.createAndMove("ready", "collected")
    await shop.env.advance(DAY)
    for (const status of ["workshop", "ready", "collected"]) (await shop.setStatus(id, status)).expectOk()
    await shop.env.advance(DAY)
    ;(await shop.setStatus(id, "workshop")).expectData({ state: "workshop" })
  })
])
