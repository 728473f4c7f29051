import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Deferred, Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { untilAsync } from "../../../../test/until.js"
import { testDatabase } from "../../../store-pg/test/cluster/TestDatabase.js"
import * as Receiver from "../../../testers/src/receive/Receiver.js"
import { runCommandLine } from "../runCommandLine.js"
import { build, Workshops } from "../Workshop.js"

/** A process takes a second or two to start, and longer on a busy machine. */
const LONG = { timeout: 60_000 }

const scope = Effect.runSync(Scope.make())
const within = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.extend(effect, scope))
const processes = new Workshops()
const start = (...args: ReadonlyArray<string>) => processes.start(args)

beforeAll(build, 120_000)
afterAll(async () => {
  await processes.end()
  await Effect.runPromise(Scope.close(scope, Exit.void))
}, 60_000)

// Resolvers must not look up .onion names (RFC 7686), so an allowed attempt fails on this machine, without a request.
const ELSEWHERE = "https://workshop.onion:8443/events"

describe("flags of workshop serve for webhooks, and of the testers", LONG, () => {
  let base = ""
  const ask = async (method: string, path: string, body: object = {}) => {
    const headers = { "content-type": "application/json" }
    const answer = await fetch(`${base}/sandbox${path}`, { method, headers, body: JSON.stringify(body) })
    // biome-ignore lint/suspicious/noExplicitAny: the body is untyped JSON
    return { status: answer.status, ...((await answer.json()) as any) }
  }
  const open = async (): Promise<string> => {
    const shop = { name: "Atelier Lac", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
    return (await ask("POST", "/shops", shop)).data.shop.id
  }

  beforeAll(async () => {
    const flags = [
      "--signature-header",
      "X-Lac-Signature",
      "--webhook-port",
      "443,8443",
      "--refuse-network",
      "93.184.216.0/24"
    ]
    const server = start("serve", "--store", "memory", "--sandbox", "--port", "0", ...flags)
    const [, at = ""] = await server.says(/^Listening on (\S+)$/m)
    base = at
  }, 60_000)

  it("with --refuse-network, setting a webhook refuses an address in that network and accepts one outside", async () => {
    const shop = await open()
    const set = async (url: string) => (await ask("PUT", `/shops/${shop}/webhook`, { url })).status
    expect([await set("https://93.184.216.34/events"), await set("https://93.184.217.34/events")]).toEqual([400, 200])
  })

  it("with --signature-header, the valid signature of a delivery is only in that header (Specification, Webhooks)", async () => {
    const shop = await open()
    const arrived = Effect.runSync(Deferred.make<Receiver.ReceivedDelivery>())
    const onReceived = (received: Receiver.ReceivedDelivery) => Deferred.unsafeDone(arrived, Effect.succeed(received))
    const receiver = await within(Receiver.makeReceiver({ header: "X-Lac-Signature", onReceived }))
    const { data } = await ask("PUT", `/shops/${shop}/webhook`, { url: receiver.url })
    await Effect.runPromise(receiver.trust([data.secret]))
    await ask("POST", `/shops/${shop}/webhook/ping`)
    const { outcome, headers, event } = await Effect.runPromise(Deferred.await(arrived))
    expect({ outcome, type: event?.type }).toEqual({ outcome: "event", type: "ping" })
    expect(headers["x-lac-signature"]).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
    expect(headers).not.toHaveProperty("service-signature")
  })

  it("workshop receive verifies the signature in the header of --signature-header (Specification, Commands)", async () => {
    const shop = await open()
    const flags = ["--register", base, "--shop", shop, "--signature-header", "X-Lac-Signature"]
    const receiver = start("receive", "--json", "--port", "0", ...flags)
    await receiver.says(/"kind":"listening"/)
    await ask("POST", `/shops/${shop}/webhook/ping`)
    const [line] = await receiver.says(/^.*"kind":"request".*$/m)
    expect(JSON.parse(line)).toMatchObject({ outcome: "event", refused_as: null, event: { type: "ping" } })
  })

  it("--webhook-port allows its ports when a webhook is set and when it is called; the error for another port names the allowed ones (Specification, Webhooks)", async () => {
    const shop = await open()
    const other = await ask("PUT", `/shops/${shop}/webhook`, { url: "https://shop.example.com:9443/events" })
    expect(other.error.details.issues).toEqual([{ in: "body", field: "url", message: "must use port 443 or 8443" }])
    expect((await ask("PUT", `/shops/${shop}/webhook`, { url: ELSEWHERE })).data).toMatchObject({ url: ELSEWHERE })
    await ask("POST", `/shops/${shop}/webhook/ping`)
    await ask("POST", "/clock", { advance_ms: 1 })
    const { data } = await fetch(`${base}/sandbox/shops/${shop}/deliveries`).then((answer) => answer.json())
    expect(data).toMatchObject([{ attempts: [{ error: "lookup" }] }])
  })

  it("/openapi.json and workshop openapi name the header of --signature-header (Specification, Webhooks; Commands)", async () => {
    const served = await fetch(`${base}/openapi.json`).then((answer) => answer.json())
    expect(served.webhooks.ping.post.parameters).toMatchObject([{ name: "X-Lac-Signature", in: "header" }])
    const { stdout } = await runCommandLine(["openapi", "--signature-header", "X-Lac-Signature"])
    expect({ ...JSON.parse(stdout), servers: served.servers }).toEqual(served)
  })

  // The tests below move the server's clock away from the clocks of the receivers above, so they run last.

  const RENAMED = ["--signature-header", "X-Lac-Signature"]
  /** Runs a command against the server, first without --signature-header and then with it. */
  const both = async (...words: ReadonlyArray<string>) => {
    const against = [...words, "--base-url", base]
    return { without: await runCommandLine(against), with: await runCommandLine([...against, ...RENAMED]) }
  }

  it("workshop conform passes against a server with a renamed signature header only with --signature-header (Specification, Commands)", async () => {
    const results = await both("conform", "--only", "signature,signature-each-attempt,secret-rotation")
    expect(results.with).toMatchObject({ status: 0, stderr: "" })
    expect(results.with.stdout).toMatch(/3 cases in [\d.]+ s: ✓ 3\n$/)
    expect(results.without).toMatchObject({ status: 1, stderr: "The server breaks 3 rules of the specification.\n" })
    expect(results.without.stdout).toContain(
      "the header Service-Signature (if the header has another name, add --signature-header)"
    )
    expect(results.without.stdout).toMatch(/found {5}\[.*"x-lac-signature".*\]/)
  })

  it("workshop scenario run accepts deliveries with a renamed signature header only with --signature-header (Specification, Commands)", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "signed-")), "signed.yaml")
    const steps = "steps:\n  - create ticket: { service: Hem }\n  - expect received: [{ type: ticket.created }]\n"
    writeFileSync(file, `name: Signed\ngiven: { shops: { lac: { webhook: true } } }\n${steps}`)
    const results = await both("scenario", "run", file)
    const moves = `The scenarios move the sandbox's clock at ${base} forward, for everybody who uses that sandbox.\n`
    expect(results.with).toMatchObject({ status: 0, stderr: moves })
    expect(results.without).toMatchObject({ status: 1, stderr: `${moves}1 of 1 scenario failed.\n` })
    expect(await runCommandLine(["scenario", "run", file, ...RENAMED])).toMatchObject({ status: 0, stderr: "" })
  })

  it("workshop simulate accepts deliveries with a renamed signature header only with --signature-header, and repeats the flag in the command that it prints (Specification, Commands)", async () => {
    const results = await both("simulate", "--seed", "7", "--steps", "60", "--shops", "1")
    expect(results.with).toMatchObject({ status: 0, stderr: expect.stringMatching(/^The simulation moves [^\n]+\n$/) })
    expect(results.with.stdout).toMatch(
      /^Repeat the run: npx workshop simulate .* --signature-header X-Lac-Signature$/m
    )
    expect(results.without.status).toBe(1)
    expect(results.without.stdout).toMatch(/^signatures: broken .*\(Specification, Webhooks/m)
    expect(results.without.stdout).toContain("the request has no signature")
  })

  const OF_ITS_OWN = "must be a header name that HTTP does not use itself, such as Service-Signature"
  const A_PORT = "must be a port from 1 to 65535"

  it.each([
    ["--signature-header", "X Signature", "X Signature", OF_ITS_OWN],
    ["--signature-header", "Content-Type", "Content-Type", OF_ITS_OWN],
    ["--webhook-port", "0", "0", A_PORT],
    ["--webhook-port", "443,70000", "70000", A_PORT],
    ["--webhook-port", "https", "https", A_PORT]
  ])(
    "workshop serve and workshop dispatch refuse %s %j before they start (Specification, Commands)",
    async (flag, given, wrong, must) => {
      const variable = `WORKSHOP_${flag.slice(2).toUpperCase().replace("-", "_")}`
      const refused = { status: 1, stdout: "", stderr: `${flag} (or ${variable}) ${must}, and not "${wrong}".\n` }
      expect(await runCommandLine(["serve", "--store", "memory", "--port", "0", flag, given])).toEqual(refused)
      expect(await runCommandLine(["dispatch", flag, given], { DATABASE_URL: "postgres://127.0.0.1:1/none" })).toEqual(
        refused
      )
    }
  )
})

describe("workshop dispatch and workshop webhook", LONG, () => {
  it("the OpenAPI document at workshop dispatch's --status-port names the header of --signature-header (Specification, Commands)", async () => {
    const { url } = await within(testDatabase)
    const flags = ["--status-port", "0", "--signature-header", "X-Lac-Signature"]
    const [, at = ""] = await start("dispatch", "--database-url", url, ...flags).says(/metrics are at (\S+)$/m)
    const { webhooks } = await fetch(`${at}/openapi.json`).then((answer) => answer.json())
    expect(webhooks.ping.post.parameters).toMatchObject([{ name: "X-Lac-Signature" }])
  })

  it("workshop dispatch and workshop webhook use the same --webhook-port, and deliveries shows every detail of each attempt (Specification, Webhooks)", async () => {
    const { url } = await within(testDatabase)
    const does = async (...args: ReadonlyArray<string>) => {
      const said = await runCommandLine([...args, "--json"], { DATABASE_URL: url })
      return said.status === 0 ? JSON.parse(said.stdout) : said.stderr
    }
    const lac = ["--name", "Atelier Lac", "--currency", "TND", "--decimals", "3", "--time-zone", "Africa/Tunis"]
    const { id: shop } = await does("shop", "create", ...lac)
    expect(await does("webhook", "set", shop, ELSEWHERE)).toMatch(
      /^The address must use port 443\. .* add --webhook-port 8443, .*\n$/
    )
    await does("webhook", "set", shop, ELSEWHERE, "--webhook-port", "8443")
    await does("webhook", "ping", shop)
    start("dispatch", "--database-url", url, "--webhook-port", "8443")
    const [delivery] = await untilAsync(
      "an attempt",
      () => does("webhook", "deliveries", shop),
      ([first]) => first.attempts.length > 0
    )
    expect(delivery.attempts[0]).toEqual({
      n: 1,
      started_at: expect.any(String),
      duration_ms: expect.any(Number),
      status: null,
      error: "lookup",
      detail: "ENOTFOUND",
      address: null,
      timings: { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null },
      head: ""
    })
  })
})
