import type { TicketJson } from "../../testkit/ResponseTypes.js"
import { DAY } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { CaseShop } from "../CaseEnvironment.js"
import { expectSame, expectShape } from "../Expectations.js"

/** Creates a ticket, by its state. */
const inState: Readonly<Record<string, (shop: CaseShop) => Promise<TicketJson>>> = {
  workshop: (shop) => shop.moved(),
  ready: (shop) => shop.moved("ready"),
  impossible: (shop) => shop.moved("impossible"),
  collected: (shop) => shop.moved("ready", "collected"),
  abandoned: async (shop) => {
    const { id } = await shop.moved()
    await shop.env.advance(60 * DAY)
    return shop.read(id)
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

const needOf = (from: string): string => (from === "abandoned" ? "" : ", key")

/** Every status in every state, its further effects, and reopening (Specification, States; Endpoints). */
export const statusCases = casesOf("§3", [
  ...moves.map(([from, to, event, fields]) =>
    test(`status-${from}-${to} (rule-status-workshop-ready): A ticket that is ${from} becomes ${to} on request, with the event ${event}.`, async (shop) => {
      const { id } = await inState[from]!(shop)
      await shop.env.advance(1)
      const response = await shop.status(id, to)
      const moved = response.shows({ state: to, ...fields })
      expectSame(await shop.read(id), moved, "the ticket when read again")
      const last = (await shop.events()).at(-1)
      expectShape(last, { type: event, data: { ticket: { id, state: to } } }, "the last event", response.exchange)
    })
  ),
  ...refusals.map(([from, to, reason, allowed]) =>
    test(`status-${from}-${to}-refused (rule-status-all-refused${needOf(from)}): A ticket that is ${from} refuses ${to} with ${reason}, names the statuses that it accepts, and does not change.`, async (shop) => {
      const ticket = await inState[from]!(shop)
      const response = await shop.status(ticket.id, to)
      response.conflict(reason, { from, to, state: from, updated_at: ticket.updated_at })
      const would = (response.error.details?.allowed ?? null) as ReadonlyArray<string> | null
      expectSame(would === null ? null : [...would].sort(), [...allowed].sort(), "details.allowed")
      expectSame(await shop.read(ticket.id), ticket, "the ticket afterwards", response.exchange)
    })
  ),
  test("status-instants (rule-status-instants): A ticket keeps the instants at which it became ready and was collected.", async (shop) => {
    const { id } = await shop.ticket()
    await shop.env.advance(1000)
    const ready_at = await shop.env.instant()
    ;(await shop.status(id, "ready")).shows({ ready_at, collected_at: null, updated_at: ready_at })
    await shop.env.advance(1000)
    const collected_at = await shop.env.instant()
    ;(await shop.status(id, "collected")).shows({ ready_at, collected_at, updated_at: collected_at })
  }),
  test("status-unknown-value (rule-status-unknown-value, key): A status other than the four allowed values is a 400.", async (shop) => {
    const { id } = await shop.ticket()
    for (const status of ["abandoned", "READY", "", null])
      (await shop.post(`/tickets/${id}/status`, { status })).invalid("body status")
    ;(await shop.post(`/tickets/${id}/status`, {})).invalid("body status")
  }),
  test("status-refused-is-silent (rule-status-all-refused): A refused status raises no event.", async (shop) => {
    const { id } = await shop.moved("ready")
    const before = await shop.types()
    ;(await shop.status(id, "impossible")).conflict("INVALID_TRANSITION")
    expectSame(await shop.types(), before, "the shop's events")
  }),
  test("notified-ready (rule-notified-ready): When the ticket of a linked client becomes ready, the client is notified in the app, and the ticket shows when.", async (shop) => {
    const { client, id } = await shop.clientTicket()
    await shop.env.advance(1)
    const notified_at = await shop.env.instant()
    ;(await shop.status(id, "ready")).shows({ notified_at })
    const notified = (await shop.events()).filter(({ type }) => type === "client.notified")
    expectShape(notified, [{ data: { channel: "app", notified_at, ticket: { id } } }], "the client.notified events")
    const inbox = await shop.env.act<ReadonlyArray<unknown>>("get inbox", client.id)
    expectSame(inbox.length, 1, "the number of notifications in the client's inbox")
  }),
  test("notified-impossible (rule-notified-ready): When the ticket of a linked client becomes impossible, the client is notified in the app.", async (shop) => {
    const { id } = await shop.clientTicket()
    ;(await shop.status(id, "impossible")).shows({ notified_at: await shop.env.instant() })
    const notified = (await shop.events()).filter(({ type }) => type === "client.notified")
    expectShape(notified, [{ data: { channel: "app", ticket: { id } } }], "the client.notified events")
  }),
  test("notified-nobody (rule-notified-ready): A ticket without a linked client shows no notification.", async (shop) => {
    const { id } = await shop.ticket()
    ;(await shop.status(id, "ready")).shows({ notified_at: null })
    expectSame(await shop.types(), ["ticket.created", "ticket.ready"], "the shop's events")
  }),
  test("earns-once (rule-earns-all): A ticket earns its stamps when it first becomes ready. Reopening it neither removes the stamps nor earns them again.", async (shop) => {
    await shop.program({ stamps_per_ticket: 2 })
    const { client, id } = await shop.clientTicket()
    const balance = async (stamps: number, when: string) => {
      const { loyalty } = (await shop.lookUp(client.phone)).ok()
      expectShape(loyalty, { balance: stamps, lifetime: stamps }, `the card ${when}`)
    }
    await balance(0, "at first")
    ;(await shop.status(id, "ready")).ok()
    await balance(2, "once ready")
    ;(await shop.status(id, "workshop")).ok()
    await balance(2, "after the reopening")
    ;(await shop.status(id, "ready")).ok()
    ;(await shop.status(id, "collected")).ok()
    await balance(2, "at the end")
  }),
  test("earns-at-collection (rule-earns-all): A ticket whose client was linked after it became ready earns its stamps when it is collected.", async (shop) => {
    await shop.program()
    const client = await shop.env.person()
    const { id } = await shop.ticket({ client_phone: client.phone })
    ;(await shop.status(id, "ready")).ok()
    await shop.env.answerOffer(client, "accept")
    ;(await shop.lookUp(client.phone)).shows({ loyalty: { balance: 0 } })
    ;(await shop.status(id, "collected")).ok()
    ;(await shop.lookUp(client.phone)).shows({ loyalty: { balance: 1 } })
  }),
  test("earns-nothing-impossible (rule-earns-all): A ticket whose work was impossible earns no stamps, even when it is collected.", async (shop) => {
    await shop.program()
    const { client, id } = await shop.clientTicket()
    ;(await shop.status(id, "impossible")).ok()
    ;(await shop.status(id, "collected")).ok()
    ;(await shop.lookUp(client.phone)).shows({ loyalty: { balance: 0, lifetime: 0 } })
  }),
  test("earns-when-switched-on (rule-earns-all): A ticket that became ready while the programme was off earns its stamps when it is collected.", async (shop) => {
    await shop.program({ active: false })
    const { client, id } = await shop.clientTicket()
    ;(await shop.status(id, "ready")).ok()
    await shop.program({ stamps_per_ticket: 2 })
    ;(await shop.lookUp(client.phone)).shows({ loyalty: { balance: 0 } })
    ;(await shop.status(id, "collected")).ok()
    ;(await shop.lookUp(client.phone)).shows({ loyalty: { balance: 2, lifetime: 2 } })
  }),
  test("earns-nothing-once (rule-earns-all): A ticket that becomes ready while the programme gives no stamps per ticket earns none at its collection either.", async (shop) => {
    await shop.program({ stamps_per_ticket: 0 })
    const { client, id } = await shop.clientTicket()
    ;(await shop.status(id, "ready")).ok()
    await shop.program({ stamps_per_ticket: 2 })
    ;(await shop.status(id, "collected")).ok()
    ;(await shop.lookUp(client.phone)).shows({ loyalty: { balance: 0, lifetime: 0 } })
  }),
  test("reopen-at-24h (rule-reopen-at-24h): A ticket can be reopened exactly 24 hours after its collection.", async (shop) => {
    const { id } = await shop.moved("ready", "collected")
    await shop.env.advance(DAY)
    ;(await shop.status(id, "workshop")).shows({ state: "workshop", collected_at: null })
  }),
  test("reopen-past-24h (rule-reopen-at-24h): A ticket cannot be reopened 24 hours and a millisecond after its collection, and the reason is REOPEN_WINDOW.", async (shop) => {
    const { id } = await shop.moved("ready", "collected")
    await shop.env.advance(DAY + 1)
    ;(await shop.status(id, "workshop")).conflict("REOPEN_WINDOW", { allowed: [] })
    expectSame((await shop.read(id)).state, "collected", "state")
  }),
  test("reopen-past-24h-any-status (rule-reopen-at-24h): 24 hours after its collection, a ticket refuses every status with REOPEN_WINDOW.", async (shop) => {
    const { id } = await shop.moved("ready", "collected")
    await shop.env.advance(2 * DAY)
    for (const status of ["ready", "impossible", "collected", "workshop"])
      (await shop.status(id, status)).conflict("REOPEN_WINDOW", { from: "collected", to: status })
  }),
  test("reopen-keeps-notified (rule-status-instants): Reopening a ticket clears ready_at, collected_at and outcome, and keeps notified_at.", async (shop) => {
    const { id } = await shop.moved("ready")
    const notified_at = await shop.env.instant()
    ;(await shop.notified(id, "call")).shows({ notified_at })
    ;(await shop.status(id, "collected")).ok()
    await shop.env.advance(1)
    const cleared = { ready_at: null, collected_at: null, outcome: null }
    ;(await shop.status(id, "workshop")).shows({ ...cleared, notified_at })
  }),
  test("reopen-event-from (rule-status-instants): The event of a reopening names the state that the ticket had before.", async (shop) => {
    for (const path of [["ready"], ["impossible"], ["ready", "collected"]]) {
      const { id } = await shop.moved(...path)
      ;(await shop.status(id, "workshop")).ok()
      const event = (await shop.events()).at(-1)
      expectShape(event, { type: "ticket.reopened", data: { from: path.at(-1), ticket: { id } } }, "the last event")
    }
  }),
  test("reopen-second-window (rule-reopen-at-24h): A ticket that is collected a second time can be reopened for another 24 hours.", async (shop) => {
    const { id } = await shop.moved("ready", "collected")
    await shop.env.advance(DAY)
    for (const status of ["workshop", "ready", "collected"]) (await shop.status(id, status)).ok()
    await shop.env.advance(DAY)
    ;(await shop.status(id, "workshop")).shows({ state: "workshop" })
  })
])
