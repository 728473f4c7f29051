// Checks that every planted bug still fits: the text that it replaces occurs once in its file. Part of `npm run check`.
import { bugs } from "./bugs.mjs"
import { misfit } from "./plant.mjs"

const misfits = bugs.flatMap((bug) => misfit(bug) ?? [])
for (const why of misfits) console.error(why)
console.log(`planted: ${bugs.length} bugs, ${misfits.length} misfits`)
process.exitCode = misfits.length > 0 ? 1 : 0
