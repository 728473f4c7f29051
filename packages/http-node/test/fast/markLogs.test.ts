import { Effect, FiberRef, HashMap } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { markLogs } from "../../src/fast/markLogs.js"

const annotations = Effect.map(FiberRef.get(FiberRef.currentLogAnnotations), (map) => [...HashMap.entries(map)].sort())

describe("the request id in the log lines of a request (Specification, Logs)", () => {
  it("markLogs adds the annotation that Effect.annotateLogs would add, and keeps the others", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.dictionary(fc.string(), fc.string()), async (request_id, others) => {
        const marked = Effect.withFiberRuntime<ReadonlyArray<unknown>>((fiber) => {
          markLogs(fiber, request_id)
          return annotations
        })
        const plain = Effect.annotateLogs(annotations, "request_id", request_id)
        const run = <A>(effect: Effect.Effect<A>) => Effect.runPromise(Effect.annotateLogs(effect, others))
        expect(await run(marked)).toEqual(await run(plain))
      }),
      { seed: 1127, numRuns: 200 }
    )
  })

  it("the annotation of one request does not reach another fiber", async () => {
    const mark = (id: string) =>
      Effect.fork(
        Effect.withFiberRuntime<void>((fiber) => {
          markLogs(fiber, id)
          return Effect.void
        })
      )
    await Effect.runPromise(
      Effect.gen(function* () {
        yield* Effect.flatMap(mark("a"), (fiber) => fiber.await)
        expect(yield* annotations).toEqual([])
      })
    )
  })
})
