import * as MemoryStore from "@workshop/store-memory"
import { type Context, Effect, Layer, ManagedRuntime, Schema } from "effect"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { KeyInput } from "../../src/decisions/shopSettings.js"
import type { HttpRequest } from "../../src/http/HttpMessage.js"
import { pipeline } from "../../src/http/Pipeline.js"
import { workshopRoutes } from "../../src/http/workshopRoutes.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { Directory, RateLimits } from "../../src/ports/StorePorts.js"
import { Keys } from "../../src/services/Keys.js"
import * as Profanity from "../../src/services/Profanity.js"
import { ShopInput, Shops } from "../../src/services/Shops.js"
import { layer as services } from "../../src/services/Workshop.js"
import { SettableClock } from "../../src/testing/SettableClock.js"

const clock = new SettableClock(Date.parse("2026-11-20T10:00:00Z"))

/** The number of the store's calls for limits and for keys, and the most concurrent calls for keys. */
const calls = { limits: 0, keys: 0, max: 0 }
let looking = 0

const countedLimits = (limits: Context.Tag.Service<RateLimits>): Context.Tag.Service<RateLimits> => ({
  ...limits,
  take: (takes, now) => {
    calls.limits++
    return limits.take(takes, now)
  }
})

const countedDirectory = (directory: Context.Tag.Service<Directory>): Context.Tag.Service<Directory> => ({
  ...directory,
  keyByHash: (hash) =>
    Effect.gen(function* () {
      calls.keys++
      calls.max = Math.max(calls.max, ++looking)
      yield* Effect.yieldNow()
      return yield* directory.keyByHash(hash)
    }).pipe(Effect.ensuring(Effect.sync(() => looking--)))
})

const store = Layer.merge(
  Layer.effect(RateLimits, Effect.map(RateLimits, countedLimits)),
  Layer.effect(Directory, Effect.map(Directory, countedDirectory))
).pipe(Layer.provideMerge(MemoryStore.layer))

const runtime = ManagedRuntime.make(
  services.pipe(
    Layer.provideMerge(store),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layerSeeded(4)),
    Layer.provideMerge(clock.layer)
  )
)
afterAll(() => runtime.dispose())

const run = await runtime.runPromise(
  Effect.flatMap(workshopRoutes({ validateResponses: true }), (branch) => pipeline([branch]))
)

/** Opens a shop with `n` keys. */
const newKeys = (n: number) =>
  runtime.runPromise(
    Effect.gen(function* () {
      const input = { name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" } as const
      const { id } = yield* Shops.create(Schema.decodeSync(ShopInput)(input))
      const till = Schema.decodeSync(KeyInput)({
        name: "till",
        scopes: ["tickets:read", "tickets:write", "clients:read"]
      })
      const keys = yield* Effect.forEach(Array.from({ length: n }), () => Keys.create(id, till))
      return keys.map(({ key }) => key)
    })
  )

let addresses = 0
const newAddress = () => `192.0.2.${++addresses}`

interface Ask {
  readonly address: string
  readonly key?: string
  readonly method?: string
}

const ask = async (path: string, { address, key, method = "GET" }: Ask) => {
  const [at = "", query = ""] = path.split("?")
  const headers: Record<string, string> = {
    "content-type": "application/json",
    ...(key !== undefined && { authorization: `Bearer ${key}` })
  }
  const arrival: HttpRequest = {
    method,
    path: at,
    query,
    header: (name) => headers[name],
    repeats: () => false,
    address,
    body: () => Effect.succeed(new TextEncoder().encode("{}"))
  }
  return runtime.runPromise(run(arrival))
}

const random = (n: number) => `wk_live_${String(n).padStart(43, "A")}`

/** Uses up the limit of an address without a valid key. */
const exhaust = async (address: string) => {
  for (let i = 0; i < 121; i++) await ask("/v1/shop", { address })
}

beforeEach(() => {
  clock.advance(3_600_000)
  Object.assign(calls, { limits: 0, keys: 0, max: 0 })
})

describe("a used-up limit is cached until it resets", { timeout: 30_000 }, () => {
  it("the used-up limit of an address without a key is cached: a thousand more requests do not use the store, and the headers stay correct", async () => {
    const address = newAddress()
    await exhaust(address)
    expect(calls.limits).toBe(120)
    clock.advance(20_000)
    for (let i = 0; i < 1_000; i++) {
      const { status, headers } = await ask("/v1/shop", { address })
      expect([status, headers["RateLimit-Remaining"], headers["Retry-After"]]).toEqual([429, "0", "40"])
    }
    expect(calls.limits).toBe(120)
    clock.advance(40_000)
    expect((await ask("/v1/shop", { address })).status).toBe(401)
    expect((await ask("/v1/shop", { address: newAddress() })).status).toBe(401)
  })

  it("the used-up limit of a key is cached, and each policy separately", async () => {
    const [key] = (await newKeys(1)) as [string]
    const address = newAddress()
    for (let i = 0; i < 30; i++) await ask("/v1/tickets", { address, key, method: "POST" })
    const before = calls.limits
    for (let i = 0; i < 10; i++) {
      const { status, headers } = await ask("/v1/tickets", { address, key, method: "POST" })
      expect([status, headers["RateLimit-Limit"]]).toEqual([429, "30"])
    }
    expect(calls.limits).toBe(before)
    // Reads are still accepted.
    for (let i = 0; i < 90; i++) expect((await ask("/v1/shop", { address, key })).status).toBe(200)
    expect((await ask("/v1/shop", { address, key })).status).toBe(429)
  })

  it("a limit is not cached as used up if its use was given back, because a 429 of another limit does not count (Specification, Limits)", async () => {
    const [first, second] = (await newKeys(2)) as [string, string]
    const address = newAddress()
    const look = (key: string) => ask("/v1/clients?phone=%2B21620123456", { address, key })
    for (let i = 0; i < 60; i++) expect((await look(first)).status).toBe(404)
    for (let i = 0; i < 119; i++) await ask("/v1/shop", { address, key: second })
    expect((await look(second)).status).toBe(429)
    const { status, headers } = await ask("/v1/shop", { address, key: second })
    expect([status, headers["RateLimit-Remaining"]]).toEqual([200, "0"])
    expect((await ask("/v1/shop", { address, key: second })).status).toBe(429)
  })

  it("a cached limit is dropped if the clock steps back", async () => {
    const address = newAddress()
    await exhaust(address)
    clock.advance(-1_800_000)
    expect((await ask("/v1/shop", { address })).status).toBe(401)
    clock.advance(1_800_000)
  })
})

describe("the windows that a process caches", { timeout: 60_000 }, () => {
  it("a process caches at most ten thousand windows of a policy, and drops the oldest for another one", async () => {
    const [first, second] = [newAddress(), newAddress()]
    await exhaust(first)
    await exhaust(second)
    for (let i = 0; i < 9_998; i++) await ask("/v1/shop", { address: `10.0.${i >> 8}.${i & 255}` })
    /** The number of the store's calls for one more request, which is refused. */
    const askedFor = async (address: string) => {
      const before = calls.limits
      expect((await ask("/v1/shop", { address })).status).toBe(429)
      return calls.limits - before
    }
    expect([await askedFor(first), await askedFor(second)]).toEqual([0, 0])
    await ask("/v1/shop", { address: newAddress() })
    expect([await askedFor(second), await askedFor(first)]).toEqual([0, 1])
  })
})

describe("unknown keys", { timeout: 30_000 }, () => {
  it("unknown keys of a refused address are looked up one at a time, and a valid key is accepted nevertheless", async () => {
    const address = newAddress()
    await exhaust(address)
    const [key] = (await newKeys(1)) as [string]
    calls.keys = 0
    const wrong = Array.from({ length: 20 }, (_, i) => ask("/v1/shop", { address, key: random(i) }))
    const good = ask("/v1/shop", { address, key })
    for (const { status } of await Promise.all(wrong)) expect(status).toBe(429)
    expect((await good).status).toBe(200)
    expect([calls.keys, calls.max]).toEqual([21, 1])
    // The key is then known to be valid, so its requests do not wait for others, even after its cache entry has expired.
    clock.advance(40_000)
    expect((await ask("/v1/shop", { address, key })).status).toBe(200)
  })

  it("unknown keys are refused without a look-up while fifty wait, and a key that was valid before is not", async () => {
    const address = newAddress()
    const [known] = (await newKeys(1)) as [string]
    await ask("/v1/shop", { address, key: known })
    await exhaust(address)
    calls.keys = 0
    const wrong = Array.from({ length: 500 }, (_, i) => ask("/v1/shop", { address, key: random(i) }))
    expect((await ask("/v1/shop", { address, key: known })).status).toBe(200)
    for (const { status, headers } of await Promise.all(wrong))
      expect([status, headers["RateLimit-Remaining"]]).toEqual([429, "0"])
    expect(calls.keys).toBe(50)
    // The fifty waiting look-ups are over, so another key can be looked up.
    const [key] = (await newKeys(1)) as [string]
    expect((await ask("/v1/shop", { address, key })).status).toBe(200)
  })

  it("texts that cannot be keys are not looked up", async () => {
    const address = newAddress()
    for (let i = 0; i < 130; i++) await ask("/v1/shop", { address, key: `wk_live_${i}` })
    expect(calls.keys).toBe(0)
  })
})

describe("addresses of IPv6", () => {
  it("IPv6 addresses are counted by their network of 64 bits", async () => {
    const left = async (address: string) => (await ask("/v1/shop", { address })).headers["RateLimit-Remaining"]
    expect(await left("2001:db8:1:2::1")).toBe("119")
    expect(await left("2001:db8:1:2:ffff::2")).toBe("118")
    expect(await left("2001:db8:1:3::1")).toBe("119")
  })
})

describe("requests that count against no limit", () => {
  it("a request that counts against no limit does not use the store, and shows the limit of its address", async () => {
    const address = newAddress()
    await ask("/v1/shop", { address })
    Object.assign(calls, { limits: 0, keys: 0 })
    const { status, headers } = await ask("/nowhere", { address })
    expect([status, headers["RateLimit-Limit"], headers["RateLimit-Remaining"]]).toEqual([404, "120", "119"])
    expect(calls).toMatchObject({ limits: 0, keys: 0 })
  })
})
