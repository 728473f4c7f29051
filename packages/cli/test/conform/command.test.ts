import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { atEndOfFile } from "../../../../test/endOfFile.js"
import { runCommandLine } from "../runCommandLine.js"
import { build, run, Workshop } from "../Workshop.js"

const folder = mkdtempSync(join(tmpdir(), "conform-"))
let workshop: Workshop | undefined

beforeAll(build, 120_000)
afterAll(async () => {
  workshop?.kill("SIGKILL")
  await workshop?.exited
  rmSync(folder, { recursive: true })
})

/** A server that serves only GET /v1/shop, and responds to all other requests without the envelope. */
const startLyingServer = (): Promise<string> =>
  new Promise((resolve) => {
    const scopes = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]
    const server = createServer((request, response) => {
      const isShop = request.url === "/v1/shop"
      response.writeHead(isShop ? 200 : 404, { "Content-Type": "application/json" })
      response.end(JSON.stringify(isShop ? { success: true, data: { scopes } } : { oops: true }))
    }).listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    atEndOfFile(() => server.close().closeAllConnections())
  })

const LONG = { timeout: 120_000 }

describe.concurrent("workshop conform (Specification, Commands)", LONG, () => {
  it("workshop conform passes against workshop serve over sockets, and leaves the clock running", async () => {
    workshop = new Workshop(
      ["serve", "--sandbox", "--store", "memory", "--sandbox-token", "sandbox-token-of-thirty-two-chars"],
      {
        WORKSHOP_PORT: "0"
      }
    )
    const { base } = await workshop.listens()
    const [junit, html] = ["xml", "html"].map((name) => join(folder, `report.${name}`))
    const reports = ["--junit", junit!, "--html", html!]
    const only =
      "envelope-too-large,envelope-head,list-phone,delivery-request,delivery-redirect,delivery-retries,signature,"
    const cases = [
      "--only",
      `${only}secret-rotation,webhook-gone,closure-uncollected,reopen-at-24h,limit-unauthenticated`
    ]
    const args = [
      "conform",
      "--base-url",
      `${base}/v1/`,
      "--sandbox-token",
      "sandbox-token-of-thirty-two-chars",
      ...cases,
      ...reports
    ]
    const { status, stdout, stderr } = await run(args)
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).toMatch(/^12 cases against http:\S+ with its sandbox/)
    expect(stdout).toMatch(/12 cases in [\d.]+ s: ✓ 12\n$/)
    expect(readFileSync(junit!, "utf8")).toContain('tests="12" failures="0"')
    expect(readFileSync(html!, "utf8")).toContain("conforms")
    const clock = await fetch(`${base}/sandbox/clock`, {
      headers: { Authorization: "Bearer sandbox-token-of-thirty-two-chars" }
    })
    expect(await clock.json()).toMatchObject({ data: { frozen: false } })

    const without = await runCommandLine(["conform", "--base-url", base])
    expect(without).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "The sandbox requires a token. Set WORKSHOP_SANDBOX_TOKEN to the token with which the server was started.\n"
    })
  })

  it("workshop conform shows a command that repeats a failure and the rule that it breaks, but not the key, and exits with 1", async () => {
    const base = await startLyingServer()
    const args = [
      "conform",
      "--base-url",
      base,
      "--key",
      "wk_live_mine",
      "--only",
      "envelope-unknown-route,version-in-events"
    ]
    const { status, stdout, stderr } = await runCommandLine(args)
    expect({ status, stderr }).toEqual({ status: 1, stderr: "The server breaks 1 rule of the specification.\n" })
    expect(stdout).toContain("✗ §1 envelope-unknown-route")
    expect(stdout).toContain("breaks    docs/specification.md#rule-envelope-success")
    expect(stdout).toContain(`curl -si '${base}/v1/nothing-here' -H "Authorization: Bearer $WORKSHOP_KEY"`)
    expect(stdout).toContain('HTTP 404\n    content-type: application/json\n\n    {"oops":true}')
    expect(stdout).toContain("1 skipped: the case needs a sandbox")
    expect(stdout).not.toContain("wk_live_mine")
    const printed = await runCommandLine([...args, "--json"])
    expect(printed).toMatchObject({ status: 1, stderr })
    expect(JSON.parse(printed.stdout)).toMatchObject({ with: "key", counts: { passed: 0, failed: 1, skipped: 1 } })
  })

  it("workshop conform reports a broken GET /v1/shop as the server's fault, and blames the key only if the server refuses it", async () => {
    const statuses = new Map<string, number>()
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://x")
      response.writeHead(statuses.get(pathname) ?? 404).end(JSON.stringify({ success: true, data: [] }))
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const words = ["conform", "--base-url", base, "--key", "wk_live_mine", "--only", "version-in-path", "--json"]
    const said = async (shop: number, tickets: number) => {
      statuses.set("/v1/shop", shop).set("/v1/tickets", tickets)
      return (await runCommandLine(words)).stderr
    }
    expect(await said(404, 404)).toBe(
      "GET /v1/shop returned 404 and GET /v1/tickets 404, so the API does not respond there. Check --base-url and the server's log. The key itself may be valid.\n"
    )
    expect(await said(404, 401)).toBe("The server does not know the key. Give a valid API key with --key.\n")
    expect(await said(403, 200)).toMatch(/^The key's shop may not use the API/)
    // In these states the run starts, because its cases find a missing endpoint or a response without scopes.
    for (const shop of [404, 500, 200]) expect(await said(shop, 200)).toMatch(/^$|^The server breaks \d+ rules? of /)
    server.close()
  })

  it.each([
    [
      [],
      "Give the address of the server to test, such as --base-url http://127.0.0.1:4010. To list the cases, use --list.\n"
    ],
    [
      ["--base-url", "http://127.0.0.1:1"],
      /^No response came from http:\/\/127\.0\.0\.1:1\/sandbox\/clock \(.+\)\. Check that .+\n$/
    ],
    [
      ["--base-url", "http://127.0.0.1:1", "--only", "no-such"],
      'There is no case with the id "no-such". List the ids with --list.\n'
    ]
  ])("workshop conform %j is refused with what to do", async (args, sentence) => {
    const { status, stdout, stderr } = await runCommandLine(["conform", ...args])
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" })
    expect(stderr).toMatch(sentence)
  })

  it("workshop conform lists its cases by section, and which of them need no sandbox", async () => {
    const { status, stdout } = await runCommandLine(["conform", "--list", "--section", "9"])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^§9 Versioning\n {2}version-in-path {2}.+ {2}\(key\)\n {2}version-in-events {2}/)
    const printed = await runCommandLine(["conform", "--list", "--section", "9", "--json"])
    expect(JSON.parse(printed.stdout)).toEqual([
      expect.objectContaining({ id: "version-in-path", section: "§9", needs: "key" }),
      expect.objectContaining({ id: "version-in-events", section: "§9", needs: "sandbox" })
    ])
  })

  it("workshop conform reports that it cannot write a report file", async () => {
    const base = await startLyingServer()
    const file = join(folder, "nowhere", "report.html")
    const args = ["conform", "--base-url", base, "--key", "wk_live_mine", "--only", "version-in-events"]
    const { status, stdout, stderr } = await runCommandLine([...args, "--html", file])
    expect(stdout).toMatch(/^1 case against http/)
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /^\S+report\.html cannot be written \(Error: ENOENT: .+\). Name another file with --html\.\n$/
    )
  })
})
