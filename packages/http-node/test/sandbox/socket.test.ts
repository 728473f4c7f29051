import { serve } from "@workshop/http-node"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { later, MINUTE, Sandbox, SIXTY_DAYS, START } from "./Sandbox.js"

let sandbox: Sandbox
let base = ""
const scope = Effect.runSync(Scope.make())

beforeAll(async () => {
  sandbox = await Sandbox.open()
  const options = { host: "127.0.0.1", port: 0, trustProxy: false }
  const { port } = await sandbox.runtime.runPromise(Scope.extend(serve(sandbox.pipeline, options), scope))
  base = `http://127.0.0.1:${port}`
})
afterAll(() => sandbox.runtime.runPromise(Scope.close(scope, Exit.void)))

const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const type = body === undefined ? {} : { "content-type": "application/json" }
  const text = body === undefined ? null : JSON.stringify(body)
  const response = await fetch(base + path, { method, body: text, headers: { ...type, ...headers } })
  return { status: response.status, headers: response.headers, ...(await response.json()) }
}

describe("The sandbox over a socket (Specification, Sandbox)", () => {
  it("requests with every method work over a socket, from the creation of a shop to the closure of its ticket", async () => {
    await send("POST", "/sandbox/clock", { freeze: true })
    const { shop, key } = (
      await send("POST", "/sandbox/shops", {
        name: "Atelier Lac",
        currency: "TND",
        decimals: 3,
        time_zone: "Africa/Tunis"
      })
    ).data
    expect((await send("PATCH", `/sandbox/shops/${shop.id}`, { next_number: 42 })).data.next_number).toBe(42)
    const hook = await send("PUT", `/sandbox/shops/${shop.id}/webhook`, { url: "http://localhost:4011/" })
    expect(hook.status).toBe(200)
    const spare = (await send("POST", `/sandbox/shops/${shop.id}/keys`, { name: "spare", preset: "read" })).data
    expect((await send("DELETE", `/sandbox/keys/${spare.id}`)).data).toEqual({ id: spare.id, revoked_at: START })
    const created = await send(
      "POST",
      "/v1/tickets",
      { service: "Hem" },
      {
        authorization: `Bearer ${key}`,
        "idempotency-key": "1"
      }
    )
    expect([created.status, created.data.number_label]).toEqual([201, "0042"])
    const moved = await send("POST", "/sandbox/clock", { advance_ms: SIXTY_DAYS + MINUTE })
    expect(moved.data).toMatchObject({ now: later(SIXTY_DAYS + MINUTE), frozen: true })
    expect(moved.headers.get("ratelimit-limit")).toBe("120")
    const events = (await send("GET", `/sandbox/shops/${shop.id}/events`)).data
    expect(events.map((event: { type: string; created_at: string }) => [event.type, event.created_at])).toEqual([
      ["ticket.created", START],
      ["ticket.abandoned", later(SIXTY_DAYS)]
    ])
  })

  it("a DELETE and a POST are accepted without a body, and a body that is too large is refused", async () => {
    expect((await send("DELETE", "/sandbox/keys/7")).error.details.issues).toHaveLength(1)
    expect((await send("POST", "/sandbox/clock")).status).toBe(200)
    const large = await send("POST", "/sandbox/clock", { set: "x".repeat(70_000) })
    expect([large.status, large.error.code]).toEqual([400, "VALIDATION_ERROR"])
  })
})
