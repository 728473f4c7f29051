import { paintColoured, paintPlain } from "@workshop/core/internal/terminal"
import { describe, expect, it } from "vitest"
import { diffTickets, eventJson, eventLine, formatChange, KnownTickets } from "../../src/receive/eventLine.js"
import { eventOf, type ReceivedDelivery } from "../../src/receive/Receiver.js"
import { eventText, NOON } from "./Sender.js"

const ticket = {
  id: "t1",
  number_label: "0042",
  state: "workshop",
  service: "Resoling",
  item: "Boots",
  money: { price_minor: 30_000, remaining_minor: 30_000 },
  quote: null,
  ready_at: null,
  items: [],
  updated_at: "2026-11-20T12:00:00.000Z"
}
const ready = {
  ...ticket,
  state: "ready",
  ready_at: "2026-11-20T12:05:00.000Z",
  updated_at: "2026-11-20T12:05:00.000Z"
}

const came = (type: string, data: object, rest: Partial<ReceivedDelivery> = {}): ReceivedDelivery => {
  const body = eventText("e1", type, data)
  const event = eventOf(body)
  const arrived = { n: 1, at: NOON, path: "/", headers: {}, signature: "", body, event }
  return { ...arrived, outcome: "event", refused_as: null, redialled: false, answered: 200, ...rest }
}

const lines = (...all: ReadonlyArray<ReceivedDelivery>): ReadonlyArray<string> => {
  const known = new KnownTickets()
  return all.map((received) => {
    const news = known.classify(received.event!)
    if (received.outcome === "event") known.remember(received.event!)
    return eventLine(received, news, paintPlain)
  })
}

describe("the changes of a ticket (Specification, Commands)", () => {
  it("changes of a ticket are printed field by field, nested fields by their path, without updated_at", () => {
    const after = { ...ready, money: { price_minor: 35_000, remaining_minor: 30_000 }, quote: { status: "accepted" } }
    expect(diffTickets(ticket, after).map(formatChange)).toEqual([
      "state workshop -> ready",
      "money.price_minor 30000 -> 35000",
      "quote {status accepted}",
      "ready_at 2026-11-20T12:05:00.000Z"
    ])
    expect(diffTickets(ready, ticket).map(formatChange)).toEqual(["state ready -> workshop", "ready_at cleared"])
    expect(diffTickets(ticket, { ...ticket, updated_at: "later" })).toEqual([])
  })
})

describe("each event on one line (Specification, Commands)", () => {
  it("an event's line has time, type, number, state, and what changed since the previous event", () => {
    expect(lines(came("ticket.created", { ticket }), came("ticket.ready", { ticket: ready }))).toEqual([
      "2026-11-20 12:00:00  ticket.created     0042  workshop    Resoling, Boots",
      "2026-11-20 12:00:00  ticket.ready       0042  ready       state workshop -> ready, ready_at 2026-11-20T12:05:00.000Z"
    ])
  })

  it("an event's line has the event's other data, and no ticket if the event has none", () => {
    expect(lines(came("client.notified", { ticket, channel: "sms" }), came("ping", {}))).toEqual([
      "2026-11-20 12:00:00  client.notified    0042  workshop    channel sms, Resoling, Boots",
      "2026-11-20 12:00:00  ping             "
    ])
  })

  it("an event's line marks a repeated event, one that the receiver failed, and one that is older than its predecessor", () => {
    const [, again, failed, late] = lines(
      came("ticket.ready", { ticket: ready }),
      came("ticket.ready", { ticket: ready }, { outcome: "again" }),
      came("ticket.ready", { ticket: ready }, { outcome: "failed", answered: "silent" }),
      came("ticket.created", { ticket })
    )
    expect(again).toMatch(/ again$/)
    expect(failed).toMatch(/ no response$/)
    expect(late).toMatch(/ {2}late: a newer event of this ticket arrived earlier$/)
  })

  it("if the receiver responds 500 to an event, the event's retry prints the same change again", () => {
    const [, failed, retried] = lines(
      came("ticket.created", { ticket }),
      came("ticket.ready", { ticket: ready }, { outcome: "failed", answered: 500 }),
      came("ticket.ready", { ticket: ready })
    )
    expect(failed).toBe(`${retried}  responded 500`)
  })

  it("the line of a refused request has the reason for the refusal", () => {
    const line = eventLine(
      came("ping", {}, { outcome: "refused", refused_as: "mismatch", answered: 400 }),
      { kind: "first" },
      paintPlain
    )
    expect(line).toBe(
      "2026-11-20 12:00:00  refused  its signature does not match this body and this secret. If the secret was changed, restart this command with the new secret (responded 400)"
    )
  })

  it("the line of a request from the future names --register and --tolerance", () => {
    const future = came("ping", {}, { outcome: "refused", refused_as: "too_new", answered: 400 })
    expect(eventLine(future, { kind: "first" }, paintPlain)).toContain(
      "2026-11-20 12:00:00  refused  its signature's time is too far ahead of this machine's clock. For a sandbox, use --register, which reads the sandbox's clock, or increase --tolerance (responded 400)"
    )
  })

  it("the line of a request without a signature names --signature-header, because the header may have another name", () => {
    const missing = came("ping", {}, { outcome: "refused", refused_as: "missing", answered: 400 })
    expect(eventLine(missing, { kind: "first" }, paintPlain)).toBe(
      "2026-11-20 12:00:00  refused  it has no signature header. If the header has another name, add --signature-header (responded 400)"
    )
  })

  it("an event's line prints a text with line breaks on one line", () => {
    const [line] = lines(came("ticket.created", { ticket: { ...ticket, item: "Boots\nbrown" } }))
    expect(line).toMatch(/Resoling, Boots brown$/)
  })

  it("an event's line has colours only if they are enabled", () => {
    const received = came("ticket.ready", { ticket: ready })
    expect(eventLine(received, { kind: "first" }, paintColoured)).toContain("\u001b[32mticket.ready")
    expect(eventLine(received, { kind: "first" }, paintPlain)).not.toContain("\u001b")
  })

  it("with --json an event's line is one JSON object", () => {
    const known = new KnownTickets()
    known.remember(came("ticket.created", { ticket }).event!)
    const received = came("ticket.ready", { ticket: ready })
    const json = eventJson(received, known.classify(received.event!))
    expect(json).not.toContain("\n")
    expect(JSON.parse(json)).toEqual({
      kind: "request",
      n: 1,
      at: "2026-11-20T12:00:00.000Z",
      outcome: "event",
      refused_as: null,
      redialled: false,
      answered: 200,
      event: JSON.parse(received.body),
      news: "changes",
      changes: [
        { field: "state", from: "workshop", to: "ready" },
        { field: "ready_at", from: null, to: "2026-11-20T12:05:00.000Z" }
      ]
    })
  })
})
