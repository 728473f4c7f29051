import { commandLine } from "./commandLine.js"
import { argumentsOf } from "./terminal/arguments.js"
import { runProcess } from "./terminal/runProcess.js"

const argv = argumentsOf(process.argv)
runProcess(commandLine(argv), argv)
