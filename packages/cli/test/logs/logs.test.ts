import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runCommandLine } from "../runCommandLine.js"
import { build, Workshops } from "../Workshop.js"

const LONG = { timeout: 180_000 }
const processes = new Workshops()
const start = (args: ReadonlyArray<string>) => processes.start(args)

beforeAll(build, 120_000)
afterAll(() => processes.end(), 60_000)

describe("workshop logs (Specification, Sandbox)", LONG, () => {
  it("workshop logs prints, filters and follows the requests to a sandbox's API", async () => {
    const server = start(["serve", "--store", "memory", "--sandbox", "--port", "0"])
    const { base, key } = await server.listens()
    const ask = async (method: string, path: string, body?: object, once = "one") => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": once }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(base + path, { method, headers, ...sent })
      return ((await response.json()) as { readonly data: { readonly id: string } }).data
    }
    const { id } = await ask("POST", "/v1/tickets", { service: "Hem" })
    await ask("POST", "/v1/tickets", { service: "Hem" })
    await ask("POST", `/v1/tickets/${id}/status`, { status: "collected" })
    await ask("GET", "/v1/shop")

    const lines = async (...flags: ReadonlyArray<string>) => {
      const { status, stdout, stderr } = await runCommandLine(["logs", "--base-url", base, ...flags])
      expect([status, stderr]).toEqual([0, ""])
      return stdout.trim() === "" ? [] : stdout.trim().split("\n")
    }
    expect((await lines()).map((line) => line.replace(/^\S+ (.*) [\d.]+ ms, key \.\.\..{4}$/, "$1"))).toEqual([
      "201 POST /v1/tickets",
      "200 POST /v1/tickets replayed",
      `409 POST /v1/tickets/${id}/status CONFLICT INVALID_TRANSITION`,
      "200 GET /v1/shop"
    ])
    expect(await lines("--status", "4xx")).toHaveLength(1)
    expect(await lines("--status", "200")).toHaveLength(2)
    expect(await lines("--reason", "INVALID_TRANSITION")).toHaveLength(1)
    expect(await lines("--method", "GET")).toHaveLength(1)
    expect(await lines("--path", "/status")).toHaveLength(1)
    expect(await lines("--ticket", id)).toHaveLength(3)
    expect(await lines("--limit", "2", "--method", "POST")).toHaveLength(2)
    const [line, sent, answered] = await lines("--path", "/status", "--bodies")
    expect([line, sent, answered]).toEqual([
      expect.stringContaining("409"),
      '  > {"status":"collected"}',
      expect.stringMatching(/^ {2}< \{"success":false/)
    ])
    const [logged] = await lines("--reason", "INVALID_TRANSITION", "--json")
    expect(JSON.parse(logged!)).toMatchObject({ status: 409, reason: "INVALID_TRANSITION", ticket_id: id })
    expect(logged).not.toContain(key)

    const following = start(["logs", "--base-url", base, "--follow", "--method", "GET"])
    await following.says(/GET \/v1\/shop/)
    await ask("GET", `/v1/tickets/${id}`)
    await following.says(new RegExp(`GET /v1/tickets/${id}`))
    expect(following.stdout.trim().split("\n")).toHaveLength(2)
    following.kill("SIGINT")
    await following.exited
  })

  it("workshop logs says what to do if the server has no sandbox, or does not respond", async () => {
    const server = start(["serve", "--store", "memory", "--port", "0"])
    const { base } = await server.listens()
    const refused = await runCommandLine(["logs", "--base-url", base])
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining("has no sandbox. Start the server with workshop serve --sandbox")
    ])
    const nobody = await runCommandLine(["logs", "--base-url", "http://127.0.0.1:9"])
    expect([nobody.status, nobody.stderr]).toEqual([1, expect.stringContaining("No response came from")])
  })
})
