import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { MINUTE, TestService } from "../TestService.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 48 })
})
afterAll(() => service.close())

const ACTS = [
  ["status", { status: "ready" }, { status: "impossible" }, "ticket.ready"],
  ["notified", { channel: "sms" }, { channel: "call" }, "client.notified"]
] as const

describe("an Idempotency-Key on POST …/status and …/notified (Specification, Endpoints)", () => {
  for (const [act, body, other, event] of ACTS) {
    it(`a repeated POST …/${act} with the same key returns the same ticket and changes nothing`, async () => {
      const shop = await service.shop()
      const { id } = await shop.create()
      const ask = (asked: object, idempotency_key?: string, path = id) =>
        shop.post(`/v1/tickets/${path}/${act}`, asked, idempotency_key === undefined ? {} : { idempotency_key })
      const first = await ask(body, "one")
      expect([first.status, first.meta, first.headers["idempotent-replayed"]]).toEqual([
        200,
        { replayed: false },
        undefined
      ])
      service.clock.advance(MINUTE)
      const replay = await ask(body, "one")
      expect([replay.status, replay.meta, replay.data]).toEqual([200, { replayed: true }, first.data])
      expect(replay.headers["idempotent-replayed"]).toBe("true")
      expect((await shop.eventTypes()).filter((type) => type === event)).toHaveLength(1)

      const reused = [await ask(other, "one"), await ask(body, "one", (await shop.create()).id)]
      for (const { status, error } of reused)
        expect([status, error.details!.reason]).toEqual([409, "IDEMPOTENCY_KEY_REUSED"])
    })

    it(`each POST …/${act} without a key is executed`, async () => {
      const shop = await service.shop()
      const { id } = await shop.create()
      const ask = () => shop.post(`/v1/tickets/${id}/${act}`, body)
      expect((await ask()).meta).toEqual({ replayed: false })
      const again = await ask()
      expect([again.status, again.error?.details?.reason]).toEqual(
        act === "status" ? [409, "SAME_STATE"] : [200, undefined]
      )
    })
  }

  it("a refused status request does not use up its key, and a key that is too long is a 400", async () => {
    const shop = await service.shop()
    const { id } = await shop.create()
    const move = (status: string, idempotency_key: string) =>
      shop.post(`/v1/tickets/${id}/status`, { status }, { idempotency_key })
    expect((await move("collected", "one")).status).toBe(409)
    expect((await move("ready", "one")).meta).toEqual({ replayed: false })
    expect((await move("collected", "k".repeat(81))).error.details!.issues).toMatchObject([
      { in: "header", field: "Idempotency-Key" }
    ])
  })
})
