// Checks the planted bugs: there are at least a hundred, with unique ids, and each replaces a text that occurs exactly
// once in its file by another text. Part of `npm run check`.
import { bugs } from "./bugs.mjs"
import { misfit } from "./plant.mjs"

const misfits = bugs.flatMap((bug) => misfit(bug) ?? [])
misfits.push(...bugs.filter(({ from, to }) => from === to).map(({ id }) => `${id} changes nothing`))
if (new Set(bugs.map(({ id }) => id)).size < bugs.length) misfits.push("Two bugs have one id")
if (bugs.length < 100) misfits.push("There are fewer than a hundred bugs")
for (const why of misfits) console.error(why)
console.log(`planted: ${bugs.length} bugs, ${misfits.length} misfits`)
process.exitCode = misfits.length > 0 ? 1 : 0
