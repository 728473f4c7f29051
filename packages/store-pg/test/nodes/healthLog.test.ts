import { Effect } from "effect"
import { expect, it } from "vitest"
import { healthLines, healthStory } from "../../../core/test/deliveries/HealthStory.js"
import { database, node, runTest } from "./Node.js"

it(
  "two dispatchers on Postgres log one line when deliveries to a webhook begin to fail, and one when they succeed again",
  {
    timeout: 30_000
  },
  () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* database
        const story = yield* healthStory(yield* node({ url }))
        expect(story).toEqual(healthLines(story.shop))
      })
    )
)
