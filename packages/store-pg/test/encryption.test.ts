import { Effect, Logger } from "effect"
import { describe, expect, it } from "vitest"
import { unencryptedHostOf, warnIfUnencrypted } from "../src/connection/Address.js"

describe("a connection to a database on another machine is encrypted, or the log has a warning", () => {
  it.each([
    "postgres://u:p@127.0.0.1:5432/w",
    "postgres://u:p@127.9.9.9/w",
    "postgres://u:p@[::1]/w",
    "postgres://u:p@localhost/w",
    "postgres://u@/w?host=/var/run/postgresql",
    "postgres://u:p@db.example.com/w?sslmode=require",
    "postgres://u:p@db.example.com/w?sslmode=verify-full",
    "postgres://u:p@db.example.com/w?ssl=true",
    "postgres://u:p@db.example.com/w?sslmode=disable"
  ])("no warning is needed for %s, which stays on this machine or sets the encryption", (url) =>
    expect(unencryptedHostOf(url, undefined)).toBeUndefined()
  )

  it.each([
    ["postgres://u:p@db.example.com/w", "db.example.com"],
    ["postgres://u:p@10.0.0.5:6432/w", "10.0.0.5"],
    ["postgres://u:p@[2001:db8::1]/w", "2001:db8::1"],
    ["postgres://u:p@localhost.example.com/w", "localhost.example.com"],
    ["postgres://u@/w?host=db.example.com", "db.example.com"]
  ])("%s leads to another machine without encryption", (url, host) =>
    expect(unencryptedHostOf(url, undefined)).toBe(host)
  )

  it("PGSSLMODE applies if the address sets no mode", () => {
    expect(unencryptedHostOf("postgres://u:p@db.example.com/w", "verify-full")).toBeUndefined()
    expect(unencryptedHostOf("postgres://u:p@db.example.com/w", "")).toBe("db.example.com")
  })

  it("the warning names the host and what to add, but no password", async () => {
    const lines: Array<string> = []
    const logger = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => {
        lines.push(String(message))
      })
    )
    await Effect.runPromise(Effect.provide(warnIfUnencrypted("postgres://u:hunter2@db.example.com/w"), logger))
    expect(lines).toEqual([
      expect.stringMatching(/^The connection to the database on db\.example\.com is not encrypted.*sslmode=verify-full/)
    ])
    expect(lines.join()).not.toContain("hunter2")
  })
})
