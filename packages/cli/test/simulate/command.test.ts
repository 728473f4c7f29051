import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { Store } from "@workshop/core/store"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runScenario } from "../../../testers/src/scenario/runScenario.js"
import { SimulatedStore } from "../../../testers/src/simulate/SimulatedStore.js"
import { changes } from "../../../testers/test/conform/broken/BrokenServer.js"
import type { Fault } from "../../../testers/test/conform/InProcess.js"
import { runCommandLine } from "../runCommandLine.js"
import { build, run, Workshop } from "../Workshop.js"

const SMALL = ["--steps", "40", "--shops", "2"]

/** The words after `npx workshop` in the printed command that repeats a run. */
const repetition = (text: string): ReadonlyArray<string> => {
  const [, words] = /^Repeat the run: npx workshop (.*)$/m.exec(text) ?? []
  return words?.split(" ") ?? []
}

const folder = mkdtempSync(join(tmpdir(), "simulate-"))
afterAll(() => rmSync(folder, { recursive: true }))

describe("workshop simulate (Specification, Commands)", { timeout: 60_000 }, () => {
  it("workshop simulate prints seed, digest, counts and violations as JSON, and nothing else", async () => {
    const { status, stdout, stderr } = await runCommandLine(["simulate", "--seed", "5", ...SMALL, "--json"])
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    const summary = JSON.parse(stdout)
    expect(Object.keys(summary)).toEqual(["seed", "digest", "counts", "violations"])
    expect(summary).toMatchObject({ seed: 5, digest: expect.stringMatching(/^[0-9a-f]{64}$/), violations: [] })
    expect(summary.counts).toMatchObject({ steps: 40, shops: 2 })
  })

  it("--signature-header changes the header in which a simulated store signs, and nothing else of the run", async () => {
    const words = ["simulate", "--seed", "5", ...SMALL, "--json"]
    const named = await runCommandLine([...words, "--signature-header", "X-Lac-Signature"])
    const plain = await runCommandLine(words)
    // The digest differs, because it covers the requests of deliveries with the names of their headers.
    const { digest, ...rest } = JSON.parse(named.stdout)
    const { digest: another, ...same } = JSON.parse(plain.stdout)
    expect([named.status, named.stderr, rest]).toEqual([plain.status, plain.stderr, same])
    expect([named.status, digest === another]).toEqual([0, false])
  })

  it("workshop simulate prints the seed and the command that repeats the run, and writes a self-contained page", async () => {
    const html = join(folder, "run.html")
    const { status, stdout } = await runCommandLine(["simulate", "--seed", "6", ...SMALL, "--html", html])
    expect(status).toBe(0)
    expect(stdout).toContain("Seed 6: 40 steps")
    expect(stdout).toMatch(/^Responses by status: 200 \(\d+\), 201 \(/m)
    expect(repetition(stdout)).toEqual(["simulate", "--seed", "6", ...SMALL])
    const page = readFileSync(html, "utf8")
    expect(page).toContain("Simulation of seed 6 passed: no violations</h1>")
    expect(page.match(/<svg /g)).toHaveLength(4)
    expect(page).not.toMatch(/<(link|script src|img|iframe|object)\b|\bsrc=|url\(|@import/)
    expect(page).not.toContain("NaN")
  })
})

/** The memory store with a fault. */
const broken = ({ store = (same) => same }: Fault) =>
  MemoryStore.layer.pipe((whole) =>
    Layer.merge(whole, Layer.effect(Store, Effect.map(Store, store)).pipe(Layer.provide(whole)))
  )

const on = (fault: Fault, args: ReadonlyArray<string>) =>
  runCommandLine(args, {}, (program) => Effect.provideService(program, SimulatedStore, () => broken(fault)))

const findings = (said: string): string => said.slice(said.indexOf("\nloyalty: "))

describe("a simulation of a store with a fault (Specification, Commands)", () => {
  const stampless = changes((one) => (one._tag === "CardPut" ? null : one))

  it("a simulation that finds violations names the broken rules, and the command that it prints repeats its output exactly", async () => {
    const html = join(folder, "broken.html")
    const first = await on(stampless, ["simulate", "--seed", "7", ...SMALL, "--html", html])
    expect(first.status).toBe(1)
    const page = readFileSync(html, "utf8")
    expect(page).toMatch(
      /<h2 class="failed">loyalty: broken .*<\/h2><ul class="entries"><li class="entry" id="loyalty-1"/
    )
    expect(first.stdout).toMatch(/^Seed 7: 40 steps/)
    expect(first.stdout).toMatch(/^loyalty: broken (once|\d+ times) \(Specification, /m)
    // Each violation links to its rule, in the terminal, on the page and in JSON.
    const rule_at = "docs/specification.md#rule-stamps"
    expect(first.stdout).toMatch(new RegExp(`^ {4}breaks ${rule_at}$`, "m"))
    expect(page).toContain(`<a href="https://github.com/workshop-tickets/workshop/blob/main/${rule_at}">${rule_at}</a>`)
    const { stdout } = await on(stampless, ["simulate", "--seed", "7", ...SMALL, "--json"])
    expect(JSON.parse(stdout).violations[0]).toMatchObject({ rule: "loyalty", rule_at })
    const words = repetition(first.stdout)
    expect(words).toEqual(["simulate", "--seed", "7", ...SMALL])
    const again = await on(stampless, words)
    expect({ ...again, stdout: findings(again.stdout) }).toEqual({ ...first, stdout: findings(first.stdout) })
    expect((await runCommandLine(words)).status).toBe(0)
  }, 60_000)

  it("a simulation writes the first violation, from the shortest run that has it, as a scenario that can be run", async () => {
    const file = join(folder, "broken.yaml")
    const { status } = await on(stampless, ["simulate", "--seed", "7", ...SMALL, "--scenario", file])
    expect(status).toBe(1)
    const text = readFileSync(file, "utf8")
    expect(text).toMatch(
      /^# loyalty: .+\n# Breaks: docs\/specification.md#rule-stamps\n# Found by: npx workshop simulate --seed 7 --steps \d+ --shops/
    )
    const [, steps] = /--steps (\d+)/.exec(text) ?? []
    expect(Number(steps)).toBeLessThan(40)
    const found = await on(stampless, /npx workshop (.*)/.exec(text)![1]!.split(" "))
    expect(found.stdout).toMatch(/^loyalty: broken/m)
    const { passed, steps: played } = await runScenario(file)
    expect([passed, played.length > 1]).toEqual([true, true])
  }, 60_000)

  it("a simulation prints the command that repeats the run, even if it cannot continue", async () => {
    const eventless = changes((one) => (one._tag === "EventRaised" && one.row.type === "ticket.ready" ? null : one))
    const { status, stdout, stderr } = await on(eventless, ["simulate", "--seed", "7", ...SMALL])
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" })
    expect(stderr).toMatch(/^The sandbox clock could not be moved \(500\)\. .+\n$/)
    expect(stderr).toContain(` Repeat the run with npx workshop simulate --seed 7 ${SMALL.join(" ")}\n`)
  })
})

/** A proxy that removes the oldest event of each shop from the server's list of events. */
const keepingBack = async (behind: string): Promise<Server> => {
  const server = createServer(async (request, response) => {
    const { method = "GET", url = "/", headers } = request
    const { host: _host, connection: _connection, "content-length": _length, ...own } = headers
    const body = method === "GET" ? null : await text(request)
    const answer = await fetch(behind + url, { method, body, headers: own as Record<string, string> })
    const said = (await answer.json()) as { readonly data?: Array<unknown> }
    if (/^\/sandbox\/shops\/[^/]+\/events/.test(url)) said.data?.shift()
    const kept = [...answer.headers].filter(([name]) => !["connection", "content-length", "keep-alive"].includes(name))
    response.writeHead(answer.status, Object.fromEntries(kept)).end(JSON.stringify(said))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return server
}

describe("a simulation of a server that loses events (Specification, Commands)", () => {
  let workshop: Workshop | undefined
  let server: Server | undefined

  beforeAll(build, 120_000)
  afterAll(async () => {
    server?.closeAllConnections()
    server?.close()
    workshop?.kill("SIGKILL")
    await workshop?.exited
  })

  it("a simulation of a server that loses events ends with status 1, and prints the command that repeats the run", async () => {
    workshop = new Workshop(["serve", "--sandbox", "--store", "memory", "--port", "0"])
    server = await keepingBack((await workshop.listens()).base)
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const words = ["simulate", "--seed", "7", "--steps", "5", "--shops", "1", "--base-url", base]
    const html = join(folder, "lost.html")
    const { status, stdout, stderr } = await run([...words, "--html", html])
    const [, story = ""] = /data-story="([^"]+)"/.exec(readFileSync(html, "utf8")) ?? []
    const { history } = JSON.parse(story.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&"))
    // The page shows the violation on its ticket's timeline, between the ticket's requests and states.
    const kinds = history.entries.map(({ id, kind }: { id: string; kind: string }) => (id === "violation" ? id : kind))
    expect(kinds).toEqual(expect.arrayContaining(["violation", "request", "state"]))
    const { title } = history.entries.find(({ id }: { id: string }) => id === "violation")
    expect(stdout).toContain(`\n${title}: broken `)
    expect(stdout).toMatch(/^Seed 7: 5 steps/)
    expect(stdout).toMatch(/^events: broken (once|\d+ times) \(Specification, /m)
    expect(repetition(stdout)).toEqual(words)
    expect(status).toBe(1)
    const [warning, ...rest] = stderr.split(/(?<=\n)/)
    expect(warning).toBe(
      `The simulation moves the sandbox's clock at ${base} forward, for everybody who uses that sandbox.\n`
    )
    expect(rest.join("")).toMatch(
      /^\d+ invariants? (?:was|were) violated. Repeat the run with npx workshop simulate .*\n$/
    )
    expect(stderr.trimEnd().endsWith(words.join(" "))).toBe(true)
    expect(await runCommandLine(words)).toMatchObject({ status: 1, stdout: expect.stringMatching(/^events: broken/m) })
  }, 120_000)
})
