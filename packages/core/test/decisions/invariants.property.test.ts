import { Either } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { changeShop } from "../../src/decisions/shopSettings.js"
import type { TicketRecord } from "../../src/domain/Ticket.js"
import { type Act, anyAct, commandOf } from "./arbitraryActs.js"
import { HOUR, PROGRAM, SHOP, TestShop } from "./fixtures.js"

const histories = fc.array(anyAct, { maxLength: 80, size: "max" })

/** Runs the acts of a history, and calls `after` with the shop and the tickets before each act. */
const play = (history: ReadonlyArray<Act>, after: (shop: TestShop, before: Before, act: Act) => void = () => {}) => {
  const shop = new TestShop({ program: PROGRAM })
  shop.does(changeShop(SHOP, { next_number: 9996 } as never))
  for (const act of history) {
    if (act[0] === "wait") shop.wait(act[1])
    const command = commandOf(act, shop)
    if (command === null) continue
    const before = { tickets: new Map(shop.slice.tickets), last_recorded_at: shop.slice.head.last_recorded_at }
    const outcome = shop.tries(command)
    after(shop, { ...before, accepted: Either.isRight(outcome) }, act)
  }
  return shop
}

interface Before {
  readonly tickets: ReadonlyMap<string, TicketRecord>
  readonly last_recorded_at: number
  readonly accepted: boolean
}

const holds = (history: (acts: ReadonlyArray<Act>) => void) =>
  fc.assert(fc.property(histories, history), { numRuns: 80 })

// Written out from Specification, States: the statuses that may follow each state, without the window of 24 hours.
const MOVES: Record<string, ReadonlyArray<string>> = {
  workshop: ["ready", "impossible"],
  ready: ["collected", "workshop"],
  impossible: ["collected", "workshop"],
  collected: ["workshop"],
  abandoned: []
}

const EVENT_OF: Record<string, string> = {
  workshop: "ticket.reopened",
  ready: "ticket.ready",
  impossible: "ticket.impossible",
  collected: "ticket.collected",
  abandoned: "ticket.abandoned"
}

describe("any sequence of acts on a shop", () => {
  it("change_seq increases by one with each change, and updated_at never decreases (Specification, Lists and sync)", () => {
    holds((history) => {
      const rows = play(history).everyRow("TicketPut")
      rows.forEach((row, i) => {
        expect(row.change_seq).toBe(i + 1)
        if (i > 0) expect(row.updated_at).toBeGreaterThanOrEqual(rows[i - 1]!.updated_at)
      })
    })
  })

  it("events have consecutive positions, times that never decrease, and unique ids (Specification, Webhooks)", () => {
    holds((history) => {
      const rows = play(history).everyRow("EventRaised")
      expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1))
      expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
      rows.forEach((row, i) => {
        if (i > 0) expect(row.created_at).toBeGreaterThanOrEqual(rows[i - 1]!.created_at)
      })
    })
  })

  it("tickets are numbered without gaps, 9999 followed by 1 (Specification, Resources)", () => {
    holds((history) => {
      const numbers = [...play(history).slice.tickets.values()].map(({ number }) => number)
      expect(numbers).toEqual(numbers.map((_, i) => (9995 + i >= 9999 ? i - 3 : 9996 + i)))
    })
  })

  it("every creation and change of state raises its event once, and no other act raises one of these events (Specification, Webhooks)", () => {
    holds((history) => {
      play(history, (shop, before) => {
        if (!before.accepted) return
        const changed = [...shop.slice.tickets.values()].filter(
          ({ id, state }) => before.tickets.get(id)?.state !== state
        )
        const expected = changed.map(({ id, state }) => [
          before.tickets.has(id) ? EVENT_OF[state] : "ticket.created",
          id
        ])
        const moves = shop.events.filter(({ type }) => type.startsWith("ticket.") && type !== "ticket.updated")
        expect(moves.map(({ type, data }) => [type, data.ticket!.id])).toEqual(expected)
        expect(moves.map(({ data }) => data.ticket!.state)).toEqual(changed.map(({ state }) => state))
      })
    })
  })

  it("a status request is accepted if and only if the specification's table accepts it (Specification, States)", () => {
    holds((history) => {
      play(history, (shop, before, act) => {
        if (act[0] !== "move") return
        const ticket = [...before.tickets.values()][act[1] % before.tickets.size]!
        const in_window = ticket.state !== "collected" || shop.now - ticket.collected_at! <= 24 * HOUR
        expect(before.accepted).toBe(in_window && MOVES[ticket.state]!.includes(act[2]))
      })
    })
  })

  it("an abandoned ticket does not change, except that its client may still be linked (Specification, States)", () => {
    holds((history) => {
      play(history, (shop, before) => {
        for (const ticket of before.tickets.values()) {
          if (ticket.state !== "abandoned") continue
          const { client_id, updated_at, change_seq } = shop.record(ticket.id)
          expect(shop.record(ticket.id)).toEqual({ ...ticket, client_id, updated_at, change_seq })
          if (ticket.client_id !== null) expect(client_id).toBe(ticket.client_id)
        }
      })
    })
  })

  it("outcome, ready_at and the fields of a collection and of an abandonment are set exactly in the states that have them (Specification, Resources)", () => {
    holds((history) => {
      for (const ticket of play(history).slice.tickets.values()) {
        const { state, abandon_reason } = ticket
        expect(ticket.outcome !== null).toBe(state === "collected")
        expect(ticket.collected_at !== null).toBe(state === "collected")
        expect(ticket.abandoned_at !== null).toBe(state === "abandoned")
        expect(abandon_reason !== null).toBe(state === "abandoned")
        expect(ticket.ready_at !== null).toBe(
          state === "ready" || ticket.outcome === "ready" || abandon_reason === "uncollected"
        )
      }
    })
  })

  it("a price is never below its deposit, so the remaining amount is never negative (Specification, Tickets)", () => {
    holds((history) => {
      play(history, (shop) => {
        for (const { price_minor, deposit_minor } of shop.slice.tickets.values()) {
          if (price_minor !== null) expect(price_minor).toBeGreaterThanOrEqual(deposit_minor ?? 0)
        }
      })
    })
  })

  it("a ticket's client changes only after they block the shop, and each link raises one event (Specification, Webhooks)", () => {
    holds((history) => {
      const links: Array<string> = []
      const shop = play(history, (shop, before) => {
        for (const { id, client_id } of shop.slice.tickets.values()) {
          const former = before.tickets.get(id)?.client_id ?? null
          if (client_id === former) continue
          links.push(id)
          if (former !== null) expect(shop.slice.links.get(former)?.blocked_at).not.toBeNull()
        }
      })
      const raised = shop.everyRow("EventRaised").filter(({ type }) => type === "client.linked")
      expect(raised.map(({ ticket_id }) => ticket_id)).toEqual(links)
    })
  })

  it("the shop's clock never goes back, even if the machine's clock does (Specification, Lists and sync)", () => {
    holds((history) => {
      play(history, ({ slice }, { last_recorded_at }) => {
        expect(slice.head.last_recorded_at).toBeGreaterThanOrEqual(last_recorded_at)
      })
    })
  })
})
