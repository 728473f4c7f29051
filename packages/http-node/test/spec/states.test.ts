import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, HOUR, NOBODY, TestService } from "../TestService.js"
import type { TestShop } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 3 })
})
afterAll(() => service.close())

/** The moves that bring a ticket into each state, and the time that it then spends there before the test's request. */
const WAYS = {
  workshop: { moves: [], wait: 0 },
  ready: { moves: ["ready"], wait: 0 },
  impossible: { moves: ["impossible"], wait: 0 },
  "collected just now": { moves: ["ready", "collected"], wait: 0 },
  "collected 24 h ago": { moves: ["ready", "collected"], wait: 24 * HOUR },
  "collected as impossible 24 h ago": { moves: ["impossible", "collected"], wait: 24 * HOUR },
  "collected 24 h and 1 ms ago": { moves: ["ready", "collected"], wait: 24 * HOUR + 1 },
  "collected as impossible 24 h and 1 ms ago": { moves: ["impossible", "collected"], wait: 24 * HOUR + 1 },
  "abandoned uncollected": { moves: ["ready"], wait: 60 * DAY },
  "abandoned for no news": { moves: [], wait: 60 * DAY }
} as const
type Way = keyof typeof WAYS

/**
 * Each current state, requested state, resulting event or refusal, and the refusal's allowed states; copied by hand
 * from Specification, States.
 */
const MATRIX: ReadonlyArray<
  readonly [Way, from: string, asked: string, result: string, allowed: ReadonlyArray<string>]
> = [
  ["workshop", "workshop", "ready", "ticket.ready", []],
  ["workshop", "workshop", "impossible", "ticket.impossible", []],
  ["workshop", "workshop", "workshop", "SAME_STATE", ["ready", "impossible"]],
  ["workshop", "workshop", "collected", "INVALID_TRANSITION", ["ready", "impossible"]],
  ["ready", "ready", "ready", "SAME_STATE", ["collected", "workshop"]],
  ["ready", "ready", "impossible", "INVALID_TRANSITION", ["collected", "workshop"]],
  ["ready", "ready", "workshop", "ticket.reopened", []],
  ["ready", "ready", "collected", "ticket.collected", []],
  ["impossible", "impossible", "ready", "INVALID_TRANSITION", ["collected", "workshop"]],
  ["impossible", "impossible", "impossible", "SAME_STATE", ["collected", "workshop"]],
  ["impossible", "impossible", "workshop", "ticket.reopened", []],
  ["impossible", "impossible", "collected", "ticket.collected", []],
  ["collected just now", "collected", "ready", "INVALID_TRANSITION", ["workshop"]],
  ["collected just now", "collected", "impossible", "INVALID_TRANSITION", ["workshop"]],
  ["collected just now", "collected", "workshop", "ticket.reopened", []],
  ["collected just now", "collected", "collected", "SAME_STATE", ["workshop"]],
  ["collected 24 h ago", "collected", "ready", "INVALID_TRANSITION", ["workshop"]],
  ["collected 24 h ago", "collected", "impossible", "INVALID_TRANSITION", ["workshop"]],
  ["collected 24 h ago", "collected", "workshop", "ticket.reopened", []],
  ["collected 24 h ago", "collected", "collected", "SAME_STATE", ["workshop"]],
  ["collected as impossible 24 h ago", "collected", "workshop", "ticket.reopened", []],
  ["collected as impossible 24 h ago", "collected", "collected", "SAME_STATE", ["workshop"]],
  ["collected 24 h and 1 ms ago", "collected", "ready", "REOPEN_WINDOW", []],
  ["collected 24 h and 1 ms ago", "collected", "impossible", "REOPEN_WINDOW", []],
  ["collected 24 h and 1 ms ago", "collected", "workshop", "REOPEN_WINDOW", []],
  ["collected 24 h and 1 ms ago", "collected", "collected", "REOPEN_WINDOW", []],
  ["collected as impossible 24 h and 1 ms ago", "collected", "workshop", "REOPEN_WINDOW", []],
  ["abandoned uncollected", "abandoned", "ready", "ABANDONED", []],
  ["abandoned uncollected", "abandoned", "impossible", "ABANDONED", []],
  ["abandoned uncollected", "abandoned", "workshop", "ABANDONED", []],
  ["abandoned uncollected", "abandoned", "collected", "ABANDONED", []],
  ["abandoned for no news", "abandoned", "ready", "ABANDONED", []],
  ["abandoned for no news", "abandoned", "impossible", "ABANDONED", []],
  ["abandoned for no news", "abandoned", "workshop", "ABANDONED", []],
  ["abandoned for no news", "abandoned", "collected", "ABANDONED", []]
]

const brought = async (way: Way): Promise<readonly [TestShop, string]> => {
  const shop = await service.shop()
  const { id } = await shop.create()
  await shop.move(id, ...WAYS[way].moves)
  service.clock.advance(WAYS[way].wait)
  await service.closeDue()
  return [shop, id]
}

describe("a status request from every state (Specification, States)", () => {
  for (const [way, from, requested, result, allowed] of MATRIX) {
    const isMove = result.startsWith("ticket.")
    it(`a request for ${requested} on a ticket ${way} ${isMove ? `raises ${result}` : `is a 409 ${result}`} (Specification, States)`, async () => {
      const [shop, id] = await brought(way)
      const before = await shop.ticket(id)
      const count = (await shop.events()).length
      if (WAYS[way].wait === 0) service.clock.advance(7)
      const response = await shop.tryMove(id, requested)
      const after = await shop.ticket(id)
      const raised = (await shop.events()).slice(count)

      expect(before.state).toBe(from)
      if (isMove) {
        expect(response.status).toBe(200)
        expect(response.data).toEqual(after)
        expect(after.state).toBe(requested)
        expect(after.updated_at).toBe(service.iso())
        expect(raised.map(({ type, data }) => [type, data])).toEqual([
          [result, result === "ticket.reopened" ? { ticket: after, from } : { ticket: after }]
        ])
      } else {
        expect(response.status).toBe(409)
        const { reason, allowed: accepts, ...rest } = response.error.details!
        expect(reason).toBe(result)
        expect(rest).toEqual({ from, to: requested, state: from, updated_at: before.updated_at })
        expect([...(accepts as ReadonlyArray<string>)].sort()).toEqual([...allowed].sort())
        expect(after).toEqual(before)
        expect(raised).toEqual([])
      }
    })
  }

  it("only ready, impossible, workshop and collected can be requested, not abandoned (Specification, Endpoints)", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    for (const status of ["abandoned", "READY", "", " ready", "open", 1, true, null, ["ready"], { status: "ready" }]) {
      const response = await shop.tryMove(id, status)
      expect(response.status, String(status)).toBe(400)
      expect(response.error.details!.issues).toEqual([
        { in: "body", field: "status", message: expect.stringMatching(/ready, impossible, workshop, collected/) }
      ])
    }
    expect((await shop.ticket(id)).state).toBe("workshop")
  })

  it("another shop's ticket and an unknown one get the same 404 for every status (Specification, Endpoints)", async () => {
    const [shop, otherShop] = [await service.shop(), await service.shop()]
    const { id } = await otherShop.create()
    for (const status of ["ready", "impossible", "workshop", "collected"]) {
      const [foreign, unknown] = [await shop.tryMove(id, status), await shop.tryMove(NOBODY, status)]
      expect([foreign.status, foreign.error]).toEqual([404, unknown.error])
    }
    expect((await otherShop.ticket(id)).state).toBe("workshop")
  })
})
