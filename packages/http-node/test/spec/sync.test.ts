import * as FastCheck from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, HOUR, MINUTE, TestService } from "../TestService.js"
import type { TestShop, TicketJson } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 43 })
})
afterAll(() => service.close())

interface Place {
  readonly updated_since: string
  readonly cursor?: string
}

/**
 * A till that syncs: it reads all pages by cursor, then starts again at synced_until, and stores the received tickets.
 */
class Till {
  readonly tickets = new Map<string, TicketJson>()
  readonly #shop: TestShop
  #place: Place = { updated_since: "2026-01-01" }

  constructor(shop: TestShop) {
    this.#shop = shop
  }

  /** Reads one page, and returns whether there are more. */
  async turn(limit: number): Promise<boolean> {
    const { updated_since, cursor } = this.#place
    const query = { updated_since, limit, ...(cursor === undefined ? {} : { cursor }) }
    const response = await this.#shop.get<ReadonlyArray<TicketJson>>("/v1/tickets", query)
    expect(response.status, response.text).toBe(200)
    for (const ticket of response.data) this.tickets.set(ticket.id, ticket)
    const { has_more, next_cursor, synced_until } = response.meta
    expect(typeof synced_until).toBe("string")
    this.#place =
      has_more === true ? { updated_since, cursor: next_cursor as string } : { updated_since: synced_until as string }
    return has_more === true
  }
}

const everything = async (shop: TestShop) => {
  const all = new Map<string, TicketJson>()
  let cursor: string | null = null
  do {
    const query: Record<string, string | number> = cursor === null ? { limit: 100 } : { limit: 100, cursor }
    const response = await shop.get<ReadonlyArray<TicketJson>>("/v1/tickets", query)
    for (const ticket of response.data) all.set(ticket.id, ticket)
    cursor = response.meta.next_cursor as string | null
  } while (cursor !== null)
  return all
}

describe("GET /v1/tickets with updated_since (Specification, Endpoints; Lists and sync)", () => {
  it("the list has the tickets changed at or after updated_since, in the order of their changes, and a sync can continue at synced_until (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    const [a, b, c] = [
      await shop.create({ service: "A" }),
      await shop.create({ service: "B" }),
      await shop.create({ service: "C" })
    ]
    service.clock.advance(MINUTE)
    const since = service.iso()
    await shop.move(b.id, "ready")
    await shop.move(a.id, "ready")
    service.clock.advance(1)
    await shop.move(b.id, "collected")
    const changes = await shop.get<ReadonlyArray<TicketJson>>("/v1/tickets", { updated_since: since })
    expect(changes.data.map(({ id, state }) => [id, state])).toEqual([
      [a.id, "ready"],
      [b.id, "collected"]
    ])
    expect(changes.meta).toEqual({ has_more: false, next_cursor: null, synced_until: service.iso() })
    const later = await shop.get<ReadonlyArray<TicketJson>>("/v1/tickets", { updated_since: service.iso(1) })
    expect([later.data, later.meta.synced_until]).toEqual([[], service.iso()])
    expect((await shop.ticket(c.id)).updated_at < since).toBe(true)
  })

  it("synced_until is returned only with updated_since (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    expect(Object.keys((await shop.get("/v1/tickets")).meta).sort()).toEqual(["has_more", "next_cursor"])
    const synced = await shop.get("/v1/tickets", { updated_since: "2026-01-01" })
    expect(synced.meta).toEqual({ has_more: false, next_cursor: null, synced_until: "2026-01-01T00:00:00.000Z" })
  })

  it("a till that syncs from an updated_since in the future misses no later change (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    const { updated_at } = await shop.create()
    service.clock.advance(MINUTE)
    const synced = await shop.get("/v1/tickets", { updated_since: service.iso(DAY) })
    expect([synced.data, synced.meta.synced_until]).toEqual([[], updated_at])
    const none = await (await service.shop()).get("/v1/tickets", { updated_since: service.iso(DAY) })
    expect(none.meta.synced_until).toBe(service.iso())
    const { id } = await shop.create()
    const { data } = await shop.get<ReadonlyArray<TicketJson>>("/v1/tickets", {
      updated_since: synced.meta.synced_until as string
    })
    expect(data.map((ticket) => ticket.id)).toContain(id)
  })

  it("synced_until advances even if no ticket matches the filter, and on each page at most to the end of the page (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    const first = await shop.create({ service: "Hem", external_ref: "A" })
    service.clock.advance(MINUTE)
    const second = await shop.create()
    const query = { updated_since: "2026-01-01" }
    expect((await shop.get("/v1/tickets", { ...query, external_ref: "B" })).meta.synced_until).toBe(second.updated_at)
    expect((await shop.get("/v1/tickets", { ...query, external_ref: "A" })).meta.synced_until).toBe(second.updated_at)
    expect((await shop.get("/v1/tickets", { ...query, limit: 1 })).meta.synced_until).toBe(first.updated_at)
  })

  it("a sync also returns tickets after an automatic closure, a link and an accepted quote (Specification, Webhooks)", async () => {
    const shop = await service.shop()
    const client = await service.client()
    const { id } = await shop.create({ service: "Hem", client_phone: client.phone })
    await shop.quote(id, { price_minor: 10 })
    const acts = [
      () => service.answerOffer(client, "accept"),
      () => shop.answerQuote(id, "accept"),
      async () => {
        service.clock.advance(60 * DAY)
        await service.closeDue()
      }
    ]
    for (const act of acts) {
      service.clock.advance(HOUR)
      const since = service.iso()
      await act()
      const { data } = await shop.get<ReadonlyArray<TicketJson>>("/v1/tickets", { updated_since: since })
      expect(data).toEqual([await shop.ticket(id)])
    }
  })

  it("a ticket that changes before its page is read appears on a later page (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    const ids = []
    for (let i = 0; i < 4; i++) ids.push((await shop.create()).id)
    const till = new Till(shop)
    await till.turn(2)
    await shop.move(ids[2]!, "ready")
    await shop.move(ids[0]!, "ready")
    while (await till.turn(2)) {}
    expect(till.tickets).toEqual(await everything(shop))
  })

  it("updated_at never decreases, even if the clock steps back (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    const first = await shop.create()
    service.clock.advance(-HOUR)
    const second = await shop.create()
    const moved = await shop.move(first.id, "ready")
    expect([second.updated_at, moved.updated_at]).toEqual([first.updated_at, first.updated_at])
    const { data } = await shop.get<ReadonlyArray<TicketJson>>("/v1/tickets", { updated_since: first.updated_at })
    expect(data.map(({ id }) => id)).toEqual([second.id, first.id])
    service.clock.advance(HOUR)
  })

  const SEED = 20261120
  it(`a till that follows updated_since and cursor never misses a change, at any page size, with a clock that stops, jumps and steps back (Specification, Lists and sync; seed ${SEED})`, async () => {
    const step = FastCheck.oneof(
      {
        weight: 4,
        arbitrary: FastCheck.record({
          act: FastCheck.constant("create" as const),
          n: FastCheck.integer({ min: 1, max: 4 })
        })
      },
      { weight: 4, arbitrary: FastCheck.record({ act: FastCheck.constant("move" as const), n: FastCheck.nat(1000) }) },
      {
        weight: 5,
        arbitrary: FastCheck.record({
          act: FastCheck.constant("poll" as const),
          n: FastCheck.integer({ min: 1, max: 7 })
        })
      },
      {
        weight: 3,
        arbitrary: FastCheck.record({
          act: FastCheck.constant("clock" as const),
          n: FastCheck.integer({ min: -3, max: 20 })
        })
      }
    )
    const run = async (steps: ReadonlyArray<{ readonly act: string; readonly n: number }>) => {
      service.clock.advance(2 * MINUTE)
      const shop = await service.shop()
      const till = new Till(shop)
      const ids: Array<string> = []
      const writes: Array<Promise<unknown>> = []
      for (const { act, n } of steps) {
        if (act === "clock") service.clock.advance(n)
        if (act === "create") {
          for (let i = 0; i < n; i++) writes.push(shop.createInApp().then(({ data }) => ids.push(data.id)))
        }
        if (act === "move" && ids.length > 0) {
          const id = ids[n % ids.length]!
          writes.push(shop.tryMove(id, n % 2 === 0 ? "ready" : "workshop"))
        }
        if (act === "poll") await till.turn(n)
      }
      await Promise.all(writes)
      service.clock.advance(MINUTE)
      while (await till.turn(5)) {}
      expect(till.tickets).toEqual(await everything(shop))
    }
    await FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.array(step, { minLength: 10, maxLength: 60, size: "max" }), run),
      { seed: SEED, numRuns: 40 }
    )
  }, 120_000)
})
