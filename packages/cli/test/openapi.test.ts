import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { runCommandLine } from "./runCommandLine.js"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const committed = (name: string): unknown => JSON.parse(readFileSync(`${root}${name}`, "utf8"))

describe("workshop openapi (Specification, Commands)", () => {
  it("workshop openapi prints the document of the API", async () => {
    expect(JSON.parse((await runCommandLine(["openapi"])).stdout)).toEqual(committed("openapi.json"))
  })

  it("workshop openapi --sandbox prints the document of the sandbox", async () => {
    expect(JSON.parse((await runCommandLine(["openapi", "--sandbox"])).stdout)).toEqual(
      committed("openapi.sandbox.json")
    )
  })
})
