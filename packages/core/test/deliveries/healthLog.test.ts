import { layer as memoryStore } from "@workshop/store-memory"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { Entropy } from "../../src/ports/Entropy.js"
import { SettableClock } from "../../src/testing/SettableClock.js"
import { healthLines, healthStory } from "./HealthStory.js"

it("the log has one line when deliveries to a webhook begin to fail, and one when they succeed again, even after a restart", () =>
  Effect.gen(function* () {
    const store = yield* Layer.build(Layer.provideMerge(memoryStore, Entropy.layerSeeded(1)))
    const story = yield* healthStory(store)
    expect(story).toEqual(healthLines(story.shop))
  }).pipe(Effect.scoped, Effect.withClock(new SettableClock()), Effect.runPromise))
