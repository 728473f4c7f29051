import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { decide } from "../../src/decisions/Command.js"
import { previewActs } from "../../src/decisions/previewActs.js"
import { nextDeadline, type TicketStatus } from "../../src/domain/TicketLifecycle.js"
import { DAY, HOUR, momentAt, NOBODY, SHOP, START, TestShop } from "./fixtures.js"

const accepted = (shop: TestShop, now: number) => {
  const [id] = shop.slice.tickets.keys()
  const decided = Either.getOrThrow(decide(previewActs(SHOP, id!), shop.slice, momentAt(now)))
  expect(decided.changes).toEqual([])
  return decided.result.filter(({ refusal }) => refusal === null).map(({ act }) => act)
}
const always = ["notified", "delay", "part", "photo"]

// Written out from Specification, States and Tickets: the earlier statuses, the time since, the accepted acts and the
// next deadline.
const rows: ReadonlyArray<
  readonly [ReadonlyArray<TicketStatus>, number, ReadonlyArray<string>, readonly [string, number] | null]
> = [
  [[], 0, ["status:ready", "status:impossible", "notified", "quote", "delay", "part", "photo"], ["closure", 60 * DAY]],
  [
    ["ready"],
    0,
    ["status:workshop", "status:collected", "notified", "quote", "delay", "part", "photo"],
    ["closure", 60 * DAY]
  ],
  [["impossible"], 0, ["status:workshop", "status:collected", "notified", "quote", "delay", "part", "photo"], null],
  [["ready", "collected"], HOUR, ["status:workshop", ...always], ["reopen_end", 24 * HOUR]],
  [["ready", "collected"], 24 * HOUR, ["status:workshop", ...always], ["reopen_end", 24 * HOUR]],
  [["ready", "collected"], 24 * HOUR + 1, always, null]
]

describe("the acts that a ticket would accept, according to the decisions themselves", () => {
  it("the list of acts loads only its ticket", () => {
    expect(previewActs(SHOP, NOBODY as never).loadRequests).toEqual([{ _tag: "Ticket", id: NOBODY }])
  })

  for (const [statuses, waited, moves, due] of rows)
    it(`the acts that a ticket accepts and its deadline: ${["created", ...statuses].join(", ")}, ${waited / HOUR} h ago`, () => {
      const shop = new TestShop()
      shop.moves(shop.create(), ...statuses)
      const now = START + waited
      expect(accepted(shop, now)).toEqual(moves)
      const next = nextDeadline([...shop.slice.tickets.values()][0]!, now)
      expect(next && [next.kind, next.at - START]).toEqual(due)
    })

  it("an abandoned ticket accepts no act (Specification, States)", () => {
    const shop = new TestShop()
    shop.ticketIn("abandoned")
    expect(accepted(shop, START + 61 * DAY)).toEqual([])
  })

  it("an unknown ticket is not found", () => {
    const { slice } = new TestShop()
    const decided = decide(previewActs(SHOP, NOBODY as never), slice, momentAt(START))
    expect(Either.isLeft(decided) && decided.left._tag).toBe("TicketNotFound")
  })
})
