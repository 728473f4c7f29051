// Checks that running codegen again changes no file, because generated files are committed (rule 11).
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"

const snapshot = () => {
  const paths = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    encoding: "utf8"
  })
  const present = [...new Set(paths.split("\0"))].filter((path) => path !== "" && existsSync(path))
  return new Map(present.map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")]))
}

const before = snapshot()
execFileSync("npm", ["run", "--silent", "codegen"], { stdio: "inherit" })
const after = snapshot()
const stale = [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path))
for (const path of stale) console.error(`${path}: was out of date; codegen has rewritten it, so commit it`)
process.exitCode = stale.length > 0 ? 1 : 0
