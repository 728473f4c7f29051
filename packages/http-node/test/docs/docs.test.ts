import { CachedRateLimits, Entropy } from "@workshop/core"
import { pipeline, webHandler } from "@workshop/core/http"
import { pages } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, describe, expect, it } from "vitest"

const runtime = ManagedRuntime.make(
  CachedRateLimits.layer.pipe(Layer.provideMerge(MemoryStore.layer), Layer.provideMerge(Entropy.layerSeeded(2)))
)
afterAll(() => runtime.dispose())

const response = await runtime.runPromise(
  Effect.gen(function* () {
    return webHandler(yield* pipeline(yield* pages()), yield* Effect.runtime<never>())
  })
)
const get = (path: string, method = "GET") => response(new Request(`http://127.0.0.1${path}`, { method }))

describe("the API reference at /docs", () => {
  it("the page of /docs loads no file from other servers (Specification, Commands)", async () => {
    const page = await get("/docs")
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8")
    const html = await page.text()
    const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? "")
    expect(parts).toEqual(["data:,", "docs/docs.css", "openapi.json", "docs/rapidoc-min.js", "docs/start.js"])
    for (const part of parts.slice(1)) expect((await get(`/${part}`)).status).toBe(200)
  })

  it("the page of /docs also works at /docs/, and behind a proxy that adds a path prefix", async () => {
    const { status, headers } = await get("/docs/")
    expect([status, headers.get("location")]).toEqual([308, "../docs"])
    expect(new URL("../docs", "https://proxy.example/workshop/docs/").pathname).toBe("/workshop/docs")
    expect((await get("/docs/", "HEAD")).status).toBe(308)
    expect((await get("/docs/", "POST")).status).toBe(404)
  })

  it("the security policy of the page of /docs forbids connections to other hosts, and frames", async () => {
    const policy = (await get("/docs")).headers.get("content-security-policy") ?? ""
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("connect-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/https?:|unsafe-eval|script-src[^;]*unsafe-inline/)
  })

  it("/docs serves no other files, and accepts no other method", async () => {
    expect((await get("/docs/package.json")).status).toBe(404)
    expect((await get("/docs/../package.json")).status).toBe(404)
    expect((await get("/docs", "POST")).status).toBe(404)
  })
})
