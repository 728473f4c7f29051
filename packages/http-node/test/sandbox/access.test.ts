import { sandboxAllowed } from "@workshop/http-node/sandbox/sandboxAllowed"
import { describe, expect, it } from "vitest"
import { NOBODY, Sandbox } from "./Sandbox.js"

describe("The sandbox's token (Specification, Sandbox)", () => {
  it("without one, nothing needs to be sent", async () => {
    const sandbox = await Sandbox.open()
    expect((await sandbox.ask("GET", "/sandbox/clock")).status).toBe(200)
    expect((await sandbox.ask("GET", "/sandbox/clock", undefined, { bearer: "anything" })).status).toBe(200)
  })

  it("without one, only what is addressed to this machine is taken: no page elsewhere may reach it by a name of its own", async () => {
    const open = await Sandbox.open()
    for (const host of ["127.0.0.1:4010", "localhost:4010", "[::1]:4010", "LOCALHOST"])
      expect((await open.ask("GET", "/sandbox/clock", undefined, { headers: { host } })).status, host).toBe(200)
    for (const host of ["evil.example:4010", "127.0.0.1.evil.example", "localhost.evil.example", ""])
      expect((await open.ask("GET", "/sandbox/clock", undefined, { headers: { host } })).status, host).toBe(401)
    const empty = await Sandbox.open({ token: "" })
    for (const [host, status] of [
      ["localhost:4010", 200],
      ["evil.example:4010", 401]
    ] as const)
      for (const call of [{ headers: { host } }, { headers: { host }, bearer: "anything" }])
        expect((await empty.ask("GET", "/sandbox/clock", undefined, call)).status, host).toBe(status)
    const guarded = await Sandbox.open({ token: "t0ken" })
    const call = { bearer: "t0ken", headers: { host: "workshop.example" } }
    expect((await guarded.ask("GET", "/sandbox/clock", undefined, call)).status).toBe(200)
  })

  it("with one, it is asked for before anything else", async () => {
    const sandbox = await Sandbox.open({ token: "open sesame".replace(" ", "-") })
    for (const bearer of [undefined, "open-sesam", "open-sesame2", "OPEN-SESAME", "x"]) {
      for (const path of ["/sandbox/clock", "/sandbox/nothing", `/sandbox/shops/${NOBODY}`]) {
        const call = bearer === undefined ? {} : { bearer }
        const { status, error } = await sandbox.ask("GET", path, undefined, call)
        expect([status, error.code]).toEqual([401, "UNAUTHENTICATED"])
        expect(error.message).toBe("Send the token with which the sandbox was started as Authorization: Bearer <token>")
      }
    }
    const basic = { headers: { authorization: "Basic open-sesame" } }
    expect((await sandbox.ask("GET", "/sandbox/clock", undefined, basic)).status).toBe(401)
    const call = { bearer: "open-sesame" }
    expect((await sandbox.ask("GET", "/sandbox/clock", undefined, call)).status).toBe(200)
    expect((await sandbox.ask("GET", "/sandbox/nothing", undefined, call)).status).toBe(404)
  })

  it("moves nothing and opens nothing without it", async () => {
    const sandbox = await Sandbox.open({ token: "t0ken" })
    const before = await sandbox.good("GET", "/sandbox/clock", undefined, { bearer: "t0ken" })
    expect((await sandbox.ask("POST", "/sandbox/clock", { advance_ms: 1000 })).status).toBe(401)
    expect(await sandbox.good("GET", "/sandbox/clock", undefined, { bearer: "t0ken" })).toEqual(before)
  })
})

describe("Where the sandbox may be served (Specification, Sandbox)", () => {
  it("without a token on this machine's own addresses alone", () => {
    for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost", "LocalHost", "::ffff:127.0.0.1"])
      expect(sandboxAllowed(host, null), host).toBe(true)
    for (const host of ["0.0.0.0", "::", "192.168.1.2", "128.0.0.1", "example.com", "localhost.example.com", "", "127"])
      expect(sandboxAllowed(host, null), host).toBe(false)
  })

  it("with a token anywhere; an empty one is none", () => {
    expect(sandboxAllowed("0.0.0.0", "t0ken")).toBe(true)
    expect(sandboxAllowed("0.0.0.0", "")).toBe(false)
  })
})

describe("The sandbox's answers (Specification, Lists and sync; Errors; Limits)", () => {
  it("count nowhere, and tell what the address has left", async () => {
    const sandbox = await Sandbox.open()
    for (let n = 0; n < 130; n++) {
      const { headers } = await sandbox.ask(n % 2 === 0 ? "GET" : "POST", "/sandbox/clock")
      expect([headers["RateLimit-Limit"], headers["RateLimit-Remaining"]]).toEqual(["120", "120"])
    }
  })

  it("an unknown path and a known one with another method are not found", async () => {
    const sandbox = await Sandbox.open()
    for (const [method, path] of [
      ["GET", "/sandbox"],
      ["GET", "/sandbox/shops"],
      ["PUT", "/sandbox/clock"],
      ["PATCH", "/sandbox/clock"],
      ["OPTIONS", "/sandbox/clock"],
      ["POST", `/sandbox/keys/${NOBODY}`]
    ] as const) {
      const { status, error } = await sandbox.ask(method, path)
      expect([method, path, status, error.code]).toEqual([method, path, 404, "NOT_FOUND"])
    }
  })

  it("HEAD answers as GET", async () => {
    const sandbox = await Sandbox.open()
    expect((await sandbox.ask("HEAD", "/sandbox/clock")).status).toBe(200)
  })

  it("refuse what is malformed, unknown or sent where nothing is asked, all at once", async () => {
    const sandbox = await Sandbox.open()
    const { id } = await sandbox.shop()
    const issues = async (...asked: Parameters<Sandbox["ask"]>) => (await sandbox.ask(...asked)).issues
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
