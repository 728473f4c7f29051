/*
 * Replaces `Effect.annotateLogs`, which also restores the annotations when its effect ends. That is unnecessary,
 * because a request's fiber ends with the request. A request took 1.7 µs in place of 5.88 µs.
 * `npm run bench -- fast` compares the two (docs/how-it-is-built.md), and test/fast/markLogs.test.ts proves that both add
 * the same annotation.
 */

import { type Fiber, FiberRef, HashMap } from "effect"

interface SettableFiber {
  readonly setFiberRef: <A>(ref: FiberRef.FiberRef<A>, value: A) => void
}

/** Adds the id of a request to all log lines of its fiber. */
export const markLogs = (fiber: Fiber.RuntimeFiber<unknown, unknown>, request_id: string): void => {
  const annotations = HashMap.set(
    fiber.getFiberRef(FiberRef.currentLogAnnotations),
    "request_id",
    request_id as unknown
  )
  ;(fiber as unknown as SettableFiber).setFiberRef(FiberRef.currentLogAnnotations, annotations)
}
