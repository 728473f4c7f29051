import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { publishedPackages } from "../scripts/publishedPackages.mjs"

interface Component {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: ReadonlyArray<unknown>
}

const root = fileURLToPath(new URL("..", import.meta.url))

it("npm run sbom lists what the published packages install, each with its version, address and licence", () => {
  const bill = JSON.parse(execFileSync("npm", ["run", "--silent", "sbom"], { cwd: root, encoding: "utf8" }))
  expect([bill.bomFormat, bill.specVersion, bill.metadata.component.name]).toEqual(["CycloneDX", "1.5", "workshop"])
  const components: ReadonlyArray<Component> = bill.components
  const nameOf = ({ purl }: Component) => decodeURIComponent(/^pkg:npm\/(.+)@[^@]+$/.exec(purl)?.[1] ?? "")
  const names = components.map(nameOf)
  for (const path of publishedPackages) {
    const {
      name,
      dependencies = {},
      optionalDependencies = {}
    } = JSON.parse(readFileSync(join(root, "packages", path, "package.json"), "utf8"))
    const needed = [name, ...Object.keys(dependencies), ...Object.keys(optionalDependencies)]
    expect(needed.filter((one) => !names.includes(one))).toEqual([])
  }
  expect(components.filter(({ version, licenses }) => version === "" || !licenses?.length).map(nameOf)).toEqual([])
  // The list has no development dependencies, because an installation does not contain them.
  expect(names.filter((name) => ["vitest", "typescript", "@workshop/bench"].includes(name))).toEqual([])
}, 120_000)
