import { Deferred, Effect } from "effect"
import { beforeEach, describe, expect, it } from "vitest"
import { atEndOfFile } from "../../../../test/endOfFile.js"
import { BodyIncomplete, type HttpRequest, type HttpResponse } from "../../src/http/HttpMessage.js"
import { type Pipeline, pipeline, type RouteGroup } from "../../src/http/Pipeline.js"
import { respond } from "../../src/http/respond.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { CachedRateLimits } from "../../src/services/CachedRateLimits.js"
import { SettableClock } from "../../src/testing/SettableClock.js"

const clock = new SettableClock()
let finish: Array<Deferred.Deferred<void>>
let serve: Pipeline

/** Endpoints that respond once the test lets them, after they have read the body. */
const endpoints: RouteGroup = {
  prefix: "/v1",
  find: () => undefined,
  handle: (request, context) =>
    Effect.gen(function* () {
      yield* Effect.ignore(request.body(1000))
      const done = yield* Deferred.make<void>()
      finish.push(done)
      yield* Deferred.await(done)
      return respond({ data: "done" }, context)
    })
}

const pages: RouteGroup = {
  prefix: "/healthz",
  handle: (_, context) => Effect.succeed(respond({ body: "ok" }, context))
}

const request = (path: string, others: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "GET",
  path,
  query: "",
  header: () => undefined,
  repeats: () => false,
  address: "192.0.2.1",
  body: () => Effect.succeed(new Uint8Array()),
  ...others
})

/** Sends a request, and lets it run as far as it can. */
const sent = async (
  one: HttpRequest = request("/v1/shop")
): Promise<{ response?: HttpResponse; leave: () => void }> => {
  const running: { response?: HttpResponse; leave: () => void } = { leave: () => undefined }
  const stop = new AbortController()
  running.leave = () => stop.abort()
  atEndOfFile(running.leave)
  void Effect.runPromise(Effect.withClock(serve(one), clock), { signal: stop.signal }).then(
    (response) => {
      running.response = response
    },
    () => undefined
  )
  await new Promise((resolve) => setImmediate(resolve))
  return running
}

const send = async (count: number) => {
  const all = []
  for (let i = 0; i < count; i++) all.push(await sent())
  return all
}

const end = async (count: number) => {
  for (const done of finish.splice(0, count)) Effect.runSync(Deferred.succeed(done, undefined))
  await new Promise((resolve) => setImmediate(resolve))
}

const refused = (all: ReadonlyArray<{ response?: HttpResponse }>) =>
  all.filter(({ response }) => response?.status === 503).length

beforeEach(() => {
  finish = []
  clock.advance(60_000)
  serve = Effect.runSync(
    pipeline([endpoints, pages]).pipe(
      Effect.provide(Entropy.layerSeeded(1)),
      Effect.provideService(CachedRateLimits, {} as never)
    )
  )
})

describe("more requests than the service can handle in a second", () => {
  it("requests above the rate are accepted as a burst for half a second, and then refused with 503 and Retry-After", async () => {
    expect(refused(await send(200))).toBe(0)
    clock.advance(499)
    expect(refused(await send(1))).toBe(0)
    clock.advance(1)
    const { response } = await sent()
    expect(response?.status).toBe(503)
    expect(response?.headers["Retry-After"]).toBe("1")
    expect(JSON.parse(String(response?.body)).error).toEqual({
      code: "UNAVAILABLE",
      message: "The service has too many requests. Try again in a moment."
    })
  })

  it("requests are never refused while fewer than 32 run", async () => {
    await send(200)
    clock.advance(500)
    expect(refused(await send(1))).toBe(1)
    await end(169)
    clock.advance(5000)
    expect(refused(await send(2))).toBe(1)
  })

  it("as many requests may run at once as ended in the previous second", async () => {
    clock.advance(1000)
    await send(300)
    await end(150)
    clock.advance(1000)
    expect(refused(await send(1))).toBe(1)
    await end(2)
    expect(refused(await send(3))).toBe(1)
  })

  it("pages such as the state of the service are never refused", async () => {
    await send(100)
    clock.advance(500)
    expect(refused(await send(1))).toBe(1)
    expect((await sent(request("/healthz"))).response?.status).toBe(200)
  })

  it("requests whose bodies are still arriving do not count as running", async () => {
    const slow = request("/v1/tickets", { method: "POST", body: () => Effect.never })
    for (let i = 0; i < 200; i++) await sent(slow)
    clock.advance(500)
    expect(refused(await send(32))).toBe(0)
    clock.advance(500)
    expect(refused(await send(1))).toBe(0)
  })

  it("requests count again after their bodies have arrived, whole or not", async () => {
    const broken = request("/v1/tickets", { method: "POST", body: () => Effect.fail(new BodyIncomplete()) })
    for (let i = 0; i < 50; i++) await sent(request("/v1/tickets", { method: "POST" }))
    for (let i = 0; i < 50; i++) await sent(broken)
    clock.advance(500)
    expect(refused(await send(1))).toBe(1)
    await end(69)
    clock.advance(5000)
    expect(refused(await send(2))).toBe(1)
  })

  it("a request no longer counts after its response, even if its fiber continues", async () => {
    const inOneFiber = Effect.forEach(Array(100), () => serve(request("/v1/shop")))
    Effect.runFork(Effect.withClock(Effect.zipRight(inOneFiber, Effect.never), clock))
    for (let i = 0; i < 100; i++) await end(1)
    clock.advance(5000)
    await send(1)
    clock.advance(500)
    expect(refused(await send(1))).toBe(0)
  })

  it("a request whose client disconnects no longer counts", async () => {
    const all = await send(100)
    clock.advance(500)
    expect(refused(await send(1))).toBe(1)
    for (const { leave } of all) leave()
    await new Promise((resolve) => setImmediate(resolve))
    expect(refused(await send(1))).toBe(0)
  })
})
