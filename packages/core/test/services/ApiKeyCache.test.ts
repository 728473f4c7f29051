import { Deferred, Effect, Fiber, Layer, Option, Schema } from "effect"
import { describe, expect, it, vi } from "vitest"
import { until } from "../../../../test/until.js"
import { KeyInput } from "../../src/decisions/shopSettings.js"
import { hashKey } from "../../src/domain/ApiKey.js"
import type { ShopId } from "../../src/domain/Identifier.js"
import { MINUTE_MS, SECOND_MS } from "../../src/domain/Instant.js"
import { Directory, Reads, StoreUnavailable } from "../../src/ports/StorePorts.js"
import { ApiKeyCache } from "../../src/services/ApiKeyCache.js"
import { Keys } from "../../src/services/Keys.js"
import { Shops } from "../../src/services/Shops.js"
import { TEST_START as T } from "../../src/testing/SettableClock.js"
import { inWorkshop, keyInput, openShop, refusalOf, shopPatch } from "./WorkshopFixture.js"

const newKey = Effect.fnUntraced(function* () {
  const { shop_id } = yield* openShop()
  const { key, record } = yield* (yield* Keys).create(shop_id, keyInput("Till"))
  return { shop_id, key, record }
})

/** A key cache whose look-ups are counted, and wait for `gate` if it is given. */
const observed = Effect.fnUntraced(function* (gate?: Deferred.Deferred<void>) {
  const directory = yield* Directory
  const lookUps: Array<string> = []
  const countingDirectory = Layer.succeed(Directory, {
    ...directory,
    keyByHash: (hash) =>
      Effect.tap(directory.keyByHash(hash), () => {
        lookUps.push(hash)
        return gate === undefined ? Effect.void : Deferred.await(gate)
      })
  })
  const context = yield* Layer.build(Layer.fresh(ApiKeyCache.Default).pipe(Layer.provide(countingDirectory)))
  return { ring: yield* Effect.provide(ApiKeyCache, context), looked: lookUps }
}, Effect.scoped)

describe("Specification, Keys and scopes: Authentication", () => {
  it(
    "a key is shown once, when it is created, and only its hash and its last four characters are stored",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { shop_id, key, record } = yield* newKey()
        expect(key).toMatch(/^wk_live_[A-Za-z0-9_-]{43}$/)
        expect(record).toMatchObject({ hash: hashKey(key), last_four: key.slice(-4), name: "Till", revoked_at: null })
        expect(JSON.stringify(yield* (yield* Keys).list(shop_id))).not.toContain(key)
      })
    )
  )

  it(
    "a key gives access to its own shop only",
    inWorkshop(() =>
      Effect.gen(function* () {
        const cache = yield* ApiKeyCache
        const [one, other] = [yield* newKey(), yield* newKey()]
        for (const { key, shop_id, record } of [one, other]) {
          const holder = yield* cache.holderOf(key, T)
          expect(holder?.caller).toMatchObject({ shop_id, caller_id: record.id, scopes: ["tickets:read"], via: "api" })
        }
      })
    )
  )

  it(
    "a missing, wrong or revoked key has no holder",
    inWorkshop(() =>
      Effect.gen(function* () {
        const cache = yield* ApiKeyCache
        const { key, record } = yield* newKey()
        for (const invalid of ["", "x", key.slice(0, -1), `${key}x`, key.toUpperCase(), `wk_live_${"A".repeat(43)}`]) {
          expect(yield* cache.holderOf(invalid, T)).toBeNull()
        }
        yield* (yield* Keys).revoke(record.id)
        expect(yield* cache.holderOf(key, T)).toBeNull()
      })
    )
  )

  it(
    "a revoked key is refused at once although it was cached, and other keys stay valid",
    inWorkshop(() =>
      Effect.gen(function* () {
        const cache = yield* ApiKeyCache
        const { shop_id, key, record } = yield* newKey()
        const second = yield* (yield* Keys).create(shop_id, keyInput("Web"))
        expect(yield* cache.holderOf(key, T)).not.toBeNull()
        yield* (yield* Keys).revoke(record.id)
        expect(yield* cache.holderOf(key, T)).toBeNull()
        expect(yield* cache.holderOf(second.key, T)).not.toBeNull()
      })
    )
  )

  it(
    "a change of the shop's flags has effect at once",
    inWorkshop(() =>
      Effect.gen(function* () {
        const cache = yield* ApiKeyCache
        const { shop_id, key } = yield* newKey()
        expect((yield* cache.holderOf(key, T))?.shop.api_enabled).toBe(true)
        yield* (yield* Shops).change(shop_id, shopPatch({ api_enabled: false, approved: false, active: false }))
        const shop = (yield* cache.holderOf(key, T))?.shop
        expect(shop).toMatchObject({ api_enabled: false, approved: false, active: false })
      })
    )
  )

  it(
    "a shop has at most five active keys, and revoking a key makes room for a new one",
    inWorkshop(() =>
      Effect.gen(function* () {
        const keys = yield* Keys
        const { shop_id, record } = yield* newKey()
        for (const name of ["2", "3", "4", "5"]) yield* keys.create(shop_id, keyInput(name))
        expect(yield* refusalOf(keys.create(shop_id, keyInput("6")))).toBe("TooManyKeys")
        yield* keys.revoke(record.id)
        expect(yield* refusalOf(keys.create(shop_id, keyInput("6")))).toBeNull()
        expect(yield* refusalOf(keys.create(shop_id, keyInput("7")))).toBe("TooManyKeys")
        expect((yield* (yield* Reads).keys(shop_id)).map(({ name }) => name)).toEqual(["Till", "2", "3", "4", "5", "6"])
      })
    )
  )

  it(
    "a second revocation keeps the first instant, and an unknown key is not found",
    inWorkshop((clock) =>
      Effect.gen(function* () {
        const keys = yield* Keys
        const { record, shop_id } = yield* newKey()
        const first = yield* keys.revoke(record.id)
        clock.advance(MINUTE_MS)
        expect(yield* keys.revoke(record.id)).toEqual(first)
        expect(yield* refusalOf(keys.revoke(shop_id as never))).toBe("KeyNotFound")
        expect(yield* refusalOf(keys.create(record.id as unknown as ShopId, keyInput("x")))).toBe("ShopNotFound")
      })
    )
  )
})

describe("The time for which a key is cached", () => {
  it(
    "a key is cached for thirty seconds, so that a revocation in another process has effect within a minute",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { key, record } = yield* newKey()
        const { ring: cache, looked: lookUps } = yield* observed()
        yield* cache.holderOf(key, T)
        yield* cache.holderOf(key, T + 30 * SECOND_MS - 1)
        expect(lookUps).toHaveLength(1)
        // The key is revoked through another node's cache, which does not notify this one.
        yield* (yield* Keys).revoke(record.id)
        expect(yield* cache.holderOf(key, T + 30 * SECOND_MS - 1)).not.toBeNull()
        expect(yield* cache.holderOf(key, T + 30 * SECOND_MS)).toBeNull()
        expect(lookUps).toHaveLength(2)
      })
    )
  )

  it(
    "a key is no longer cached after the clock steps back, because its age is unknown",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { key } = yield* newKey()
        const { ring: cache, looked: lookUps } = yield* observed()
        for (const now of [T, T, T - 1, T - 1]) expect(yield* cache.holderOf(key, now)).not.toBeNull()
        expect(lookUps).toHaveLength(2)
      })
    )
  )

  it(
    "unknown keys are not cached, so that a key that is created a moment later is valid at once",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { ring: cache, looked: lookUps } = yield* observed()
        const unknown = `wk_live_${"A".repeat(43)}`
        for (const _ of [1, 2, 3]) expect(yield* cache.holderOf(unknown, T)).toBeNull()
        expect(lookUps).toHaveLength(3)
        yield* cache.holderOf("no key at all", T)
        expect(lookUps).toHaveLength(3)
      })
    )
  )

  it(
    "a look-up that began before a revocation is not cached after it",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { key, record, shop_id } = yield* newKey()
        const gate = yield* Deferred.make<void>()
        const { ring: cache, looked: lookUps } = yield* observed(gate)
        const early = yield* Effect.fork(cache.holderOf(key, T))
        yield* until(
          "the key to be looked up",
          Effect.sync(() => lookUps.length),
          (count) => count === 1
        )
        expect(Option.isNone(yield* Fiber.poll(early))).toBe(true)
        yield* (yield* Keys).revoke(record.id)
        yield* cache.forget(shop_id)
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(early)
        expect(yield* cache.holderOf(key, T)).toBeNull()
      })
    )
  )
})

describe("Expiry and last use", () => {
  const expiring = Effect.fnUntraced(function* (expires_at: string) {
    const { shop_id } = yield* openShop()
    const input = Schema.decodeSync(KeyInput)({ name: "Fair", scopes: ["tickets:read"], expires_at })
    return yield* (yield* Keys).create(shop_id, input)
  })

  it(
    "an expired key has no holder, even if it was cached a moment before",
    inWorkshop(() =>
      Effect.gen(function* () {
        const cache = yield* ApiKeyCache
        const { key } = yield* expiring(new Date(T + 10 * SECOND_MS).toISOString())
        expect(yield* cache.holderOf(key, T)).not.toBeNull()
        expect(cache.cachedHolder(key, T + 10 * SECOND_MS - 1)).toBeDefined()
        expect(cache.cachedHolder(key, T + 10 * SECOND_MS)).toBeUndefined()
        expect(yield* cache.holderOf(key, T + 10 * SECOND_MS)).toBeNull()
      })
    )
  )

  /** A key cache whose writes of last uses are counted, and fail while `isAway`. */
  const counted = Effect.gen(function* () {
    const directory = yield* Directory
    const written: Array<ReadonlyArray<readonly [string, number]>> = []
    const state = { isAway: false, written }
    const countingDirectory = Layer.succeed(Directory, {
      ...directory,
      keysUsed: (uses) =>
        Effect.suspend(() => {
          written.push([...uses])
          return state.isAway ? Effect.fail(new StoreUnavailable({})) : directory.keysUsed(uses)
        })
    })
    const context = yield* Layer.build(Layer.fresh(ApiKeyCache.Default).pipe(Layer.provide(countingDirectory)))
    return { ring: yield* Effect.provide(ApiKeyCache, context), state }
  })

  const writes = (written: ReadonlyArray<unknown>, count: number) =>
    Effect.promise(() => vi.waitFor(() => expect(written).toHaveLength(count)))

  it(
    "the last use of a key is written at most once a minute, after the response, with several keys in one write",
    inWorkshop(() =>
      Effect.gen(function* () {
        const [one, two] = [yield* newKey(), yield* newKey()]
        const { ring: cache, state } = yield* counted
        const holders = yield* Effect.all([cache.holderOf(one.key, T), cache.holderOf(two.key, T)])
        expect([holders.every((holder) => holder !== null), state.written]).toEqual([true, []])
        yield* writes(state.written, 1)
        expect(state.written).toEqual([
          [
            [one.record.id, T],
            [two.record.id, T]
          ]
        ])
        for (let s = 0; s < 60; s++) yield* cache.holderOf(one.key, T + s * SECOND_MS)
        yield* cache.holderOf(one.key, T + MINUTE_MS)
        yield* writes(state.written, 2)
        expect(state.written.slice(1)).toEqual([[[one.record.id, T + MINUTE_MS]]])
        const keys = yield* (yield* Keys).list(one.shop_id)
        expect(keys.map(({ last_used_at }) => last_used_at)).toEqual([T + MINUTE_MS])
      }).pipe(Effect.scoped)
    )
  )

  it(
    "waiting uses are written when the service stops",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { key, record } = yield* newKey()
        const written = yield* Effect.scoped(
          Effect.gen(function* () {
            const { ring: cache, state } = yield* counted
            yield* cache.holderOf(key, T)
            return state.written
          })
        )
        expect(written).toEqual([[[record.id, T]]])
      })
    )
  )

  it(
    "a failed write of last uses is repeated with the next use, and refuses nobody",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { key, record } = yield* newKey()
        const { ring: cache, state } = yield* counted
        state.isAway = true
        expect(yield* cache.holderOf(key, T)).not.toBeNull()
        yield* writes(state.written, 1)
        state.isAway = false
        expect(yield* cache.holderOf(key, T + 1)).not.toBeNull()
        yield* writes(state.written, 2)
        expect(state.written).toEqual([[[record.id, T]], [[record.id, T + 1]]])
      }).pipe(Effect.scoped)
    )
  )
})
