import { ApiKeyCache, Entropy, TicketInput, Tickets } from "@workshop/core"
import { pipeline, workshopRoutes } from "@workshop/core/http"
import { HOUR_MS, RateLimits } from "@workshop/core/store"
import { SettableClock } from "@workshop/core/testing"
import { Effect, Layer, ParseResult, Runtime, Schema } from "effect"
import { quickReader } from "../../../packages/core/dist/fast/QuickReader.js"
import type { HttpRequest } from "../../../packages/core/dist/http/HttpMessage.js"
import { respond } from "../../../packages/core/dist/http/respond.js"
import { costOf } from "../fast/costOf.js"
import { MEASURED, WARM_UP } from "../http/compareHttp.js"
import { type Work, withAutocannon } from "../http/Load.js"
import { memoryService, openShop } from "../http/MemoryService.js"
import { Lap, type ServerName, sharesDuring, start, stop } from "../http/Server.js"
import { KEYS_PER_SHOP, key, ticketBody } from "../http/Workload.js"
import { median } from "../Median.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"

/** The number of shops, with which the limits allow a round of creates. The clock moves between two rounds. */
const SHOPS = 100
const CREATES = 2_000

const row = (work: string, ours: number): Row => ({ work, unit: "µs", ours: roundTo(ours) })

const encoder = new TextEncoder()

/** A request as the server passes it to the pipeline. */
const requestOf = (method: Work, n: number, ticket_id: string): HttpRequest => {
  const shop = n % SHOPS
  const headers: Readonly<Record<string, string>> = {
    authorization: `Bearer ${key(shop + SHOPS * (n % KEYS_PER_SHOP))}`,
    "content-type": "application/json",
    ...(method === "POST" && { "idempotency-key": `order-${n}` })
  }
  const body = encoder.encode(method === "POST" ? ticketBody(n) : "")
  return {
    method,
    path: method === "POST" ? "/v1/tickets" : `/v1/tickets/${ticket_id}`,
    query: "",
    header: (name) => headers[name],
    repeats: () => false,
    address: "127.0.0.1",
    body: () => Effect.succeed(body)
  }
}

const bySchema = ParseResult.decodeUnknownEither(TicketInput, { errors: "all", onExcessProperty: "error" })
const byReader = quickReader(TicketInput, true)!

/** Measures the parts of a request within the process, in microseconds of processor time. */
const inProcess = Effect.gen(function* () {
  const clock = new SettableClock()
  const services = Layer.provideMerge(memoryService(Entropy.layerSeeded(1)), clock.layer)
  const runtime = yield* Layer.toRuntime(services)
  const run = Runtime.runSync(runtime)

  const input = Schema.decodeSync(Schema.parseJson(TicketInput))(ticketBody(0))
  const tickets = yield* Effect.provide(Tickets, runtime)
  const shops = yield* Effect.provide(
    Effect.forEach(
      Array.from({ length: SHOPS }, (_, n) => n),
      Effect.fnUntraced(function* (n) {
        const caller = yield* openShop(n, SHOPS)
        return { caller, ticket: (yield* tickets.create(caller, input)).data }
      })
    ),
    runtime
  )
  const group = yield* Effect.provide(workshopRoutes({ validateResponses: false }), runtime)
  const response = yield* Effect.provide(pipeline([group]), runtime)
  const limits = yield* Effect.provide(RateLimits, runtime)
  const keys = yield* Effect.provide(ApiKeyCache, runtime)

  const { caller, ticket } = shops[0]!
  const now = clock.unsafeCurrentTimeMillis()
  const context = { id: "0123456789abcdef01234567", now, route: "/v1/tickets/:id", caller, limitStatuses: [] }
  const text = ticketBody(0)
  const body = JSON.parse(text) as unknown
  const take = (n: number) =>
    limits.take([{ policy: "requests_per_minute", subject: `k${n % 10_000}`, time_zone: null }], now + n)
  const onward = { times: CREATES, between: () => clock.advance(HOUR_MS) }
  const expectStatus = (expected: number) => (n: number) => {
    const { status } = run(
      response(requestOf(expected === 200 ? "GET" : "POST", count + n, shops[n % SHOPS]!.ticket.id))
    )
    if (status !== expected) throw new Error(`A request got the status ${status} instead of ${expected}`)
  }
  let count = 0
  clock.advance(HOUR_MS)
  const bodies = Array.from({ length: CREATES }, (_, n) => JSON.parse(ticketBody(n)) as unknown)
  const reading = coldAndWarm(CREATES, expectStatus(201), (n) => byReader(bodies[n]))
  count += CREATES
  clock.advance(HOUR_MS)

  return [
    row(
      "a fiber that ends at once",
      costOf(() => run(NOTHING))
    ),
    row(
      "ten steps of Effect.gen",
      costOf(() => run(TEN_STEPS))
    ),
    row(
      "the route of a path",
      costOf(() => group.find!("GET", `/v1/tickets/${ticket.id}`))
    ),
    row(
      "the holder of a known key",
      costOf(() => keys.cachedHolder(key(0), now))
    ),
    row(
      "one limit counted, memory store",
      costOf((n) => run(take(n)))
    ),
    row(
      "the body of a create, parsed as JSON",
      costOf(() => JSON.parse(text))
    ),
    row(
      "the same, read by its schema",
      costOf(() => bySchema(body))
    ),
    row(
      "the same, read by core/src/fast",
      costOf(() => byReader(body))
    ),
    row("the same, right after a whole POST", reading.cold),
    row("the same once more at once", reading.warm),
    row(
      "the envelope and headers of a ticket",
      costOf(() => respond({ data: ticket }, context))
    ),
    row(
      "Tickets.create, memory store",
      costOf((n) => run(tickets.create(shops[n % SHOPS]!.caller, input, `key-${count++}` as never)), onward)
    ),
    row(
      "GET in all, without a socket",
      costOf(expectStatus(200), { times: CREATES, between: () => clock.advance(HOUR_MS) })
    ),
    row(
      "POST in all, without a socket",
      costOf(expectStatus(201), {
        times: CREATES,
        between: () => {
          count += CREATES
          clock.advance(HOUR_MS)
        }
      })
    )
  ]
}).pipe(Effect.scoped)

/** The median durations in microseconds of an act directly after other work, and of its immediate repetition. */
const coldAndWarm = (times: number, before: (n: number) => void, act: (n: number) => void) => {
  const cold: Array<number> = []
  const warm: Array<number> = []
  for (let n = 0; n < times; n++) {
    before(n)
    const began = performance.now()
    act(n)
    const between = performance.now()
    act(n)
    cold.push((between - began) * 1000)
    warm.push((performance.now() - between) * 1000)
  }
  return { cold: median(cold), warm: median(warm) }
}

const NOTHING = Effect.sync(() => 0)
const TEN_STEPS = Effect.gen(function* () {
  for (let step = 0; step < 10; step++) yield* Effect.succeed(step)
})

/** Measures the processor time of a request to a server over a socket, in microseconds, and its parts. */
const onSocket = async (name: ServerName, work: Work) => {
  const server = await start(name)
  try {
    const lap = new Lap(server, work, withAutocannon)
    await lap.run(WARM_UP[work])
    await lap.begin()
    await lap.run(MEASURED[work])
    const { per_cpu_second } = await lap.result()
    // The profile is a separate run, because profiling takes time.
    const shares = await sharesDuring(server, () => lap.run(MEASURED[work] / 2))
    return { cost: 1e6 / per_cpu_second, shares }
  } finally {
    await stop(server)
  }
}

const FASTIFY = "hand-written fastify"

const rowsOnSocket = async (work: Work): Promise<ReadonlyArray<Row>> => {
  const [bare, ours, peer] = [await onSocket("bare", work), await onSocket("ours", work), await onSocket("peer", work)]
  const comparison = (part: string, ours_us: number, peer_us: number): Row => ({
    ...row(`${work} over a socket: ${part}`, ours_us),
    peer: roundTo(peer_us),
    peer_is: FASTIFY
  })
  return [
    row(`${work} over a socket: node:http alone, which sends the same bytes to everybody`, bare.cost),
    comparison("all of it", ours.cost, peer.cost),
    ...Object.keys(ours.shares).map((kind) =>
      comparison(kind, ours.cost * ours.shares[kind]!, peer.cost * (peer.shares[kind] ?? 0))
    )
  ]
}

/** Measures the processor time of a request in each part alone, and in whole servers. */
export const parts = benchmark({
  about: "the processor time of a request, part by part",
  options: {},
  args: { usual: [], quick: [] },
  run: async () => ({
    rows: [...(await Effect.runPromise(inProcess)), ...(await rowsOnSocket("GET")), ...(await rowsOnSocket("POST"))]
  })
})
