import { parseArgs } from "node:util"
import { overload, soak } from "./endurance.js"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "60" },
    rate: { type: "string", default: "60" },
    seconds: { type: "string", default: "15" },
    out: { type: "string", default: ".workshop/endurance" }
  }
})
const found =
  positionals[0] === "overload"
    ? await overload(Number(values.seconds))
    : await soak(Number(values.minutes), Number(values.rate), values.out)
for (const what of found) console.error(`broken: ${what}`)
process.exit(found.length > 0 ? 1 : 0)
