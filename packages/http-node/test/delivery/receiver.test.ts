import { describe, expect, it } from "vitest"
import { type Json, Service } from "./Service.js"
import { respondsWith, WebhookReceiver } from "./WebhookReceiver.js"

const opened = async () => {
  const service = await Service.open()
  const receiver = await WebhookReceiver.open()
  const shop = await service.shop(receiver)
  return {
    service,
    receiver,
    shop,
    create: async () => {
      const ticket = await shop.api("POST", "/tickets", { service: "Hem" })
      await service.settle()
      return ticket
    },
    last: async (): Promise<Json> => (await shop.own("GET", "/deliveries")).at(-1),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
    }
  }
}

describe("The built-in receiver (Specification, Sandbox)", () => {
  it("the built-in receiver replaces the shop's webhook, and lists each delivery with the result of its signature check", async () => {
    await using setup = await opened()
    const { shop, create, receiver } = setup
    expect(await shop.own("GET", "/receiver")).toMatchObject({ in_use: false, answer: 200, times: null })
    const { url, in_use } = await shop.own("PUT", "/receiver", { use: true })
    expect([in_use, (await shop.own("GET", "/webhook")).url]).toEqual([true, url])
    const ticket = await create()
    expect(receiver.requests).toEqual([])
    const [got]: Array<Json> = await shop.own("GET", "/received")
    expect(got).toMatchObject({ type: "ticket.created", answered: "200", signature: { ok: true } })
    expect(got.signature.got).toBe(got.signature.expected)
    expect(got.headers).toEqual({
      Host: new URL(url).host,
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": String(Buffer.byteLength(got.body)),
      "User-Agent": "Workshop-Webhooks/1",
      "Accept-Encoding": "identity",
      "Service-Signature": got.signature.got,
      Connection: "keep-alive"
    })
    expect(got.signature.base.endsWith(`.${got.body}`)).toBe(true)
    expect(JSON.parse(got.body).data.ticket.id).toBe(ticket.id)
    expect(await shop.own("GET", `/received?after=${got.id}`)).toEqual([])
  })

  it("the built-in receiver fails as often as configured, and the retry is sent only when the clock is moved", async () => {
    await using setup = await opened()
    const { service, shop, create, last } = setup
    for (const [response, status, error] of [
      [500, 500, null],
      ["cut", null, "reset"],
      ["silent", null, "timeout"],
      ["late", null, "timeout"]
    ] as const) {
      await shop.own("PUT", "/receiver", { answer: response, times: 1, use: true })
      const ticket = await create()
      expect(await last()).toMatchObject({ state: "pending", attempts: [{ n: 1, status, error }] })
      const agenda: Array<Json> = await service.good("GET", `/sandbox/agenda?shop=${shop.id}`)
      const due = agenda.find(({ kind }) => kind === "retry")
      expect(due).toMatchObject({
        ticket_id: ticket.id,
        number_label: ticket.number_label,
        event_type: "ticket.created"
      })
      expect(due.text).toBe(`Attempt 2 to send ticket.created of ${ticket.number_label}`)
      await service.move({ to: due.at })
      expect(await last()).toMatchObject({ state: "delivered", attempts: [{ n: 1 }, { n: 2, status: 200 }] })
    }
  })

  it("the built-in receiver can respond 410, which turns the webhook off, and the webhook then shows when that was and how many events wait", async () => {
    await using setup = await opened()
    const { shop, create, last } = setup
    await shop.own("PUT", "/receiver", { answer: 410, times: 1, use: true })
    await create()
    await create()
    const off = await shop.own("GET", "/webhook")
    expect(off).toMatchObject({ on: false, off_reason: "gone", parked: 2 })
    expect(off.off_since).toBe((await shop.own("GET", "/notices")).at(-1).created_at)
    expect(await last()).toMatchObject({ state: "parked", parked: true })
    await shop.own("POST", "/webhook/enable")
    await setup.service.settle()
    expect(await shop.own("GET", "/webhook")).toMatchObject({ on: true, parked: 0, off_since: null })
    const { now } = setup.service
    await shop.own("POST", "/webhook/disable")
    expect((await shop.own("GET", "/webhook")).off_since).toBe(now.toISOString())
  })

  it("the built-in receiver forwards deliveries to a URL, and returns that server's response", async () => {
    await using setup = await opened()
    const { shop, create, receiver, last } = setup
    receiver.responder = respondsWith(418)
    await shop.own("PUT", "/receiver", { forward_to: receiver.url, use: true })
    await create()
    expect(receiver.requests.map(({ event }) => event.type)).toEqual(["ticket.created"])
    expect((await last()).attempts[0].status).toBe(418)
    expect((await shop.own("GET", "/received"))[0].answered).toBe("418")
  })

  it("the built-in receiver refuses a forbidden URL, and unknown fields", async () => {
    await using setup = await opened()
    const { service, shop } = setup
    const path = `/sandbox/shops/${shop.id}/receiver`
    const { url } = await shop.own("GET", "/receiver")
    for (const forward_to of ["ftp://127.0.0.1/", "here", url]) {
      const { status, error } = await service.ask("PUT", path, { forward_to })
      expect([forward_to, status, error.details.issues[0].field]).toEqual([forward_to, 400, "forward_to"])
    }
    const { error } = await service.ask("PUT", path, { answer: "sulk", times: 0 })
    expect(error.details.issues).toEqual([
      { in: "body", field: "answer", message: "must be a status from 200 to 599, or one of cut, silent, late" },
      { in: "body", field: "times", message: "must be a whole number from 1 to 1000000" }
    ])
  })
})

describe("Deliveries that the sandbox shows (Specification, Sandbox)", () => {
  it("deliveries are listed with their ticket and the sent request, and can be filtered by ticket, time, event and number", async () => {
    await using setup = await opened()
    const { service, shop, create, receiver } = setup
    const first = await create()
    await service.move({ advance: "1h" })
    const second = await create()
    const all: Array<Json> = await shop.own("GET", "/deliveries")
    expect(all.map(({ ticket_id, number_label }) => [ticket_id, number_label])).toEqual([
      [first.id, first.number_label],
      [second.id, second.number_label]
    ])
    const { request, created_at, event_id } = all[0]
    expect(request).toMatchObject({ body: receiver.requests[0]!.body, sent: { url: receiver.url, at: created_at } })
    expect(Object.values(request.sent.headers)).toContain(receiver.requests[0]!.signature)
    expect(request.sent.headers).toMatchObject({
      Host: new URL(receiver.url).host,
      "User-Agent": "Workshop-Webhooks/1"
    })
    const ids = async (query: string) =>
      (await shop.own("GET", `/deliveries?${query}`)).map((delivery: Json) => delivery.event_id)
    expect(await ids(`ticket=${first.id}`)).toEqual([event_id])
    expect(await ids("limit=1")).toEqual([all[1].event_id])
    expect(await ids(`before=${all[1].event_id}`)).toEqual([event_id])
    expect(await ids(`since=${encodeURIComponent(all[1].created_at)}`)).toEqual([all[1].event_id])
  })
})
