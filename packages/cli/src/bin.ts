import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { commandLine } from "./commandLine.js"
import { exitAtSecondSignal } from "./secondSignal.js"
import { argumentsOf } from "./terminal/arguments.js"
import { exitAtBrokenPipe } from "./terminal/brokenPipe.js"
import { exitStatusOf } from "./terminal/exitStatus.js"

exitAtSecondSignal()
exitAtBrokenPipe()
const argv = argumentsOf(process.argv)
NodeRuntime.runMain(commandLine(argv), {
  disableErrorReporting: true,
  disablePrettyLogger: true,
  teardown: (exit, onExit) => onExit(exitStatusOf(exit, argv))
})
