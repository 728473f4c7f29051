import { commandLine } from "./commandLine.js"
import { legible } from "./terminal/legible.js"

const words = process.argv.slice(2)
const asked = await commandLine(words)
// A reader that leaves, as in `workshop --help | head -1`, is no error.
process.stdout.on("error", () => undefined)
if (asked.kind === "run") (await import("./terminal/runProcess.js")).runProcess(asked.run, words)
else if (asked.kind === "print") console.log(asked.text)
else {
  console.error(legible(asked.message))
  process.exitCode = 1
}
