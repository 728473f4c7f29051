import type { EventId, ShopId } from "@workshop/core"
import type { Change } from "@workshop/core/store"
import { beforeAll, describe, expect, it } from "vitest"
import { putChanges, runCommand } from "../../../core/src/testing/Fixtures.js"
import { DAY, HOUR, type Json, later, NOBODY, Sandbox, START } from "./Sandbox.js"

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await Sandbox.open()
  await sandbox.clock({ freeze: true })
})

const input = { name: "Retouches du Lac", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" }
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const SECRET = /^whsec_[A-Za-z0-9_-]{43}$/

describe("Shops (Specification, Sandbox)", () => {
  it("a new shop is approved and active, with the API on and a valid full-access key", async () => {
    const { status, data } = await sandbox.ask("POST", "/sandbox/shops", input)
    expect(status).toBe(201)
    expect(data).toEqual({
      shop: {
        ...input,
        id: expect.stringMatching(UUID),
        tracking_base_url: null,
        approved: true,
        active: true,
        api_enabled: true,
        program: { active: false, name: null, stamps_required: 10, stamps_per_ticket: 1, reward_label: null },
        next_number: 1,
        forbidden_words: [],
        allowed_words: [],
        languages: ["en", "fr"]
      },
      key_id: expect.stringMatching(UUID),
      key: expect.stringMatching(/^wk_test_[A-Za-z0-9_-]{43}$/)
    })
    const read = await sandbox.good("GET", "/v1/shop", undefined, { bearer: data.key })
    const scopes = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]
    expect(read).toEqual({ ...input, id: data.shop.id, scopes })
    expect(await sandbox.good("GET", `/sandbox/shops/${data.shop.id}`)).toEqual(data.shop)
  })

  it("a shop accepts the URL of its own tracking pages", async () => {
    const tracking_base_url = "https://t.example/"
    const shop = await sandbox.shop({ tracking_base_url })
    const ticket = await sandbox.ticket(shop)
    expect(ticket.tracking_url).toBe(`https://t.example/${ticket.tracking_code}`)
  })

  it("a new shop with invalid input is refused, with all problems at once", async () => {
    const bad = {
      name: " ",
      currency: "euro",
      decimals: 1.5,
      time_zone: "Mars/Olympus",
      tracking_base_url: "no",
      color: 1
    }
    const response = await sandbox.ask("POST", "/sandbox/shops", bad)
    expect(response.status).toBe(400)
    expect([...response.issues].sort()).toEqual(
      Object.keys(bad)
        .map((field) => `body ${field}`)
        .sort()
    )
    expect((await sandbox.ask("POST", "/sandbox/shops")).issues).toHaveLength(4)
  })

  it("each setting of a shop can be changed without changing the others", async () => {
    const { id, key } = await sandbox.shop()
    const before = await sandbox.good("GET", `/sandbox/shops/${id}`)
    const change = (patch: object) => sandbox.good("PATCH", `/sandbox/shops/${id}`, patch)
    const program = { active: true, name: "Fidélité", stamps_required: 5, stamps_per_ticket: 2, reward_label: "A hem" }
    expect(await change({ program })).toEqual({ ...before, program })
    expect(await change({ program: { stamps_required: 6, active: null, name: null } })).toEqual({
      ...before,
      program: { ...program, stamps_required: 6, name: null }
    })
    expect((await change({ next_number: 9999 })).next_number).toBe(9999)
    expect((await change({ forbidden_words: ["velcro"] })).forbidden_words).toEqual(["velcro"])
    expect((await change({ approved: null, next_number: null })).approved).toBe(true)
    expect((await sandbox.ticket({ key })).number).toBe(9999)
    expect((await sandbox.ticket({ key })).number).toBe(1)
    const profane = await sandbox.ask("POST", `/sandbox/shops/${id}/tickets`, { service: "Velcro" })
    expect([profane.status, profane.error.code]).toEqual([422, "PROFANITY"])
  })

  it("a shop refuses forbidden words of its time zone's languages, or of the languages in its settings, and can allow a word", async () => {
    const { data } = await sandbox.ask("POST", "/sandbox/shops", { ...input, time_zone: "Europe/Madrid" })
    expect(data.shop.languages).toEqual(["en", "fr", "es"])
    const named = await sandbox.ask("POST", "/sandbox/shops", { ...input, languages: ["it"] })
    const { id } = named.data.shop
    const change = (patch: object) => sandbox.good("PATCH", `/sandbox/shops/${id}`, patch)
    const status = async (service: string) =>
      (await sandbox.ask("POST", `/sandbox/shops/${id}/tickets`, { service })).status
    expect([await status("merda"), await status("fuck")]).toEqual([422, 201])
    expect((await change({ languages: ["en", "de"] })).languages).toEqual(["en", "de"])
    expect([await status("merda"), await status("fuck"), await status("dick gefüttert")]).toEqual([201, 422, 201])
    expect((await change({ allowed_words: ["fuck yeah"] })).allowed_words).toEqual(["fuck yeah"])
    expect([await status("FUCK, yeah tee-shirt"), await status("fuck")]).toEqual([201, 422])
    await change({ allowed_words: [], languages: [] })
    expect(await status("fuck")).toBe(201)
    const wrong = await sandbox.ask("PATCH", `/sandbox/shops/${id}`, { languages: ["en", "en"], allowed_words: [""] })
    expect(wrong.issues).toEqual(["body allowed_words.0", "body languages"])
    expect((await sandbox.ask("PATCH", `/sandbox/shops/${id}`, { languages: ["tlh"] })).issues).toEqual([
      "body languages.0"
    ])
  })

  it("a shop's API requests are refused as soon as one of its flags is off", async () => {
    const { id, key } = await sandbox.shop()
    const code = async () => (await sandbox.ask("GET", "/v1/shop", undefined, { bearer: key })).error?.code
    expect(await code()).toBeUndefined()
    for (const [flag, expected] of [
      ["api_enabled", "API_DISABLED"],
      ["approved", "SHOP_NOT_APPROVED"],
      ["active", "ACCOUNT_DEACTIVATED"]
    ] as const) {
      await sandbox.good("PATCH", `/sandbox/shops/${id}`, { [flag]: false })
      expect(await code()).toBe(expected)
    }
    await sandbox.good("PATCH", `/sandbox/shops/${id}`, { api_enabled: true, approved: true, active: true })
    expect(await code()).toBeUndefined()
  })

  it("invalid settings are refused with all problems in one response, and no setting changes", async () => {
    const { id } = await sandbox.shop()
    const response = await sandbox.ask("PATCH", `/sandbox/shops/${id}`, {
      approved: "yes",
      program: { stamps_required: 0, colour: "red" },
      next_number: 10_000,
      forbidden_words: [""],
      active: false,
      nmae: "x"
    })
    expect([...response.issues].sort()).toEqual([
      "body approved",
      "body forbidden_words.0",
      "body next_number",
      "body nmae",
      "body program.colour",
      "body program.stamps_required"
    ])
    expect((await sandbox.good("GET", `/sandbox/shops/${id}`)).active).toBe(true)
  })
})

describe("Keys (Specification, Sandbox)", () => {
  it("a key is created with scopes or with a preset, listed without its text, and revoked", async () => {
    const { id } = await sandbox.shop()
    const path = `/sandbox/shops/${id}/keys`
    const created = await sandbox.ask("POST", path, { name: "till", scopes: ["tickets:read"] })
    expect(created.status).toBe(201)
    expect(Object.keys(created.data)).toEqual(["id", "key"])
    await sandbox.good("POST", path, { name: "reader", preset: "read" })
    await sandbox.good("POST", path, { name: "all", preset: "full", scopes: null })
    const listed: Array<Json> = await sandbox.good("GET", path)
    expect(listed.slice(1).map(({ name, scopes }) => [name, scopes])).toEqual([
      ["till", ["tickets:read"]],
      ["reader", ["tickets:read", "clients:read"]],
      ["all", ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]]
    ])
    const { id: key_id, key } = created.data
    expect(listed[1]).toEqual({
      id: key_id,
      name: "till",
      scopes: ["tickets:read"],
      last_four: key.slice(-4),
      created_at: START,
      revoked_at: null,
      expires_at: null,
      last_used_at: null
    })
    expect((await sandbox.ask("GET", "/v1/shop", undefined, { bearer: key })).status).toBe(200)
    expect(await sandbox.good("DELETE", `/sandbox/keys/${key_id}`)).toEqual({ id: key_id, revoked_at: START })
    expect((await sandbox.ask("GET", "/v1/shop", undefined, { bearer: key })).status).toBe(401)
    expect((await sandbox.good("GET", path))[1].revoked_at).toBe(START)
    expect(await sandbox.good("DELETE", `/sandbox/keys/${key_id}`)).toEqual({ id: key_id, revoked_at: START })
  })

  it("a key gets a 401 from its expiry on, and the list of keys shows when it was last used", async () => {
    const own = await Sandbox.open()
    const { id } = await own.shop()
    const path = `/sandbox/shops/${id}/keys`
    const { key } = await own.good("POST", path, { name: "fair", preset: "read", expires_at: later(DAY) })
    const asks = () => own.ask("GET", "/v1/shop", undefined, { bearer: key })
    const listed = async () => (await own.good("GET", path))[1]
    expect(await listed()).toMatchObject({ expires_at: later(DAY), last_used_at: null })
    await own.clock({ advance_ms: DAY - 1, freeze: true })
    expect((await asks()).status).toBe(200)
    await own.clock({ advance_ms: 1 })
    const refused = await asks()
    expect([refused.status, refused.error.code]).toEqual([401, "UNAUTHENTICATED"])
    await expect.poll(async () => (await listed()).last_used_at).toBe(later(DAY - 1))
    expect((await own.ask("POST", path, { name: "old", preset: "read", expires_at: START })).issues).toEqual([
      "body expires_at"
    ])
  })

  it("a shop has at most five keys, not counting revoked ones", async () => {
    const { id } = await sandbox.shop()
    const make = () => sandbox.ask("POST", `/sandbox/shops/${id}/keys`, { name: "till", preset: "read" })
    const keys = [await make(), await make(), await make(), await make()]
    expect(keys.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    const sixth = await make()
    expect([sixth.status, sixth.error.details.reason]).toEqual([409, "TOO_MANY_KEYS"])
    await sandbox.good("DELETE", `/sandbox/keys/${keys[0]!.data.id}`)
    expect((await make()).status).toBe(201)
  })

  it("a key is created with exactly one of scopes and preset", async () => {
    const { id } = await sandbox.shop()
    const issues = async (body: unknown) => (await sandbox.ask("POST", `/sandbox/shops/${id}/keys`, body)).issues
    expect(await issues({ name: "till" })).toEqual(["body scopes"])
    expect(await issues({ name: "till", preset: null, scopes: null })).toEqual(["body scopes"])
    expect(await issues({ name: "till", preset: "full", scopes: ["tickets:read"] })).toEqual(["body preset"])
    expect(await issues({ name: "till", scopes: [] })).toEqual(["body scopes.0"])
    expect(await issues({ name: "till", scopes: ["all"] })).toEqual(["body scopes.0"])
    expect(await issues({ name: "till", preset: "write" })).toEqual(["body preset"])
    expect([...(await issues({ name: 1, preset: 2, extra: 3 }))].sort()).toEqual([
      "body extra",
      "body name",
      "body preset"
    ])
  })
})

describe("The audit log", () => {
  it("the audit log lists the sandbox's acts on a shop, latest first", async () => {
    const { id } = await sandbox.shop()
    await sandbox.good("PATCH", `/sandbox/shops/${id}`, { active: false })
    const entries: Array<Json> = await sandbox.good("GET", `/sandbox/shops/${id}/audit`)
    expect(entries.map(({ actor, act, created_at }) => [actor, act, created_at])).toEqual([
      ["sandbox", "shop.changed", START],
      ["sandbox", "key.created", START],
      ["sandbox", "shop.created", START]
    ])
    expect(entries[0]).toMatchObject({ id: expect.stringMatching(UUID), details: { active: false } })
  })
})

describe("The webhook (Specification, Sandbox)", () => {
  it("a webhook can be set, read, changed to another URL with the same secret, rotated, pinged and enabled", async () => {
    const { id } = await sandbox.shop()
    const path = `/sandbox/shops/${id}/webhook`
    const off = { url: null, on: false, off_reason: null, failures_in_row: 0, first_failure_at: null }
    expect(await sandbox.good("GET", path)).toEqual({
      ...off,
      parked: 0,
      off_since: null,
      previous_secret_until: null
    })
    const first = await sandbox.good("PUT", path, { url: "http://127.0.0.1:9999/hook" })
    const set = { secret: expect.stringMatching(SECRET), on: true, off_reason: null }
    expect(first).toEqual({ ...set, url: "http://127.0.0.1:9999/hook" })
    const on = { ...off, url: "http://127.0.0.1:9999/hook", on: true }
    expect(await sandbox.good("GET", path)).toMatchObject(on)
    const moved = await sandbox.good("PUT", path, { url: "https://shop.example.com/hook" })
    expect(moved).toEqual({ ...set, url: "https://shop.example.com/hook", secret: first.secret })
    const { secret, replaces_before } = await sandbox.good("POST", `${path}/rotate`)
    expect(replaces_before).toBeNull()
    expect(secret).toMatch(SECRET)
    expect(secret).not.toBe(first.secret)
    expect((await sandbox.good("PUT", path, { url: moved.url })).secret).toBe(secret)
    expect(await sandbox.good("POST", `${path}/enable`)).toEqual({ ...on, url: moved.url })
    const ping = await sandbox.good("POST", `${path}/ping`, {})
    expect(ping).toEqual({
      id: expect.stringMatching(UUID),
      type: "ping",
      created_at: START,
      api_version: "1",
      shop_id: id,
      data: {}
    })
    expect(await sandbox.good("GET", `/sandbox/shops/${id}/events`)).toEqual([ping])
  })

  it("a webhook shows until when its previous secret signs, and null after 24 hours", async () => {
    const own = await Sandbox.open()
    await own.clock({ freeze: true })
    const path = `/sandbox/shops/${(await own.shop()).id}/webhook`
    const shownUntil = async () => (await own.good("GET", path)).previous_secret_until
    await own.good("PUT", path, { url: "https://shop.example.com/hook" })
    expect(await shownUntil()).toBeNull()
    await own.good("POST", `${path}/rotate`)
    expect(await shownUntil()).toBe(later(24 * HOUR))
    await own.clock({ advance_ms: 24 * HOUR - 1 })
    expect(await shownUntil()).toBe(later(24 * HOUR))
    await own.clock({ advance_ms: 1 })
    expect(await shownUntil()).toBeNull()
  })

  it("deliveries before an event can be read, even if 10,000 later ones exist", async () => {
    const own = await Sandbox.open()
    const { id } = await own.shop()
    const shop_id = id as ShopId
    const eventId = (seq: number) => `01890000-0000-7000-8000-${String(seq).padStart(12, "0")}` as EventId
    const changes = Array.from({ length: 10_003 }, (_, i): ReadonlyArray<Change> => {
      const event = { shop_id, id: eventId(i + 1), type: "ping", seq: i + 1, ticket_id: null } as const
      const { id: event_id, ...fields } = event
      const body = JSON.stringify({ type: "ping", data: {} })
      const schedule = {
        attempts_made: 0,
        attempts_since_reset: 0,
        due_at: 0,
        generation: 1,
        is_replay: false,
        token: 0
      }
      return [
        { _tag: "EventRaised", row: { ...event, created_at: i, body } },
        { _tag: "DeliveryPut", row: { ...fields, ...schedule, event_id } }
      ]
    })
    await own.good("PUT", `/sandbox/shops/${id}/webhook`, { url: "https://shop.example.com/hook" })
    await own.runtime.runPromise(runCommand(putChanges(shop_id, ...changes.flat())))
    const read = async (query: string): Promise<ReadonlyArray<string>> =>
      (await own.good("GET", `/sandbox/shops/${id}/deliveries`, undefined, { query })).map(
        (delivery: Json) => delivery.event_id
      )
    const latest = await read("")
    expect([latest.length, latest[0], latest.at(-1)]).toEqual([10_000, eventId(4), eventId(10_003)])
    expect(await read(`before=${eventId(4)}`)).toEqual([eventId(1), eventId(2), eventId(3)])
    expect(await read(`before=${eventId(3)}&limit=1`)).toEqual([eventId(2)])
    expect(await read(`before=${eventId(1)}`)).toEqual([])
    expect(await read(`before=${NOBODY}`)).toEqual([])
  })

  it("a webhook URL may be loopback over http on any port, and other private addresses are refused", async () => {
    const { id } = await sandbox.shop()
    const set = (url: unknown) => sandbox.ask("PUT", `/sandbox/shops/${id}/webhook`, { url })
    for (const url of ["http://localhost:1", "http://[::1]:8080/x", "https://127.1.2.3:444/"])
      expect((await set(url)).status, url).toBe(200)
    for (const url of [
      "http://shop.example.com/",
      "https://10.0.0.1/",
      "https://shop.example.com:8443/",
      "https://a:b@shop.example.com/",
      "ftp://127.0.0.1/",
      "hook",
      "",
      5,
      null
    ]) {
      const { status, issues } = await set(url)
      expect([url, status, issues]).toEqual([url, 400, ["body url"]])
    }
    const message = (await set("https://10.0.0.1/")).error.details.issues[0].message
    expect(message).toBe(
      "must not have a private or special-purpose IP address; give an address that can be reached from the internet"
    )
  })

  it("a webhook can be turned off and on, and removed, after which a new webhook has a new secret", async () => {
    const { id } = await sandbox.shop()
    const path = `/sandbox/shops/${id}/webhook`
    const url = "http://127.0.0.1:9999/hook"
    const none = { url: null, on: false, off_reason: null, failures_in_row: 0, first_failure_at: null }
    const { secret } = await sandbox.good("PUT", path, { url })
    expect(await sandbox.good("POST", `${path}/disable`)).toEqual({ ...none, url, off_reason: "disabled" })
    await sandbox.good("POST", `${path}/ping`)
    const states = async () =>
      (await sandbox.good("GET", `/sandbox/shops/${id}/deliveries`)).map(({ state }: Json) => state)
    expect(await states()).toEqual(["parked"])
    expect(await sandbox.good("POST", `${path}/enable`)).toEqual({ ...none, url, on: true })
    expect(await sandbox.good("DELETE", path)).toEqual(none)
    expect(await sandbox.good("GET", path)).toMatchObject(none)
    expect(await states()).toEqual([])
    expect((await sandbox.ask("DELETE", path)).status).toBe(404)
    expect((await sandbox.good("PUT", path, { url })).secret).not.toBe(secret)
    expect(await states()).toEqual([])
  })

  it("a webhook cannot be rotated, enabled or disabled before it is set", async () => {
    const { id } = await sandbox.shop()
    for (const act of ["rotate", "enable", "disable"])
      expect((await sandbox.ask("POST", `/sandbox/shops/${id}/webhook/${act}`)).status).toBe(404)
  })

  it("a shop's events are listed as sent to its webhook, oldest first", async () => {
    const own = await Sandbox.open()
    const shop = await own.shop()
    const ticket = await own.ticket(shop)
    await own.clock({ advance_ms: DAY })
    await own.status(shop, ticket, "ready")
    const events = await own.good("GET", `/sandbox/shops/${shop.id}/events`)
    expect(events.map(({ type, created_at }: Json) => [type, created_at])).toEqual([
      ["ticket.created", START],
      ["ticket.ready", later(DAY)]
    ])
    expect(events[0].data.ticket).toEqual(ticket)
  })
})

describe("An unknown shop or key is not found (Specification, Sandbox)", () => {
  for (const [method, path, body] of [
    ["GET", `/sandbox/shops/${NOBODY}`, undefined],
    ["PATCH", `/sandbox/shops/${NOBODY}`, { active: false }],
    ["GET", `/sandbox/shops/${NOBODY}/audit`, undefined],
    ["GET", `/sandbox/shops/${NOBODY}/keys`, undefined],
    ["POST", `/sandbox/shops/${NOBODY}/keys`, { name: "till", preset: "full" }],
    ["DELETE", `/sandbox/keys/${NOBODY}`, undefined],
    ["PUT", `/sandbox/shops/${NOBODY}/webhook`, { url: "https://shop.example.com/" }],
    ["GET", `/sandbox/shops/${NOBODY}/webhook`, undefined],
    ["POST", `/sandbox/shops/${NOBODY}/webhook/rotate`, undefined],
    ["POST", `/sandbox/shops/${NOBODY}/webhook/ping`, undefined],
    ["POST", `/sandbox/shops/${NOBODY}/webhook/enable`, undefined],
    ["POST", `/sandbox/shops/${NOBODY}/webhook/disable`, undefined],
    ["DELETE", `/sandbox/shops/${NOBODY}/webhook`, undefined],
    ["GET", `/sandbox/shops/${NOBODY}/events`, undefined]
  ] as const) {
    it(`${method} ${path.replace(NOBODY, "…")} is a 404`, async () => {
      const { status, error } = await sandbox.ask(method, path, body)
      expect([status, error.code]).toEqual([404, "NOT_FOUND"])
    })
  }
})
