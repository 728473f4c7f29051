// npm run example <name>
import { existsSync, readdirSync } from "node:fs"

const here = new URL("./", import.meta.url)
const programOf = (/** @type {string} */ name) => new URL(`dist/${name}/main.js`, here)
const names = readdirSync(here).filter((name) => existsSync(new URL(`${name}/main.ts`, here)))
const name = process.argv[2] ?? ""

if (names.includes(name)) await import(programOf(name).href)
else {
  console.error(`There is no example "${name}": choose one of ${names.join(", ")}.`)
  process.exitCode = 1
}
