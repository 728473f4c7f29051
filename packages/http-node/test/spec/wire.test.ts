import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { TestService } from "../TestService.js"
import type { TestShop } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 41 })
})
afterAll(() => service.close())

const LIMIT = 64 * 1024

const send = (shop: TestShop, raw: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
  shop.post("/v1/tickets", undefined, { raw, headers, idempotency_key: shop.newIdempotencyKey() })

const issuesOf = async (shop: TestShop, raw: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) => {
  const response = await send(shop, raw, headers)
  expect([response.status, response.error?.code]).toEqual([400, "VALIDATION_ERROR"])
  return response.error.details!.issues!.map((issue) => `${issue.in} ${issue.field}`)
}

/** The body of a create with exactly `bytes` bytes. */
const bodyOf = (bytes: number) => {
  const body = JSON.stringify({ service: "Hem" })
  return `${body.slice(0, -1)}${" ".repeat(bytes - body.length)}}`
}

describe("the body of a request (Specification, Errors)", () => {
  const malformed: Readonly<Record<string, string>> = {
    "half an object": '{"service":"Hem"',
    "no JSON at all": "service=Hem",
    "two values": '{"service":"Hem"}{"service":"Hem"}',
    "a trailing comma": '{"service":"Hem",}',
    "single quotes": "{'service':'Hem'}",
    "a bare NaN": '{"service":"Hem","price_minor":NaN}',
    "a bare control character in a text": '{"service":"He\u0001m"}',
    "a comment": '{"service":"Hem"/* */}',
    "nothing but white space": "  ",
    "a hexadecimal number": '{"service":"Hem","price_minor":0x10}',
    "a number with a leading zero": '{"service":"Hem","price_minor":010}'
  }
  for (const [name, raw] of Object.entries(malformed)) {
    it(`a body with ${name} is a 400 as malformed JSON (Specification, Errors)`, async () => {
      expect(await issuesOf(await service.shop(), raw)).toEqual(["body body"])
    })
  }

  it("bytes that are not UTF-8 are a 400: invalid bytes, overlong forms, encoded surrogates, UTF-16 (Specification, Errors; Tickets)", async () => {
    const shop = await service.shop()
    const around = (...bytes: ReadonlyArray<number>) =>
      Buffer.concat([Buffer.from('{"service":"He'), Buffer.from(bytes), Buffer.from('m"}')])
    for (const bytes of [[0xff], [0x80], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
      expect(await issuesOf(shop, around(...bytes)), bytes.join()).toEqual(["body body"])
    }
    expect(await issuesOf(shop, Buffer.from('{"service":"Hem"}', "utf16le"))).toEqual(["body body"])
  })

  it("the JSON escapes \\u0041 and surrogate pairs are decoded, and \\u0000 and lone surrogates are a 400 (Specification, Tickets)", async () => {
    const shop = await service.shop()
    expect((await send(shop, '{"service":"\\u0041\\ud83d\\ude00"}')).data).toMatchObject({ service: "A😀" })
    for (const written of ["\\u0000", "\\ud83d", "\\ude00", "\\ude00\\ud83d"]) {
      expect(await issuesOf(shop, `{"service":"a${written}b"}`)).toEqual(["body service"])
    }
  })

  it("for a whole number, 1e400, 2^53+1 and 1.5 are a 400, and 1.0 and 1e3 are accepted (Specification, Tickets)", async () => {
    const shop = await service.shop()
    for (const number of ["1e400", "-1e400", "9007199254740993", "1.5", "-1", "1e-5", "1000000000001"]) {
      expect(await issuesOf(shop, `{"service":"Hem","price_minor":${number}}`), number).toEqual(["body price_minor"])
    }
    for (const [number, price_minor] of [
      ["1.0", 1],
      ["1e3", 1000],
      ["-0", 0],
      ["1e12", 1e12]
    ] as const) {
      const { data } = await send(shop, `{"service":"Hem","price_minor":${number}}`)
      expect(data.money, number).toMatchObject({ price_minor })
    }
  })

  it("a field called __proto__ is refused as unknown, and has no effect (Specification, Errors)", async () => {
    const shop = await service.shop()
    expect(await issuesOf(shop, '{"service":"Hem","__proto__":{"type":"prepare"}}')).toEqual(["body __proto__"])
    expect(await issuesOf(shop, '{"service":"Hem","constructor":{"prototype":{"x":1}}}')).toEqual(["body constructor"])
    const item = '{"label":"a","__proto__":{"price_minor":1}}'
    expect(await issuesOf(shop, `{"service":"Hem","items":[${item},${item}]}`)).toEqual([
      "body items.0.__proto__",
      "body items.1.__proto__"
    ])
    expect(await issuesOf(shop, '{"__proto__":{"service":"Hem"}}')).toEqual(
      expect.arrayContaining(["body __proto__", "body service"])
    )
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  it("a byte order mark before the JSON is ignored, as RFC 8259 allows, and within a text it is an ordinary character (Specification, Errors)", async () => {
    const shop = await service.shop()
    expect((await send(shop, '\ufeff{"service":"Hem"}')).data).toMatchObject({ service: "Hem" })
    expect((await send(shop, '{"service":"a\ufeffb"}')).data).toMatchObject({ service: "a\ufeffb" })
    expect(await issuesOf(shop, '\ufeff\ufeff{"service":"Hem"}')).toEqual(["body body"])
  })

  it("a compressed body is a 400 (Specification, Errors)", async () => {
    const shop = await service.shop()
    for (const encoding of ["gzip", "br", "deflate"]) {
      expect(await issuesOf(shop, '{"service":"Hem"}', { "content-encoding": encoding })).toEqual([
        "header Content-Encoding"
      ])
    }
  })

  it("a duplicate member of an object is a 400, together with all other errors (Specification, Lists and sync)", async () => {
    const shop = await service.shop()
    expect(await issuesOf(shop, '{"service":"First","service":"Last"}')).toEqual(["body service"])
    const items = '"items":[{"label":"a"},{"label":"b","label":"c"}]'
    expect(await issuesOf(shop, `{"service":"Hem",${items},"colour":"red"}`)).toEqual([
      "body items.1.label",
      "body colour"
    ])
    expect(await issuesOf(shop, '{"service":"","service":""}')).toEqual(["body service"])
    const { id } = await shop.create()
    const moved = await shop.post(`/v1/tickets/${id}/status`, undefined, { raw: '{"status":"ready","status":"ready"}' })
    expect([moved.status, moved.error.details!.issues]).toEqual([
      400,
      [{ in: "body", field: "status", message: "is given twice; send it only once" }]
    ])
  })

  it("two Idempotency-Key headers are a 400, equal or not, and nothing is created (Specification, Idempotency)", async () => {
    const shop = await service.shop()
    for (const keys of [
      ["one", "two"],
      ["one", "one"]
    ]) {
      const response = await shop.post("/v1/tickets", { service: "Hem" }, { headers: { "idempotency-key": keys } })
      expect([response.status, response.error.details!.issues]).toEqual([
        400,
        [{ in: "header", field: "Idempotency-Key", message: "is given twice; send it only once" }]
      ])
    }
    expect((await shop.get("/v1/tickets")).data).toEqual([])
  })

  it("a body with the deepest nesting that fits in 64 KiB gets a 400 (Specification, Errors)", async () => {
    const shop = await service.shop()
    const depth = 30_000
    expect(await issuesOf(shop, "[".repeat(depth) + "]".repeat(depth))).toEqual(["body body"])
    expect(await issuesOf(shop, `{"service":${"[".repeat(depth)}${"]".repeat(depth)}}`)).toEqual(["body service"])
    expect(await issuesOf(shop, `{"service":"Hem","deep":${"[".repeat(depth)}${"]".repeat(depth)}}`)).toEqual([
      "body deep"
    ])
    const objects = 10_000
    const nested = `${'{"a":'.repeat(objects)}1${"}".repeat(objects)}`
    const issues = await issuesOf(shop, `{"service":"Hem","items":[${nested},{"label":"b"}]}`)
    expect([...issues].sort()).toEqual(["body items.0.a", "body items.0.label"])
  })

  it("a body of exactly 64 KiB is read, and one more byte is a 400 (Specification, Errors)", async () => {
    const shop = await service.shop()
    expect((await send(shop, bodyOf(LIMIT))).status).toBe(201)
    expect(await issuesOf(shop, bodyOf(LIMIT + 1))).toEqual(["body body"])
    expect(await issuesOf(shop, bodyOf(3 * 1024 * 1024))).toEqual(["body body"])
    expect((await shop.create()).number).toBe(2)
  })

  it("a chunked body of exactly 64 KiB is read, and one more byte is a 400 (Specification, Errors)", async () => {
    const shop = await service.shop()
    const chunked = (body: string) => {
      const head = ["POST /v1/tickets HTTP/1.1", "Host: x", `Authorization: Bearer ${shop.key}`, "Idempotency-Key: c"]
      const rest = ["Content-Type: application/json", "Transfer-Encoding: chunked", "Connection: close", "", ""]
      const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      return service.wire.bare([...head, ...rest].join("\r\n") + chunk)
    }
    expect(await chunked(bodyOf(LIMIT))).toMatch(/^HTTP\/1\.1 201 /)
    const refused = await chunked(bodyOf(LIMIT + 1))
    expect(refused).toMatch(/^HTTP\/1\.1 400 /)
    expect(refused).toContain('"VALIDATION_ERROR"')
  })

  it("one 400 lists the problems of the headers and of an unreadable body (Specification, Errors)", async () => {
    const shop = await service.shop()
    const response = await shop.post("/v1/tickets", undefined, { raw: "{" })
    expect(response.error.details!.issues!.map((issue) => `${issue.in} ${issue.field}`).sort()).toEqual([
      "body body",
      "header Idempotency-Key"
    ])
  })

  it("an empty body counts as an empty object, and the 400 lists the required fields (Specification, Errors)", async () => {
    const shop = await service.shop()
    const response = await shop.post("/v1/tickets", undefined, { idempotency_key: shop.newIdempotencyKey() })
    expect(response.error.details!.issues!.map((issue) => `${issue.in} ${issue.field}`)).toEqual(["body service"])
  })
})

describe("a request's content type (Specification, Errors)", () => {
  for (const type of [
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "application/json ;x=y"
  ]) {
    it(`the content type ${type} is accepted (Specification, Errors)`, async () => {
      const response = await send(await service.shop(), '{"service":"Hem"}', { "content-type": type })
      expect(response.status).toBe(201)
    })
  }

  const refused = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonp",
    "text/json",
    "application/vnd.api+json",
    "json",
    ""
  ]
  for (const type of refused) {
    it(`the content type "${type}" is a 400 (Specification, Errors)`, async () => {
      expect(await issuesOf(await service.shop(), '{"service":"Hem"}', { "content-type": type })).toEqual([
        "header Content-Type"
      ])
    })
  }

  it("a body without a content type is a 400 (Specification, Errors)", async () => {
    const shop = await service.shop()
    const body = '{"service":"Hem"}'
    const head = ["POST /v1/tickets HTTP/1.1", "Host: x", `Authorization: Bearer ${shop.key}`, "Idempotency-Key: c"]
    const rest = [`Content-Length: ${body.length}`, "Connection: close", "", body]
    const response = await service.wire.bare([...head, ...rest].join("\r\n"))
    expect(response).toMatch(/^HTTP\/1\.1 400 /)
    expect(response).toContain('"field":"Content-Type"')
  })
})
