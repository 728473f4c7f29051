import { TicketInput } from "@workshop/core"
import { Effect, ParseResult } from "effect"
import { isoText } from "../../../packages/core/dist/fast/isoText.js"
import { pooledBytes } from "../../../packages/core/dist/fast/pooledBytes.js"
import { quickReader } from "../../../packages/core/dist/fast/QuickReader.js"
import { markLogs } from "../../../packages/http-node/dist/fast/markLogs.js"
import { SHOPS, ticketBody } from "../http/Workload.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import { costOf } from "./costOf.js"

const bodies = Array.from({ length: SHOPS }, (_, n) => JSON.parse(ticketBody(n)) as unknown)
const bySchema = ParseResult.decodeUnknownEither(TicketInput, { errors: "all", onExcessProperty: "error" })
const byReader = quickReader(TicketInput, true)!
const body = (n: number) => bodies[n % bodies.length]

const INSTANT = Date.UTC(2026, 10, 20)

const response = Effect.succeed(0)
const marked = Effect.withFiberRuntime<number>((fiber) => {
  markLogs(fiber, "0123456789abcdef01234567")
  return response
})
const annotated = Effect.annotateLogs(response, "request_id", "0123456789abcdef01234567")

const draw = pooledBytes()
const REQUEST_ID_BYTES = 12

const row = (work: string, quick: (n: number) => unknown, plain: (n: number) => unknown): Row => {
  const [ours, peer] = [roundTo(costOf(quick)), roundTo(costOf(plain))]
  return { work, unit: "µs", ours, peer, peer_is: "the plain way", ratio: roundTo(ours / peer), target: { at_most: 1 } }
}

/** Compares the cost of the code in the folders named `fast` with the plain way to do the same. */
export const fast = benchmark({
  about: "the code that exists only for speed, beside the plain way to do the same",
  options: {},
  args: { usual: [], quick: [] },
  run: async () => ({
    rows: [
      row(
        "core/src/fast/QuickReader.ts: the body of a create",
        (n) => byReader(body(n)),
        (n) => bySchema(body(n))
      ),
      row(
        "core/src/fast/isoText.ts: an instant",
        (n) => isoText(INSTANT + n),
        (n) => new Date(INSTANT + n).toISOString()
      ),
      row(
        "http-node/src/fast/markLogs.ts: a request",
        () => Effect.runSync(marked),
        () => Effect.runSync(annotated)
      ),
      row(
        "core/src/fast/pooledBytes.ts: the id of a request",
        () => draw(REQUEST_ID_BYTES),
        () => crypto.getRandomValues(new Uint8Array(REQUEST_ID_BYTES))
      )
    ]
  })
})
