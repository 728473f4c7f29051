import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Option } from "effect"
import { expect, it } from "vitest"
import { Closer, Dispatcher, Entropy, NotificationSender, ProfanityFilter, Workshop } from "../../src/index.js"
import { observedStore } from "../../src/services/CommittedEvents.js"
import { Tickets } from "../../src/services/Tickets.js"
import { ticketInput } from "../../src/testing/Fixtures.js"
import { openShop } from "./WorkshopFixture.js"

const ports = MemoryStore.layer.pipe(Layer.provideMerge(Entropy.layer))

it("traced puts a span around each method, with the method's name", async () => {
  const spans: Array<string> = []
  const filter = Layer.succeed(ProfanityFilter, {
    find: () =>
      Effect.map(Effect.option(Effect.currentSpan), (span) => {
        spans.push(Option.match(span, { onNone: () => "none", onSome: ({ name }) => name }))
        return []
      })
  })
  const create = Effect.gen(function* () {
    const caller = yield* openShop()
    return (yield* (yield* Tickets).create(caller, ticketInput())).data.number
  })
  for (const services of [Workshop.layer, Layer.provideMerge(Workshop.traced, Workshop.layer)]) {
    const all = services.pipe(Layer.provideMerge(Layer.merge(filter, ports)))
    expect(await Effect.runPromise(Effect.provide(create, all) as Effect.Effect<number>)).toBe(1)
  }
  expect(spans).toEqual(["none", "Tickets.create"])
})

it("traced covers every service of the layer that a program calls", async () => {
  const all = Workshop.layer.pipe(
    Layer.provide(Layer.merge(Layer.succeed(ProfanityFilter, { find: () => Effect.succeed([]) }), ports))
  )
  const tagsOf = <A>(layer: Layer.Layer<A>) =>
    Effect.runPromise(
      Effect.scoped(Effect.map(Layer.build(layer), ({ unsafeMap }) => [...unsafeMap.keys()].toSorted()))
    )
  const traced = await tagsOf(Layer.provide(Workshop.traced, all))
  expect(traced.length).toBeGreaterThan(10)
  // The span of `Closer.run` would never end, a mount looks keys up before it calls a service, and
  // the other methods are not acts.
  const untraced = [
    "ApiKeyCache",
    "BackgroundFailure/Logged",
    "CachedRateLimits",
    "ClockComparison",
    "Closer",
    "CommittedChanges",
    "CommittedEvents",
    "Store"
  ].map((name) => `@workshop/core/${name}`)
  expect([...traced, ...untraced].toSorted()).toEqual(await tagsOf(all))
})

it("background runs the closer, the dispatcher and the sender of notifications, and ends them with its scope", async () => {
  const spanNames: Array<string> = []
  const noting = (name: string) => ({
    run: Effect.zipRight(
      Effect.sync(() => spanNames.push(name)),
      Effect.never
    )
  })
  const works = Layer.mergeAll(
    Layer.succeed(Closer, noting("closer") as never),
    Layer.succeed(Dispatcher, noting("dispatcher") as never),
    Layer.succeed(NotificationSender, noting("sender") as never),
    Layer.provideMerge(observedStore, ports)
  )
  await Effect.runPromise(
    Effect.scoped(Effect.zipRight(Layer.build(Layer.provide(Workshop.background, works)), Effect.yieldNow()))
  )
  expect(spanNames.toSorted()).toEqual(["closer", "dispatcher", "sender"])
})
