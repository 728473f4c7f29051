import { HttpApp } from "@effect/platform"
import {
  CachedRateLimits,
  Entropy,
  KeyInput,
  Keys,
  notReadyReason,
  Probes,
  Profanity,
  probe,
  ShopInput,
  Shops,
  StoreUnavailable,
  scrape,
  scrapeAll
} from "@workshop/core"
import { httpApp, pipeline, type RouteGroup, webHandler, workshopRoutes } from "@workshop/core/http"
import { start } from "@workshop/core/promise"
import { Directory } from "@workshop/core/store"
import { SettableClock } from "@workshop/core/testing"
import { collectProcessMetrics, makeHttpMetrics, pages, processMetrics } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import {
  Cause,
  Context,
  Effect,
  Fiber,
  Layer,
  Logger,
  ManagedRuntime,
  Metric,
  MetricBoundaries,
  MetricKey,
  MetricPair,
  MetricState,
  Schema
} from "effect"
import { afterAll, describe, expect, it, vi } from "vitest"
import { untilAsync } from "../../../../test/until.js"
import { fetchRequest } from "../../../core/src/http/FetchMessage.js"
import { formatExposition } from "../../../core/src/services/observe/Exposition.js"
import { layer as workshopLayer } from "../../../core/src/services/Workshop.js"
import { makeChanges, openShop, runCommand } from "../../../core/src/testing/Fixtures.js"
import { testStore } from "../TestStore.js"
import { readExposition, total } from "./Exposition.js"

const logs: Array<string> = []
const runtime = ManagedRuntime.make(
  Layer.scopedDiscard(processMetrics).pipe(
    Layer.provideMerge(workshopLayer),
    Layer.provideMerge(MemoryStore.layer),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layerSeeded(2)),
    Layer.provideMerge(Probes.layer),
    Layer.provideMerge(
      Logger.replace(
        Logger.defaultLogger,
        Logger.make((entry) => logs.push(Logger.logfmtLogger.log(entry)))
      )
    )
  )
)
afterAll(() => runtime.dispose())

/** A route that never responds for /odd/hangs, and that logs a warning and dies for every other path. */
const odd: RouteGroup = {
  prefix: "/odd",
  handle: ({ path }) =>
    path === "/odd/hangs" ? Effect.never : Effect.zipRight(Effect.logWarning("Odd"), Effect.dieMessage("odd"))
}

const { answer, pipe, key } = await runtime.runPromise(
  Effect.gen(function* () {
    const shop = yield* (yield* Shops).create(
      Schema.decodeSync(ShopInput)({ name: "Atelier", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
    )
    const input = Schema.decodeSync(KeyInput)({ name: "till", scopes: ["tickets:read"] })
    const { key } = yield* (yield* Keys).create(shop.id, input)
    const branches = [yield* workshopRoutes({ validateResponses: true }), ...(yield* pages({ freshMs: 0 })), odd]
    const pipe = yield* pipeline(branches, makeHttpMetrics())
    return { pipe, key, answer: webHandler(pipe, yield* Effect.runtime<never>()) }
  })
)
const get = (path: string, headers: Record<string, string> = {}) =>
  answer(new Request(`http://127.0.0.1${path}`, { headers }))
const metrics = async () => (await get("/metrics")).text()
const bearer = { Authorization: `Bearer ${key}` }

describe("GET /metrics (Specification, Commands)", () => {
  it("/metrics responds in Prometheus' text format, without a key, an envelope or a rate limit", async () => {
    await get("/healthz")
    const page = await get("/metrics")
    expect(page.status).toBe(200)
    expect(page.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
    expect(page.headers.get("RateLimit-Limit")).toBeNull()
    const families = readExposition(await page.text())
    expect(families.get("workshop_http_requests_total")?.type).toBe("counter")
    expect(families.get("workshop_http_request_duration_seconds")?.type).toBe("histogram")
    expect(families.get("process_resident_memory_bytes")?.samples[0]?.value).toBeGreaterThan(1_000_000)
  })

  it("collectProcessMetrics adds the process to a workshop's metrics until its returned function is called", async () => {
    const workshop = await start({ store: MemoryStore.layer, background: false })
    const uptime = async () => {
      const families = readExposition(await workshop.metrics())
      return Number(families.get("process_uptime_seconds")?.samples[0]?.value ?? 0)
    }
    const before = await uptime()
    expect(await uptime()).toBe(before)
    const end = collectProcessMetrics(workshop)
    const collected = await uptime()
    expect(collected).toBeGreaterThan(before)
    end()
    expect(await uptime()).toBe(collected)
    await workshop.stop()
  })

  it("requests are counted by method, route and status, never by the requested path", async () => {
    const before = await metrics()
    const id = "01980000-0000-7000-8000-00000000abcd"
    await get(`/v1/tickets/${id}`, bearer)
    await get("/v1/clients?phone=%2B21620123456", bearer)
    await get("/v1/shop")
    await get("/nowhere/wk_live_secret")
    const after = await metrics()
    const grown = (route: string, status: string) =>
      total(after, "workshop_http_requests_total", { method: "GET", route, status }) -
      total(before, "workshop_http_requests_total", { method: "GET", route, status })
    expect(grown("/v1/tickets/{id}", "404")).toBe(1)
    expect(grown("/v1/clients", "403")).toBe(1)
    expect(grown("/v1", "401")).toBe(1)
    expect(grown("none", "404")).toBe(1)
    expect(after).not.toMatch(/abcd|21620123456|secret/)
  })

  it("each route has one histogram of request durations, whose last bucket has the total", async () => {
    await get("/v1/tickets", bearer)
    const text = await metrics()
    const of = { method: "GET", route: "/v1/tickets" }
    const count = total(text, "workshop_http_request_duration_seconds_count", of)
    expect(count).toBe(total(text, "workshop_http_requests_total", of))
    expect(total(text, "workshop_http_request_duration_seconds_bucket", { ...of, le: "+Inf" })).toBe(count)
    const buckets = readExposition(text)
      .get("workshop_http_request_duration_seconds")!
      .samples.filter(({ name }) => name.endsWith("_bucket"))
      // Considers only this histogram, because other test files of this process record others.
      .filter(({ labels }) => labels.method === of.method && labels.route === of.route)
      .map(({ value }) => value)
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b))
  })

  it("a rate-limited request is counted by the policy that refused it (Specification, Limits)", async () => {
    const refused = (text: string) =>
      total(text, "workshop_rate_limit_refusals_total", { policy: "unauthenticated_per_minute" })
    const before = refused(await metrics())
    let status = 401
    for (let n = 0; n < 130 && status !== 429; n++) status = (await get("/v1/shop")).status
    expect(status).toBe(429)
    expect(refused(await metrics())).toBe(before + 1)
  })

  it("the metrics count requests in flight, and count a request whose client disconnects as aborted", async () => {
    const inFlight = async () => total(await metrics(), "workshop_http_requests_in_flight")
    const request = {
      method: "GET",
      path: "/odd/hangs",
      query: "",
      header: () => undefined,
      repeats: () => false,
      address: "",
      body: () => Effect.never
    }
    expect(await inFlight()).toBe(1)
    const hanging = runtime.runFork(pipe(request))
    expect(await inFlight()).toBe(2)
    await Effect.runPromise(Fiber.interrupt(hanging))
    expect(await inFlight()).toBe(1)
    expect(total(await metrics(), "workshop_http_requests_total", { route: "/odd", status: "aborted" })).toBe(1)
  })

  it("a line that is logged during a request has the request's Request-Id (Specification, Errors)", async () => {
    await Promise.allSettled([get("/odd/dies")])
    expect(logs.filter((line) => line.includes("Odd"))).toEqual([expect.stringMatching(/request_id=[0-9a-f]{24}\b/)])
  })

  it("a probe updates its gauge whenever the metrics are read, until the probe's scope closes", async () => {
    const gauge = Metric.gauge("workshop_test_gauge", { description: 'A test\'s.\nOf "two" lines \\ and more.' })
    const shown = probe({ measure: Metric.set(Metric.tagged(gauge, "of", 'a "b"\\'), 7) })
    const text = await runtime.runPromise(Effect.scoped(Effect.zipRight(shown, Effect.promise(metrics))))
    expect(text).toContain('workshop_test_gauge{of="a \\"b\\"\\\\"} 7\n')
    expect(readExposition(text).get("workshop_test_gauge")?.help).toBe('A test\'s.\\nOf "two" lines \\\\ and more.')
  })
})

describe("The text format of metrics", () => {
  // The metrics are constructed by hand, because metrics in Effect's registry would be visible to later test files.
  const { gauge, histogram, frequency } = MetricKey
  const text = formatExposition([
    MetricPair.unsafeMake(gauge("workshop_unknown"), MetricState.gauge(Number.NaN)),
    MetricPair.unsafeMake(
      gauge("workshop_none", { description: "Below all." }),
      MetricState.gauge(Number.NEGATIVE_INFINITY)
    ),
    MetricPair.unsafeMake(gauge("other_gauge"), MetricState.gauge(1)),
    MetricPair.unsafeMake(frequency("workshop_words"), MetricState.frequency(new Map([["a", 1]]))),
    MetricPair.unsafeMake(
      histogram("workshop_sizes", MetricBoundaries.fromIterable([1, 2])),
      MetricState.histogram({
        buckets: [
          [1, 0],
          [2, 1]
        ],
        count: 2,
        min: 2,
        max: 3,
        sum: 5
      })
    )
  ])

  it("exposition sorts the metrics by name, prints infinities and NaN as Prometheus does, and adds a bucket with the total", () => {
    expect(text).toBe(
      [
        "# HELP workshop_none Below all.",
        "# TYPE workshop_none gauge",
        "workshop_none -Inf",
        "# TYPE workshop_sizes histogram",
        'workshop_sizes_bucket{le="1"} 0',
        'workshop_sizes_bucket{le="2"} 1',
        'workshop_sizes_bucket{le="+Inf"} 2',
        "workshop_sizes_sum 5",
        "workshop_sizes_count 2",
        "# TYPE workshop_unknown gauge",
        "workshop_unknown NaN",
        "# TYPE workshop_words counter",
        'workshop_words{key="a"} 1',
        ""
      ].join("\n")
    )
  })
})

describe("scrapeAll", () => {
  it("scrapeAll includes an embedder's metrics under names that Prometheus accepts, and scrape only the service's metrics", async () => {
    const placed = Metric.counter("embedder.orders").pipe(Metric.tagged("shop.name", "Hem"))
    const seconds = Metric.summary({
      name: "embedder_seconds",
      maxAge: "1 minute",
      maxSize: 9,
      error: 0,
      quantiles: [0.5]
    })
    const [own, all] = await runtime.runPromise(
      Metric.increment(placed).pipe(
        Effect.zipRight(Metric.update(seconds, 2)),
        Effect.zipRight(Effect.all([scrape, scrapeAll]))
      )
    )
    expect(own).not.toMatch(/embedder[._]/)
    expect(all).toContain('# TYPE embedder_orders counter\nembedder_orders{shop_name="Hem"} 1\n')
    expect(all).toContain("# TYPE embedder_seconds summary\n")
    expect(all).toContain("\nembedder_seconds_sum 2\nembedder_seconds_count 1\n")
    expect(all).toContain(own.slice(0, own.indexOf("\n")))
    // A first read of all metrics would make Effect count its fibers.
    expect(all).not.toContain("effect_fiber_")
  })
})

describe("the option observe of a mount", () => {
  it("a mount with the option observe counts its requests in the metrics", async () => {
    const handle = HttpApp.toWebHandler(await runtime.runPromise(httpApp({ observe: makeHttpMetrics() })))
    const counted = (text: string) => total(text, "workshop_http_requests_total", { method: "PUT", route: "/v1" })
    const before = counted(await metrics())
    await handle(new Request("http://127.0.0.1/v1/shop", { method: "PUT" }))
    // The fiber of a request ends after its response.
    await untilAsync("the request to be counted", metrics, (text) => counted(text) === before + 1)
  })
})

describe("GET /readyz (Specification, Commands)", () => {
  it("/readyz responds 503 with the reason while a probe returns one, and 200 again afterwards", async () => {
    const complaint = probe({ complaint: Effect.succeed("The schema is behind: run workshop migrate.") })
    const during = await runtime.runPromise(
      Effect.scoped(
        Effect.zipRight(
          complaint,
          Effect.promise(() => get("/readyz"))
        )
      )
    )
    expect(during.status).toBe(503)
    expect(during.headers.get("Retry-After")).toBe("1")
    expect(await during.json()).toEqual({
      success: false,
      error: { code: "UNAVAILABLE", message: "The schema is behind: run workshop migrate." }
    })
    expect((await get("/readyz")).status).toBe(200)
  })

  it("a readiness check logs a reason with a remedy at most once a minute, without a stack", async () => {
    const logs: Array<string> = []
    const logging = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message, cause }) => void logs.push(`${message} ${Cause.isEmpty(cause)}`))
    )
    const refused = Effect.fail(new StoreUnavailable({ cause: new Error("denied"), remedy: "Use another role" }))
    const asked = Effect.gen(function* () {
      const directory = yield* Directory
      const away = Context.make(Directory, { ...directory, keyByHash: () => refused, latest: refused })
      const reason = Effect.provide(notReadyReason, away)
      return [yield* reason, yield* reason]
    })
    const store = Layer.provideMerge(testStore, Entropy.layerSeeded(5))
    const reasons = await Effect.runPromise(asked.pipe(Effect.provide(store), Effect.provide(logging), Effect.scoped))
    expect(reasons).toEqual(["Use another role", "Use another role"])
    expect(logs).toEqual(["The background work has stopped until this is solved. Use another role true"])
  })

  it("/readyz and the start report data that is more than ten seconds ahead of the clock (Specification, Commands)", async () => {
    const clock = new SettableClock()
    const logs: Array<string> = []
    const logging = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void logs.push(String(message)))
    )
    const served = Effect.gen(function* () {
      const shop = yield* openShop()
      const act = runCommand(makeChanges(shop.id, () => undefined))
      yield* act
      clock.advance(-10_000)
      const answer = yield* pipeline(yield* pages({ freshMs: 0 }))
      const ask = Effect.map(
        answer(fetchRequest(new Request("http://localhost/readyz"), "unknown")),
        ({ status, body }) => [status, JSON.parse(String(body)).error?.message?.replace(shop.id, "SHOP") ?? null]
      )
      const answers = [yield* ask]
      clock.advance(-3_590_000)
      answers.push(yield* ask)
      yield* pages()
      clock.advance(3_590_000)
      answers.push(yield* ask)
      return answers
    })
    const store = CachedRateLimits.layer.pipe(Layer.provideMerge(testStore), Layer.provideMerge(Entropy.layerSeeded(5)))
    const answers = await Effect.runPromise(
      served.pipe(Effect.provide(store), Effect.provide(logging), Effect.withClock(clock), Effect.scoped)
    )
    const said =
      "The data of 1 shop are up to 1 hour ahead of this server's clock (SHOP). If this clock is wrong, correct it. If the data were written with a wrong clock or by a sandbox, run workshop shop repair-clock --all."
    expect(answers).toEqual([
      [200, null],
      [503, said],
      [200, null]
    ])
    expect(logs.map((line) => line.replace(/\([^()]*\)/, "(SHOP)"))).toEqual([said])
  })
})

describe("GET /readyz with a store that does not respond (Specification, Commands)", () => {
  it("/readyz responds 503 if the store does not respond, and 200 once it does", async () => {
    let isSilent = true
    const silent = Layer.effect(
      Directory,
      Effect.map(Directory, (directory) => ({
        ...directory,
        keyByHash: (hash: string) => Effect.suspend(() => (isSilent ? Effect.never : directory.keyByHash(hash)))
      }))
    )
    const served = Effect.gen(function* () {
      const answer = webHandler(yield* pipeline(yield* pages({ freshMs: 0 })), yield* Effect.runtime<never>())
      const ask = Effect.promise(async () => (await answer(new Request("http://127.0.0.1/readyz"))).status)
      const first = yield* ask
      isSilent = false
      return [first, yield* ask]
    })
    const store = Layer.merge(silent, CachedRateLimits.layer).pipe(
      Layer.provideMerge(MemoryStore.layer),
      Layer.provideMerge(Entropy.layerSeeded(6))
    )
    const quiet = Logger.remove(Logger.defaultLogger)
    const statuses = await Effect.runPromise(served.pipe(Effect.provide(Layer.merge(store, quiet)), Effect.scoped))
    expect(statuses).toEqual([503, 200])
  }, 30_000)
})

describe("GET /readyz and /metrics (Specification, Commands)", () => {
  it("/readyz and /metrics query the store and the probes at most once a second", async () => {
    const looks = { store: 0, probe: 0 }
    const clock = vi.spyOn(Date, "now").mockReturnValue(1_000_000)
    const counted = Layer.effect(
      Directory,
      Effect.map(Directory, (directory) => ({
        ...directory,
        keyByHash: (hash: string) =>
          Effect.zipRight(
            Effect.sync(() => looks.store++),
            directory.keyByHash(hash)
          )
      }))
    )
    const served = Effect.gen(function* () {
      yield* probe({ measure: Effect.sync(() => looks.probe++) })
      const answer = webHandler(yield* pipeline(yield* pages(), makeHttpMetrics()), yield* Effect.runtime<never>())
      const fifty = (path: string) =>
        Effect.promise(async () => {
          const answers = Array.from({ length: 50 }, () => answer(new Request(`http://127.0.0.1${path}`)))
          return new Set(await Promise.all(answers.map(async (one) => (await one).text())))
        })
      const bodies: Array<number> = []
      for (const now of [1_000_000, 1_000_999, 1_001_000]) {
        clock.mockReturnValue(now)
        yield* fifty("/readyz")
        bodies.push((yield* fifty("/metrics")).size)
      }
      return bodies
    })
    const ports = Layer.mergeAll(
      Layer.provideMerge(Layer.merge(counted, CachedRateLimits.layer), MemoryStore.layer),
      Probes.layer
    )
    const bodies = await Effect.runPromise(
      served.pipe(Effect.provide(Layer.provideMerge(ports, Entropy.layerSeeded(6))), Effect.scoped)
    ).finally(() => clock.mockRestore())
    expect([looks, bodies]).toEqual([{ store: 2, probe: 2 }, [1, 1, 1]])
  })
})
