import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { MINUTE, NOBODY, TestService } from "../TestService.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 46 })
})
afterAll(() => service.close())

const MAX = 1_000_000_000_000
const ITEM = { label: "Left" }
const many = (n: number) => Array.from({ length: n }, (_, i) => ({ label: `Item ${i}` }))

/** Invalid values of each field, copied by hand from Specification, Tickets. */
const BAD: ReadonlyArray<readonly [field: string, values: ReadonlyArray<unknown>]> = [
  [
    "service",
    [null, "", "   ", "\u3000", "a".repeat(121), "😀".repeat(121), `${"e\u0301".repeat(60)}e`, 1, true, [], {}, ["Hem"]]
  ],
  ["item", ["", " ", "x".repeat(201), 5, {}, ["a"]]],
  ["description", ["", "\n", "x".repeat(2001), "😀".repeat(2001), 5, false]],
  ["external_ref", ["", "r".repeat(65), 12, {}]],
  ["type", ["", "Repair", "order", "repair ", 1, true, ["repair"]]],
  ["price_minor", [-1, 1.5, MAX + 1, 2 ** 53, 2 ** 53 + 2, 1e300, "1", "", true, [], {}]],
  ["deposit_minor", [-1, 0.1, MAX + 1, "5", false, [1]]],
  [
    "client_id",
    ["", "1", 5, NOBODY.slice(1), `${NOBODY}0`, `{${NOBODY}}`, NOBODY.replaceAll("-", ""), "not-a-uuid", {}]
  ],
  [
    "client_phone",
    [
      "",
      "+",
      "20123456",
      "0021620123456",
      "+216",
      "+21620",
      "+2162012345678901",
      "+999123456789",
      "phone",
      "+216 20 12a 456",
      "+21620123456;ext=5",
      "+21620123456 ext 7",
      21620123456,
      {}
    ]
  ],
  [
    "promised_at",
    [
      "",
      "2026-11-30",
      "2026-11-30T18:00:00",
      "2026-11-31T00:00:00Z",
      "2027-02-29T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-11-30T24:00:00Z",
      "2026-11-30T18:60:00Z",
      "2026-11-30 18:00:00Z",
      "30/11/2026",
      "tomorrow",
      1732000000,
      "12026-11-30T18:00:00Z",
      {}
    ]
  ],
  ["items", [[], [ITEM], many(21), "two", {}, 2]],
  [
    "items.1",
    [
      [ITEM, "Right"],
      [ITEM, null],
      [ITEM, 5],
      [ITEM, []]
    ]
  ],
  [
    "items.1.label",
    [
      [ITEM, {}],
      [ITEM, { label: "" }],
      [ITEM, { label: null }],
      [ITEM, { label: "x".repeat(201) }],
      [ITEM, { label: 5 }]
    ]
  ],
  [
    "items.0.service",
    [
      [{ ...ITEM, service: "" }, ITEM],
      [{ ...ITEM, service: "x".repeat(121) }, ITEM],
      [{ ...ITEM, service: 1 }, ITEM]
    ]
  ],
  [
    "items.1.price_minor",
    [
      [ITEM, { ...ITEM, price_minor: -1 }],
      [ITEM, { ...ITEM, price_minor: 1.5 }],
      [ITEM, { ...ITEM, price_minor: MAX + 1 }],
      [ITEM, { ...ITEM, price_minor: "1" }]
    ]
  ],
  ["items.1.done", [[ITEM, { ...ITEM, done: true }]]],
  ["colour", ["red"]],
  ["Service", ["Hem"]],
  ["number", [7]],
  ["toString", ["x"]],
  ["constructor", ["x"]]
]

const CONTROL = ["\u0000", "\u0001", "\u0008", "\u000b", "\r", "\u001b", "\u007f", "\u0085", "\u009f"]
const LONE = ["\ud800", "\udfff", "\udc00\ud800"]
const TEXTS = ["service", "item", "description", "external_ref"]

describe("An invalid POST /v1/tickets is a 400 and changes nothing (Specification, Endpoints; Errors; Tickets)", () => {
  for (const [field, values] of BAD) {
    it(`each of ${values.length} invalid values of ${field} is a 400 whose details.issues names the field (Specification, Errors; Tickets)`, async () => {
      const shop = await service.shop()
      for (const value of values) {
        if ((await shop.get("/v1/shop")).limit.remaining < 5) service.clock.advance(MINUTE)
        service.clock.advance(3000)
        const body = field.startsWith("items") ? { service: "Hem", items: value } : { service: "Hem", [field]: value }
        const response = await shop.tryCreate(body)
        expect([response.status, response.error?.code], JSON.stringify(value)).toEqual([400, "VALIDATION_ERROR"])
        const fields = response.error.details!.issues!.map((issue) => `${issue.in} ${issue.field}`)
        expect(fields, JSON.stringify(value)).toEqual([`body ${field}`])
      }
      expect(await shop.events()).toEqual([])
      expect((await shop.create()).number).toBe(1)
    })
  }

  for (const field of TEXTS) {
    it(`control characters and lone surrogates in ${field} are refused (Specification, Tickets)`, async () => {
      const shop = await service.shop()
      for (const character of [...CONTROL, ...LONE]) {
        service.clock.advance(3000)
        const response = await shop.tryCreate({ service: "Hem", [field]: `a${character}b` })
        const issues = response.error?.details?.issues
        expect([response.status, issues?.[0]], JSON.stringify(character)).toMatchObject([400, { in: "body", field }])
      }
    })
  }

  it("control characters and lone surrogates in an item's label and service, and in a phone number, are refused (Specification, Tickets)", async () => {
    const shop = await service.shop()
    const bodies = [
      ["items.0.label", { items: [{ label: "a\u0000" }, ITEM] }],
      ["items.1.service", { items: [ITEM, { label: "b", service: "\ud800" }] }],
      ["client_phone", { client_phone: "+21620\u0000123456" }],
      ["client_phone", { client_phone: "+21620123456\ud800" }]
    ] as const
    for (const [field, body] of bodies) {
      const response = await shop.tryCreate({ service: "Hem", ...body })
      expect(response.error?.details?.issues).toMatchObject([{ in: "body", field }])
    }
  })

  it("a deposit above the price is refused (Specification, Tickets)", async () => {
    const shop = await service.shop()
    const response = await shop.tryCreate({ service: "Hem", price_minor: 5, deposit_minor: 6 })
    expect(response.error.details!.issues).toMatchObject([{ in: "body", field: "deposit_minor" }])
  })

  it("one 400 lists all problems of the header and of the body by name (Specification, Errors)", async () => {
    const shop = await service.shop()
    const body = {
      type: "x",
      item: "",
      price_minor: 1.5,
      colour: 1,
      client_id: "no",
      items: [{ label: "", size: 1 }],
      promised_at: "no"
    }
    const response = await shop.post("/v1/tickets", body)
    const fields = response.error.details!.issues!.map((issue) => `${issue.in} ${issue.field}`)
    expect([...new Set(fields)].sort()).toEqual(
      [
        "body client_id",
        "body colour",
        "body item",
        "body items",
        "body items.0.label",
        "body items.0.size",
        "body price_minor",
        "body promised_at",
        "body service",
        "body type",
        "header Idempotency-Key"
      ].sort()
    )
    expect(fields.length).toBe(11)
  })

  it("an invalid price or deposit is reported once, without a problem about the other field (Specification, Errors; Tickets)", async () => {
    const shop = await service.shop()
    for (const [price_minor, deposit_minor, fields] of [
      [-5, 1, ["price_minor"]],
      [5, 6.5, ["deposit_minor"]],
      [-1, 1.5, ["deposit_minor", "price_minor"]],
      [5, 1e13, ["deposit_minor"]]
    ] as const) {
      const response = await shop.tryCreate({ service: "Hem", price_minor, deposit_minor })
      expect(response.error.details!.issues!.map(({ field }) => field).sort()).toEqual(fields)
    }
  })

  it("a deposit above the price is reported together with the other problems (Specification, Errors; Tickets)", async () => {
    const shop = await service.shop()
    const response = await shop.tryCreate({ item: "", price_minor: 5, deposit_minor: 6 })
    const fields = response.error.details!.issues!.map(({ field }) => field)
    expect(fields.sort()).toEqual(["deposit_minor", "item", "service"])
  })

  it("a body that is not an object is refused (Specification, Errors)", async () => {
    const shop = await service.shop()
    for (const body of [[], [{ service: "Hem" }], "Hem", 1, true, null]) {
      const response = await shop.tryCreate(body, body === null ? { raw: "null" } : {})
      expect(response.status, JSON.stringify(body)).toBe(400)
      expect(response.error.details!.issues![0]!.in).toBe("body")
    }
  })

  it("the 400 for an invalid value does not repeat the value (Specification, Errors)", async () => {
    const shop = await service.shop()
    const response = await shop.tryCreate({
      service: "Hem",
      type: "t0psecret",
      client_phone: "t0psecret",
      price_minor: "t0psecret"
    })
    expect(response.status).toBe(400)
    expect(response.text).not.toContain("t0psecret")
  })
})
