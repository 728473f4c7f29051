import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Service } from "../delivery/Service.js"
import { WebhookReceiver } from "../delivery/WebhookReceiver.js"

let service: Service
beforeAll(async () => {
  service = await Service.open()
})
afterAll(() => service[Symbol.asyncDispose]())

const ms = expect.any(Number)

describe("the delivery log of real attempts (Specification, Webhooks; Sandbox)", () => {
  it("the delivery log has an attempt's status, remote address, phases, and the start of the response's body", async () => {
    await using receiver = await WebhookReceiver.open(
      (response) => void response.writeHead(500).end(`no\n${"x".repeat(8192)}`)
    )
    const shop = await service.shop(receiver)
    await shop.ping()
    const started_at = service.now.toISOString()
    await service.settle()
    const [{ attempts }] = await shop.own("GET", "/deliveries")
    const timings = { lookup_ms: null, connect_ms: ms, tls_ms: null, first_byte_ms: ms }
    expect(attempts).toEqual([
      {
        ...{ n: 1, started_at, duration_ms: ms, status: 500, error: null, detail: null, address: "127.0.0.1", timings },
        head: expect.stringMatching(/^HTTP\/1\.1 500 Internal Server Error\n.+\n\n.*no\nx{3000,4000}$/s)
      }
    ])
    expect(Buffer.byteLength(attempts[0].head)).toBeLessThanOrEqual(4096)
  })

  it("the delivery log has a failed attempt's kind of error, the system's error code, and the phases before the failure", async () => {
    const receiver = await WebhookReceiver.open()
    const shop = await service.shop(receiver)
    await receiver.close()
    await shop.ping()
    const started_at = service.now.toISOString()
    await service.settle()
    const [{ attempts }] = await shop.own("GET", "/deliveries")
    const timings = { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null }
    const failure = { status: null, error: "connect", detail: "ECONNREFUSED", address: "127.0.0.1" }
    expect(attempts).toEqual([{ n: 1, started_at, duration_ms: ms, ...failure, timings, head: "" }])
  })
})
