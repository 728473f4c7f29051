import * as MemoryStore from "@workshop/store-memory"
import { afterEach, describe, expect, it } from "vitest"
import { mountFetch } from "../../src/http.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { type LogLine, type PromiseOptions, type PromiseWorkshop, start } from "../../src/promise.js"
import { SettableClock } from "../../src/testing/SettableClock.js"

const SHOP = { name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
const store = MemoryStore.layer

let workshop: PromiseWorkshop | undefined
afterEach(() => workshop?.stop())

const begun = async (options: Partial<PromiseOptions>) => {
  workshop = await start({ store, background: false, ...options })
  const shop = await workshop.shops.create(SHOP)
  if (!shop.ok) throw shop.refusal
  const caller = { shop_id: shop.value.id, caller_id: "user-42", scopes: ["tickets:write"], via: "app" } as const
  return { workshop, caller }
}

describe("start with wrong options", () => {
  const refusalText = async (options: unknown) =>
    start(options as never).then(
      () => "started",
      ({ _tag, option, message }) => `${_tag} ${option}: ${message}`
    )

  it.each([
    [
      undefined,
      "store",
      "The option store of start is missing. Pass a store, such as the export layer of @workshop/store-memory"
    ],
    [
      {},
      "store",
      "The option store of start is missing. Pass a store, such as the export layer of @workshop/store-memory"
    ],
    [
      { store: "memory" },
      "store",
      "The option store of start must be a layer, such as the export layer of @workshop/store-memory"
    ],
    [
      { store, clientNotifier: () => {} },
      "clientNotifier",
      /^start has no option clientNotifier\. The options are store, sender, /
    ],
    [{ store, onErorr: () => {} }, "onErorr", "start has no option onErorr. Did you mean onError?"],
    [{ store, sendr: () => {} }, "sendr", "start has no option sendr. Did you mean sender?"],
    [
      { store, sender: () => {} },
      "sender",
      "The option sender of start must be the layer of @workshop/http-node/sender; pass a function as the option send"
    ],
    [
      { store, sender: store, send: () => {} },
      "send",
      "The option send of start cannot be given together with sender. Omit one of the two."
    ],
    [
      { store, signatureHeader: "X Lac" },
      "signatureHeader",
      "The option signatureHeader of start must be a header name that HTTP does not use itself, such as Service-Signature"
    ],
    [
      { store, signatureHeader: "Content-Type" },
      "signatureHeader",
      "The option signatureHeader of start must be a header name that HTTP does not use itself, such as Service-Signature"
    ],
    [{ store, now: 5 }, "now", "The option now of start must be a function"],
    [
      { store, clock: Date },
      "clock",
      "The option clock of start must be a Clock of Effect; pass a function as the option now"
    ],
    [
      { store, limits: { tickets: 5 } },
      "limits",
      /^The option limits of start has no policy tickets\. The policies are requests_per_minute, /
    ],
    [
      { store, limits: { tickets_per_day: 1.5 } },
      "limits",
      "The option limits of start must have a whole number or null for tickets_per_day"
    ],
    [
      { store, retention: { keepEventsMs: 5 } },
      "retention",
      "The option retention of start must have a keepEventsMs of at least 604800000, which is 7 days"
    ],
    [
      { store, retention: { days: 5 } },
      "retention",
      "The option retention of start has no option days. The options are keepEventsMs."
    ],
    [
      { store, webhookPolicy: { ports: [] } },
      "webhookPolicy",
      "The option webhookPolicy of start must have a list of ports from 1 to 65535"
    ],
    [
      { store, webhookPolicy: { refusedNetworks: ["10"] } },
      "webhookPolicy",
      "The option webhookPolicy of start must have networks such as 203.0.113.0/24 in refusedNetworks"
    ],
    [
      { store, webhookPolicy: { port: 5 } },
      "webhookPolicy",
      "The option webhookPolicy of start has no option port. Did you mean ports?"
    ],
    [
      { store, trackingBaseUrl: "https://shop.example/t" },
      "trackingBaseUrl",
      "The option trackingBaseUrl of start must be a web address that ends with / or =, to which the tracking code is appended, such as https://shop.example/t/"
    ],
    [
      { store, trackingBaseUrl: "shop.example/t/" },
      "trackingBaseUrl",
      "The option trackingBaseUrl of start must be a web address that ends with / or =, to which the tracking code is appended, such as https://shop.example/t/"
    ],
    [{ store, background: "no" }, "background", "The option background of start must be true or false"]
  ])("the option in %o is refused in one sentence", async (options, option, message) => {
    expect(await refusalText(options)).toMatch(
      typeof message === "string"
        ? `OptionRefused ${option}: ${message}`
        : new RegExp(`^OptionRefused ${option}: ${message.source.slice(1)}`)
    )
  })

  it("a webhook on this machine is refused with the name of the option that allows it, and other wrong URLs without this name", async () => {
    workshop = await start({ store, background: false })
    const shop = await workshop.orThrow.shops.create({ name: "A", currency: "EUR", time_zone: "Europe/Paris" })
    const refusal = async (url: string) => {
      const set = await workshop!.webhooks.set(shop.id, url)
      return set.ok ? "set" : set.refusal.message
    }
    expect(await refusal("http://127.0.0.1:3000/hook")).toMatch(
      /must start with https:\/\/; in development, for a receiver on this machine, pass webhookPolicy: \{ allowLoopbackHttp: true \} to start/
    )
    expect(await refusal("http://erp.example.com/hook")).not.toContain("webhookPolicy")
    await workshop.stop()
    workshop = await start({ store, background: false, webhookPolicy: { allowLoopbackHttp: true } })
    const again = await workshop.orThrow.shops.create({ name: "A", currency: "EUR", time_zone: "Europe/Paris" })
    const url = "http://127.0.0.1:3000/hook"
    const { secret } = await workshop.orThrow.webhooks.set(again.id, url)
    expect(await workshop.orThrow.webhooks.set(again.id, url)).toMatchObject({ secret })
    expect(await workshop.orThrow.webhooks.set(again.id, `${url}2`)).toMatchObject({ secret })
  })

  it("an option that is undefined counts as absent", async () => {
    workshop = await start({ store, background: false, now: undefined, logger: undefined } as never)
    expect(await workshop.ready()).toEqual({ ready: true })
  })
})

describe("the options of start", () => {
  it("the options now() and randomBytes(n) are the source of time and of ids (Specification, Tickets)", async () => {
    const { workshop } = await begun({ now: () => 1_700_000_000_000, randomBytes: (n) => new Uint8Array(n).fill(7) })
    const client = await workshop.clients.register({ given_name: "A", family_name: "B", phone: "+21620123456" })
    if (!client.ok) throw client.refusal
    expect(client.value.id).toMatch(/^018bcfe5-6800-7\w{3}-\w{4}-(\w\w)\1{5}$/)
  })

  it("the option profanity(texts) returns the refused words by their fields (Specification, Errors)", async () => {
    const checkedTexts: Array<unknown> = []
    const profanity: PromiseOptions["profanity"] = (texts) => {
      checkedTexts.push(...texts)
      return texts.flatMap(({ field, text }) => (text.includes("zut") ? [{ field, word: "zut" }] : []))
    }
    const { workshop, caller } = await begun({ profanity })
    const refused = { ok: false, refusal: { _tag: "ForbiddenWord", field: "items.1.label" } }
    const items = [{ label: "hem" }, { label: "zut" }]
    expect(await workshop.tickets.createInApp(caller, { service: "Hem", items })).toMatchObject(refused)
    expect(checkedTexts).toContainEqual({ field: "service", text: "Hem" })
    expect(await workshop.tickets.createInApp(caller, { service: "merde" })).toMatchObject({ ok: true })
  })

  it("the option send(request) delivers webhooks, signed, and a rejection makes the service try again (Specification, Webhooks)", async () => {
    const results = [
      Promise.reject(new Error("closed")),
      Promise.resolve({ status: 204 }),
      Promise.resolve({} as never)
    ]
    const sent: Array<readonly [string, ReadonlyArray<string>]> = []
    const { workshop, caller } = await begun({
      send: ({ url, headers }) => {
        sent.push([url, Object.keys(headers)])
        return results.shift()!
      }
    })
    await workshop.webhooks.set(caller.shop_id, "https://erp.example.com/hook")
    for (let n = 0; n < 3; n++) {
      await workshop.webhooks.ping(caller.shop_id)
      expect(await workshop.dispatcher.runOnce()).toMatchObject({ ok: true, value: 1 })
    }
    expect(sent[0]).toEqual(["https://erp.example.com/hook", ["content-type", "Service-Signature"]])
    const listed = await workshop.deliveries.list(caller.shop_id)
    if (!listed.ok) throw listed.refusal
    expect(
      listed.value.map(({ state, attempts: [{ status, error } = {} as never] }) => [state, status, error])
    ).toEqual([
      ["pending", null, "connect"],
      ["delivered", 204, null],
      ["pending", null, "malformed"]
    ])
  })

  it("the delivery log has the causes of the error with which send rejects, because fetch has the reason only there", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 192.0.2.7:443"), { code: "ECONNREFUSED" })
    const both = Object.assign(new AggregateError([refused, refused]), { code: "ECONNREFUSED" })
    const causes = [refused, both]
    const { workshop, caller } = await begun({
      send: () => Promise.reject(new TypeError("fetch failed", { cause: causes.shift() }))
    })
    await workshop.webhooks.set(caller.shop_id, "https://erp.example.com/hook")
    for (let n = 0; n < 2; n++) {
      await workshop.webhooks.ping(caller.shop_id)
      await workshop.dispatcher.runOnce()
    }
    const listed = await workshop.deliveries.list(caller.shop_id)
    if (!listed.ok) throw listed.refusal
    expect(listed.value.map(({ attempts: [{ detail } = {} as never] }) => detail)).toEqual([
      "TypeError: fetch failed: Error: connect ECONNREFUSED 192.0.2.7:443",
      "TypeError: fetch failed: ECONNREFUSED"
    ])
  })

  it("the option webhookPolicy says to which addresses webhooks may be sent", async () => {
    const local = "http://127.0.0.1:4399/hook"
    const { workshop, caller } = await begun({ webhookPolicy: { allowLoopbackHttp: true, ports: [443, 8443] } })
    expect(await workshop.webhooks.set(caller.shop_id, local)).toMatchObject({ ok: true })
    expect(await workshop.webhooks.set(caller.shop_id, "https://erp.example.com:8443/")).toMatchObject({ ok: true })
    expect(await workshop.webhooks.set(caller.shop_id, "https://erp.example.com:1/")).toMatchObject({
      refusal: { issues: [{ field: "webhook_address", message: "must use port 443 or 8443" }] }
    })
  })

  it("the option notifyClient gets the client's number, and is also called for a walk-in (Specification, States)", async () => {
    const notified: Array<unknown> = []
    const { workshop, caller } = await begun({
      notifyClient: async ({ channel, phone, client_id, type, ticket }) =>
        notified.push([channel, phone, client_id, type, ticket.service])
    })
    const amira = await workshop.clients.register({ given_name: "Amira", family_name: "B", phone: "+21620123456" })
    if (!amira.ok) throw amira.refusal
    await workshop.clients.visit({ client_id: amira.value.id, shop_id: caller.shop_id })
    for (const ticket of [
      { service: "Coat", client_id: amira.value.id },
      { service: "Hem", client_phone: "+21620999999" },
      { service: "Nobody" }
    ]) {
      const created = await workshop.tickets.createInApp(caller, ticket)
      if (!created.ok) throw created.refusal
      const moved = await workshop.tickets.changeStatus(caller, created.value.data.id, "ready")
      if (!moved.ok) throw moved.refusal
      // The API shows a notification only for a client, because a walk-in customer has no app.
      expect(moved.value.data.notified_at === null).toBe(ticket.client_id === undefined)
      await workshop.notificationSender.runOnce()
    }
    expect(notified).toEqual([
      ["app", "+21620123456", amira.value.id, "ticket.ready", "Coat"],
      ["phone", "+21620999999", null, "ticket.ready", "Hem"]
    ])
    const events = await workshop.webhooks.events(caller.shop_id)
    if (!events.ok) throw events.refusal
    expect(events.value.filter(({ type }) => type === "client.notified")).toHaveLength(1)
  })

  it("a workshop without notifyClient logs a warning at the start, and after three days the first walk-in's notification", async () => {
    const lines: Array<LogLine> = []
    const clock = new SettableClock()
    const logger = (line: LogLine) => void lines.push(line)
    const { workshop, caller } = await begun({ background: true, clock, logger })
    for (const client_phone of ["+21620999999", "+21620999998"]) {
      const created = await workshop.tickets.createInApp(caller, { service: "Hem", client_phone })
      if (!created.ok) throw created.refusal
      await workshop.tickets.changeStatus(caller, created.value.data.id, "ready")
    }
    await workshop.notificationSender.runOnce()
    clock.advance(3 * 24 * 3_600_000)
    await workshop.notificationSender.runOnce()
    expect(lines).toMatchObject([
      { level: "info", message: expect.stringMatching(/^This process notifies no clients, .* without notifyClient/) },
      {
        level: "warning",
        message: expect.stringMatching(/^A client without an account was not notified, .*\(notifyClient\)/)
      }
    ])
  })

  it("notifyClient is not called for a walk-in whose number belongs to a client who blocks the shop, or was erased", async () => {
    const notified: Array<string> = []
    const { workshop, caller } = await begun({ notifyClient: async ({ ticket }) => notified.push(ticket.service) })
    const client = await workshop.clients.register({ given_name: "A", family_name: "B", phone: "+21620123456" })
    if (!client.ok) throw client.refusal
    const blocking = await workshop.tickets.createInApp(caller, { service: "Hem", client_phone: "+21620123456" })
    const erased = await workshop.tickets.createInApp(caller, { service: "Coat", client_phone: "+21620999999" })
    if (!blocking.ok || !erased.ok) throw new Error("refused")
    const offers = await workshop.offers.ofClient(client.value.id)
    if (!offers.ok) throw offers.refusal
    await workshop.offers.block({ client_id: client.value.id, offer_id: offers.value[0]!.id })
    for (const { value } of [blocking, erased]) await workshop.tickets.changeStatus(caller, value.data.id, "ready")
    expect(await workshop.clients.erase(client.value.id, ["+21620999999"])).toMatchObject({ ok: true })
    expect(await workshop.notificationSender.runOnce()).toMatchObject({ ok: true })
    expect(notified).toEqual([])
  })

  it("logger gets each line and onError each error that no caller gets, and the workshop continues if one of them throws", async () => {
    const lines: Array<LogLine> = []
    const errors: Array<unknown> = []
    const { workshop, caller } = await begun({
      logger: (line) => {
        lines.push(line)
        throw new Error("a bug in the logger")
      },
      onError: (error, { fields }) => errors.push([error, Object.keys(fields)])
    })
    const bug = new Error("a bug in authenticate")
    const handler = mountFetch(workshop, {
      authenticate: () => {
        throw bug
      }
    })
    expect((await handler(new Request("http://shop.test/v1/shop"))).status).toBe(500)
    expect(errors).toEqual([[bug, ["request_id"]]])
    expect(lines).toMatchObject([{ level: "error", message: "A request failed", error: bug }])
    expect(await workshop.tickets.createInApp(caller, { service: "Hem" })).toMatchObject({ ok: true })
  })

  it("the option limits raises, lowers and removes limits of the specification (Specification, Limits)", async () => {
    const { workshop, caller } = await begun({
      limits: {
        tickets_per_hour: null,
        tickets_per_day: 700,
        requests_per_minute: 200,
        writes_per_minute: null,
        stamps_per_day: 1
      }
    })
    const handler = mountFetch(workshop, { authenticate: () => caller })
    const headers = { "content-type": "application/json", "idempotency-key": "k" }
    const create = (n: number) =>
      handler(
        new Request("http://a.test/v1/tickets", {
          method: "POST",
          headers: { ...headers, "idempotency-key": `${n}` },
          body: '{"service":"Hem"}'
        })
      )
    const statuses = []
    for (let n = 0; n < 201; n++) statuses.push((await create(n)).status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(200)
    const refused = await create(500)
    expect([
      refused.status,
      refused.headers.get("ratelimit-limit"),
      (await refused.json()).error.details.limit
    ]).toEqual([429, "200", "requests_per_minute"])
    let count = 200
    while ((await workshop.tickets.createInApp(caller, { service: "Hem" })).ok) count++
    expect(count).toBe(700)
  })

  it("an uncounted caller is refused by no limit, and uses up none (Specification, Limits)", async () => {
    const { workshop, caller } = await begun({
      limits: {
        tickets_per_hour: 2,
        stamps_per_day: 1,
        moves_per_day: 1,
        notifications_per_day: 1,
        lookups_per_hour: 1
      }
    })
    const { clients, loyalty, shops, tickets } = workshop.orThrow
    const own = { ...caller, uncounted: true }
    const { id } = await clients.register({ given_name: "Rosa", family_name: "B", phone: "+33612345678" })
    await clients.visit({ client_id: id, shop_id: caller.shop_id })
    await shops.change(caller.shop_id, { program: { active: true } })
    const [first] = await Promise.all([0, 1, 2, 3].map(() => tickets.createInApp(own, { service: "Hem" })))
    expect(first).toMatchObject({ replayed: false, limitStatuses: [] })
    expect(await tickets.create(own, { service: "Hem" }, "order")).toMatchObject({ replayed: false })
    expect(await tickets.create(own, { service: "Hem" }, "order")).toMatchObject({ replayed: true })
    const ticket_id = first!.data.id
    for (const status of ["ready", "workshop", "ready", "workshop"] as const)
      await tickets.changeStatus(own, ticket_id, status)
    for (const channel of ["sms", "call"] as const) await tickets.recordNotified(own, ticket_id, channel)
    for (const key of ["a", "b"]) await loyalty.giveStamps(own, id, 2, key)

    const lookUpStatus = async (by: typeof own) => {
      const handler = mountFetch(workshop, { authenticate: () => ({ ...by, scopes: ["clients:read"] }) })
      return (await handler(new Request("http://a.test/v1/clients?phone=%2B33612345678"))).status
    }
    expect([await lookUpStatus(own), await lookUpStatus(own)]).toEqual([200, 200])
    const counted = { ...caller, uncounted: false }
    expect([await lookUpStatus(counted), await lookUpStatus(counted), await lookUpStatus(own)]).toEqual([200, 429, 200])

    const policies = ["tickets_per_hour", "moves_per_day", "notifications_per_day", "stamps_per_day"]
    const acts = [
      () => workshop.tickets.createInApp(caller, { service: "Hem" }),
      () => workshop.tickets.changeStatus(caller, ticket_id, "ready"),
      () => workshop.tickets.recordNotified(caller, ticket_id, "sms"),
      () => workshop.loyalty.giveStamps(caller, id, 1, "c")
    ]
    expect(await acts[0]!()).toMatchObject({ value: { limitStatuses: [{ remaining: 1 }, {}] } })
    for (const act of acts) expect(await act()).toMatchObject({ ok: true })
    const full = [
      acts[0]!,
      () => workshop.tickets.changeStatus(caller, ticket_id, "workshop"),
      acts[2]!,
      () => workshop.loyalty.giveStamps(caller, id, 1, "d")
    ]
    for (const [i, act] of full.entries())
      expect(await act()).toMatchObject({
        ok: false,
        refusal: { _tag: "LimitReached", limitStatuses: [{ policy: policies[i] }] }
      })
    expect(await tickets.createInApp(own, { service: "Hem" })).toMatchObject({ limitStatuses: [] })
  })

  it("caller_id is any text of up to 80 characters, by which keys and limits are counted within a shop", async () => {
    const { workshop, caller } = await begun({})
    const create = (caller_id: string) => workshop.tickets.create({ ...caller, caller_id }, { service: "Hem" }, "same")
    expect(await create("user-42")).toMatchObject({ value: { replayed: false } })
    expect(await create("user-42")).toMatchObject({ value: { replayed: true } })
    expect(await create("user-43")).toMatchObject({ value: { replayed: false } })
    expect(await create("é".repeat(81))).toMatchObject({
      refusal: { issues: [{ field: "caller_id", message: "must be 1 to 80 characters" }] }
    })
    const other = await workshop.shops.create(SHOP)
    if (!other.ok) throw other.refusal
    const remaining = async (shop_id: string) => {
      const handler = mountFetch(workshop, { authenticate: () => ({ ...caller, shop_id, caller_id: "owner" }) })
      return (await handler(new Request("http://a.test/v1/shop"))).headers.get("ratelimit-remaining")
    }
    expect([await remaining(caller.shop_id), await remaining(other.value.id)]).toEqual(["119", "119"])
  })

  it("authenticate and addressOf get the values that are passed together with the request", async () => {
    const { workshop, caller } = await begun({})
    const handler = mountFetch<[env: { readonly user: string }]>(workshop, {
      authenticate: ({ headers }, env) => (headers.get("cookie") === env.user ? caller : null)
    })
    const ask = async (user: string) =>
      (await handler(new Request("http://a.test/v1/shop", { headers: { cookie: "amira" } }), { user })).status
    expect([await ask("amira"), await ask("paul")]).toEqual([200, 401])
  })

  it("an argument that is undefined counts as absent: shops.list(undefined, 10)", async () => {
    const { workshop, caller } = await begun({})
    for (const after of [undefined, null])
      expect(await workshop.shops.list(after, 10)).toMatchObject({ ok: true, value: [{ id: caller.shop_id }] })
  })

  it("ready() of a stopped workshop returns a reason, and logs nothing", async () => {
    const lines: Array<LogLine> = []
    const { workshop } = await begun({ logger: (line) => void lines.push(line) })
    await workshop.stop()
    expect(await workshop.ready()).toEqual({
      ready: false,
      reason: expect.stringContaining("This workshop was stopped")
    })
    expect(lines).toEqual([])
  })

  it("metrics() returns the metrics and ready() the readiness (Specification, Commands)", async () => {
    const clock = new SettableClock()
    const { workshop, caller } = await begun({ clock, randomBytes: Entropy.seededBytes(3) })
    await workshop.tickets.createInApp(caller, { service: "Hem" })
    expect(await workshop.metrics()).toMatch(/^# TYPE workshop_|^# HELP workshop_/m)
    expect(await workshop.ready()).toEqual({ ready: true })
    clock.set(clock.unsafeCurrentTimeMillis() - 3_600_000)
    expect(await workshop.ready()).toMatchObject({
      ready: false,
      reason: expect.stringMatching(/^The data of 1 shop are up to 1 hour ahead/)
    })
    expect(await workshop.retention.runOnce()).toEqual({ ok: true, value: undefined })
  })
})
