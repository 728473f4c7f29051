import { mountFetch } from "@workshop/core/http"
import { isRefusal, refusalResponse, start } from "@workshop/core/promise"
import { mountNode } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import { expect, it } from "vitest"

type Method = (...args: Array<unknown>) => Promise<unknown>

/** The methods of an object and of its nested objects, with their paths. */
const methodsOf = (services: object, path = ""): ReadonlyArray<readonly [path: string, method: Method]> =>
  Object.entries(services).flatMap(([name, value]) =>
    typeof value === "function" ? [[`${path}${name}`, value]] : methodsOf(value, `${path}${name}.`)
  )

const refusalOf = async (method: Method): Promise<unknown> => {
  try {
    return await method()
  } catch (error) {
    return error
  }
}

const stopped = async () => {
  const workshop = await start({ store: MemoryStore.layer, background: false })
  const shop = await workshop.orThrow.shops.create({ name: "Needle", currency: "EUR", time_zone: "Europe/Paris" })
  const caller = { shop_id: shop.id, caller_id: "amira", scopes: ["tickets:read"] } as const
  const mounts = { fetch: mountFetch(workshop, { authenticate: () => caller }), node: mountNode(workshop) }
  await workshop.stop()
  return { workshop, mounts }
}

const BODY = {
  success: false,
  error: {
    code: "UNAVAILABLE",
    message: "This workshop was stopped. Call stop only after the last request, or start another workshop."
  }
}

it("after stop() every method is refused with WorkshopStopped, which refusalResponse turns into a 503", async () => {
  const { workshop } = await stopped()
  const { orThrow, as, within, metrics, export: exported, ...rest } = workshop
  const {
    ready: _ready,
    onEvent: _onEvent,
    events: _events,
    runtime: _runtime,
    stop: _stop,
    background,
    ...results
  } = rest
  const { orThrow: byAmira, within: withinByAmira, export: exportedByAmira, ...resultsByAmira } = as("amira")
  const methods = [...methodsOf(results), ...methodsOf(resultsByAmira)]
  expect(methods.length).toBeGreaterThan(80)
  for (const [path, method] of methods)
    expect(await method(), path).toMatchObject({ ok: false, refusal: { _tag: "WorkshopStopped" } })
  const rejecting: ReadonlyArray<readonly [string, Method]> = [
    ...methodsOf({ ...orThrow, export: {} }),
    ...methodsOf({ ...byAmira, export: {} }),
    ["metrics", metrics],
    ["background.start", background.start],
    ["within", () => within({ query: () => undefined }, async () => undefined)],
    ["as().within", () => withinByAmira({ query: () => undefined }, async () => undefined)],
    ["export", () => exported("a shop").next()],
    ["as().export", () => exportedByAmira("a shop").next()]
  ]
  for (const [path, method] of rejecting) {
    const error = await refusalOf(method)
    expect(isRefusal(error), path).toBe(true)
    expect(refusalResponse(error), path).toEqual({ status: 503, headers: { "Retry-After": "1" }, body: BODY })
  }
})

it("a loop over events() ends at once on a stopped workshop", async () => {
  const { workshop } = await stopped()
  const read = []
  for await (const event of workshop.events()) read.push(event)
  expect(read).toEqual([])
  workshop.onEvent(() => undefined)()
})

it("a mount of a stopped workshop responds 503 for paths of the API, and calls next for other paths", async () => {
  const { mounts } = await stopped()
  const response = await mounts.fetch(new Request("http://a.test/v1/tickets"))
  expect(response.status).toBe(503)
  expect(response.headers.get("retry-after")).toBe("1")
  expect(response.headers.get("request-id")).toMatch(/^[0-9a-f]{24}$/)
  expect(await response.json()).toEqual(BODY)
  const request = { url: "/mine", method: "GET", headers: {}, readableEnded: false, socket: {} }
  const passed = await new Promise((next) => mounts.node(request as never, {} as never, () => next("passed")))
  expect(passed).toBe("passed")
})
