import { commandLine } from "./commandLine.js"
import { runProcess } from "./terminal/runProcess.js"

runProcess(commandLine(process.argv), process.argv)
