import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runCommandLine } from "../runCommandLine.js"
import { build, Workshop } from "../Workshop.js"

/** A process takes a second or two to start, and longer on a busy machine. */
const LONG = { timeout: 180_000 }

beforeAll(build, 120_000)

const json = (text: string): Array<Record<string, unknown>> =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

/** The sandbox of the tests that do not move its clock past a ticket's end. Each test opens its own shop. */
let sandbox: Workshop

beforeAll(async () => {
  sandbox = new Workshop(["serve", "--store", "memory", "--sandbox", "--port", "0"])
  await sandbox.listens()
}, 120_000)

afterAll(async () => {
  sandbox.kill("SIGTERM")
  expect(await sandbox.exited).toBe(0)
  expect(sandbox.stdout).toMatch(/\nStopped\. The data in memory are lost\.\n$/)
}, 60_000)

/** Opens a shop of the sandbox, and returns its id, its key and the sandbox's address. */
const openShop = async () => {
  const { base } = await sandbox.listens()
  const response = await fetch(`${base}/sandbox/shops`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Atelier Lac", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" })
  })
  const { data } = (await response.json()) as { readonly data: { readonly shop: { id: string }; readonly key: string } }
  return { base, key: data.key, shop_id: data.shop.id }
}

describe.concurrent("workshop receive (Specification, Commands)", LONG, () => {
  it("workshop receive --register points a sandbox shop's webhook at itself, shows its events, and ends with totals after Ctrl-C", async () => {
    const server = new Workshop(["serve", "--store", "memory", "--sandbox", "--port", "0"])
    const [, base = "", key = ""] = await server.says(/Listening on (\S+)\n[\s\S]*KEY=(\S+)/)
    const receiver = new Workshop(["receive", "--json", "--port", "0", "--register", base, "--key", key])
    await receiver.says(/"kind":"listening"/)
    const ask = (path: string, body: object) =>
      fetch(base + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": "once" },
        body: JSON.stringify(body)
      }).then((answer) => answer.json() as Promise<{ readonly data: { readonly id: string } }>)
    const { data } = await ask("/v1/tickets", { service: "Hem" })
    await receiver.says(/"ticket\.created"/)
    // The sandbox signs by its own clock, which is now sixty days ahead of the receiver's.
    await ask("/sandbox/clock", { advance_ms: 60 * 86_400_000 })
    await receiver.says(/"ticket\.abandoned"/)
    receiver.kill("SIGINT")
    expect(await receiver.exited).toBe(0)
    const said = json(receiver.stdout)
    expect(said.map(({ kind }) => kind)).toEqual(["listening", "request", "request", "totals"])
    expect(said[2]).toMatchObject({ outcome: "event", event: { data: { ticket: { id: data.id }, reason: "no_news" } } })
    expect(said[3]).toEqual({ kind: "totals", event: 2, again: 0, failed: 0, refused: 0 })
    server.kill("SIGTERM")
    expect(await server.exited).toBe(0)
  })

  it("workshop receive --forward-to forwards each delivery unchanged, and returns the response that it gets", async () => {
    const passed: Array<{ readonly type: string; readonly isSigned: boolean }> = []
    const till = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk) => chunks.push(chunk))
      request.on("end", () => {
        const { type } = JSON.parse(Buffer.concat(chunks).toString())
        passed.push({ type, isSigned: "service-signature" in request.headers })
        response.writeHead(503).end()
      })
    }).listen(0, "127.0.0.1")
    await once(till, "listening")
    const { base, key } = await openShop()
    const to = `http://127.0.0.1:${(till.address() as AddressInfo).port}/hooks`
    const words = ["receive", "--json", "--port", "0", "--register", base, "--key", key, "--forward-to", to]
    const receiver = new Workshop(words)
    await receiver.says(/"kind":"listening"/)
    await fetch(`${base}/v1/tickets`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": "once" },
      body: JSON.stringify({ service: "Hem" })
    })
    await receiver.says(/"ticket\.created"/)
    expect(passed).toEqual([{ type: "ticket.created", isSigned: true }])
    expect(json(receiver.stdout)[1]).toMatchObject({ kind: "request", outcome: "failed", answered: 503 })
    receiver.kill("SIGTERM")
    expect(await receiver.exited).toBe(0)
    till.close()
  })

  it("workshop receive --register names the address that it replaces", async () => {
    const { base, key } = await openShop()
    const words = ["receive", "--port", "0", "--register", base, "--key", key]
    const first = new Workshop(words)
    const [, url = ""] = await first.says(/^Listening on (\S+) as the webhook address of shop/m)
    expect(first.stdout).not.toContain("The webhook's address was")
    const second = new Workshop(words)
    await second.says(/^Listening on/m)
    expect(second.stdout).toContain(
      `The webhook's address was ${url}. This command does not restore it at its end, so set it again yourself.\n`
    )
    for (const path of ["/docs", "/sandbox/openapi.json"]) {
      const response = await fetch(base + path)
      // An unread body would keep its connection open.
      await response.arrayBuffer()
      expect(response.status).toBe(200)
    }
    for (const process of [first, second]) process.kill("SIGTERM")
    expect(await Promise.all([first.exited, second.exited])).toEqual([0, 0])
    expect(sandbox.stdout).toContain(`\nRead and try the API: ${base}/docs\n`)
    expect(sandbox.stdout).toContain(`\nThe sandbox API's OpenAPI document: ${base}/sandbox/openapi.json\n`)
    expect(sandbox.stdout).not.toContain("To try the service in a browser")
  })

  it("workshop receive --register refuses an invalid key, because it prints a new shop's key as a line for a shell", async () => {
    const body = JSON.stringify({ success: true, data: { shop: { id: "one" }, key: "x; echo obeyed" } })
    const server = createServer((_, response) => response.end(body)).listen(0, "127.0.0.1")
    await once(server, "listening")
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const receiver = new Workshop(["receive", "--port", "0", "--register", base])
    expect(await receiver.exited).toBe(1)
    server.close()
    expect(receiver.stderr).toBe(
      `${base} returned a shop without a valid API key. Check that --register has the address of a sandbox.\n`
    )
    expect(receiver.stdout).not.toContain("obeyed")
  })

  it("workshop receive --register says that the webhook is off, and --enable turns it on, which sends the parked events", async () => {
    const gone = createServer((_, response) => response.writeHead(410).end()).listen(0, "127.0.0.1")
    await once(gone, "listening")
    const { base, key, shop_id } = await openShop()
    const ask = async (method: string, path: string, body: object) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const response = await fetch(base + path, { method, headers, body: JSON.stringify(body) })
      await response.arrayBuffer()
    }
    const { port } = gone.address() as AddressInfo
    await ask("PUT", `/sandbox/shops/${shop_id}/webhook`, { url: `http://127.0.0.1:${port}/` })
    await ask("POST", `/sandbox/shops/${shop_id}/webhook/ping`, {})
    await ask("POST", "/sandbox/clock", { advance_ms: 1000 })
    gone.close()

    const words = ["receive", "--port", "0", "--register", base, "--key", key]
    const deaf = new Workshop(words)
    await deaf.says(
      /^The webhook is off \(gone\), so nothing arrives\. Restart this command with --enable to turn the webhook on and send the waiting events\.$/m
    )
    deaf.kill("SIGINT")
    expect(await deaf.exited).toBe(0)
    const receiver = new Workshop([...words, "--enable", "--json"])
    await receiver.says(/"kind":"request".*"ping"/)
    expect(JSON.parse(receiver.stdout.split("\n")[0]!)).toMatchObject({ kind: "listening", off_reason: null })
    receiver.kill("SIGINT")
    expect(await receiver.exited).toBe(0)
  })

  it("workshop receive --register fetches the secret again after rotations, and reports when the webhook is turned off", async () => {
    const { base, key, shop_id } = await openShop()
    const receiver = new Workshop(["receive", "--json", "--port", "0", "--register", base, "--key", key])
    await receiver.says(new RegExp(`"kind":"listening".*"shop_id":"${shop_id}"`))
    const post = (act: string, body: object = {}) =>
      fetch(`${base}/sandbox/shops/${shop_id}/webhook/${act}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body)
      }).then((response) => response.arrayBuffer())
    await post("rotate")
    await post("rotate")
    await post("ping")
    await receiver.says(/"outcome":"event".*"ping"/)
    await post("disable")
    await receiver.says(/^\{"kind":"webhook","off_reason":"disabled"\}$/m)
    await post("enable")
    await receiver.says(/^\{"kind":"webhook","off_reason":null\}$/m)
    receiver.kill("SIGINT")
    expect(await receiver.exited).toBe(0)
    expect(json(receiver.stdout).at(-1)).toMatchObject({ kind: "totals", event: 1, refused: 0 })
  })

  it.each([
    [
      ["receive", "--port", "0"],
      "Without the webhook's secret no signature can be verified. Set WORKSHOP_SECRET, or use --register http://127.0.0.1:4010 to point a sandbox shop here."
    ],
    [
      ["receive", "--port", "0", "--secret", "abc"],
      "A webhook's secret starts with whsec_. Set WORKSHOP_SECRET to the complete secret, including whsec_."
    ],
    [
      ["receive", "--port", "0", "--secret", "whsec_s", "--gone", "--endless"],
      "The receiver can send only one kind of response. Give only one of --status, --redirect, --gone, --endless and --forward-to."
    ],
    [
      ["receive", "--port", "0", "--secret", "whsec_s", "--delay", "soon"],
      '--delay (or WORKSHOP_RECEIVE_DELAY) must be a length of time such as 250ms, 3s, 5m, 2h or 60d, and not "soon".'
    ],
    [
      ["receive", "--port", "0", "--register", "http://127.0.0.1:9"],
      "No server responds at http://127.0.0.1:9. Start workshop serve --sandbox --store memory, or give --register the address of a running server."
    ]
  ])("workshop %j says what to do", async (args, sentence) => {
    expect(await runCommandLine(args)).toEqual({ status: 1, stdout: "", stderr: `${sentence}\n` })
  })
})
