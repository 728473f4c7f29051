// Tortures real processes on a real Postgres: `npm run torture -- --minutes 10`. See docs/reliability.md.

import { spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { plantingBuild } from "../planted/build.mjs"
import { root } from "../planted/plant.mjs"

mkdirSync(`${root}.workshop/torture`, { recursive: true })
const program = `${root}.workshop/torture/main.mjs`
const build = await plantingBuild(`${root}proof/torture/main.ts`, program)
await build.with(null)
await build.end()
process.exitCode =
  spawnSync(process.execPath, [program, ...process.argv.slice(2)], { stdio: "inherit", cwd: root }).status ?? 1
