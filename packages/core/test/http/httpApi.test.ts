import {
  HttpApi,
  HttpApiBuilder,
  HttpApiClient,
  HttpApiEndpoint,
  HttpApiError,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSecurity,
  HttpApp,
  type HttpClientError,
  HttpServer,
  OpenApi
} from "@effect/platform"
import * as MemoryStore from "@workshop/store-memory"
import { createTestWorkshop } from "@workshop/store-memory/testing"
import { Clock, Context, Effect, Exit, Layer, type ParseResult, Redacted, Runtime, Schema, Scope } from "effect"
import { expect, expectTypeOf, it } from "vitest"
import { ApiKeys, apiBehind, CurrentCaller, groups } from "../../src/http/httpApi.js"
import type { RequestObserver } from "../../src/http/Pipeline.js"
import { start } from "../../src/promise.js"
import { Caller } from "../../src/services/Caller.js"

const workshop = await start({ store: MemoryStore.layer, background: false })
const shop = await workshop.orThrow.shops.create({
  name: "Needle",
  currency: "TND",
  decimals: 3,
  time_zone: "Africa/Tunis"
})
const amira = Schema.decodeSync(Caller)({
  shop_id: shop.id,
  caller_id: "amira",
  scopes: ["tickets:read", "tickets:write"],
  via: "api"
})

class SignedIn extends HttpApiMiddleware.Tag<SignedIn>()("SignedIn", {
  provides: CurrentCaller,
  failure: HttpApiError.Unauthorized,
  security: { session: HttpApiSecurity.apiKey({ in: "cookie", key: "session" }) }
}) {}

const signedIn = Layer.succeed(SignedIn, {
  session: (cookie) =>
    Redacted.value(cookie) === "amira" ? Effect.succeed(amira) : Effect.fail(new HttpApiError.Unauthorized())
})

const Orders = HttpApiGroup.make("orders").add(HttpApiEndpoint.get("list", "/orders").addSuccess(Schema.String))
const orders = <Id extends string>(api: HttpApi.HttpApi<Id, typeof Orders>) =>
  HttpApiBuilder.group(api, "orders", (handlers) => handlers.handle("list", () => Effect.succeed("none")))

const services = Layer.succeedContext(workshop.runtime.context)

const asking =
  (handler: (request: Request) => Promise<Response>) =>
  async (path: string, init: RequestInit = {}) => {
    const response = await handler(new Request(`http://a.test${path}`, init))
    const text = await response.text()
    return [response.status, text === "" ? "" : JSON.parse(text)] as const
  }

it("the groups of the API join an embedder's own HttpApi, with its middleware and its security scheme", async () => {
  class MyApi extends HttpApi.make("mine").add(Orders).addHttpApi(apiBehind(SignedIn).prefix("/workshop")) {}
  const live = HttpApiBuilder.api(MyApi).pipe(
    Layer.provide([orders(MyApi as never), Layer.provide(groups(MyApi), [signedIn, services])])
  )
  const { handler, dispose } = HttpApiBuilder.toWebHandler(Layer.mergeAll(live, HttpServer.layerContext) as never)
  const ask = asking(handler)
  expect(await ask("/orders")).toEqual([200, "none"])
  expect((await ask("/workshop/v1/tickets"))[0]).toBe(401)
  const headers = { cookie: "session=amira", "content-type": "application/json", "idempotency-key": "one" }
  const created = await ask("/workshop/v1/tickets", { method: "POST", headers, body: '{"service":"Hem"}' })
  expect(created).toMatchObject([201, { data: { number: 1 }, meta: { replayed: false } }])
  expect(await ask(`/workshop/v1/tickets/${created[1].data.id}`, { headers })).toMatchObject([200, { success: true }])
  const wrong = await ask("/workshop/v1/tickets?limit=many", { headers })
  expect(wrong).toMatchObject([400, { error: { code: "VALIDATION_ERROR", details: { issues: [{ field: "limit" }] } } }])
  const { paths, components } = OpenApi.fromApi(MyApi)
  expect(paths["/workshop/v1/tickets"]?.get?.security).toEqual([{ session: [] }])
  expect(components.securitySchemes).toMatchObject({ session: { type: "apiKey", in: "cookie" } })
  // The embedder's own group has neither the API's failures nor its middleware.
  expect(Object.keys(paths["/orders"]?.get?.responses ?? {})).toEqual(["200", "400"])
  expect(paths["/orders"]?.get?.security).toEqual([])
  expect(Object.keys(paths["/workshop/v1/tickets"]?.get?.responses ?? {})).toEqual(
    expect.arrayContaining(["200", "400", "401", "403", "429", "500", "503"])
  )
  await dispose()
})

type ErrorOf<F> = F extends (...args: never) => Effect.Effect<unknown, infer E, unknown> ? E : never

it("the embedder's own groups do not get the API's failures, not even in the types of a client", () => {
  class MyApi extends HttpApi.make("mine").add(Orders).addHttpApi(apiBehind(SignedIn).prefix("/workshop")) {}
  const client = HttpApiClient.make(MyApi)
  type Client = Effect.Effect.Success<typeof client>
  type Own = HttpApiError.HttpApiDecodeError | HttpClientError.HttpClientError | ParseResult.ParseError
  expectTypeOf<ErrorOf<Client["orders"]["list"]>>().toEqualTypeOf<Own>()
  expectTypeOf<HttpApiError.Unauthorized>().toExtend<ErrorOf<Client["tickets"]["list"]>>()
})

it("a middleware that does not provide the caller, and another group of the same name, do not compile", () => {
  class User extends Context.Tag("User")<User, string>() {}
  class Authorized extends HttpApiMiddleware.Tag<Authorized>()("Authorized", { provides: User }) {}
  // @ts-expect-error The middleware provides the embedder's user, and not CurrentCaller.
  apiBehind(Authorized)
  const Own = HttpApiGroup.make("tickets").add(HttpApiEndpoint.get("mine", "/mine").addSuccess(Schema.String))
  const ours = apiBehind(SignedIn)
  // @ts-expect-error The embedder's group has a name of the API's groups.
  expect(() => groups(HttpApi.make("mine").addHttpApi(ours).add(Own))).toThrow(
    "Your HttpApi has another group called tickets. Rename your group."
  )
  // @ts-expect-error Even if the embedder's group was added first, because the API's group then replaces it.
  groups(HttpApi.make("mine").add(Own).addHttpApi(ours))
  // @ts-expect-error The groups of the API were not added.
  expect(() => groups(HttpApi.make("mine").add(Orders))).toThrow(
    "Your HttpApi has no group called shop. Add apiBehind(middleware) with addHttpApi."
  )
})

it("a joined API is observed like that of workshop serve, so that its requests are in the metrics", async () => {
  class MyApi extends HttpApi.make("mine").addHttpApi(apiBehind(SignedIn).prefix("/workshop")) {}
  const seen: Array<readonly [string | null, number]> = []
  const observe: RequestObserver = (_, __, response) =>
    Effect.tap(response, ({ context, status }) => Effect.sync(() => seen.push([context.route, status])))
  const live = HttpApiBuilder.api(MyApi).pipe(
    Layer.provide(groups(MyApi, { observe })),
    Layer.provide([signedIn, services])
  )
  const { handler, dispose } = HttpApiBuilder.toWebHandler(Layer.mergeAll(live, HttpServer.layerContext) as never)
  const ask = asking(handler)
  const headers = { cookie: "session=amira" }
  await ask("/workshop/v1/tickets", { headers })
  await ask("/workshop/v1/nowhere", { headers })
  expect(seen).toEqual([
    ["/v1/tickets", 200],
    [null, 404]
  ])
  await dispose()
})

it("an unknown path below the API's prefix gets the API's 404, and HEAD gets the response of GET without the body", async () => {
  class MyApi extends HttpApi.make("mine").add(Orders).addHttpApi(apiBehind(SignedIn).prefix("/workshop")) {}
  const live = HttpApiBuilder.api(MyApi).pipe(
    Layer.provide([orders(MyApi as never), Layer.provide(groups(MyApi), [signedIn, services])])
  )
  const { handler, dispose } = HttpApiBuilder.toWebHandler(Layer.mergeAll(live, HttpServer.layerContext) as never)
  const ask = asking(handler)
  const headers = { cookie: "session=amira" }
  const unknown = [404, { success: false, error: { code: "NOT_FOUND" } }]
  expect(await ask("/workshop/v1/nowhere", { headers })).toMatchObject(unknown)
  expect(await ask("/workshop/v1/tickets", { method: "DELETE", headers })).toMatchObject(unknown)
  expect(await ask("/workshop/v1/tickets/17/nowhere", { method: "POST", headers, body: "{}" })).toMatchObject(unknown)
  expect(await ask("/workshop/v1/tickets", { method: "HEAD", headers })).toEqual([200, ""])
  // The router of `HttpApi` finds no route for more than 100 characters by default.
  expect(await ask(`/workshop/v1/tickets/${"x".repeat(101)}`, { headers })).toMatchObject([
    400,
    { error: { code: "VALIDATION_ERROR", details: { issues: [{ in: "path", field: "id" }] } } }
  ])
  expect((await ask("/elsewhere", { headers }))[0]).toBe(404)
  await dispose()
})

it("the middleware ApiKeys checks the service's own keys", async () => {
  class MyApi extends HttpApi.make("mine").addHttpApi(apiBehind(ApiKeys)) {}
  const live = Layer.provide(HttpApiBuilder.api(MyApi), Layer.provide(groups(MyApi), [ApiKeys.layer, services]))
  const { handler, dispose } = HttpApiBuilder.toWebHandler(Layer.mergeAll(live, HttpServer.layerContext) as never)
  const ask = asking(handler)
  expect(await ask("/v1/shop")).toMatchObject([401, { error: { code: "UNAUTHENTICATED" } }])
  const { key } = await workshop.orThrow.keys.create(shop.id, { name: "till", scopes: ["tickets:read"] })
  expect(await ask("/v1/nowhere")).toMatchObject([401, { error: { code: "UNAUTHENTICATED" } }])
  expect(await ask("/v1/nowhere", { headers: { authorization: `Bearer ${key}` } })).toMatchObject([
    404,
    { error: { code: "NOT_FOUND" } }
  ])
  expect(await ask("/v1/shop", { headers: { authorization: `Bearer ${key}` } })).toMatchObject([
    200,
    { data: { name: "Needle" } }
  ])
  expect(OpenApi.fromApi(MyApi).components.securitySchemes).toMatchObject({ apiKey: { scheme: "bearer" } })
  await dispose()
  await workshop.stop()
})

it("a joined API runs on the services and the clock of a test workshop (docs/test-your-app.md)", async () => {
  const test = await createTestWorkshop()
  const Time = HttpApiGroup.make("time").add(HttpApiEndpoint.get("now", "/now").addSuccess(Schema.Number))
  class MyApi extends HttpApi.make("mine").add(Time).addHttpApi(apiBehind(ApiKeys)) {}
  const time = HttpApiBuilder.group(MyApi, "time", (handlers) => handlers.handle("now", () => Clock.currentTimeMillis))
  const api = Layer.provide(HttpApiBuilder.api(MyApi), [time, Layer.provide(groups(MyApi), ApiKeys.layer)])
  const scope = Effect.runSync(Scope.make())
  const layer = Layer.mergeAll(
    api,
    HttpApiBuilder.Router.Live,
    HttpApiBuilder.Middleware.layer,
    HttpServer.layerContext
  )
  const runtime = await Runtime.runPromise(test.workshop.runtime)(Scope.extend(Layer.toRuntime(layer), scope))
  const ask = asking(HttpApp.toWebHandlerRuntime(runtime)(Effect.flatten(HttpApiBuilder.httpApp)))
  const { key } = await test.workshop.orThrow.keys.create(test.shop.id, { name: "till", scopes: ["tickets:read"] })
  const { data } = await test.workshop.orThrow.tickets.create(test.caller, { service: "Hem" }, "order-1")
  await test.workshop.orThrow.tickets.changeStatus(test.caller, data.id, "ready")
  await test.advance("61 days")
  expect(await ask("/now")).toEqual([200, test.now()])
  expect(await ask(`/v1/tickets/${data.id}`, { headers: { authorization: `Bearer ${key}` } })).toMatchObject([
    200,
    { data: { state: "abandoned" } }
  ])
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await test.stop()
})
