import * as MemoryStore from "@workshop/store-memory"
import { afterEach, describe, expect, it } from "vitest"
import { Entropy } from "../../src/ports/Entropy.js"
import type { CommittedEvent } from "../../src/services/CommittedEvents.js"
import { type PromiseWorkshop, start } from "../../src/services/promise/PromiseWorkshop.js"

let workshop: PromiseWorkshop
afterEach(() => workshop.stop())

const opened = async () => {
  workshop = await start({ store: MemoryStore.layer, randomBytes: Entropy.seededBytes(11), background: false })
  const shop = await workshop.shops.create({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
  if (!shop.ok) throw new Error("refused")
  const caller_id = "019a0000-0000-7000-8000-000000000001"
  return { shop_id: shop.value.id, caller_id, scopes: [], via: "api" } as const
}

const create = async (caller: Awaited<ReturnType<typeof opened>>, key: string) => {
  const created = await workshop.tickets.create(caller, { service: "Hem" }, key)
  if (!created.ok) throw new Error("refused")
  return created.value.data.id
}

describe("Committed events", () => {
  it("events are reported after their commit, in order, once each, and with the type of their data (Specification, Webhooks)", async () => {
    const caller = await opened()
    const events: Array<CommittedEvent> = []
    const stop = workshop.onEvent((event) => events.push(event))
    const id = await create(caller, "one")
    await create(caller, "one")
    await workshop.tickets.changeStatus(caller, id, "ready")
    await workshop.tickets.changeStatus(caller, id, "ready")
    stop()
    await workshop.tickets.changeStatus(caller, id, "collected")
    expect(events.map(({ type }) => type)).toEqual(["ticket.created", "ticket.ready"])
    const [first] = events
    if (first?.type !== "ticket.created") throw new Error("another event")
    expect(first.data.ticket).toMatchObject({ id, state: "workshop" })
    const storedEvents = await workshop.webhooks.events(caller.shop_id)
    if (!storedEvents.ok) throw new Error("refused")
    expect(storedEvents.value.map(({ id }) => id).slice(0, 2)).toEqual(events.map(({ id }) => id))
  })

  it("events reach every listener, even if another one throws at once or later", async () => {
    const caller = await opened()
    const types: Array<string> = []
    workshop.onEvent(() => {
      throw new Error("a bug")
    })
    // An unhandled rejection would end the process.
    workshop.onEvent(() => Promise.reject(new Error("a later bug")))
    workshop.onEvent(({ type }) => types.push(type))
    await create(caller, "one")
    expect(types).toEqual(["ticket.created"])
  })

  it("a loop over events ends at a break, and when the workshop stops", async () => {
    const caller = await opened()
    const reader = workshop.events()[Symbol.asyncIterator]()
    let isTold = false
    const next = reader.next().finally(() => {
      isTold = true
    })
    await expect
      .poll(async () => {
        await create(caller, crypto.randomUUID())
        return isTold
      })
      .toBe(true)
    expect((await next).value).toMatchObject({ type: "ticket.created", shop_id: caller.shop_id })
    await reader.return?.()

    const types: Array<string> = []
    const looping = (async () => {
      for await (const { type } of workshop.events()) types.push(type)
      return "ended"
    })()
    await workshop.stop()
    expect(await looping).toBe("ended")
  })
})
