import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, MINUTE, TestService } from "../TestService.js"
import type { TestShop, TicketJson } from "./TestShop.js"

const BASE = "https://tickets.example/t/"

let service: TestService
let shop: TestShop
beforeAll(async () => {
  service = await TestService.open({ seed: 20, tracking_base_url: BASE })
  shop = await service.shop({ name: "Atelier Lac" })
})
afterAll(() => service.close())

let addresses = 0
/** Requests a path, by default from a new client address. */
const look = async (path: string, { language = "en", from = `10.1.0.${++addresses}`, method = "GET" } = {}) => {
  const headers = { "accept-language": language, "x-forwarded-for": from }
  const response = await fetch(`${service.base}${path}`, { method, headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const page = (ticket: TicketJson, language = "en") => look(`/t/${ticket.tracking_code}`, { language })

/** A response without its Request-Id and date, so that tests can compare responses. */
const alike = ({ status, headers, text }: Awaited<ReturnType<typeof look>>) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !["request-id", "date"].includes(name))
})

describe("GET /t/{tracking_code}: the client's page", () => {
  it("the page shows the state, the item, the promised time, its delay, the missing part, the amounts and the channel of the notification", async () => {
    const phone = service.phone()
    const { id } = await shop.create({
      ...{ service: "Resole", item: "Brown boots", description: "The rude one", client_phone: phone },
      ...{ price_minor: 45_500, deposit_minor: 10_000, promised_at: "2026-11-23T16:00:00Z", external_ref: "secret-ref" }
    })
    await shop.delay(id, { promised_at: "2026-11-24T16:00:00Z", reason: "The heel is late" })
    await shop.part(id, { label: "Heel", status: "ordered", expected_at: "2026-11-23T08:00:00Z" })
    await shop.post(`/v1/tickets/${id}/notified`, { channel: "sms" })
    const { text } = await page(await shop.ticket(id))
    for (const shown of [
      ...["Atelier Lac", "In the workshop", "Brown boots", "November 24", "The heel is late", "November 23"],
      ...["Waiting for a part", "Heel", "45.500", "TND\u00a010", "35.500", "by SMS"]
    ])
      expect(text).toContain(shown)
    for (const hidden of [phone, phone.slice(4), "rude", "secret-ref", id]) expect(text).not.toContain(hidden)
  })

  it("the page shows no data of the client who is linked to the ticket", async () => {
    const client = await service.known(shop, { given_name: "Yasmine", family_name: "Trabelsi" })
    const ticket = await shop.move((await shop.create({ service: "Hem", client_id: client.id })).id, "ready")
    const { text } = await page(ticket)
    expect(text).toContain("in the app")
    for (const hidden of ["Yasmine", "Trabelsi", client.phone, client.id]) expect(text).not.toContain(hidden)
  })

  it("the page shows each later state of the ticket", async () => {
    const { id } = await shop.create()
    const heading = async () => /<h1>(.*)<\/h1>/.exec((await page(await shop.ticket(id))).text)?.[1]
    expect(await heading()).toBe("In the workshop")
    await shop.move(id, "ready")
    expect(await heading()).toBe("Ready")
    await shop.move(id, "workshop", "impossible")
    expect(await heading()).toBe("Not possible")
    await shop.move(id, "collected")
    expect(await heading()).toBe("Collected")
  })

  it("the page is in the browser's language, and in Arabic runs from right to left", async () => {
    const ticket = await shop.create()
    for (const [accepted, language, direction] of [
      ["fr-TN,fr;q=0.9", "fr", "ltr"],
      ["ar", "ar", "rtl"],
      ["de", "en", "ltr"]
    ] as const) {
      const { headers, text } = await page(ticket, accepted)
      expect(text).toContain(`<html lang="${language}" dir="${direction}">`)
      expect([headers.get("content-language"), headers.get("vary")]).toEqual([language, "Accept-Language"])
    }
  })

  it("the page accepts its tracking code in any spelling", async () => {
    const { tracking_code } = await shop.create()
    const typed = String(tracking_code).toLowerCase().replace("-", "").replaceAll("0", "o")
    expect((await look(`/t/${typed}`)).status).toBe(200)
    expect((await look(`/t/${encodeURIComponent(` ${tracking_code}`)}`)).status).toBe(200)
  })

  it("the page's headers forbid indexing, caching, framing, content sniffing, scripts and referrers", async () => {
    const { headers } = await page(await shop.create())
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "private, no-store",
      "x-robots-tag": "noindex, nofollow",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer"
    })
    const policy = headers.get("content-security-policy") ?? ""
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+='; img-src data:; /)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/script-src|unsafe|https?:|\*/)
  })

  it("the page accepts only GET and HEAD", async () => {
    const { tracking_code } = await shop.create()
    const head = await look(`/t/${tracking_code}`, { method: "HEAD" })
    expect([head.status, head.text]).toEqual([200, ""])
    expect((await look(`/t/${tracking_code}`, { method: "POST" })).status).toBe(404)
  })

  it("tracking_url in responses and events is the page's URL, unless the shop has its own tracking pages", async () => {
    const ticket = await shop.create()
    expect(ticket.tracking_url).toBe(`${BASE}${ticket.tracking_code}`)
    expect((await shop.ticket(ticket.id)).tracking_url).toBe(ticket.tracking_url)
    expect((await shop.events()).at(-1)?.data.ticket.tracking_url).toBe(ticket.tracking_url)
    const own = await service.shop({ tracking_base_url: "https://lac.example/suivi/" })
    const other = await own.create()
    expect(other.tracking_url).toBe(`https://lac.example/suivi/${other.tracking_code}`)
  })
})

describe("a tracking code without a page", () => {
  it("the 404 is the same, in every header and in the body, for a code that is unknown, malformed, of a closed shop or of a ticket that ended long ago", async () => {
    const closed = await service.shop()
    const foreign = await closed.create()
    await closed.change({ active: false })
    const old = await shop.create()
    const collected = await shop.move((await shop.create()).id, "ready", "collected")
    service.clock.advance(60 * DAY)
    await service.closeDue()
    expect((await page(old)).text).toContain("The shop gave no news for 60 days")
    expect((await page(collected)).status).toBe(404)
    service.clock.advance(30 * DAY + 1)

    const unknown = alike(await look("/t/0000-0000"))
    expect(unknown.status).toBe(404)
    expect(unknown.text).toContain("No such ticket")
    for (const path of [
      ...[`/t/${old.tracking_code}`, `/t/${foreign.tracking_code}`, `/t/${collected.tracking_code}`],
      ...["/t", "/t/", "/t/x", "/t/7K3M-Q9XU", "/t/%ff", "/t/0000-0000/", "/t/a/b", `/t/${"0".repeat(4000)}`]
    ])
      expect(alike(await look(path)), path).toEqual(unknown)
    const inFrench = await look("/t/0000-0000", { language: "fr" })
    expect(alike(await look(`/t/${old.tracking_code}`, { language: "fr" }))).toEqual(alike(inFrench))
  })

  it("one address can request 60 codes a minute, whether they exist or not", async () => {
    const { tracking_code } = await shop.create()
    const from = "203.0.113.9"
    for (let i = 0; i < 30; i++) {
      expect((await look("/t/0000-0000", { from })).status).toBe(404)
      expect((await look(`/t/${tracking_code}`, { from })).status).toBe(200)
    }
    for (const path of ["/t/0000-0000", `/t/${tracking_code}`]) {
      const refused = await look(path, { from, language: "fr" })
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"])
      expect(refused.text).toContain("Trop d’essais")
      expect(refused.headers.get("cache-control")).toBe("private, no-store")
    }
    expect((await look(`/t/${tracking_code}`)).status).toBe(200)
    service.clock.advance(MINUTE)
    expect((await look(`/t/${tracking_code}`, { from })).status).toBe(200)
  })

  it("an IPv6 network counts as one address, and requests for codes do not count against the API's limits", async () => {
    for (let i = 0; i < 60; i++) await look("/t/0000-0000", { from: `2001:db8:9:9::${i.toString(16)}` })
    expect((await look("/t/0000-0000", { from: "2001:db8:9:9:ffff::1" })).status).toBe(429)
    const tried = await service.api("GET", "/v1/shop", { from: "2001:db8:9:9::1", key: "wk_live_unknown" })
    expect(tried.status).toBe(401)
  })
})

describe("a server without tracking pages", () => {
  it("a server without tracking pages responds 404 at their paths, and tracking_url is null", async () => {
    const plain = await TestService.open({ seed: 91 })
    try {
      const ticket = await (await plain.shop()).create()
      expect(ticket.tracking_url).toBeNull()
      const response = await plain.api("GET", `/t/${ticket.tracking_code}`)
      expect([response.status, response.error.code]).toEqual([404, "NOT_FOUND"])
    } finally {
      await plain.close()
    }
  })
})
