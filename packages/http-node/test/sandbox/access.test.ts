import { sandboxAllowed } from "@workshop/http-node/internal"
import { describe, expect, it } from "vitest"
import { MINUTE, NOBODY, Sandbox } from "./Sandbox.js"

const TOKEN = "sandbox-token-of-thirty-two-chars"

describe("The sandbox's token (Specification, Sandbox)", () => {
  it("a sandbox without a token accepts requests without one", async () => {
    const sandbox = await Sandbox.open()
    expect((await sandbox.ask("GET", "/sandbox/clock")).status).toBe(200)
    expect((await sandbox.ask("GET", "/sandbox/clock", undefined, { bearer: "anything" })).status).toBe(200)
  })

  it("a sandbox without a token accepts only requests whose Host is a name of this machine, so that no website reaches it by DNS rebinding", async () => {
    const open = await Sandbox.open()
    for (const host of ["127.0.0.1:4010", "localhost:4010", "[::1]:4010", "LOCALHOST"])
      expect((await open.ask("GET", "/sandbox/clock", undefined, { headers: { host } })).status, host).toBe(200)
    for (const host of ["evil.example:4010", "127.0.0.1.evil.example", "localhost.evil.example", ""])
      expect((await open.ask("GET", "/sandbox/clock", undefined, { headers: { host } })).status, host).toBe(403)
    const empty = await Sandbox.open({ token: "" })
    for (const [host, status] of [
      ["localhost:4010", 200],
      ["evil.example:4010", 403]
    ] as const)
      for (const call of [{ headers: { host } }, { headers: { host }, bearer: "anything" }])
        expect((await empty.ask("GET", "/sandbox/clock", undefined, call)).status, host).toBe(status)
    const guarded = await Sandbox.open({ token: TOKEN })
    const call = { bearer: TOKEN, headers: { host: "workshop.example" } }
    expect((await guarded.ask("GET", "/sandbox/clock", undefined, call)).status).toBe(200)
  })

  it("a sandbox with a token checks the token before anything else", async () => {
    const sandbox = await Sandbox.open({ token: TOKEN })
    for (const bearer of [undefined, TOKEN.slice(0, -1), `${TOKEN}2`, TOKEN.toUpperCase(), "x"]) {
      for (const path of ["/sandbox/clock", "/sandbox/nothing", `/sandbox/shops/${NOBODY}`]) {
        const call = bearer === undefined ? {} : { bearer }
        const { status, error } = await sandbox.ask("GET", path, undefined, call)
        expect([status, error.code]).toEqual([401, "UNAUTHENTICATED"])
        expect(error.message).toBe(
          "The sandbox's token is missing or wrong. Send the token with which the server was started as Authorization: Bearer <token>."
        )
      }
    }
    const basic = { headers: { authorization: `Basic ${TOKEN}` } }
    expect((await sandbox.ask("GET", "/sandbox/clock", undefined, basic)).status).toBe(401)
    const call = { bearer: TOKEN }
    expect((await sandbox.ask("GET", "/sandbox/clock", undefined, call)).status).toBe(200)
    expect((await sandbox.ask("GET", "/sandbox/nothing", undefined, call)).status).toBe(404)
  })

  it("a refused request without the token changes nothing", async () => {
    const sandbox = await Sandbox.open({ token: TOKEN })
    const before = await sandbox.good("GET", "/sandbox/clock", undefined, { bearer: TOKEN })
    expect((await sandbox.ask("POST", "/sandbox/clock", { advance_ms: 1000 })).status).toBe(401)
    expect(await sandbox.good("GET", "/sandbox/clock", undefined, { bearer: TOKEN })).toEqual(before)
  })
})

describe("A sandbox without a token accepts only requests of its user's own programs (Specification, Sandbox)", () => {
  const sandbox = Sandbox.open()
  const statusOf = async (method: string, path: string, headers: Readonly<Record<string, string>>) => {
    const { status, error } = await (await sandbox).ask(method, path, undefined, { headers })
    return status === 403 ? [status, error.code, error.message] : [status]
  }
  const refused = [
    403,
    "FORBIDDEN",
    "Without a token, the sandbox refuses requests from a proxy or from another site's web page. Call it directly from this machine, or set WORKSHOP_SANDBOX_TOKEN and restart the server."
  ]

  it.each([
    { forwarded: "for=192.0.2.1" },
    { via: "1.1 proxy" },
    { "x-real-ip": "192.0.2.1" },
    { "x-forwarded-for": "192.0.2.1" },
    { "x-forwarded-host": "workshop.example" },
    { "x-forwarded-proto": "https" },
    { "x-forwarded-port": "443" },
    { "x-forwarded-server": "proxy" },
    { "x-forwarded-prefix": "/workshop" }
  ])("a sandbox without a token refuses a request with a proxy's headers: %j", async (headers) =>
    expect(await statusOf("GET", "/sandbox/clock", { host: "127.0.0.1:4010", ...headers })).toEqual(refused)
  )

  it.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:3000" },
    { origin: "http://127.0.0.1:4011" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "http://127.0.0.1:4010", "sec-fetch-site": "cross-site" }
  ])(
    "a sandbox without a token refuses a request from another website's page, with or without a body: %j",
    async (given) => {
      const { id } = await (await sandbox).shop()
      const headers = { host: "127.0.0.1:4010", ...given }
      for (const path of [
        "clock",
        `shops/${id}/webhook/rotate`,
        `shops/${id}/webhook/enable`,
        `shops/${id}/deliveries/replay`
      ])
        expect(await statusOf("POST", `/sandbox/${path}`, headers), path).toEqual(refused)
      expect(await statusOf("GET", "/sandbox/clock", headers)).toEqual(refused)
    }
  )

  it("a sandbox without a token accepts requests from its own pages and from the address bar", async () => {
    const host = "127.0.0.1:4010"
    for (const headers of [
      { origin: "http://127.0.0.1:4010", "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" },
      {}
    ])
      expect(await statusOf("GET", "/sandbox/clock", { host, ...headers })).toEqual([200])
  })

  it("a sandbox with a token accepts proxied and cross-site requests that have the token", async () => {
    const guarded = await Sandbox.open({ token: TOKEN })
    const headers = { "x-forwarded-for": "192.0.2.1", via: "1.1 proxy", origin: "https://tester.example" }
    expect((await guarded.ask("GET", "/sandbox/clock", undefined, { bearer: TOKEN, headers })).status).toBe(200)
  })
})

describe("Guesses of the sandbox's token are limited", () => {
  it("after 120 wrong tokens in a minute the response is 429, even for the right token, and other requests do not count", async () => {
    const sandbox = await Sandbox.open({ token: TOKEN })
    for (let n = 0; n < 130; n++)
      expect((await sandbox.ask("GET", "/sandbox/clock", undefined, { bearer: TOKEN })).status).toBe(200)
    for (let n = 1; n <= 120; n++) {
      const { status, headers } = await sandbox.ask(
        "POST",
        "/sandbox/clock",
        {},
        { bearer: `guess ${n}`.padEnd(32, "x") }
      )
      expect([status, headers["RateLimit-Remaining"]]).toEqual([401, String(120 - n)])
    }
    for (const bearer of ["x".repeat(32), TOKEN]) {
      const { status, error, headers } = await sandbox.ask("GET", "/sandbox/clock", undefined, { bearer })
      expect([status, error.code, error.details.limit]).toEqual([
        429,
        "TOO_MANY_ATTEMPTS",
        "unauthenticated_per_minute"
      ])
      expect(headers["Retry-After"]).toBe(headers["RateLimit-Reset"])
    }
    sandbox.real.pass(MINUTE)
    expect((await sandbox.ask("GET", "/sandbox/clock", undefined, { bearer: TOKEN })).status).toBe(200)
  })
})

describe("The addresses at which the sandbox may be served (Specification, Sandbox)", () => {
  it("a sandbox without a token is served only on this machine's own addresses", () => {
    for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost", "LocalHost", "::ffff:127.0.0.1"])
      expect(sandboxAllowed(host, null), host).toBe(true)
    for (const host of ["0.0.0.0", "::", "192.168.1.2", "128.0.0.1", "example.com", "localhost.example.com", "", "127"])
      expect(sandboxAllowed(host, null), host).toBe(false)
  })

  it("a sandbox with a token of at least 32 characters is served on any address", () => {
    expect(sandboxAllowed("0.0.0.0", TOKEN)).toBe(true)
    for (const token of ["", "t0ken", TOKEN.slice(0, 31)]) expect(sandboxAllowed("0.0.0.0", token), token).toBe(false)
    expect(sandboxAllowed("0.0.0.0", TOKEN.slice(0, 32))).toBe(true)
  })
})

describe("The sandbox's responses (Specification, Lists and sync; Errors; Limits)", () => {
  it("requests to the sandbox count against no limit, and their headers show the limit of the client's address", async () => {
    const sandbox = await Sandbox.open()
    for (let n = 0; n < 130; n++) {
      const { headers } = await sandbox.ask(n % 2 === 0 ? "GET" : "POST", "/sandbox/clock")
      expect([headers["RateLimit-Limit"], headers["RateLimit-Remaining"]]).toEqual(["120", "120"])
    }
  })

  it("an unknown path and a known path with another method are not found", async () => {
    const sandbox = await Sandbox.open()
    for (const [method, path] of [
      ["GET", "/sandbox"],
      ["PUT", "/sandbox/shops"],
      ["PUT", "/sandbox/clock"],
      ["PATCH", "/sandbox/clock"],
      ["OPTIONS", "/sandbox/clock"],
      ["POST", `/sandbox/keys/${NOBODY}`]
    ] as const) {
      const { status, error } = await sandbox.ask(method, path)
      expect([method, path, status, error.code]).toEqual([method, path, 404, "NOT_FOUND"])
    }
  })

  it("HEAD responds as GET", async () => {
    const sandbox = await Sandbox.open()
    expect((await sandbox.ask("HEAD", "/sandbox/clock")).status).toBe(200)
  })

  it("malformed, unknown and unexpected input is refused, with all problems in one response", async () => {
    const sandbox = await Sandbox.open()
    const { id } = await sandbox.shop()
    const issues = async (...request: Parameters<Sandbox["ask"]>) => (await sandbox.ask(...request)).issues
    expect(await issues("POST", "/sandbox/clock", undefined, { raw: "{" })).toEqual(["body body"])
    expect(await issues("POST", "/sandbox/clock", [])).toEqual(["body body"])
    expect(await issues("GET", "/sandbox/clock", undefined, { query: "verbose=1" })).toEqual(["query verbose"])
    expect(await issues("GET", "/sandbox/shops/7", undefined, { query: "a=1&b=2" })).toEqual([
      "path id",
      "query a",
      "query b"
    ])
    expect(await issues("DELETE", `/sandbox/keys/${NOBODY}`, { now: true })).toEqual(["body now"])
    expect(await issues("POST", `/sandbox/shops/${id}/webhook/ping`, { url: 1, n: 2 })).toEqual(["body url", "body n"])
    expect(await issues("PATCH", "/sandbox/shops/x", { active: 1 })).toEqual(["path id", "body active"])
    expect(await issues("PUT", `/sandbox/shops/${id}/webhook`, undefined, { raw: "{}", query: "x" })).toEqual([
      "query x",
      "body url"
    ])
  })
})
