import { parseArgs } from "node:util"
import { TicketInput } from "@workshop/core"
import { Effect, ParseResult, Schema } from "effect"
import { isoText } from "../../../packages/core/dist/fast/isoText.js"
import { quickReader } from "../../../packages/core/dist/fast/QuickReader.js"
import { markLogs } from "../../../packages/http-node/dist/fast/markLogs.js"
import { SHOPS, ticketBody } from "../http/World.js"

const ROUNDS = 15
const TIMES = 10_000

/** The processor time of one call, in microseconds: the least of several rounds, so that other work on the machine counts little. */
const costOf = (work: (n: number) => unknown): number => {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    for (let n = 0; n < TIMES; n++) work(n)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / TIMES)
  }
  return least
}

const bodies = Array.from({ length: SHOPS }, (_, n) => JSON.parse(ticketBody(n)) as unknown)
const bySchema = ParseResult.decodeUnknownEither(TicketInput, { errors: "all", onExcessProperty: "error" })
const byReader = quickReader(TicketInput, true)!
const body = (n: number) => bodies[n % bodies.length]

const INSTANT = Date.UTC(2026, 10, 20)

const answer = Effect.succeed(0)
const marked = Effect.withFiberRuntime<number>((fiber) => {
  markLogs(fiber, "0123456789abcdef01234567")
  return answer
})
const annotated = Effect.annotateLogs(answer, "request_id", "0123456789abcdef01234567")

/** The cost of the code in the folders named `fast`, beside the plain way to do the same. */
const rows = () => [
  {
    file: "core/src/fast/QuickReader.ts",
    does: "reads the body of a create",
    fast: costOf((n) => byReader(body(n))),
    plain: costOf((n) => bySchema(body(n)))
  },
  {
    file: "core/src/fast/isoText.ts",
    does: "writes an instant",
    fast: costOf((n) => isoText(INSTANT + n)),
    plain: costOf((n) => new Date(INSTANT + n).toISOString())
  },
  {
    file: "http-node/src/fast/markLogs.ts",
    does: "marks a request's log lines",
    fast: costOf(() => Effect.runSync(marked)),
    plain: costOf(() => Effect.runSync(annotated))
  }
]

/** Measures what the code that exists only for speed saves. Each must give what the plain way gives. */
export const measureFast = async (args: ReadonlyArray<string>): Promise<boolean> => {
  parseArgs({ args: [...args], options: {} })
  const isAlike =
    isoText(INSTANT) === new Date(INSTANT).toISOString() && Schema.is(Schema.typeSchema(TicketInput))(byReader(body(0)))
  const shown = rows().map(({ fast, plain, ...row }) => ({
    ...row,
    µs: Number(fast.toFixed(2)),
    "µs, the plain way": Number(plain.toFixed(2))
  }))
  console.table(shown)
  return isAlike
}
