import { Entropy } from "@workshop/core"
import { Closures, Directory, RateLimits } from "@workshop/core/store"
import { runContract, SettableClock, TEST_START } from "@workshop/core/testing"
import { layer } from "@workshop/store-memory"
import { Effect, Exit, Layer } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { createTicket } from "../../core/src/decisions/createTicket.js"
import { openShop, runCommand, ticketInput } from "../../core/src/testing/Fixtures.js"

runContract({ describe, it, afterAll }, "The memory store", layer)

const NEW = { via: "api", foundWords: [] } as const

describe("Behaviour that only the memory store has", () => {
  it("two memory layers share no data", async () => {
    const clock = new SettableClock()
    const opened = openShop().pipe(Effect.tap(({ id }) => runCommand(createTicket(id, ticketInput(), NEW))))
    const alone = (seed: number) => Layer.fresh(layer).pipe(Layer.provideMerge(Entropy.layerSeeded(seed)))
    const [first, second] = await Effect.runPromise(
      Effect.all([
        Effect.provide(opened, alone(1)),
        Effect.provide(
          Effect.flatMap(Closures, (closures) => closures.due(Number.MAX_SAFE_INTEGER, 9)),
          alone(2)
        )
      ]).pipe(Effect.withClock(clock))
    )
    expect(first.name).toBe("Atelier Lac")
    expect(second).toEqual([])
  })

  it("a command whose random tracking code is taken at every attempt dies and does not loop forever", async () => {
    const clock = new SettableClock()
    const stuck = Layer.succeed(Entropy, { bytes: (n) => new Uint8Array(n) })
    const exit = await Effect.gen(function* () {
      const shop = yield* openShop()
      yield* runCommand(createTicket(shop.id, ticketInput(), NEW))
      clock.advance(1)
      return yield* Effect.exit(runCommand(createTicket(shop.id, ticketInput(), NEW)))
    }).pipe(Effect.provide(Layer.provideMerge(layer, stuck)), Effect.withClock(clock), Effect.runPromise)
    expect(Exit.isFailure(exit) && exit.cause._tag).toBe("Die")
  })

  it("a rate-limit window is removed once it has expired, and the next window counts from 0", async () => {
    const left = await Effect.gen(function* () {
      const { take } = yield* RateLimits
      const use = (subject: string, at: number) =>
        Effect.map(
          take([{ policy: "writes_per_minute", subject, time_zone: null }], at),
          ([limitStatus]) => limitStatus?.remaining
        )
      const statuses = [yield* use("a", TEST_START), yield* use("a", TEST_START + 1)]
      return [...statuses, yield* use("b", TEST_START + 200_000), yield* use("a", TEST_START + 200_001)]
    }).pipe(Effect.provide(Layer.provideMerge(layer, Entropy.layerSeeded(1))), Effect.runPromise)
    expect(left).toEqual([29, 28, 29, 29])
  })

  it("the memory store's directory returns synchronously", () => {
    const account = Effect.flatMap(Directory, (directory) => directory.account("nobody" as never))
    const here = Effect.provide(account, Layer.provideMerge(layer, Entropy.layerSeeded(1)))
    expect(Effect.runSync(here)).toBeNull()
  })
})
