import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { HOUR, TestService } from "../TestService.js"
import type { TestShop, TicketJson } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 47 })
})
afterAll(() => service.close())

const list = (shop: TestShop, query: string) => shop.get<ReadonlyArray<TicketJson>>("/v1/tickets", query)

const listed = async (shop: TestShop, query: string) => {
  const response = await list(shop, query)
  expect(response.status, response.text).toBe(200)
  return response.data.map(({ service }) => service)
}

/** Sends a query that must be a 400, and returns its issues as `in field`. */
const refused = async (shop: TestShop, query: string) => {
  const response = await list(shop, query)
  expect([response.status, response.error?.code], query).toEqual([400, "VALIDATION_ERROR"])
  return response.error.details!.issues!.map((issue) => `${issue.in} ${issue.field}`)
}

describe("alternative spellings in a query (Specification, Endpoints)", () => {
  it("a repeated state parameter has the same effect as a comma-separated list (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    const a = await shop.create({ service: "A" })
    service.clock.advance(1)
    await shop.create({ service: "B" })
    await shop.move(a.id, "ready")
    expect(await listed(shop, "state=ready&state=collected")).toEqual(["A"])
    expect(await listed(shop, "state=ready&limit=9&state=collected,workshop")).toEqual(["B", "A"])
    const first = await list(shop, "state=ready&state=workshop&limit=1")
    const rest = await list(shop, `state=workshop,ready&limit=1&cursor=${first.meta.next_cursor}`)
    expect([...first.data, ...rest.data].map(({ service }) => service)).toEqual(["B", "A"])
    for (const bad of ["state=ready&state=", "state=ready&state=lost"])
      expect(await refused(shop, bad)).toEqual(["query state"])
  })

  it("a list by tracking code, in any spelling, returns the shop's ticket and no other shop's ticket (Specification, Lists and sync)", async () => {
    const [shop, other] = [await service.shop(), await service.shop()]
    const { tracking_code } = await shop.create({ service: "A" })
    await shop.create({ service: "B" })
    const code = String(tracking_code)
    const alike = code.replaceAll("0", "O").replaceAll("1", "i")
    for (const typed of [
      code,
      code.toLowerCase(),
      alike,
      alike.replace("-", ""),
      code.replace("-", "\u2013"),
      ` ${code}`,
      code.split("").join("-")
    ])
      expect(await listed(shop, `tracking_code=${encodeURIComponent(typed)}`)).toEqual(["A"])
    expect(await listed(shop, `tracking_code=${code}&state=ready,collected`)).toEqual([])
    expect(await listed(shop, `tracking_code=${code}&updated_since=2000-01-01`)).toEqual(["A"])
    expect(await listed(other, `tracking_code=${code}`)).toEqual([])
    expect(await listed(shop, `tracking_code=${code === "ZZZZ-ZZZZ" ? "YYYY-YYYY" : "ZZZZ-ZZZZ"}`)).toEqual([])
    for (const bad of ["", "7K3MQ9X", "7K3M-Q9XDD", "7K3M-Q9XU", "7K3M%20Q9XD", "7K3M-Q9X%C5%BF", "7K3M_Q9XD"])
      expect(await refused(shop, `tracking_code=${bad}`), bad).toEqual(["query tracking_code"])
  })

  it("an instant in a query may have an unescaped + in its offset, and t and z in lower case (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    await shop.create({ service: "A", promised_at: "2031-03-02t10:00:00z" })
    const at = Date.parse(service.iso())
    const east = (ms: number) => new Date(ms + HOUR).toISOString().replace("Z", "")
    expect(await listed(shop, `updated_since=${east(at)}+01:00`)).toEqual(["A"])
    expect(await listed(shop, `updated_since=${east(at + 1)}+01:00`)).toEqual([])
    expect(await listed(shop, `created_after=${service.iso().toLowerCase()}`)).toEqual(["A"])
    expect((await list(shop, "")).data[0]?.promised_at).toBe("2031-03-02T10:00:00.000Z")
  })
})
