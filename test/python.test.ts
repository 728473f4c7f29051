import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { bytesOf, vectors } from "../packages/webhooks/test/vectors.js"

const page = readFileSync(new URL("../docs/receive-webhooks.md", import.meta.url), "utf8")

/** Calls the page's function with each vector, and prints the list of results. */
const HARNESS = `
import base64, json, sys
print(json.dumps([is_signed(base64.b64decode(v["body"]), v["header"], v["secrets"], v["now"], v["tolerance_seconds"]) for v in json.load(sys.stdin)]))
`

describe("the Python function of docs/receive-webhooks.md (Specification, Webhooks)", () => {
  it("the Python function returns the verdicts of the test vectors", { timeout: 60_000 }, (context) => {
    if (spawnSync("python3", ["--version"]).status !== 0) {
      return context.skip("python3 is missing: install it to test the function.")
    }
    const [, code = ""] = /^```python\n([\s\S]*?)^```$/m.exec(page) ?? []
    const input = JSON.stringify(
      vectors.map((vector) => ({ ...vector, body: bytesOf(vector.body).toString("base64") }))
    )
    const { stdout, stderr } = spawnSync("python3", ["-c", code + HARNESS], { input, encoding: "utf8" })
    expect(stderr).toBe("")
    const judged: ReadonlyArray<boolean> = JSON.parse(stdout)
    expect(vectors.map(({ name }, i) => [name, judged[i]])).toEqual(vectors.map(({ name, ok }) => [name, ok]))
  })
})
