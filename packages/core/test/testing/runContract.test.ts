import { Closures } from "@workshop/core/store"
import { runContract, storeContract, type TestRunner } from "@workshop/core/testing"
import { layer } from "@workshop/store-memory"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"

/** A runner that records its tests and runs none. */
const recorder = () => {
  const tests = new Map<string, () => Promise<void>>()
  const ends: Array<() => Promise<void>> = []
  const subjects: Array<string> = []
  const runner: TestRunner = {
    describe: (name, body) => {
      subjects.push(name)
      body()
      subjects.pop()
    },
    it: (name, body) => void tests.set([...subjects, name].join(" > "), body),
    afterAll: (body) => void ends.push(body)
  }
  return { runner, tests, ends }
}

const CASE =
  "A store keeps the store contract (seed 1) > Closures > a ticket is due for closure exactly sixty days after its creation"

it("the store contract runs with any test runner that has describe, it and afterAll", async () => {
  const { runner, tests, ends } = recorder()
  let closed = 0
  const closing = Layer.scopedDiscard(Effect.addFinalizer(() => Effect.sync(() => closed++)))
  runContract(runner, "A store", Layer.merge(layer, closing))
  expect(tests.size).toBe(Object.values(storeContract).flat().length)
  await tests.get(CASE)!()
  expect(closed).toBe(0)
  for (const end of ends) await end()
  expect(closed).toBe(1)
})

it("a case that the store does not satisfy fails with the expected result", async () => {
  const { runner, tests, ends } = recorder()
  const deaf = layer.pipe(Layer.merge(Layer.succeed(Closures, { due: () => Effect.succeed([]) })))
  runContract(runner, "A store", deaf)
  await expect(tests.get(CASE)!()).rejects.toThrow(/then\n {2}expected \[\{due_at: \d+, id: .*\n {2}but got {2}\[\]/)
  for (const end of ends) await end()
})
