import { parseArgs } from "node:util"
import { generate } from "./Generator.js"
import { overload } from "./overload.js"
import { soak } from "./soak.js"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "60" },
    rate: { type: "string", default: "60" },
    seconds: { type: "string", default: "20" },
    out: { type: "string", default: ".workshop/endurance" }
  }
})
if (positionals[0] === "generator") generate()
else {
  const violations =
    positionals[0] === "overload"
      ? await overload(Number(values.seconds), values.out)
      : await soak(Number(values.minutes), Number(values.rate), values.out)
  for (const violation of violations) console.error(`violated: ${violation}`)
  process.exit(violations.length > 0 ? 1 : 0)
}
