import { Effect, Exit, Fiber, Scope } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { batchLoop } from "../../src/commands/BatchLoop.js"
import { drainInput } from "../../src/fast/drainInput.js"

const endOfTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The batches of commands that arrive in several turns of the event loop. */
const batchesOf = async (turns: ReadonlyArray<ReadonlyArray<number>>) => {
  const scope = Effect.runSync(Scope.make())
  const batches: Array<ReadonlyArray<number>> = []
  let waiting: Array<number> = []
  const runBatch = Effect.sync(() => {
    batches.push(waiting)
    waiting = []
  })
  const loop = await Effect.runPromise(
    Scope.extend(batchLoop({ hasWaiting: () => waiting.length > 0, runBatch, close: () => undefined }), scope)
  )
  for (const commands of turns) {
    for (const command of commands) {
      waiting.push(command)
      loop.wake()
      // Lets the loop's fiber run between two requests of a turn, as it can while the process reads its sockets.
      await Promise.resolve()
    }
    await endOfTurn()
  }
  while (waiting.length > 0) await endOfTurn()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  return batches
}

const turns = fc.array(fc.array(fc.nat({ max: 99 }), { minLength: 1, maxLength: 5 }), { maxLength: 6 })

describe("drainInput delays a batch and changes nothing else", () => {
  it("the batches contain every command once, in the order of arrival, and no batch splits a turn", () =>
    fc.assert(
      fc.asyncProperty(turns, async (arrivals) => {
        const batches = await batchesOf(arrivals)
        expect(batches.flat()).toEqual(arrivals.flat())
        expect(batches.length).toBeLessThanOrEqual(arrivals.length)
      }),
      { seed: 1127, numRuns: 100 }
    ))

  it("an interruption ends the wait", async () => {
    const fiber = Effect.runFork(drainInput)
    expect(Exit.isInterrupted(await Effect.runPromise(Fiber.interrupt(fiber)))).toBe(true)
  })
})
