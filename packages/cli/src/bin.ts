import { commandLine } from "./commandLine.js"
import { escapeControl } from "./terminal/escapeControl.js"

const words = process.argv.slice(2)
const parsed = await commandLine(words)
// A reader that closes the pipe early, as in `workshop --help | head -1`, is not an error.
process.stdout.on("error", () => undefined)
if (parsed.kind === "run") (await import("./terminal/runProcess.js")).runProcess(parsed.run, words)
else if (parsed.kind === "print") console.log(parsed.text)
else {
  console.error(escapeControl(parsed.message))
  process.exitCode = 1
}
