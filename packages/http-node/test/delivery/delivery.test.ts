import { verify } from "@workshop/webhooks"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, HOUR, type Json, MINUTE, Service } from "./Service.js"
import { type Responder, respondsWith, WebhookReceiver } from "./WebhookReceiver.js"

let service: Service
beforeAll(async () => {
  service = await Service.open()
})
afterAll(() => service[Symbol.asyncDispose]())

describe("Specification, Webhooks: the service sends every change of a ticket, signed, to the shop's URL", () => {
  it("an event of every type arrives with a valid signature and with the same bytes as in the delivery log", async () => {
    await using receiver = await WebhookReceiver.open()
    const shop = await service.shop(receiver)
    const verdicts: Array<Promise<unknown>> = []
    receiver.responder = (response, { body, signature }) => {
      verdicts.push(verify(body, signature, shop.secret, { now: service.now, toleranceSeconds: 0 }))
      response.writeHead(204).end()
    }
    const person = { given_name: "Amira", family_name: "Ben Salah", phone: "+21620123456" }
    const client = await service.good("POST", "/sandbox/clients", person)
    const { id } = await shop.api("POST", "/tickets", { service: "Ourlet — été", client_phone: person.phone })
    const [offer] = await service.good("GET", `/sandbox/clients/${client.id}/offers`)
    await service.good("POST", `/sandbox/offers/${offer.id}/accept`)
    for (const response of ["refuse", "accept"]) {
      await service.good("POST", `/sandbox/tickets/${id}/quote`, { price_minor: 12_000 })
      await service.good("POST", `/sandbox/tickets/${id}/quote/${response}`)
    }
    await service.good("PATCH", `/sandbox/tickets/${id}`, { item: "Rideau" })
    for (const status of ["impossible", "workshop", "ready"])
      await shop.api("POST", `/tickets/${id}/status`, { status })
    await shop.api("POST", `/tickets/${id}/notified`, { channel: "whatsapp" })
    for (const status of ["collected", "workshop", "ready"]) await shop.api("POST", `/tickets/${id}/status`, { status })
    await service.move({ advance_ms: 60 * DAY })
    await shop.ping()
    await service.settle()
    const events: Array<Json> = await shop.own("GET", "/events")
    expect(receiver.requests.map(({ event }) => event)).toEqual(events)
    expect([...new Set(receiver.types)].sort()).toEqual([
      "client.linked",
      "client.notified",
      "ping",
      "quote.accepted",
      "quote.proposed",
      "quote.refused",
      "ticket.abandoned",
      "ticket.collected",
      "ticket.created",
      "ticket.impossible",
      "ticket.ready",
      "ticket.reopened",
      "ticket.updated"
    ])
    for (const verdict of await Promise.all(verdicts)) expect(verdict).toMatchObject({ ok: true })
  })

  it("for 24 hours after a rotation, signatures verify with both secrets, and afterwards only with the new secret", async () => {
    await using receiver = await WebhookReceiver.open()
    const shop = await service.shop(receiver)
    const { secret } = await shop.own("POST", "/webhook/rotate")
    const good = async () => {
      await shop.ping()
      await service.settle()
      const { body, signature } = receiver.requests.at(-1)!
      const verdicts = [shop.secret, secret].map((one) => verify(body, signature, one, { now: service.now }))
      return (await Promise.all(verdicts)).map(({ ok }) => ok)
    }
    expect(await good()).toEqual([true, true])
    await service.move({ advance_ms: DAY - 1 })
    expect(await good()).toEqual([true, true])
    await service.move({ advance_ms: 1 })
    expect(await good()).toEqual([false, true])
  })
})

describe("Specification, Webhooks: no receiver's behaviour makes the service lose an event", () => {
  it("if the receiver is killed during a request and restarted, every event arrives under the same id", async () => {
    await using receiver = await WebhookReceiver.open()
    const shop = await service.shop(receiver)
    receiver.responder = (response) => void response.destroy()
    await shop.ping()
    await service.settle()
    await receiver.close()
    await shop.pings(5)
    await service.settle()
    expect(await shop.states()).toEqual(["pending reset", ...Array(5).fill("pending connect")])
    receiver.responder = respondsWith(200)
    await receiver.reopen()
    await service.move({ advance_ms: MINUTE })
    expect(await shop.states()).toEqual(["delivered reset 200", ...Array(5).fill("delivered connect 200")])
    expect(receiver.requests).toHaveLength(7)
    expect(receiver.ids.size).toBe(6)
  })

  it("a slow receiver gets at most four requests at a time, and each event once", async () => {
    await using receiver = await WebhookReceiver.open()
    const shop = await service.shop(receiver)
    const pendingResponses: Array<() => void> = []
    receiver.responder = (response) =>
      void pendingResponses.push(() => respondsWith(200)(response, receiver.requests[0]!, 1))
    await shop.pings(12)
    for (let done = 0; done < 12; done += 4) {
      await receiver.until(done + 4)
      expect(receiver.requests).toHaveLength(done + 4)
      for (const release of pendingResponses.splice(0)) release()
    }
    await service.settle()
    expect(await shop.states()).toEqual(Array(12).fill("delivered 200"))
  })

  it("a redirect counts as a failure and is not followed", async () => {
    await using elsewhere = await WebhookReceiver.open()
    await using receiver = await WebhookReceiver.open(respondsWith(301, { location: elsewhere.url }))
    const shop = await service.shop(receiver)
    await shop.ping()
    await service.settle()
    expect(await shop.states()).toEqual(["pending 301"])
    expect(elsewhere.requests).toEqual([])
  })

  it("a 410 response turns the webhook off at once and notifies its owner, and later events wait until the webhook is on again", async () => {
    await using receiver = await WebhookReceiver.open(respondsWith(410))
    const shop = await service.shop(receiver)
    await shop.ping()
    await service.settle()
    await shop.pings(2)
    await service.move({ advance_ms: 3 * DAY })
    expect(await shop.states()).toEqual(["parked 410", "parked", "parked"])
    expect(await shop.own("GET", "/webhook")).toMatchObject({ on: false, off_reason: "gone", failures_in_row: 1 })
    expect(await shop.own("GET", "/notices")).toMatchObject([
      { kind: "webhook_off", off_reason: "gone", url: receiver.url }
    ])
    receiver.responder = respondsWith(200)
    expect(await shop.own("POST", "/webhook/enable")).toMatchObject({ on: true, off_reason: null, failures_in_row: 0 })
    await service.settle()
    expect(await shop.states()).toEqual(["delivered 410 200", "delivered 200", "delivered 200"])
  })

  it("a delivery is dead after eight failures, and a replay of dead deliveries sends the event with the same id and increasing attempt numbers", async () => {
    await using receiver = await WebhookReceiver.open(respondsWith(500))
    const shop = await service.shop(receiver)
    const { id } = await shop.ping()
    const begun = service.now.getTime()
    await service.move({ advance_ms: 45 * HOUR })
    const [dead] = await shop.own("GET", "/deliveries")
    expect(dead).toMatchObject({ event_id: id, state: "dead", next_attempt_at: null })
    const minutes = dead.attempts.map(({ started_at }: Json) => (Date.parse(started_at) - begun) / MINUTE)
    expect(minutes).toEqual([0, 1, 6, 36, 156, 516, 1236, 2676])
    receiver.responder = respondsWith(202)
    expect(await shop.own("POST", "/deliveries/replay", { state: "dead", dry_run: true })).toEqual({ count: 1 })
    await service.settle()
    expect(receiver.requests).toHaveLength(8)
    expect(await shop.own("POST", "/deliveries/replay", { state: "dead" })).toEqual({ count: 1 })
    await service.settle()
    const [arrived] = await shop.own("GET", "/deliveries")
    expect([arrived.state, arrived.attempts.at(-1).n, receiver.requests.at(-1)!.event.id]).toEqual(["delivered", 9, id])
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1)
  })

  it("after 20 consecutive failures over 72 hours and two warnings, the webhook is turned off and its events wait", async () => {
    await using receiver = await WebhookReceiver.open(respondsWith(503))
    const shop = await service.shop(receiver)
    for (let day = 0; day < 4; day++) {
      await shop.pings(2)
      await service.move({ advance_ms: DAY })
    }
    expect(await shop.own("GET", "/webhook")).toMatchObject({ on: false, off_reason: "failing" })
    const notices: Array<Json> = await shop.own("GET", "/notices")
    expect(notices.map(({ kind, off_reason }) => [kind, off_reason])).toEqual([
      ["webhook_failing", null],
      ["webhook_failing", null],
      ["webhook_off", "failing"]
    ])
    const { first_failure_at, created_at, failures_in_row } = notices[2]
    expect(Date.parse(created_at) - Date.parse(first_failure_at)).toBeGreaterThanOrEqual(72 * HOUR)
    expect(failures_in_row).toBeGreaterThanOrEqual(20)
    receiver.responder = respondsWith(200)
    await shop.own("POST", "/webhook/enable")
    await service.settle()
    expect(
      (await shop.states()).filter((state) => !state.startsWith("delivered")).every((state) => state.startsWith("dead"))
    ).toBe(true)
  })
})

describe("Specification, Webhooks: a slow or unavailable receiver must not slow other shops", () => {
  it("a shop whose receiver does not respond uses four connections, and other shops' events are all delivered meanwhile", async () => {
    const hangs: Responder = () => {}
    await using hanging = await WebhookReceiver.open(hangs)
    await using dead = await WebhookReceiver.open()
    await using well = await WebhookReceiver.open()
    const [slow, gone, healthy] = [await service.shop(hanging), await service.shop(dead), await service.shop(well)]
    await dead.close()
    for (let i = 0; i < 30; i++) await Promise.all([slow.ping(), gone.ping(), healthy.ping()])
    await well.until(30)
    expect(well.ids.size).toBe(30)
    expect(hanging.requests).toHaveLength(4)
    hanging.responder = respondsWith(200)
    await hanging.close()
    await hanging.reopen()
    await service.move({ advance_ms: MINUTE })
    expect(hanging.ids.size).toBe(30)
    expect((await slow.states()).every((state) => state.startsWith("delivered"))).toBe(true)
  })
})
