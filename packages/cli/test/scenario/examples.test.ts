import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { runScenario } from "@workshop/testers/scenario"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { editorSchema } from "../../../testers/src/scenario/Scenario.js"
import { play } from "../../../testers/test/scenario/playScenario.js"
import { build, Workshops } from "../Workshop.js"

const root = fileURLToPath(new URL("../../../..", import.meta.url))
const folder = `${root}examples/scenarios`
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"))

describe("examples/scenarios (Specification, Commands)", () => {
  it.each(files)("the example %s passes in process", async (name) => {
    const { passed, steps } = await runScenario(`${folder}/${name}`)
    expect(passed).toBe(true)
    expect(steps.length).toBeGreaterThan(1)
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])("section %i of the specification has an example", (section) => {
    expect(files.filter((name) => name.startsWith(`${section}-`))).not.toEqual([])
  })

  it.each(files)("the example %s names its section and the schema for editors", (name) => {
    const text = readFileSync(`${folder}/${name}`, "utf8")
    expect(text.split("\n")[0]).toBe("# yaml-language-server: $schema=../../docs/scenario.schema.json")
    expect(text).toContain(`\nsection: "${name[0]}"\n`)
  })
})

describe("the schema docs/scenario.schema.json", () => {
  it("the schema on the page equals the output of `npx workshop scenario schema`", () => {
    expect(readFileSync(`${root}docs/scenario.schema.json`, "utf8")).toBe(editorSchema())
  })
})

/**
 * A scenario that could fail when it is repeated against the same service, because it uses a client's number, moves the
 * clock and leaves faults behind.
 */
const AGAIN = `name: Stamps of one day
given:
  shops: { lac: { program: { stamps_required: 5, stamps_per_ticket: 1, reward_label: A hem } } }
  clients: { amira: { given_name: Amira, phone: "+21620987654", knows: [$lac] } }
steps:
  - set clock: "23:59:59.999"
  - add stamps: { client: $amira, count: 1 }
    expect: { data: { card: { balance: 1 } } }
  - set faults: [{ fault: 503, path: /v1/tickets }]
  - create ticket: { service: Hem }
    expect: 503
`

describe("examples of scenarios against a running service, over sockets (Specification, Commands)", {
  timeout: 120_000
}, () => {
  const processes = new Workshops()
  beforeAll(build, 120_000)
  afterAll(() => processes.end())

  it("all examples pass against a running service, even when repeated, and its clock runs afterwards", async () => {
    const service = processes.start([
      "serve",
      "--store",
      "memory",
      "--sandbox",
      "--sandbox-token",
      "sandbox-token-of-thirty-two-chars",
      "--port",
      "0"
    ])
    const { base } = await service.listens()
    const there = { baseUrl: `${base}/v1`, sandboxToken: "sandbox-token-of-thirty-two-chars" }
    for (const name of [...files, "4-offers-and-privacy.yaml"]) {
      expect(await runScenario(`${folder}/${name}`, there)).toMatchObject({ passed: true })
    }
    for (let time = 1; time <= 2; time++)
      expect(await play(AGAIN, there), `run ${time}`).toMatchObject({ passed: true })
    const read = async (path: string) => {
      const headers = { Authorization: "Bearer sandbox-token-of-thirty-two-chars" }
      return (await fetch(`${base}/sandbox/${path}`, { headers })).json()
    }
    // The scenarios close the shops that they opened. The service's first shop stays open.
    const { data: shops }: { data: ReadonlyArray<{ active: boolean }> } = await read("shops")
    expect(shops.length).toBeGreaterThan(files.length)
    expect(shops.map(({ active }) => active)).toEqual([true, ...shops.slice(1).map(() => false)])
    expect(await read("clock")).toMatchObject({ data: { frozen: false } })
    await expect(runScenario(`${folder}/1-envelope.yaml`, { baseUrl: base })).rejects.toThrow(
      `The sandbox at ${base} requires a token. Set WORKSHOP_SANDBOX_TOKEN to the token with which the server was started.`
    )
  })
})
