import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const src = fileURLToPath(new URL("../src", import.meta.url))

/** The import specifiers of a file, without imports of types, because those load nothing. */
const loadedBy = (path: string): ReadonlyArray<string> =>
  [...readFileSync(path, "utf8").matchAll(/^(?:import|export) (?!type )(?:[^"]*? from )?"([^"]+)"/gms)].map(
    ([, module = ""]) => module
  )

/** The modules outside this package that the files load, directly or through others. */
const dependenciesOf = (start: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found = new Set<string>()
  const seen = new Set<string>()
  const visit = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    for (const module of loadedBy(path)) {
      if (module.startsWith(".")) visit(resolve(dirname(path), module.replace(/\.js$/, ".ts")))
      else found.add(module)
    }
  }
  for (const path of start) visit(join(src, path))
  return [...found].sort()
}

const cases = readdirSync(join(src, "conform/cases")).map((name) => `conform/cases/${name}`)

describe("the code that judges a service shares none with it", () => {
  it("the auditor of a simulation imports no code of the service", () => {
    expect(dependenciesOf(["simulate/auditor/audit.ts"])).toEqual(["node:crypto"])
  })

  it("the cases of conform and their expectations import no code of the service", () => {
    expect(cases.length).toBeGreaterThan(10)
    expect(dependenciesOf(cases)).toEqual(["effect", "node:crypto", "node:util"])
  })
})
