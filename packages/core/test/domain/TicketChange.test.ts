import { describe, expect, it } from "vitest"
import type { ClientId } from "../../src/domain/Identifier.js"
import type { Phone } from "../../src/domain/Phone.js"
import {
  clientAuthor,
  eraseFromHistory,
  historyView,
  serviceAuthor,
  type TicketChangeRecord,
  withChange
} from "../../src/domain/TicketChange.js"

const change = (at: number, caller_id: string | null = "amira"): TicketChangeRecord => ({
  at,
  type: "ticket.ready",
  by: "caller",
  caller_id
})

const AMIRA = "01980000-0000-7000-8000-000000000001" as ClientId

describe("the authors of changes", () => {
  it("the service as an author has no id, and a client has their id unless it is unknown", () => {
    expect(serviceAuthor).toEqual({ by: "service", caller_id: null })
    expect(clientAuthor(AMIRA)).toEqual({ by: "client", caller_id: AMIRA })
    expect(clientAuthor(null)).toEqual({ by: "client", caller_id: null })
  })
})

describe("the history of a ticket", () => {
  it("a history begins with the first change, even on a ticket that was stored without a history", () => {
    for (const none of [undefined, null, []]) expect(withChange(none, change(1))).toEqual([change(1)])
  })

  it("a history keeps a hundred changes: the first, and the latest 99", () => {
    const upTo = (n: number) =>
      Array.from({ length: n }, (_, at) => change(at)).reduce<ReadonlyArray<TicketChangeRecord>>(
        (history, one) => withChange(history, one),
        []
      )
    expect(upTo(100).map(({ at }) => at)).toEqual(Array.from({ length: 100 }, (_, at) => at))
    expect(upTo(101).map(({ at }) => at)).toEqual([0, ...Array.from({ length: 99 }, (_, n) => n + 2)])
  })

  it("a history is shown with dates, oldest first, and only a ticket.updated names fields", () => {
    const edit = { ...change(1000, null), type: "ticket.updated", changed: ["item"] } as const
    expect(historyView([change(0), edit])).toEqual([
      { at: "1970-01-01T00:00:00.000Z", type: "ticket.ready", changed: null, by: "caller", caller_id: "amira" },
      { at: "1970-01-01T00:00:01.000Z", type: "ticket.updated", changed: ["item"], by: "caller", caller_id: null }
    ])
    for (const none of [undefined, null]) expect(historyView(none)).toEqual([])
  })

  it("a history loses an erased client's id and numbers, and keeps the ids of the shop's own people", () => {
    const phones = ["+21620123456", "+33612345678"] as ReadonlyArray<string> as ReadonlyArray<Phone>
    const history = [AMIRA, phones[1]!, "amira", null].map((caller_id, at) => change(at, caller_id))
    const left = eraseFromHistory({ client_id: AMIRA, names: ["amira"], phones }, history)
    expect(left).toEqual([change(0, null), change(1, null), change(2, "amira"), change(3, null)])
  })
})
