import { createHmac } from "node:crypto"
import { Context, Effect, Fiber, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { startReplay } from "../../src/decisions/replayDeliveries.js"
import { rotateSecret } from "../../src/decisions/webhookSettings.js"
import { LAST_INSTANT } from "../../src/domain/Instant.js"
import { Deliveries } from "../../src/ports/StorePorts.js"
import { Dispatcher } from "../../src/services/background/Dispatcher.js"
import { runCommand } from "../../src/testing/Fixtures.js"
import { TEST_START } from "../../src/testing/SettableClock.js"
import { statusResult } from "../../src/testing/TestDispatcher.js"
import { DAY, HOUR, MINUTE } from "../decisions/fixtures.js"
import {
  type Around,
  type Bench,
  eventIds,
  logOf,
  openShopWithWebhook,
  raise,
  turnOfLoop,
  until,
  withDispatcher
} from "./DispatcherFixture.js"

/** Runs due deliveries and moves the clock to the next due instant, until none is left. */
const toTheEnd = ({ clock }: Bench) =>
  Effect.gen(function* () {
    const { runOnce, next } = yield* Dispatcher
    for (let due: number | null = 0; due !== null; due = yield* next(LAST_INSTANT)) {
      clock.set(Math.max(due, clock.unsafeCurrentTimeMillis()))
      yield* runOnce
    }
  })

const v1 = (secret: string, t: number, body: string) =>
  createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")

describe("Specification, Webhooks: delivery", () => {
  it(
    "an event is sent at once, then 1 min, 5 min, 30 min, 2 h, 6 h, 12 h and 24 h after the end of each failure, and then given up",
    withDispatcher((bench) =>
      Effect.gen(function* () {
        const { sender, clock } = bench
        const shop = yield* openShopWithWebhook
        yield* raise(shop, null)
        sender.script = () =>
          Effect.as(
            Effect.sync(() => clock.advance(3000)),
            statusResult(503)
          )
        yield* toTheEnd(bench)
        const delays = [1, 5, 30, 120, 360, 720, 1440].map((minutes) => minutes * MINUTE + 3000)
        const instants = [TEST_START]
        for (const delay of delays) instants.push(instants.at(-1)! + delay)
        expect(sender.arrived.map(({ at }) => at)).toEqual(instants)
        expect((yield* logOf(shop))[0]).toMatchObject({ state: "dead", next_attempt_at: null })
      })
    )
  )

  it(
    "each attempt has the same id and the same bytes, and a new signature",
    withDispatcher((bench) =>
      Effect.gen(function* () {
        const { sender } = bench
        yield* raise(yield* openShopWithWebhook, null)
        sender.script = ({ nth }) => Effect.succeed(statusResult(nth < 4 ? 500 : 200))
        yield* toTheEnd(bench)
        expect(sender.arrived).toHaveLength(4)
        expect(new Set(sender.arrived.map(({ body }) => body)).size).toBe(1)
        for (const { headers, body, at, url } of sender.arrived) {
          const t = Math.floor(at / 1000)
          expect(headers).toEqual({ "Service-Signature": `t=${t},v1=${v1("whsec_1", t, body)}` })
          expect(url).toBe("https://shop.example/hook")
        }
        expect(new Set(sender.arrived.map(({ headers }) => headers["Service-Signature"])).size).toBe(4)
      })
    )
  )

  it(
    "for 24 hours after a rotation the configured header has two v1 signatures, the new one first, and then one",
    withDispatcher(
      (bench) =>
        Effect.gen(function* () {
          const { sender, clock } = bench
          const shop = yield* openShopWithWebhook
          yield* runCommand(rotateSecret(shop, "whsec_2"))
          for (const wait of [0, DAY - 1, 1]) {
            clock.advance(wait)
            yield* raise(shop, null)
            yield* (yield* Dispatcher).runOnce
          }
          const signed = sender.arrived.map(({ headers, body, at }) => {
            const t = Math.floor(at / 1000)
            const names: Record<string, string> = { [v1("whsec_1", t, body)]: "old", [v1("whsec_2", t, body)]: "new" }
            return headers["X-Signed"]!.split(",").map((part) => names[part.slice(3)] ?? part)
          })
          const t = (ms: number) => `t=${Math.floor((TEST_START + ms) / 1000)}`
          expect(signed).toEqual([
            [t(0), "new", "old"],
            [t(DAY - 1), "new", "old"],
            [t(DAY), "new"]
          ])
        }),
      { signatureHeader: "X-Signed" }
    )
  )

  it.each(["X Signed", "", "Content-Type"])(
    "%j is refused as the name of the signature's header before anything is sent",
    (name) =>
      expect(withDispatcher(() => Effect.void, { signatureHeader: name })()).rejects.toThrow(
        "The option signatureHeader of the dispatcher must be a header name that HTTP does not use itself, such as Service-Signature"
      )
  )

  it(
    "jitter makes retries later and never earlier (Specification, Webhooks)",
    withDispatcher(
      ({ sender }) =>
        Effect.gen(function* () {
          const shop = yield* openShopWithWebhook
          yield* raise(shop, ...Array(40).fill(null))
          sender.script = () => Effect.succeed(statusResult(500))
          yield* (yield* Dispatcher).runOnce
          const dues = (yield* logOf(shop)).map(({ next_attempt_at }) => next_attempt_at! - TEST_START - MINUTE)
          expect(Math.min(...dues)).toBeGreaterThanOrEqual(0)
          expect(Math.max(...dues)).toBeLessThanOrEqual(6000)
          expect(new Set(dues).size).toBeGreaterThan(20)
        }),
      { isJittered: true }
    )
  )
})

describe("Specification, Webhooks: the order of deliveries, and the number in flight", () => {
  it(
    "events of a ticket are sent in order, one at a time, and a shop has at most four requests in flight",
    withDispatcher((bench) =>
      Effect.gen(function* () {
        const { sender } = bench
        const shops = [yield* openShopWithWebhook, yield* openShopWithWebhook]
        for (const shop of shops) yield* raise(shop, ...Array.from({ length: 120 }, (_, i) => (i * i) % 7))
        const flying = new Map<string, number>()
        let mostFlying = 0
        sender.script = ({ shop_id, nth, id }) =>
          Effect.gen(function* () {
            const now = (flying.get(shop_id) ?? 0) + 1
            flying.set(shop_id, now)
            mostFlying = Math.max(mostFlying, now)
            for (let i = id.charCodeAt(12) % 4; i >= 0; i--) yield* turnOfLoop
            flying.set(shop_id, flying.get(shop_id)! - 1)
            return statusResult(nth === 1 && id.endsWith("3") ? 500 : 200)
          })
        yield* toTheEnd(bench)
        expect(mostFlying).toBe(4)
        for (const shop of shops) {
          const ids = yield* eventIds(shop)
          for (let ticket = 0; ticket < 7; ticket++) {
            const expected = ids.filter((_, i) => (i * i) % 7 === ticket)
            expect(
              sender.arrived.filter(({ id, nth }) => nth === 1 && expected.includes(id as never)).map(({ id }) => id)
            ).toEqual(expected)
          }
          expect((yield* logOf(shop)).every(({ state }) => state === "delivered")).toBe(true)
        }
      })
    )
  )

  /** Records how many deliveries each claim asks for, and delays the claim like a store over the network. */
  const slowClaims = (sizes: Array<number>): Around =>
    Layer.effectContext(
      Effect.map(Effect.context<Deliveries>(), (context) => {
        const deliveries = Context.get(context, Deliveries)
        return Context.make(Deliveries, {
          ...deliveries,
          claim: (now, max) =>
            Effect.gen(function* () {
              sizes.push(max)
              const claims = yield* deliveries.claim(now, max)
              yield* turnOfLoop
              return claims
            })
        })
      })
    ) as unknown as Around

  const sizes: Array<number> = []
  it(
    "a dispatcher with many due deliveries never claims more than it has free slots, and delivers all of them",
    withDispatcher(
      ({ sender }) =>
        Effect.gen(function* () {
          const shops = yield* Effect.replicateEffect(openShopWithWebhook, 20)
          for (const shop of shops) yield* raise(shop, ...Array(150).fill(null))
          const { run: delivering, runOnce } = yield* Dispatcher
          sender.script = () => Effect.as(turnOfLoop, statusResult(200))
          const background = yield* Effect.fork(delivering)
          yield* Effect.all([runOnce, runOnce], { concurrency: "unbounded" })
          yield* until("all have arrived", () => sender.arrived.length === 3000)
          expect(sender.most_flying).toBe(32)
          expect(Math.max(...sizes)).toBeLessThanOrEqual(32)
          yield* Fiber.interrupt(background)
        }),
      { maxInFlight: 32 },
      slowClaims(sizes)
    ),
    20_000
  )

  it(
    "at most 256 requests are in flight by default, and those that hang do not delay other shops",
    withDispatcher(({ sender, clock }) =>
      Effect.gen(function* () {
        const hanging = yield* Effect.replicateEffect(openShopWithWebhook, 80)
        for (const shop of hanging) yield* raise(shop, null, null, null, null)
        sender.script = () => Effect.never
        const background = yield* Effect.fork((yield* Dispatcher).run)
        yield* until("256 hang", () => sender.flying === 256)
        for (let i = 0; i < 50; i++) yield* turnOfLoop
        expect(sender.most_flying).toBe(256)
        clock.endGrace()
        yield* Fiber.interrupt(background)
      })
    )
  )

  it(
    "a shop whose receiver hangs delays only its own deliveries (Specification, Webhooks)",
    withDispatcher(({ sender, clock }) =>
      Effect.gen(function* () {
        const [hanging, well] = [yield* openShopWithWebhook, yield* openShopWithWebhook]
        for (const n of [4000, 4000, 2000]) yield* raise(hanging, ...Array(n).fill(null))
        yield* raise(well, ...Array(300).fill(null))
        sender.script = ({ shop_id }) => (shop_id === hanging ? Effect.never : Effect.succeed(statusResult(200)))
        const background = yield* Effect.fork((yield* Dispatcher).run)
        const of = (shop: string) => sender.arrived.filter(({ shop_id }) => shop_id === shop).length
        yield* until("the healthy shop has everything", () => of(well) === 300)
        expect(of(hanging)).toBe(4)
        clock.endGrace()
        yield* Fiber.interrupt(background)
      })
    )
  )
})

/** A store whose claims return long after they read the queue. */
const answeringLate = Layer.effectContext(
  Effect.map(Effect.context<Deliveries>(), (context) => {
    const deliveries = Context.get(context, Deliveries)
    const wait = Effect.repeatN(turnOfLoop, 9)
    return Context.make(Deliveries, {
      ...deliveries,
      claim: (now, max) => Effect.zipLeft(deliveries.claim(now, max), wait)
    })
  })
) as unknown as Around

describe("runOnce", () => {
  it(
    "runOnce sends each due delivery, including those of an open replay, and returns the number that arrived",
    withDispatcher(({ sender }) =>
      Effect.gen(function* () {
        const shop = yield* openShopWithWebhook
        yield* raise(shop, ...Array(700).fill(1))
        const { runOnce } = yield* Dispatcher
        expect(yield* runOnce).toBe(700)
        expect(yield* runOnce).toBe(0)
        yield* runCommand(startReplay(shop, {}))
        yield* runOnce
        expect(sender.arrived).toHaveLength(1400)
      })
    )
  )

  it(
    "runOnce misses no delivery that becomes claimable while a claim is running",
    withDispatcher(
      ({ sender }) =>
        Effect.gen(function* () {
          yield* raise(yield* openShopWithWebhook, ...Array(20).fill(null))
          sender.script = () => Effect.as(turnOfLoop, statusResult(200))
          expect(yield* (yield* Dispatcher).runOnce).toBe(20)
        }),
      {},
      answeringLate
    )
  )

  it(
    "runOnce takes over the claims of a process that crashed (docs/how-it-is-built.md)",
    withDispatcher(({ sender, clock }) =>
      Effect.gen(function* () {
        yield* raise(yield* openShopWithWebhook, null, null)
        yield* (yield* Deliveries).claim(TEST_START, 9)
        const { runOnce } = yield* Dispatcher
        expect(yield* runOnce).toBe(0)
        clock.advance(15_000)
        expect(yield* runOnce).toBe(2)
        expect(sender.arrived).toHaveLength(2)
      })
    )
  )
})

describe("a receiver that is unavailable", () => {
  it(
    "a receiver that is unavailable for a day gets every event",
    withDispatcher((bench) =>
      Effect.gen(function* () {
        const { sender, clock } = bench
        const shop = yield* openShopWithWebhook
        sender.script = ({ at }) => Effect.succeed(statusResult(at < TEST_START + 20 * HOUR ? 502 : 200))
        for (let hour = 0; hour < 10; hour++) {
          yield* raise(shop, hour % 3, null)
          yield* (yield* Dispatcher).runOnce
          clock.advance(HOUR)
        }
        yield* toTheEnd(bench)
        expect((yield* logOf(shop)).map(({ state }) => state)).toEqual(Array(20).fill("delivered"))
      })
    )
  )
})
