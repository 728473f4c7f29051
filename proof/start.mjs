// Bundles the program of a folder of proof/ from the sources and runs it: `npm run torture`, `kills`, `soak`,
// `overload` and `fuzz`. See docs/reliability.md.
import { spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { plantingBuild } from "./planted/build.mjs"
import { root } from "./planted/plant.mjs"

const [folder = "torture", ...words] = process.argv.slice(2)
const program = `${root}.workshop/${folder}/main.mjs`
mkdirSync(`${root}.workshop/${folder}`, { recursive: true })
const build = await plantingBuild(`${root}proof/${folder}/main.ts`, program)
await build.with(null)
await build.end()
process.exitCode = spawnSync(process.execPath, [program, ...words], { stdio: "inherit", cwd: root }).status ?? 1
