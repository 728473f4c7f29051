import type { ShopId } from "@workshop/core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Cursor from "../../../core/src/domain/Cursor.js"
import { DAY, HOUR, MINUTE, NOBODY, SECOND, TestService } from "../TestService.js"
import type { TestShop, TicketJson } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 42 })
})
afterAll(() => service.close())

type Query = Readonly<Record<string, string | number>>

const list = (shop: TestShop, query: Query | string = "") => shop.get<ReadonlyArray<TicketJson>>("/v1/tickets", query)

const listed = async (shop: TestShop, query: Query | string) => {
  const response = await list(shop, query)
  expect(response.status, response.text).toBe(200)
  return response.data.map(({ service }) => service)
}

/** Sends a query that must be a 400, and returns its issues as `in field`. */
const refused = async (shop: TestShop, query: Query | string) => {
  const response = await list(shop, query)
  expect([response.status, response.error?.code], JSON.stringify(query)).toEqual([400, "VALIDATION_ERROR"])
  return response.error.details!.issues!.map((issue) => `${issue.in} ${issue.field}`)
}

/** Creates six tickets, A to F, an hour apart, that differ in the fields by which a list can be filtered. */
const six = async () => {
  const shop = await service.shop()
  const client = await service.known(shop)
  const ids: Record<string, TicketJson> = {}
  const add = async (name: string, body: object, ...moves: ReadonlyArray<string>) => {
    ids[name] = await shop.create({ service: name, ...body })
    await shop.move(ids[name].id, ...moves)
    service.clock.advance(HOUR)
  }
  await add("A", { external_ref: "R1" })
  await add("B", { client_id: client.id, client_phone: "+21620555111" }, "ready")
  await add("C", { client_id: client.id, external_ref: "R1" }, "impossible")
  await add("D", { client_phone: "+21620555111", external_ref: "r1" }, "ready", "collected")
  await add("E", { external_ref: "a b&c=d+é" })
  await add("F", { external_ref: "R1" }, "ready")
  return { shop, client, made: ids }
}

describe("GET /v1/tickets lists and filters (Specification, Endpoints)", () => {
  it("without a parameter the list has the shop's tickets, newest first, at most 50, and none of another shop (Specification, Endpoints; Lists and sync)", async () => {
    const { shop } = await six()
    await (await service.shop()).create({ service: "Foreign" })
    const response = await list(shop)
    expect(response.data.map(({ service }) => service)).toEqual(["F", "E", "D", "C", "B", "A"])
    expect(response.meta).toEqual({ has_more: false, next_cursor: null })
    expect(response.data[0]).toEqual(await shop.ticket(response.data[0]!.id))
  })

  it("a shop without tickets has an empty list (Specification, Endpoints)", async () => {
    const response = await list(await service.shop())
    expect([response.data, response.meta]).toEqual([[], { has_more: false, next_cursor: null }])
  })

  it("a filter returns the tickets that match it, and several filters return the tickets that match all of them (Specification, Endpoints)", async () => {
    const { shop, client, made: ids } = await six()
    const rows: ReadonlyArray<readonly [Query, ReadonlyArray<string>]> = [
      [{ state: "workshop" }, ["E", "A"]],
      [{ state: "ready,impossible" }, ["F", "C", "B"]],
      [{ state: "impossible,ready" }, ["F", "C", "B"]],
      [{ state: "workshop,ready,impossible,collected,abandoned" }, ["F", "E", "D", "C", "B", "A"]],
      [{ state: "collected" }, ["D"]],
      [{ state: "abandoned" }, []],
      [{ number: 3 }, ["C"]],
      [{ number: 9999 }, []],
      [{ client_id: client.id }, ["C", "B"]],
      [{ client_id: client.id.toUpperCase() }, ["C", "B"]],
      [{ client_id: NOBODY }, []],
      [{ phone: "+21620555111" }, ["D", "B"]],
      [{ phone: "+216 20 555 111" }, ["D", "B"]],
      [{ phone: "+21620000000" }, []],
      [{ external_ref: "R1" }, ["F", "C", "A"]],
      [{ external_ref: "r1" }, ["D"]],
      [{ external_ref: "R" }, []],
      [{ external_ref: "a b&c=d+é" }, ["E"]],
      [{ created_after: ids.C!.created_at }, ["F", "E", "D", "C"]],
      [{ created_before: ids.C!.created_at }, ["B", "A"]],
      [{ created_after: ids.B!.created_at, created_before: ids.E!.created_at }, ["D", "C", "B"]],
      [{ created_after: ids.E!.created_at, created_before: ids.B!.created_at }, []],
      [{ client_id: client.id, state: "ready" }, ["B"]],
      [{ client_id: client.id, phone: "+21620555111", state: "ready,collected" }, ["B"]],
      [{ external_ref: "R1", state: "workshop,ready", created_after: ids.B!.created_at }, ["F"]],
      [{ number: 3, external_ref: "R1", client_id: client.id, state: "impossible" }, ["C"]],
      [{ number: 3, state: "ready" }, []],
      [{ updated_since: ids.E!.created_at }, ["E", "F"]],
      [{ updated_since: ids.A!.created_at, state: "ready" }, ["B", "F"]]
    ]
    for (const [query, services] of rows) expect(await listed(shop, query), JSON.stringify(query)).toEqual(services)
  })

  it("an unescaped + of a phone number in a query, which decodes to a space, is read as + (Specification, Tickets)", async () => {
    const { shop } = await six()
    expect(await listed(shop, "phone=+21620555111")).toEqual(["D", "B"])
    expect(await listed(shop, "phone=%2B21620555111")).toEqual(["D", "B"])
    expect(await listed(shop, "phone=%2021620555111")).toEqual(["D", "B"])
    expect(await refused(shop, "phone=21620555111")).toEqual(["query phone"])
  })

  it("a date without a time is 00:00 UTC, and created_after includes that instant while created_before excludes it (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    const midnight = Math.ceil(service.now / DAY) * DAY
    service.clock.set(midnight - 1)
    await shop.create({ service: "Before" })
    service.clock.set(midnight)
    await shop.create({ service: "At" })
    const day = service.iso().slice(0, 10)
    expect(await listed(shop, { created_after: day })).toEqual(["At"])
    expect(await listed(shop, { created_before: day })).toEqual(["Before"])
    expect(await listed(shop, { updated_since: day })).toEqual(["At"])
    expect(await listed(shop, { created_after: `${day}T01:00:00+01:00` })).toEqual(["At"])
  })

  it("the 400 for an invalid parameter names the parameter (Specification, Endpoints; Lists and sync; Errors)", async () => {
    const shop = await service.shop()
    const rows: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["state", ["", "open", "Ready", "ready,", ",", "ready,open", "ready;workshop"]],
      ["number", ["", "0", "10000", "-1", "1.5", "abc", "1e3", "0x10", "99999999999999999999", "%201"]],
      ["client_id", ["", "1", "nobody", `${NOBODY}0`]],
      ["phone", ["", "+", "20555111", "abc", "+21620"]],
      ["external_ref", ["", "%20", "r".repeat(65), "a%00b", "a%1Bb"]],
      ["created_after", ["", "yesterday", "2026-02-30", "2026-11-20T10:00", "20261120", "1732000000"]],
      ["created_before", ["", "2026-13-01", "2026-11-20T25:00:00Z"]],
      ["updated_since", ["", "now", "2026-11-20T10:00:00", "2026-11-20%2010:00:00"]],
      ["limit", ["", "0", "101", "-1", "1.5", "ten", "1e1", "50x"]],
      ["cursor", ["", "x", "a.b", "a.b.c", "%F0%9F%98%80", "MQ.0000000000000000", "x".repeat(3000)]],
      ["colour", ["red"]],
      ["State", ["ready"]],
      ["__proto__", ["x"]],
      ["offset", ["1"]]
    ]
    for (const [name, values] of rows) {
      for (const value of values) {
        service.clock.advance(SECOND)
        const problems = await refused(shop, `${name}=${value}`)
        expect([...new Set(problems)], `${name}=${value}`).toEqual([`query ${name}`])
      }
    }
  })

  it("one 400 lists all problems of a query (Specification, Errors)", async () => {
    const shop = await service.shop()
    const query =
      "state=x&number=0&client_id=1&phone=1&external_ref=&created_after=x&created_before=x&updated_since=x&limit=0&who=1"
    expect((await refused(shop, query)).sort()).toEqual(
      [
        "query client_id",
        "query created_after",
        "query created_before",
        "query external_ref",
        "query limit",
        "query number",
        "query phone",
        "query state",
        "query updated_since",
        "query who"
      ].sort()
    )
  })

  it("the 400 for a repeated parameter or invalid percent-encoding names the parameter (Specification, Errors)", async () => {
    const shop = await service.shop()
    expect(await refused(shop, "number=5&number=6")).toEqual(["query number"])
    expect(await refused(shop, "limit=5&limit=5")).toEqual(["query limit"])
    for (const bad of ["%", "%2", "%zz", "%ff", "%C3", "%ED%A0%80"]) {
      expect(await refused(shop, `external_ref=${bad}`), bad).toEqual(["query external_ref"])
    }
    expect(await refused(shop, "%zz=1")).toEqual(["query query"])
  })

  it("empty parameters between & in a query are ignored (Specification, Errors)", async () => {
    const shop = await service.shop()
    await shop.create({ service: "A" })
    expect(await listed(shop, "&&limit=1&")).toEqual(["A"])
  })
})

describe("paging (Specification, Endpoints; Lists and sync)", () => {
  /** Reads all pages by cursor. The pages use the limits `sizes` in rotation. */
  const walk = async (shop: TestShop, query: Query, sizes: ReadonlyArray<number>) => {
    const pages: Array<ReadonlyArray<string>> = []
    let cursor: Query = {}
    while (true) {
      const limit = sizes[pages.length % sizes.length]!
      const response = await list(shop, { ...query, limit, ...cursor })
      expect(response.status, response.text).toBe(200)
      expect(response.data.length).toBeLessThanOrEqual(limit)
      pages.push(response.data.map(({ id }) => id))
      if (response.meta.has_more !== true) {
        expect(response.meta.next_cursor).toBeNull()
        return pages
      }
      expect(response.data).toHaveLength(limit)
      cursor = { cursor: response.meta.next_cursor as string }
    }
  }

  const many = async (n: number) => {
    const shop = await service.shop()
    const ids: Array<string> = []
    for (let i = 0; i < n; i++) {
      if (i % 3 === 0) service.clock.advance(1)
      ids.push((await shop.createInApp()).data.id)
    }
    const created = await list(shop, { limit: 100 })
    return { shop, ids, order: created.data.map(({ id }) => id) }
  }

  it("the list is sorted by created_at and then id, both descending, even for many tickets of one millisecond (Specification, Lists and sync)", async () => {
    const { shop, ids } = await many(30)
    const { data } = await list(shop, { limit: 100 })
    const sorted = [...data].sort((a, b) => (`${a.created_at}${a.id}` < `${b.created_at}${b.id}` ? 1 : -1))
    expect(data).toEqual(sorted)
    expect(new Set(data.map(({ id }) => id))).toEqual(new Set(ids))
  })

  for (const size of [1, 2, 3, 7, 11, 12, 13, 100]) {
    it(`pages with limit ${size} contain every ticket once, in order (Specification, Endpoints)`, async () => {
      const { shop, order } = await many(12)
      const pages = await walk(shop, {}, [size])
      expect(pages.flat()).toEqual(order)
      expect(pages).toHaveLength(Math.ceil(12 / size))
    })
  }

  it("a page has 50 tickets by default and at most 100, and has_more is exact at the end (Specification, Endpoints; Limits)", async () => {
    const { shop } = await many(100)
    const first = await list(shop)
    expect([first.data.length, first.meta.has_more]).toEqual([50, true])
    const second = await list(shop, { cursor: first.meta.next_cursor as string })
    expect([second.data.length, second.meta.has_more]).toEqual([50, false])
    const whole = await list(shop, { limit: 100 })
    expect([whole.data.length, whole.meta.has_more]).toEqual([100, false])
    await shop.createInApp()
    expect((await list(shop, { limit: 100 })).meta.has_more).toBe(true)
  })

  it("limit may differ from page to page (Specification, Lists and sync)", async () => {
    const { shop, order } = await many(12)
    expect((await walk(shop, {}, [1, 5, 2, 3])).flat()).toEqual(order)
  })

  it("all pages of a filtered list contain only matching tickets (Specification, Endpoints)", async () => {
    const { shop, order } = await many(15)
    const ready = order.filter((_, i) => i % 2 === 0)
    for (const id of ready) await shop.move(id, "ready")
    expect((await walk(shop, { state: "ready" }, [3])).flat()).toEqual(ready)
  })

  it("tickets created while a client pages do not affect later pages (Specification, Lists and sync)", async () => {
    const { shop, order } = await many(6)
    const first = await list(shop, { limit: 3 })
    service.clock.advance(1)
    await shop.createInApp()
    const second = await list(shop, { limit: 3, cursor: first.meta.next_cursor as string })
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(order)
  })

  it("a cursor of another shop, with other filters, or damaged is a 400 (Specification, Lists and sync)", async () => {
    const [{ shop }, other] = [await many(6), await many(6)]
    const cursor = (await list(shop, { limit: 2, state: "workshop" })).meta.next_cursor as string
    const since = (await list(shop, { limit: 2, updated_since: "2026-01-01" })).meta.next_cursor as string
    expect(await listed(shop, { cursor, state: "workshop" })).toHaveLength(4)
    expect(await refused(other.shop, { cursor, state: "workshop" })).toEqual(["query cursor"])
    for (const query of [
      {},
      { state: "ready" },
      { state: "workshop", number: 1 },
      { state: "workshop", updated_since: "2026-01-01" }
    ]) {
      expect(await refused(shop, { cursor, ...query }), JSON.stringify(query)).toEqual(["query cursor"])
    }
    for (const query of [{}, { updated_since: "2026-01-02" }]) {
      expect(await refused(shop, { cursor: since, ...query })).toEqual(["query cursor"])
    }
    service.clock.advance(MINUTE)
    for (let at = 0; at < cursor.length; at++) {
      if (at % 50 === 49) service.clock.advance(MINUTE)
      const damaged = `${cursor.slice(0, at)}${cursor[at] === "A" ? "B" : "A"}${cursor.slice(at + 1)}`
      expect((await list(shop, { cursor: damaged, state: "workshop" })).status, damaged).toBe(400)
      expect((await list(shop, { cursor: cursor.slice(0, at), state: "workshop" })).status).toBe(400)
    }
  })

  it("a cursor with a valid digest but an impossible position is a 400 (Specification, Lists and sync)", async () => {
    const { shop } = await many(1)
    const id = "019aa0fd-bb8b-7001-8000-000000000001"
    const forged = (place: string, ...filters: ReadonlyArray<readonly [string, unknown]>) =>
      Cursor.encode({ shop_id: shop.id as ShopId, filters }, place)
    const instant = 1_795_170_042_123
    for (const place of [
      "x",
      `${instant}`,
      `${instant} `,
      `${instant} x`,
      `${instant} ${id}0`,
      `${instant} ${id.toUpperCase()}`,
      `${instant} ${id} 1`,
      ` ${instant} ${id}`,
      `1e9 ${id}`,
      `1.5 ${id}`,
      `NaN ${id}`,
      `0x10 ${id}`,
      `99999999999999999999 ${id}`
    ]) {
      expect(await refused(shop, { cursor: forged(place) }), place).toEqual(["query cursor"])
    }
    const since = Date.UTC(2026, 0, 1)
    for (const place of ["x", "0", "-1", "01", "1.5", "1e3", "NaN", "9007199254740993", `${instant} ${id}`]) {
      const query = { updated_since: "2026-01-01", cursor: forged(place, ["updated_since", since]) }
      expect(await refused(shop, query), place).toEqual(["query cursor"])
    }
  })

  it("a cursor that is used again gives the same page (Specification, Lists and sync)", async () => {
    const { shop } = await many(6)
    const cursor = (await list(shop, { limit: 2 })).meta.next_cursor as string
    expect(await listed(shop, { cursor })).toEqual(await listed(shop, { cursor }))
  })
})
