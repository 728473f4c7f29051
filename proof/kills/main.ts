import { parseArgs } from "node:util"
import { citus, plain } from "./Engine.js"
import { kills } from "./kills.js"
import { outages } from "./outage.js"

// npm run kills -- --count 100 --citus postgres://…: without --citus, on plain Postgres alone.
const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    citus: { type: "string" },
    plain: { type: "boolean", default: false }
  }
})
const { citus: url } = values
const engines = [
  ...(url === undefined || values.plain ? [plain] : []),
  ...(url === undefined ? [] : [() => citus(url)])
]
let broken = 0
for (const open of engines) {
  const engine = await open()
  try {
    const outage = await outages(engine)
    console.log(
      `${engine.name}: each server killed under HTTP: ${outage.length === 0 ? "as promised" : outage.join("; ")}`
    )
    const results = await kills({ engine, count: Number(values.count), seed: Number(values.seed), say: console.log })
    console.table(results.map((one) => ({ engine: engine.name, ...one })))
    broken += outage.length + results.reduce((sum, { lost, twice }) => sum + lost + twice, 0)
  } finally {
    await engine.end()
  }
}
console.log(`${broken} promises were broken.`)
process.exit(broken > 0 ? 1 : 0)
