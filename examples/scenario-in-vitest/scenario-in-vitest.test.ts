import { fileURLToPath } from "node:url"
import { runScenario } from "@workshop/cli/scenario"
import { expect, it } from "vitest"

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))

it.each(["refitting.yaml"])("the scenario %s passes", async (name) => {
  const { passed, failure } = await runScenario(here(name))
  // A failure says in which line, and what was expected there: Vitest prints it as it is.
  expect({ passed, failure }).toEqual({ passed: true, failure: null })
})
