import { parseArgs } from "node:util"
import { canFollow } from "../torture/Servers.js"
import { everyAbsence, killed } from "./Absence.js"
import { citus, followed, plain } from "./Engine.js"
import { kills } from "./kills.js"
import { outages } from "./outage.js"

// npm run kills -- --count 100 --citus postgres://…: kills servers on Citus, or without --citus on plain Postgres.
// --only absences or --only commits runs one of the two parts.
const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    citus: { type: "string" },
    plain: { type: "boolean", default: false },
    only: { type: "string" }
  }
})
const { citus: url } = values
const onPlain = url === undefined || values.plain
const engines = [
  ...(onPlain ? [{ open: plain, isFollowed: false }] : []),
  // The engine with standbys is used only for absences, because each standby can be promoted only once.
  ...(onPlain && canFollow && values.only !== "commits" ? [{ open: followed, isFollowed: true }] : []),
  ...(url === undefined ? [] : [{ open: () => citus(url), isFollowed: false }])
]
let broken = 0
for (const { open, isFollowed } of engines) {
  const engine = await open()
  try {
    const outageResults = values.only === "commits" ? [] : await outages(engine, isFollowed ? [killed] : everyAbsence())
    if (outageResults.length > 0)
      console.table(outageResults.map(({ broken, ...one }) => ({ engine: engine.name, ...one, broken: broken.length })))
    for (const { absence, cells, broken } of outageResults)
      for (const violation of broken) console.log(`${cells} ${absence}: ${violation}`)
    broken += outageResults.reduce((sum, one) => sum + one.broken.length, 0)
    const results =
      values.only === "absences" || isFollowed
        ? []
        : await kills({ engine, count: Number(values.count), seed: Number(values.seed), say: console.log })
    if (results.length > 0) console.table(results.map((result) => ({ engine: engine.name, ...result })))
    broken += results.reduce((sum, { lost, twice }) => sum + lost + twice, 0)
  } finally {
    await engine.end()
  }
}
console.log(`${broken} invariants were violated.`)
process.exit(broken > 0 ? 1 : 0)
