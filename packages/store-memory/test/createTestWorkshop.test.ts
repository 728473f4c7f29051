import { unwrap } from "@workshop/core/promise"
import { receive, verify } from "@workshop/core/webhooks"
import { afterEach, expect, it, vi } from "vitest"
import { layer } from "../src/MemoryStore.js"
import { createTestWorkshop, type TestWorkshop } from "../src/testing.js"

let test: TestWorkshop
afterEach(() => test.stop())

it("advancing a test workshop by 61 days closes a ticket after sixty days and records the event (Specification, States)", async () => {
  test = await createTestWorkshop()
  const { workshop, caller, received } = test
  await unwrap(workshop.webhooks.set(caller.shop_id, "https://erp.example.com/hook"))
  const { data } = await unwrap(
    workshop.tickets.create(caller, { service: "Hem", client_phone: "+33612345678" }, "order-1")
  )
  await unwrap(workshop.tickets.changeStatus(caller, data.id, "ready"))
  const began = test.now()
  await test.advance(0)
  expect(received.notifications).toMatchObject([{ phone: "+33612345678", type: "ticket.ready" }])
  await test.advance("61 days")
  expect(test.now() - began).toBe(61 * 86_400_000)
  expect(received.events.map(({ type }) => type)).toEqual(["ticket.created", "ticket.ready", "ticket.abandoned"])
  const closed = received.events[2]
  if (closed?.type !== "ticket.abandoned") throw new Error("The ticket was not closed")
  expect(Date.parse(closed.data.ticket.abandoned_at!) - began).toBe(60 * 86_400_000)
  expect(received.webhooks.map(({ body }) => JSON.parse(body).type)).toEqual(received.events.map(({ type }) => type))
})

it("a test workshop retries a webhook at the intervals of the specification's table (Specification, Webhooks)", async () => {
  const statuses = [500, 500, 200]
  test = await createTestWorkshop({ send: async () => ({ status: statuses.shift() ?? 200 }) })
  const { workshop, caller, received } = test
  const set = await unwrap(workshop.webhooks.set(caller.shop_id, "https://erp.example.com/hook"))
  const began = test.now()
  await unwrap(workshop.webhooks.ping(caller.shop_id))
  await test.advance("1 hour")
  expect(received.webhooks).toHaveLength(3)
  const [first] = received.webhooks
  const header = first!.headers["Service-Signature"]!
  const now = new Date(began)
  expect(await verify(first!.body, header, set.secret, { now })).toMatchObject({ ok: true })
})

it("a receiver that verifies signatures with the test's clock accepts events, and a receiver that uses the real clock refuses them (docs/test-your-app.md)", async () => {
  const lines: Array<string> = []
  let secret = ""
  test = await createTestWorkshop({
    send: async ({ body, headers }) => {
      for (const options of [{ now: test.now() }, {}]) {
        const received = await receive(body, headers["Service-Signature"], secret, options)
        lines.push(received.ok ? received.event.type : received.reason)
      }
      return { status: 200 }
    },
    begins: Date.parse("2020-03-01T10:00:00Z")
  })
  const { workshop, caller, shop } = test
  secret = (await unwrap(workshop.webhooks.set(shop.id, "https://erp.example/hook"))).secret
  await unwrap(workshop.tickets.create(caller, { service: "Hem" }, "order-1"))
  await test.advance(0)
  expect(lines).toEqual(["ticket.created", "too_old"])
})

it("createTestWorkshop refuses a misspelt or invalid option with a message that names the right one", async () => {
  test = await createTestWorkshop()
  const misspelt = createTestWorkshop({ sead: 1 } as object)
  await expect(misspelt).rejects.toThrow(/^createTestWorkshop has no option sead\. Did you mean seed\?$/)
  await expect(createTestWorkshop({ clock: {} } as object)).rejects.toThrow(
    /^createTestWorkshop has no option clock\. The options are seed, begins, empty, store, (?!.*\b(clock|now|background)\b)/
  )
  await expect(createTestWorkshop({ begins: "2026-11-20" as never })).rejects.toThrow(
    "The option begins of createTestWorkshop must be milliseconds since 1970 or a date"
  )
})

it("two test workshops with the same seed have the same ids", async () => {
  const idOf = async (seed: number) => {
    test = await createTestWorkshop({ seed })
    const id = test.shop.id
    await test.stop()
    return id
  }
  expect(await idOf(7)).toBe(await idOf(7))
  expect(await idOf(7)).not.toBe(await idOf(8))
})

it("a test workshop in memory simulates `within` with any client: tickets exist at once, and events are sent at afterCommit", async () => {
  test = await createTestWorkshop()
  const { workshop, caller, received } = test
  const client = { query: async () => ({ rows: [] }) }
  const { value, afterCommit } = await workshop.within(client, async (inside) => {
    void inside.tickets.create(caller, { service: "Zip" }, "order-2")
    return inside.orThrow.tickets.create(caller, { service: "Hem" }, "order-1")
  })
  expect(await unwrap(workshop.tickets.byId(caller, value.data.id))).toMatchObject({ service: "Hem" })
  expect(received.events).toEqual([])
  await afterCommit()
  expect(received.events.map(({ type }) => type)).toEqual(["ticket.created", "ticket.created"])
  await expect(workshop.within({} as never, async () => undefined)).rejects.toMatchObject({
    message: "The argument must be a client of pg"
  })
  const kept = await workshop.within(client, async (inside) => inside)
  await expect(kept.value.tickets.createInApp(caller, { service: "Late" })).rejects.toMatchObject({
    _tag: "TransactionRefused"
  })
})

it("a test workshop on a given store has random ids, because the store may have rows of an earlier run", async () => {
  const idOf = async () => {
    test = await createTestWorkshop({ store: layer })
    const id = test.shop.id
    await test.stop()
    return id
  }
  expect(await idOf()).not.toBe(await idOf())
})

it("advance refuses an invalid duration with a message that shows valid ones", async () => {
  test = await createTestWorkshop()
  for (const by of ["61 dayz", -5, "-1 days", Number.NaN, Number.POSITIVE_INFINITY, "Infinity", -1n])
    await expect(test.advance(by as never), String(by)).rejects.toThrow(
      /^The argument of advance must be milliseconds, or a text such as "61 days"/
    )
})

it("advance of a stopped test workshop rejects with WorkshopStopped", async () => {
  test = await createTestWorkshop()
  await test.stop()
  await expect(test.advance("1 day")).rejects.toMatchObject({ _tag: "WorkshopStopped" })
})

it("a test workshop logs one line with the reason for a failed notification", async () => {
  const said: Array<string> = []
  const spy = vi.spyOn(console, "log").mockImplementation((...parts) => void said.push(parts.join(" ")))
  try {
    test = await createTestWorkshop({ notifyClient: () => Promise.reject(new Error("the SMS gateway is down")) })
    const { workshop, caller } = test
    const phone = { service: "Hem", client_phone: "+33612345678" }
    const { data } = await unwrap(workshop.tickets.create(caller, phone, "order-1"))
    await unwrap(workshop.tickets.changeStatus(caller, data.id, "ready"))
    await test.advance(0)
  } finally {
    spy.mockRestore()
  }
  const lines = said
    .join("\n")
    .split("\n")
    .filter((line) => line !== "")
  expect(lines).toEqual([
    expect.stringContaining(
      "An attempt to send a notification failed. The service tries again later: the SMS gateway is down"
    )
  ])
})

it("onError and the log get the notifier's error with the shop and the ticket at each attempt", async () => {
  const errors: Array<unknown> = []
  const lines: Array<unknown> = []
  const down = new Error("the SMS gateway is down")
  test = await createTestWorkshop({
    logger: ({ level, message }) => level !== "info" && lines.push([level, message]),
    onError: (error, { message, fields }) => void errors.push([message, (error as Error).cause, fields]),
    notifyClient: () => Promise.reject(down)
  })
  const { workshop, caller } = test
  const phone = { service: "Hem", client_phone: "+33612345678" }
  const { data } = await unwrap(workshop.tickets.create(caller, phone, "order-1"))
  await unwrap(workshop.tickets.changeStatus(caller, data.id, "ready"))
  await test.advance("20 days")
  const fields = { shop_id: test.shop.id, ticket_id: data.id, id: expect.any(String) }
  const failed = "An attempt to send a notification failed. The service tries again later: the SMS gateway is down"
  const givenUp = "The last attempt to send a notification failed, so it will not be sent: the SMS gateway is down"
  expect(errors).toEqual([...Array(7).fill([failed, down, fields]), [givenUp, down, fields]])
  expect(lines).toEqual([...Array(7).fill(["error", failed]), ["error", givenUp]])
})
