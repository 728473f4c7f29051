import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runCommandLine } from "../runCommandLine.js"
import { build, Workshop } from "../Workshop.js"

describe("a simulation of the service's own sandbox, over sockets (Specification, Commands)", {
  timeout: 240_000
}, () => {
  let workshop: Workshop
  let base = ""

  beforeAll(async () => {
    await build()
    workshop = new Workshop(["serve", "--sandbox", "--store", "memory", "--port", "0"])
    base = (await workshop.listens()).base
  }, 120_000)
  afterAll(async () => {
    workshop.kill("SIGKILL")
    await workshop.exited
  })

  const clock = async (body?: object) => {
    const headers = { "content-type": "application/json" }
    const post = { method: "POST", headers, body: JSON.stringify(body) }
    const response = await fetch(`${base}/sandbox/clock`, body === undefined ? {} : post)
    return ((await response.json()) as { readonly data: { readonly now: string; readonly frozen: boolean } }).data
  }

  it.each([
    ["running", 7, false, "runs again"],
    ["frozen", 10, true, "stays frozen"]
  ])(
    "a simulation over sockets finds no violation, and leaves a %s clock as it was (seed %i)",
    async (_, seed, freeze, state) => {
      await clock({ freeze })
      const words = ["simulate", "--seed", String(seed), "--steps", "120", "--shops", "2", "--base-url", base]
      const { status, stdout, stderr } = await runCommandLine(words)
      const warning = `The simulation moves the sandbox's clock at ${base} forward, for everybody who uses that sandbox.\n`
      expect({ status, stderr }).toEqual({ status: 0, stderr: warning })
      expect(stdout).toMatch(/^All \d+ checks hold: /m)
      expect(stdout).toMatch(
        new RegExp(
          `^The sandbox clock ${state}, as before the simulation\\. It shows \\S+Z, which is \\d+\\.\\d days later than before, because it cannot be moved back\\.$`,
          "m"
        )
      )
      expect((await clock()).frozen).toBe(freeze)
    }
  )

  it("a simulation that ends early leaves the clock running", async () => {
    await clock({ freeze: false })
    const words = ["simulate", "--seed", "7", "--steps", "5", "--shops", "1", "--base-url", base]
    const { status } = await runCommandLine([...words, "--duration", "1ms"])
    expect(status).toBe(0)
    expect((await clock()).frozen).toBe(false)
  })
})
