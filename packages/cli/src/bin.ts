import { parseCommandLine } from "./commandLine.js"
import { escapeControl } from "./terminal/escapeControl.js"

const words = process.argv.slice(2)
const command = await parseCommandLine(words)
// A reader that closes the pipe early, as in `workshop --help | head -1`, is not an error.
process.stdout.on("error", () => undefined)
if (command.kind === "run") (await import("./terminal/runProcess.js")).runProcess(command.run, words)
else if (command.kind === "print") console.log(command.text)
else {
  console.error(escapeControl(command.message))
  process.exitCode = 1
}
