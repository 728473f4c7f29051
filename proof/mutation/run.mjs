// Mutates the rules of the core, and reports the mutants that the tests of these rules do not kill: `npm run mutation`.
// See docs/reliability.md.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parts } from "./parts.mjs"
import { complaints, isKilled, scores } from "./survivors.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const MIN_PERCENT = 95
/** The test that runs the store contract on the memory store. */
const CONTRACT = "packages/store-memory/test/MemoryStore.test.ts"

// The names of parts come first. The first argument that begins with a dash, and all after it, are passed to Stryker.
const words = process.argv.slice(2)
const dash = words.findIndex((word) => word.startsWith("-"))
const named = dash === -1 ? words : words.slice(0, dash)
const flags = dash === -1 ? [] : words.slice(dash)
const unknown = named.filter((name) => !(name in parts))
if (unknown.length > 0)
  throw new Error(`There is no part ${unknown.join(", ")}. The parts are ${Object.keys(parts).join(", ")}.`)

// Earlier survivors are removed from the report, because Stryker would not test a mutant in a table again, even with
// new tests.
const known = `${root}.workshop/mutation/incremental.json`
if (existsSync(known)) {
  const earlier = JSON.parse(readFileSync(known, "utf8"))
  for (const file of Object.values(earlier.files)) file.mutants = file.mutants.filter(isKilled)
  writeFileSync(known, JSON.stringify(earlier))
}

/** @type {import("./survivors.mjs").Files} */
let files = {}
for (const [name, part] of Object.entries(parts)) {
  if (named.length > 0 && !named.includes(name)) continue
  const mutated = part.files.map((file) => `packages/core/src/${file}.ts`)
  const tests = part.tests.map((test) => (test === "contract" ? CONTRACT : `packages/core/test/${test}.test.ts`))
  const { status } = spawnSync(
    process.execPath,
    [
      `${root}node_modules/@stryker-mutator/core/bin/stryker.js`,
      "run",
      "proof/mutation/stryker.config.mjs",
      ...["--mutate", mutated.join(",")],
      ...flags
    ],
    { stdio: "inherit", cwd: root, env: { ...process.env, MUTATION_TESTS: tests.join(",") } }
  )
  if (status !== 0) process.exit(status ?? 1)
  // The report also contains the results of earlier runs in other files.
  const report = JSON.parse(readFileSync(`${root}.workshop/mutation/report.json`, "utf8"))
  files = { ...files, ...Object.fromEntries(mutated.map((file) => [file, report.files[file]])) }
}

const problems = complaints(files, readFileSync(`${root}proof/mutation/survivors.txt`, "utf8"))
for (const one of problems) console.error(one)

const rows = scores(files)
for (const { file, found: killed, all } of rows) console.log(`${file}: ${killed} of ${all}`)
const killed = rows.reduce((sum, row) => sum + row.found, 0)
const all = rows.reduce((sum, row) => sum + row.all, 0)
const percent = (100 * killed) / Math.max(1, all)
console.log(`${killed} of ${all} mutants were killed: ${percent.toFixed(2)} %`)
if (percent < MIN_PERCENT) console.error(`At least ${MIN_PERCENT} % must be killed.`)
if (problems.length > 0 || percent < MIN_PERCENT) process.exitCode = 1
