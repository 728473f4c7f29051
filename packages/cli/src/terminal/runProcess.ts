import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Clock, type Effect, Exit } from "effect"
import { type Ending, endingOf, type Stop } from "./Ending.js"
import { legible } from "./legible.js"

/** Within this many milliseconds two signals are one: Ctrl-C reaches us from the terminal, and again through `npm start`. */
const ONE_PRESS_MS = 500

const drained = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write("", () => resolve())
  })

/** Ends the process once all that was written has left it: `process.exit` would cut it off at the size of a pipe. */
const end = async ({ status, complaint }: Ending): Promise<void> => {
  if (complaint !== null) process.stderr.write(`${legible(complaint)}\n`)
  await Promise.all([drained(process.stdout), drained(process.stderr)])
  process.exit(status)
}

/** Runs a command as this process: its signals, the reader of its output, and the one place where the process exits. */
export const runProcess = (command: Effect.Effect<void, { readonly message: string }>, argv: ReadonlyArray<string>) => {
  const words = argv.slice(2)
  const clock = Clock.make()
  let stop: Stop | null = null
  let stopped_at = Number.POSITIVE_INFINITY
  let hasEnded = false

  // The first signal interrupts the command; a person who sends another does not want to wait, not even for the output.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      const now = clock.unsafeCurrentTimeMillis()
      if (hasEnded || now - stopped_at > ONE_PRESS_MS) {
        process.stderr.write("Stopped at once: what was under way was cut off.\n")
        process.exit(1)
      }
      stop ??= "signal"
      stopped_at = Math.min(stopped_at, now)
    })
  }

  // Nobody reads any more, as in `workshop receive --json | head`: the command stops in good order.
  process.stdout.on("error", () => {
    if (stop !== null || hasEnded) return
    stop = "reader"
    process.kill(process.pid, "SIGTERM")
  })
  process.stderr.on("error", () => undefined)

  const finish = (exit: Exit.Exit<void, { readonly message: string }>) => {
    if (hasEnded) return
    hasEnded = true
    void end(endingOf(exit, words, stop))
  }
  process.on("uncaughtException", (error) => finish(Exit.die(error)))
  NodeRuntime.runMain(command, {
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit) => finish(exit as Exit.Exit<void, { readonly message: string }>)
  })
}
