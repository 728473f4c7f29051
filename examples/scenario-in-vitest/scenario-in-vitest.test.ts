import { fileURLToPath } from "node:url"
import { runScenario } from "@workshop/testers/scenario"
import { expect, it } from "vitest"

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))

it.each(["refitting.yaml"])("the scenario %s passes", async (name) => {
  const { passed, failure } = await runScenario(here(name))
  // Vitest prints a failure, which has the line of the scenario and the expected value.
  expect({ passed, failure }).toEqual({ passed: true, failure: null })
})
