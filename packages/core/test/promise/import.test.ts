import { type PlainImportRow, start } from "@workshop/core/promise"
import * as MemoryStore from "@workshop/store-memory"
import { afterAll, describe, expect, it } from "vitest"

const NOW = Date.parse("2026-11-20T10:00:00Z")
const ago = (days: number) => new Date(NOW - days * 86_400_000).toISOString()

const opened: Array<{ readonly stop: () => Promise<void> }> = []
afterAll(() => Promise.all(opened.map(({ stop }) => stop())))

const open = async () => {
  const workshop = await start({ store: MemoryStore.layer, background: false, now: () => NOW })
  opened.push(workshop)
  const shop = await workshop.shops.create({ name: "Atelier", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
  if (!shop.ok) throw shop.refusal
  const { id } = shop.value
  const program = { active: true, name: "Stamps", stamps_required: 10, stamps_per_ticket: 1, reward_label: "A hem" }
  await workshop.shops.change(id, { program })
  const caller = {
    shop_id: id,
    caller_id: "import-test",
    scopes: ["tickets:read", "tickets:write"],
    via: "app"
  } as const
  return { workshop, shop_id: id, caller }
}

const client = { phone: "+21620123456", given_name: "Amira", family_name: "Ben Salah" }
const card = { balance: 3, lifetime: 13, rewards_redeemed: 1 }

const rows: ReadonlyArray<PlainImportRow> = [
  { external_ref: "A-1", service: "Hem", created_at: ago(300), number: 41, client: { ...client, card } },
  { external_ref: "A-2", service: "Zip", state: "ready", created_at: ago(100), ready_at: ago(90), client },
  { external_ref: "A-3", service: "Zip", state: "ready", created_at: ago(20), ready_at: ago(10) },
  { external_ref: "A-4", service: "Sole", state: "impossible", created_at: ago(15) },
  {
    ...{ external_ref: "A-5", service: "Coat", state: "collected", created_at: ago(14), ready_at: ago(13) },
    ...{
      collected_at: ago(12),
      price_minor: 45_000,
      deposit_minor: 20_000,
      notified_at: ago(13),
      notified_channel: "sms"
    },
    items: [
      { label: "Left", price_minor: 20_000, done: true },
      { label: "Right", price_minor: 25_000, done: true }
    ],
    quote: { status: "accepted", price_minor: 45_000, note: "More work", proposed_at: ago(14), answered_at: ago(14) },
    part: { label: "Lining", status: "received", ordered_at: ago(14), received_at: ago(13) },
    delay: { reason: "The lining", announced_at: ago(14) }
  },
  {
    external_ref: "A-6",
    service: "Bag",
    state: "abandoned",
    created_at: ago(9),
    abandoned_at: ago(1),
    client_phone: "+21622333444"
  },
  { client: { phone: "+21655000111", given_name: "Karim", family_name: "Trabelsi", hide_name: true } }
]

const value = <A>(
  result: { readonly ok: true; readonly value: A } | { readonly ok: false; readonly refusal: unknown }
): A => {
  if (!result.ok) throw result.refusal
  return result.value
}

describe("workshop.import (Specification, Tickets)", () => {
  it("an import that stops before the end of its source closes the source", async () => {
    const { workshop, shop_id } = await open()
    let isClosed = false
    async function* source() {
      try {
        for (let line = 1; ; line++) yield { line, unreadable: "is no JSON object" }
      } finally {
        isClosed = true
      }
    }
    expect(await workshop.orThrow.import(shop_id, { lines: source() })).toMatchObject({ stopped_at: 1 })
    expect(isClosed).toBe(true)
  })

  it("an import adds tickets in any state with their dates, clients and cards, and raises no events", async () => {
    const { workshop, shop_id, caller } = await open()
    const report = value(await workshop.import(shop_id, { rows }))
    expect(report).toEqual({
      ...{ rows: 7, tickets: 6, clients: 2, cards: 1, closing: 1, already: 0, bad: 0, bad_rows: [], stopped_at: null },
      dry_run: false
    })
    const { data } = value(await workshop.tickets.list(caller, {}))
    // The list is sorted by created_at, newest first.
    expect(data.map(({ external_ref, state, created_at }) => [external_ref, state, created_at])).toEqual([
      ["A-6", "abandoned", ago(9)],
      ["A-5", "collected", ago(14)],
      ["A-4", "impossible", ago(15)],
      ["A-3", "ready", ago(20)],
      ["A-2", "ready", ago(100)],
      ["A-1", "workshop", ago(300)]
    ])
    expect(data[1]).toMatchObject({ collected_at: ago(12), outcome: "ready", money: { remaining_minor: 25_000 } })
    expect(data[5]?.client).toMatchObject({ display_name: "Amira Ben Salah" })
    expect(new Set(data.map(({ tracking_code }) => tracking_code)).size).toBe(6)
    expect(value(await workshop.webhooks.events(shop_id))).toEqual([])
    const known = value(await workshop.clients.byPhone(caller, client.phone))
    expect(known).toMatchObject({ tickets_total: 2, loyalty: { ...card, rewards_available: 0 } })
    expect(value(await workshop.clients.byPhone(caller, "+21655000111")).display_name).toBe("Karim T.")
    // The next ticket has the next number, and imported tickets can be changed.
    const next = value(await workshop.tickets.createInApp(caller, { service: "Hem" })).data
    expect(next.number).toBe(47)
    expect(value(await workshop.tickets.changeStatus(caller, data[3]!.id, "collected")).data.state).toBe("collected")
    expect(value(await workshop.audit.list({ shop_id, before: null, limit: 1 }))).toMatchObject([
      { act: "tickets.imported", details: { tickets: 6, clients: 2, cards: 1 } }
    ])
  })

  it("an import can be repeated: existing tickets stay unchanged, and cards are not counted twice", async () => {
    const { workshop, shop_id, caller } = await open()
    await workshop.import(shop_id, { rows: rows.slice(0, 3) })
    const again = value(await workshop.import(shop_id, { rows }))
    expect(again).toMatchObject({ tickets: 3, already: 3, clients: 1, cards: 0 })
    expect(value(await workshop.clients.byPhone(caller, client.phone)).loyalty).toMatchObject(card)
    expect(value(await workshop.tickets.list(caller, {})).data).toHaveLength(6)
  })

  it("a dry run returns the report of an import, and writes nothing", async () => {
    const { workshop, shop_id, caller } = await open()
    const dry = value(await workshop.import(shop_id, { rows, dryRun: true }))
    expect(dry).toMatchObject({ dry_run: true, tickets: 6, clients: 2, cards: 1, closing: 1 })
    expect(value(await workshop.tickets.list(caller, {})).data).toEqual([])
    expect(await workshop.clients.byPhone(caller, client.phone)).toMatchObject({ ok: false })
    expect(value(await workshop.audit.list({ shop_id, before: null, limit: 1 }))[0]?.act).not.toBe("tickets.imported")
    expect(value(await workshop.import(shop_id, { rows }))).toEqual({ ...dry, dry_run: false })
  })

  it("an aborted import has an entry in the audit log with the counts of its written rows", async () => {
    const { workshop, shop_id } = await open()
    async function* broken() {
      for (let n = 0; n < 600; n++) yield { external_ref: `C-${n}`, service: "Hem" }
      throw new Error("the upload was cut off")
    }
    await expect(workshop.as("amira").import(shop_id, { rows: broken() })).rejects.toThrow("the upload was cut off")
    expect(value(await workshop.audit.list({ shop_id, before: null, limit: 1 }))).toMatchObject([
      { act: "tickets.imported", actor: "amira", details: { tickets: 500, clients: 0, cards: 0 } }
    ])
  })

  it("the methods under orThrow and as(…) include import, from rows and from lines", async () => {
    const { workshop, shop_id } = await open()
    const lines = [
      { line: 2, row: rows[0] },
      { line: 3, unreadable: "is no row" }
    ]
    expect(await workshop.orThrow.import(shop_id, { lines, badRows: "skip" })).toMatchObject({
      tickets: 1,
      bad_rows: [{ line: 3, issues: [{ field: "row", message: "is no row" }] }]
    })
    expect(await workshop.as("amira").orThrow.import(shop_id, { rows })).toMatchObject({ tickets: 5, already: 1 })
    const exported: Array<unknown> = []
    for await (const row of workshop.orThrow.export(shop_id)) exported.push(row)
    expect(exported).toHaveLength(6)
    const unknown = "01980000-0000-7000-8000-000000000001"
    await expect(workshop.orThrow.import(unknown, { rows })).rejects.toMatchObject({ _tag: "ShopNotFound" })
    expect(await workshop.orThrow.closer.runOnce()).toBe(1)
  })

  it("an amount with decimals is refused with an example in minor units", async () => {
    const { workshop, shop_id } = await open()
    const { bad_rows } = value(await workshop.import(shop_id, { rows: [{ ...rows[0]!, price_minor: 12.5 }] }))
    expect(bad_rows[0]?.issues).toEqual([
      { field: "price_minor", message: "must be a whole number of minor units, such as 1250 for 12.50 EUR" }
    ])
  })

  it("an import stops at an invalid row or continues, as requested, and names the line of each", async () => {
    const { workshop, shop_id, caller } = await open()
    const wrong = [
      rows[0],
      { external_ref: "B-2", service: "Hem", state: "lost" },
      { ...rows[0] },
      rows[2]
    ] as ReadonlyArray<PlainImportRow>
    const stopped = value(await workshop.import(shop_id, { rows: wrong }))
    expect(stopped).toMatchObject({ tickets: 1, bad: 1, stopped_at: 2, bad_rows: [{ line: 2, external_ref: "B-2" }] })
    const skipped = value(await workshop.import(shop_id, { rows: wrong, badRows: "skip" }))
    expect(skipped).toMatchObject({ tickets: 1, already: 1, bad: 2, stopped_at: null })
    expect(skipped.bad_rows.map(({ line, issues }) => [line, issues[0]!.field, issues[0]!.message])).toEqual([
      [2, "state", "must be one of workshop, ready, impossible, collected, abandoned"],
      [3, "external_ref", "is the same as in line 1"]
    ])
    expect(value(await workshop.tickets.list(caller, {})).data).toHaveLength(2)
  })

  it("an import raises ticket.created if the option events is set", async () => {
    const { workshop, shop_id } = await open()
    await workshop.import(shop_id, { rows: rows.slice(0, 2), events: true })
    const events = value(await workshop.webhooks.events(shop_id)).map(({ type }) => type)
    expect(events).toEqual(["ticket.created", "ticket.created"])
  })

  it("an import counts against no limit, and reports its progress", async () => {
    const { workshop, shop_id, caller } = await open()
    async function* many() {
      for (let n = 0; n < 1200; n++) yield { external_ref: `M-${n}`, service: "Hem", created_at: ago(30) }
    }
    const steps: Array<number> = []
    const report = value(await workshop.import(shop_id, { rows: many(), onProgress: ({ rows }) => steps.push(rows) }))
    expect([report.tickets, steps]).toEqual([1200, [500, 1000, 1200]])
    expect((await workshop.tickets.createInApp(caller, { service: "Hem" })).ok).toBe(true)
  })

  it("a call without rows, or with a value that is not a list of rows, is refused with the name of the option", async () => {
    const { workshop, shop_id } = await open()
    for (const given of [{}, { rows: 5 }, { lines: null }]) {
      const [field] = Object.keys(given)
      const refused = await workshop.import(shop_id, given as never)
      expect(refused).toMatchObject({
        ok: false,
        refusal: { issues: [{ field: field ?? "rows", message: "must be a list, or another iterable" }] }
      })
    }
  })

  it("a misspelt option is refused by its name, and nothing is written", async () => {
    const { workshop, shop_id, caller } = await open()
    for (const [given, field, message] of [
      [{ dryRn: true }, "dryRn", "import has no option dryRn. Did you mean dryRun?"],
      [{ badRows: "ignore" }, "badRows", "The option badRows of import must be stop or skip"]
    ] as const) {
      const refused = await workshop.import(shop_id, { rows, ...given } as never)
      expect(refused).toMatchObject({ ok: false, refusal: { issues: [{ field, message }] } })
    }
    expect(value(await workshop.tickets.list(caller, {})).data).toEqual([])
  })

  it("an import into an unknown shop is refused", async () => {
    const { workshop } = await open()
    const nobody = "01890000-0000-7000-8000-000000000000"
    expect(await workshop.import(nobody, { rows })).toMatchObject({
      ok: false,
      refusal: { _tag: "ShopNotFound" }
    })
    await expect(workshop.export(nobody).next()).rejects.toMatchObject({ _tag: "ShopNotFound" })
    expect(await workshop.import("x", { rows })).toMatchObject({
      ok: false,
      refusal: { _tag: "InvalidInput" }
    })
  })

  it("an export can be imported elsewhere unchanged", async () => {
    const [here, there] = [await open(), await open()]
    await here.workshop.import(here.shop_id, { rows })
    const exportOf = async ({ workshop, shop_id }: typeof here) => {
      const found = []
      for await (const row of workshop.export(shop_id)) found.push(row)
      return found
    }
    const exported = await exportOf(here)
    expect(exported).toHaveLength(6)
    const first = exported.find(({ external_ref }) => external_ref === "A-1")
    expect(first).toMatchObject({ number: 41, client: { ...client, card } })
    expect(value(await there.workshop.import(there.shop_id, { rows: exported }))).toMatchObject({
      tickets: 6,
      bad: 0
    })
    expect(await exportOf(there)).toEqual(exported)
  })
})

it("a source of rows that throws rejects the import with the number of the row that was read", async () => {
  const { workshop, shop_id } = await open()
  const torn = new SyntaxError("Unexpected end of JSON input")
  async function* source() {
    yield { external_ref: "B-1", service: "Hem" }
    yield { external_ref: "B-2", service: "Hem" }
    throw torn
  }
  const failed = await workshop.import(shop_id, { rows: source() }).catch((error: Error) => error)
  expect(failed).toMatchObject({
    message: "The source of the rows failed at row 3: Unexpected end of JSON input",
    cause: torn
  })
})
