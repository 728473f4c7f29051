import * as MemoryStore from "@workshop/store-memory"
import { afterAll, describe, expect, it } from "vitest"
import { Entropy } from "../../src/ports/Entropy.js"
import { start } from "../../src/services/promise/PromiseWorkshop.js"
import type { Result } from "../../src/services/promise/toPromise.js"
import { SettableClock } from "../../src/testing/SettableClock.js"
import { ScriptedSender } from "../deliveries/ScriptedSender.js"

const clock = new SettableClock()
const workshop = await start({ store: MemoryStore.layer, randomBytes: Entropy.seededBytes(7), clock })
afterAll(() => workshop.stop())

const shop = async () => {
  const opened = await workshop.shops.create({
    name: "Needle",
    currency: "TND",
    decimals: 3,
    time_zone: "Africa/Tunis"
  })
  if (!opened.ok) throw new Error("the shop was refused")
  const caller_id = "019a0000-0000-7000-8000-000000000001"
  return { shop_id: opened.value.id, caller_id, scopes: [], via: "api" } as const
}

describe("The Promise API", () => {
  it("the Promise API creates, repeats, moves and lists tickets with plain values (Specification, States; Endpoints)", async () => {
    const caller = await shop()
    const first = await workshop.tickets.create(caller, { service: " Heels ", price_minor: 2500 }, "order-1")
    const replay = await workshop.tickets.create(caller, { price_minor: 2500, service: "Heels" }, "order-1")
    if (!first.ok || !replay.ok) throw new Error("refused")
    expect(first.value.data).toMatchObject({ number: 1, service: "Heels", state: "workshop" })
    expect(replay.value).toMatchObject({ replayed: true, data: first.value.data })
    expect(await workshop.tickets.changeStatus(caller, first.value.data.id, "ready")).toMatchObject({
      ok: true,
      value: { data: { state: "ready" }, replayed: false }
    })
    for (const state of ["ready", ["ready"]] as const)
      expect(await workshop.tickets.list(caller, { state, limit: 1 })).toMatchObject({
        ok: true,
        value: { data: [{ number: 1 }], meta: { has_more: false } }
      })
    const message = "must be one of workshop, ready, impossible, collected, abandoned"
    for (const state of ["lost", ["lost"]])
      expect(await workshop.tickets.list(caller, { state: state as never })).toMatchObject({
        refusal: { issues: [{ field: "state.0", message }] }
      })
  })

  it("a move or a notification that is repeated with its key returns the first result, and records nothing again (Specification, Idempotency)", async () => {
    const caller = await shop()
    const created = await workshop.orThrow.tickets.create(caller, { service: "Heels" }, "order-1")
    const move = () => workshop.orThrow.tickets.changeStatus(caller, created.data.id, "ready", "move-1")
    const moved = await move()
    const noted = (key: string) => workshop.orThrow.tickets.recordNotified(caller, created.data.id, "sms", key)
    const first = await noted("note-1")
    expect([moved.replayed, first.replayed]).toEqual([false, false])
    expect(await move()).toEqual({ ...moved, replayed: true })
    expect(await noted("note-1")).toEqual({ ...first, replayed: true })
    expect((await noted("note-2")).replayed).toBe(false)
  })

  it("a shop has the decimals of its currency, unless others are given (Specification, Requests and responses)", async () => {
    const opened = async (currency: string, decimals?: number) => {
      const made = await workshop.shops.create({ name: "Needle", currency, decimals, time_zone: "Africa/Tunis" })
      return made.ok ? made.value.decimals : made.refusal.message
    }
    expect(await opened("EUR")).toBe(2)
    expect(await opened("TND")).toBe(3)
    expect(await opened("JPY")).toBe(0)
    expect(await opened("TND", 2)).toBe(2)
    expect(await opened("TNX", 2)).toBe(2)
    expect(await opened("TNX")).toBe(
      "currency must be a currency that this machine knows; for another currency, also give decimals"
    )
  })

  it("a refusal is returned as a value, with the details that a person needs (docs/how-it-is-built.md)", async () => {
    const caller = await shop()
    const created = await workshop.tickets.createInApp(caller, { service: "Heels" })
    if (!created.ok) throw new Error("refused")
    const refused = await workshop.tickets.changeStatus(caller, created.value.data.id, "collected")
    expect(refused).toMatchObject({
      ok: false,
      refusal: { _tag: "InvalidTransition", allowed: ["ready", "impossible"] }
    })
  })

  it("a refused input has every error at once, and nothing is saved (Specification, Errors)", async () => {
    const caller = await shop()
    const refused = await workshop.tickets.create(caller, { service: "", price_minor: 1.5 }, "order-1")
    if (refused.ok || refused.refusal._tag !== "InvalidInput") throw new Error("not refused")
    expect(refused.refusal.issues).toEqual([
      { field: "service", message: "must be 1 to 120 characters" },
      { field: "price_minor", message: "must be a whole number" }
    ])
    expect(await workshop.tickets.list(caller, {})).toMatchObject({ ok: true, value: { data: [] } })
  })

  it("an input is read no further than its schema could accept, because it may come from outside (Specification, Errors)", async () => {
    const caller = await shop()
    const items = Array.from({ length: 33_000 }, () => ({}) as { label: string })
    const refused = await workshop.tickets.create(caller, { service: "Hem", items }, "order-1")
    if (refused.ok || refused.refusal._tag !== "InvalidInput") throw new Error("not refused")
    // The schema accepts twenty items, so the reader stops after the 21st, which shows that there are too many.
    expect(refused.refusal.issues).toHaveLength(21)
  })

  it("undefined counts as absent, and a missing argument is required by its own name (Specification, Errors)", async () => {
    const caller = await shop()
    const sparse = { service: "Hem", item: undefined, items: [{ label: "a", service: undefined }, { label: "b" }] }
    const created = await workshop.tickets.createInApp(caller, sparse as { readonly service: string })
    expect(created).toMatchObject({ ok: true, value: { data: { item: null, items: [{ service: null }, {}] } } })
    const listed = await workshop.tickets.list(caller, { limit: undefined } as object)
    expect(listed).toMatchObject({ ok: true })
    const nothing = undefined as unknown as string
    const refused = await workshop.tickets.create(caller, { service: nothing }, nothing)
    expect(refused).toMatchObject({
      refusal: {
        issues: [
          { field: "service", message: "is required" },
          { field: "idempotency_key", message: "is required" }
        ]
      }
    })
    expect(await workshop.tickets.byId(caller, "17")).toMatchObject({ refusal: { issues: [{ field: "ticket_id" }] } })
  })

  it("null counts as absent, even in a list's query (Specification, Errors)", async () => {
    const caller = await shop()
    for (const service of ["Heels", "Hem"]) {
      await workshop.tickets.createInApp(caller, { service, client_id: null })
      clock.advance(1)
    }
    const names = ["state", "number", "client_id", "phone", "external_ref", "created_after", "created_before"]
    const nothing = Object.fromEntries([...names, "updated_since", "cursor", "limit"].map((name) => [name, null]))
    const first = await workshop.tickets.list(caller, { ...nothing, limit: 1 })
    if (!first.ok) throw new Error("refused")
    expect(first.value).toMatchObject({ data: [{ service: "Hem" }], meta: { has_more: true } })
    const cursor = first.value.meta.next_cursor
    expect(await workshop.tickets.list(caller, { cursor })).toMatchObject({
      ok: true,
      value: { data: [{ service: "Heels" }], meta: { has_more: false } }
    })
  })

  it("an act has the given actor, and the audit log lists who did what", async () => {
    const { shop_id } = await shop()
    await workshop.as("owner:amira").shops.change(shop_id, { active: false })
    const listed = await workshop.audit.list({ shop_id: shop_id, limit: 10 })
    if (!listed.ok) throw new Error("refused")
    expect(listed.value.map(({ actor, act }) => [actor, act])).toEqual([
      ["owner:amira", "shop.changed"],
      ["unknown", "shop.created"]
    ])
  })

  it("a visit to an unknown shop, and a client's answer to a quote on an unknown ticket, are refused", async () => {
    const never = "019a0000-0000-7000-8000-00000000dead"
    const person = { given_name: "Amira", family_name: "Baccar", phone: "+21620123456", hide_name: null }
    const client = await workshop.clients.register(person)
    if (!client.ok) throw new Error("refused")
    const refused = { ok: false, refusal: { _tag: "ShopNotFound" } }
    expect(await workshop.clients.visit({ client_id: client.value.id, shop_id: never })).toMatchObject(refused)
    for (const response of [workshop.quotes.accept, workshop.quotes.refuse])
      expect(await response({ client_id: client.value.id, ticket_id: never })).toMatchObject({
        ok: false,
        refusal: { _tag: "TicketNotFound" }
      })
  })

  it("the given notifier is called for clients, and called again if it rejects (Specification, States)", async () => {
    const notified: Array<string> = []
    const clock = new SettableClock()
    const own = await start({
      store: MemoryStore.layer,
      clock,
      notifyClient: async ({ id, type }) => {
        notified.push(`${type} ${id}`)
        if (notified.length === 1) throw new Error("The line is busy")
      }
    })
    const names = { given_name: "Amira", family_name: "Baccar", phone: "+21620123456" }
    const opened = await own.shops.create({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
    const client = await own.clients.register(names)
    if (!opened.ok || !client.ok) throw new Error("refused")
    await own.clients.visit({ client_id: client.value.id, shop_id: opened.value.id })
    const caller_id = "019a0000-0000-7000-8000-000000000001"
    const caller = { shop_id: opened.value.id, caller_id, scopes: [], via: "app" } as const
    const created = await own.tickets.createInApp(caller, { service: "Hem", client_id: client.value.id })
    if (!created.ok) throw new Error("refused")
    await own.tickets.changeStatus(caller, created.value.data.id, "ready")
    await expect.poll(() => notified.length, { timeout: 5000 }).toBe(1)
    clock.advance(60_000)
    await expect.poll(() => notified.length, { timeout: 5000 }).toBe(2)
    expect(notified[0]).toMatch(/^ticket\.ready /)
    expect(notified[1]).toBe(notified[0])
    await own.stop()
  })

  it("a workshop without background work does nothing until runOnce is called (Specification, States; Webhooks)", async () => {
    const notified: Array<string> = []
    const clock = new SettableClock()
    const own = await start({
      store: MemoryStore.layer,
      clock,
      background: false,
      notifyClient: async ({ type }) => void notified.push(type)
    })
    const opened = await own.shops.create({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
    const client = await own.clients.register({ given_name: "Amira", family_name: "B", phone: "+21620123456" })
    if (!opened.ok || !client.ok) throw new Error("refused")
    await own.clients.visit({ client_id: client.value.id, shop_id: opened.value.id })
    const caller_id = "019a0000-0000-7000-8000-000000000001"
    const caller = { shop_id: opened.value.id, caller_id, scopes: [], via: "app" } as const
    const created = await own.tickets.createInApp(caller, { service: "Hem", client_id: client.value.id })
    if (!created.ok) throw new Error("refused")
    await own.tickets.changeStatus(caller, created.value.data.id, "ready")
    expect(notified).toEqual([])
    expect(await own.notificationSender.runOnce()).toMatchObject({ ok: true })
    expect(notified).toEqual(["ticket.ready"])
    clock.advance(60 * 86_400_000)
    expect(await own.tickets.byId(caller, created.value.data.id)).toMatchObject({
      value: { state: "ready" }
    })
    expect(await own.closer.runOnce()).toMatchObject({ ok: true })
    expect(await own.tickets.byId(caller, created.value.data.id)).toMatchObject({ value: { state: "abandoned" } })
    expect(await own.dispatcher.runOnce()).toMatchObject({ ok: false, refusal: { _tag: "NoSender" } })
    await own.stop()
  })

  it("events and deliveries are read a page at a time, the latest first", async () => {
    const { shop_id } = await shop()
    await workshop.webhooks.set(shop_id, "https://shop.example.com/events")
    for (let n = 0; n < 5; n++) await workshop.webhooks.ping(shop_id)
    for (const read of [workshop.webhooks.events, workshop.deliveries.list]) {
      const seqs = async (page?: { readonly before?: number; readonly limit?: number }) => {
        const result = await read(shop_id, page)
        return result.ok ? result.value.map(({ seq }) => seq) : result.refusal
      }
      expect(await read(shop_id)).toMatchObject({ ok: true, value: { length: 5 } })
      expect(await seqs({ limit: 2 })).toEqual([4, 5])
      expect(await seqs({ before: 4, limit: 2 })).toEqual([2, 3])
      expect(await seqs({ before: 2 })).toEqual([1])
      expect(await read(shop_id, { limit: 0 })).toMatchObject({ ok: false, refusal: { _tag: "InvalidInput" } })
    }
  })

  it("webhooks are signed in the header that the option names (Specification, Webhooks)", async () => {
    const sender = new ScriptedSender()
    const { layer } = sender
    const own = await start({ store: MemoryStore.layer, sender: layer, signatureHeader: "X-Lac", background: false })
    const opened = await own.shops.create({ name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
    if (!opened.ok) throw new Error("refused")
    await own.webhooks.set(opened.value.id, "https://shop.example.com/events")
    await own.webhooks.ping(opened.value.id)
    expect(await own.dispatcher.runOnce()).toMatchObject({ ok: true, value: 1 })
    const signature = expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/)
    expect(sender.arrived.map(({ headers }) => headers)).toEqual([{ "X-Lac": signature }])
    await own.stop()
  })

  it("every method that takes a shop refuses an unknown one with ShopNotFound (Specification, Errors)", async () => {
    const caller = { ...(await shop()), shop_id: "019a0000-0000-7000-8000-00000000dead" }
    const id = "019a0000-0000-7000-8000-00000000beef"
    const { shop_id } = caller
    const { tickets, progress, quotes, clients, loyalty, shops, keys, webhooks, deliveries } = workshop
    const calls: Readonly<Record<string, () => Promise<Result<unknown, { readonly _tag: string }>>>> = {
      "tickets.create": () => tickets.create(caller, { service: "Heels" }, "k"),
      "tickets.createInApp": () => tickets.createInApp(caller, { service: "Heels" }),
      "tickets.byId": () => tickets.byId(caller, id),
      "tickets.byNumber": () => tickets.byNumber(caller, 1),
      "tickets.list": () => tickets.list(caller, {}),
      "tickets.changeStatus": () => tickets.changeStatus(caller, id, "ready"),
      "tickets.history": () => tickets.history(caller, id),
      "tickets.recordNotified": () => tickets.recordNotified(caller, id, "call"),
      "progress.edit": () => progress.edit(caller, id, { item: "Coat" }),
      "progress.announceDelay": () => progress.announceDelay(caller, id, { promised_at: "2027-01-01T10:00:00.000Z" }),
      "progress.recordPart": () => progress.recordPart(caller, id, { label: "Zip", status: "ordered" }),
      "progress.attachPhoto": () => progress.attachPhoto(caller, id, { photo_url: "https://shop.example/1.jpg" }),
      "quotes.propose": () => quotes.propose(caller, id, { price_minor: 1 }),
      "quotes.recordAnswer": () => quotes.recordAnswer(caller, id, "accepted"),
      "clients.byId": () => clients.byId(caller, id),
      "clients.byPhone": () => clients.byPhone(caller, "+21620123456"),
      "clients.visit": () => clients.visit({ client_id: id, shop_id }),
      "loyalty.read": () => loyalty.read(caller, id),
      "loyalty.giveStamps": () => loyalty.giveStamps(caller, id, 1, "k"),
      "loyalty.redeem": () => loyalty.redeem(caller, id, "k"),
      "shops.byId": () => shops.byId(shop_id),
      "shops.change": () => shops.change(shop_id, { approved: false }),
      "keys.create": () => keys.create(shop_id, { name: "till", scopes: ["tickets:read"] }),
      "keys.list": () => keys.list(shop_id),
      "webhooks.set": () => webhooks.set(shop_id, "https://shop.example/events"),
      "webhooks.status": () => webhooks.status(shop_id),
      "webhooks.rotate": () => webhooks.rotate(shop_id),
      "webhooks.enable": () => webhooks.enable(shop_id),
      "webhooks.disable": () => webhooks.disable(shop_id),
      "webhooks.remove": () => webhooks.remove(shop_id),
      "webhooks.ping": () => webhooks.ping(shop_id),
      "webhooks.events": () => webhooks.events(shop_id),
      "deliveries.list": () => deliveries.list(shop_id),
      "deliveries.notices": () => deliveries.notices(shop_id),
      "deliveries.replay": () => deliveries.replay(shop_id, {})
    }
    // The other methods get no shop, or only need one that exists.
    const ofShops = ["create", "firstOrCreate", "list"].map((name) => `shops.${name}`)
    const others = ["quotes.accept", "quotes.refuse", ...ofShops, "keys.revoke", "audit.list"]
    const ofClients = ["register", "export", "correct", "erase", "inbox"].map((name) => `clients.${name}`)
    const ofOffers = ["ofClient", "accept", "block"].map((name) => `offers.${name}`)
    const groups = { tickets, progress, quotes, clients, loyalty, shops, keys, webhooks, deliveries }
    const all = Object.entries({ ...groups, offers: workshop.offers, audit: workshop.audit }).flatMap(
      ([group, methods]) => Object.keys(methods).map((name) => `${group}.${name}`)
    )
    expect([...Object.keys(calls), ...others, ...ofClients, ...ofOffers].toSorted()).toEqual(all.toSorted())
    const tags: Record<string, string> = {}
    for (const [name, call] of Object.entries(calls)) {
      const result = await call()
      tags[name] = result.ok ? "ok" : result.refusal._tag
    }
    expect(tags).toEqual(Object.fromEntries(Object.keys(calls).map((name) => [name, "ShopNotFound"])))
  })
})
