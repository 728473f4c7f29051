import type { HttpRequest } from "@workshop/core/http"
import { Cause, Effect } from "effect"
import { describe, expect, it } from "vitest"
import { logsLayer, redact } from "../../src/observe/logsLayer.js"
import { accessLogObserver as accessLogged } from "../../src/observe/requestObserver.js"

type Options = Parameters<typeof logsLayer>[0]

const logged = (work: Effect.Effect<unknown>, options: Partial<Options> = {}, isTerminal = false) => {
  const lines: Array<string> = []
  const layer = logsLayer({ logFormat: null, logLevel: "info", ...options }, isTerminal, (line) => lines.push(line))
  Effect.runSync(Effect.provide(work, layer))
  return lines
}

const failure = Effect.annotateLogs(Effect.logError("A request failed", Cause.die(new Error("two\nlines"))), {
  request_id: "abc"
})

describe("log lines (Specification, Errors)", () => {
  it("log lines without a terminal are one JSON object each, with the Request-Id beside the message and the cause", () => {
    const [line = "", ...others] = logged(failure)
    expect(others).toEqual([])
    expect(line).not.toContain("\n")
    expect(JSON.parse(line)).toEqual({
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: "error",
      message: "A request failed",
      request_id: "abc",
      cause: expect.stringContaining("Error: two\nlines")
    })
  })

  it("log lines on a terminal are readable text, one line each, unless --log-format is set", () => {
    const [line = ""] = logged(failure, {}, true)
    expect(line).toMatch(/level=ERROR .*message="A request failed".*request_id=abc/)
    expect(line).not.toContain("\n")
    expect(JSON.parse(logged(failure, { logFormat: "json" }, true)[0]!)).toMatchObject({ request_id: "abc" })
    expect(logged(failure, { logFormat: "pretty" })[0]).toContain("level=ERROR")
  })

  it.each([
    ["debug", ["debug", "info", "warning", "error"]],
    ["info", ["info", "warning", "error"]],
    ["warning", ["warning", "error"]],
    ["error", ["error"]],
    ["none", []]
  ] as const)("--log-level %s logs the levels %j", (logLevel, levels) => {
    const all = Effect.all([Effect.logDebug("d"), Effect.logInfo("i"), Effect.logWarning("w"), Effect.logError("e")])
    expect(logged(all, { logLevel }).map((line) => JSON.parse(line).level)).toEqual(levels)
  })

  it("log lines contain no key, secret, token, password or phone number from any source", () => {
    const secrets = [
      "wk_live_wVEfGQCQuuSP0esFgUYPXp6OGZugyDklP0xK7hrHds8",
      "whsec_wVEfGQCQuuSP0esFgUYPXp6OGZugyDklP0xK7hrHds8",
      "postgres://owner:hunter2@db.example.com/workshop",
      "Authorization: Bearer sandbox-token-7",
      "Key (phone)=(+21620123456) already exists",
      "/v1/clients?phone=%2B21620123456"
    ]
    const all = Effect.forEach(secrets, (secret) =>
      Effect.annotateLogs(Effect.logError(secret, Cause.die(new Error(secret))), { said: secret })
    )
    for (const logFormat of ["json", "pretty"] as const) {
      const lines = logged(all, { logFormat })
      expect(lines).toHaveLength(secrets.length)
      expect(lines.join("\n")).not.toMatch(/wVEf|hunter2|sandbox-token-7|21620123456/)
    }
  })

  it("long texts in log lines are truncated, and the lines are still valid JSON", () => {
    const long = Effect.annotateLogs(Effect.logError("x".repeat(50_000)), { said: "y".repeat(50_000) })
    const [line = ""] = logged(long, { logFormat: "json" })
    expect(JSON.parse(line)).toMatchObject({
      message: `${"x".repeat(4096)}... (50000 characters)`,
      said: `${"y".repeat(4096)}... (50000 characters)`
    })
    expect(logged(long, { logFormat: "pretty" })[0]!.length).toBeLessThan(5_000)
  })

  it("log lines contain no password that follows a very long word", () => {
    expect(redact(`${"A".repeat(50_000)} ${"A".repeat(50_000)}://me:hunter2@host/`)).not.toContain("hunter2")
  })

  it("the access log shows a method that no route has as `other`", () => {
    const request = { method: "A".repeat(60_000) } as HttpRequest
    const context = { id: "abc", now: 0, route: null, caller: null, limitStatuses: [] }
    const response = { status: 404, headers: {}, body: "", context, failure: { _tag: "RouteNotFound" } } as const
    const [line = ""] = logged(accessLogged(request, context, Effect.succeed(response)))
    const shown = { message: "Answered", method: "other", route: "none", status: 404, failure: "RouteNotFound" }
    expect(JSON.parse(line)).toMatchObject(shown)
  })

  it("log lines contain no path of a web address, because it may contain a secret", () => {
    const line =
      '{"message":"POST https://hooks.example.com:8443/services/T0/B0?token=1 failed","url":"http://a.example/x"}'
    expect(redact(line)).toBe(
      '{"message":"POST https://hooks.example.com:8443/... failed","url":"http://a.example/..."}'
    )
  })

  it("log lines keep texts that only look like a web address", () => {
    const line = '{"timestamp":"2026-11-20T14:40:24.005+0000","price_minor":21620123456,"url":"http://127.0.0.1:4010"}'
    expect(redact(line)).toBe(line)
  })
})
