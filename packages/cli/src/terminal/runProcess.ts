import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Clock, Console, Effect, Exit, Layer, Logger, LogLevel } from "effect"
import { escapeControl } from "./escapeControl.js"
import type { CommandEffect } from "./program.js"

/** The commands that run until they are stopped, which is a success for them (Specification, Commands). */
const LONG_RUNNING_COMMANDS = ["serve", "dispatch", "receive"]

const INTERRUPTED_STATUS = 130

/** The cause that stopped a command: a signal, or the reader of its output, which closed the pipe. */
export type Stop = "signal" | "reader"

/** The exit status and the error message of a command. */
interface CommandExit {
  /** The exit status: 0 only on success, 130 if Ctrl-C interrupted the command (Specification, Commands). */
  readonly status: number
  /** The text for standard error; null only on success, or if a person stopped the command. */
  readonly complaint: string | null
}

const messageOf = (thrown: unknown): string => {
  const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  return text.replaceAll(/\s+/g, " ").replace(/(?<![:.\s])[:.\s]+$/, "")
}

const bugMessage = (command: string, what: string, trace: string): string =>
  `${command} stopped because of a bug in the program (${what}). Report the bug with the lines below.\n${trace}`.trim()

/** The message about a failure: the message of a refusal, or the message of a bug with its stack trace. */
const complaintOf = (cause: Cause.Cause<{ readonly message: string }>, command: string): string => {
  for (const { message } of Cause.failures(cause)) if (message.trim() !== "") return message
  for (const defect of Cause.defects(cause)) return bugMessage(command, messageOf(defect), Cause.pretty(cause))
  return Cause.isInterruptedOnly(cause) && !Cause.isEmpty(cause)
    ? bugMessage(command, "it was interrupted, and not by a signal", "")
    : bugMessage(command, "it failed without an error", "")
}

/**
 * Determines the end of a command from its exit, its words and what stopped it. Every failure has an error message, so
 * that no command can fail with an empty standard error.
 */
export const exitOf = (
  exit: Exit.Exit<unknown, { readonly message: string }>,
  words: ReadonlyArray<string>,
  stop: Stop | null = null
): CommandExit => {
  if (Exit.isSuccess(exit)) return { status: 0, complaint: null }
  const name = words.find((word) => !word.startsWith("-")) ?? ""
  if (stop !== null && Cause.isInterruptedOnly(exit.cause)) {
    return {
      status: stop === "reader" || LONG_RUNNING_COMMANDS.includes(name) ? 0 : INTERRUPTED_STATUS,
      complaint: null
    }
  }
  return { status: 1, complaint: complaintOf(exit.cause, `workshop ${name}`.trim()) }
}

/** A console that escapes control characters and removes white space at the end. */
const legibleConsole = Layer.unwrapEffect(
  Effect.consoleWith((base) =>
    Effect.succeed(
      Console.setConsole({
        ...base,
        log: (text = "") => base.log(escapeControl(String(text).trimEnd())),
        error: (text = "") => base.error(escapeControl(String(text)))
      })
    )
  )
)

/** Logs warnings and errors on standard error, one line each. */
const loggerLayer = Logger.replace(
  Logger.defaultLogger,
  Logger.make((entry) =>
    globalThis.console.error(escapeControl(Logger.logfmtLogger.log(entry).replaceAll(/(?<!\s)\s*\n\s*/g, " | ")))
  )
)

/** The console and the log of the command line. */
export const outputLayer = Layer.mergeAll(legibleConsole, loggerLayer, Logger.minimumLogLevel(LogLevel.Warning))

/**
 * Two signals within this many milliseconds count as one, because one Ctrl-C comes from the terminal and again from
 * `npm start`.
 */
const ONE_PRESS_MS = 500

const drain = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write("", () => resolve())
  })

/** Ends the process after its output was flushed, because `process.exit` alone would truncate the output. */
const exitProcess = async ({ status, complaint }: CommandExit): Promise<void> => {
  if (complaint !== null) process.stderr.write(`${escapeControl(complaint)}\n`)
  await Promise.all([drain(process.stdout), drain(process.stderr)])
  process.exit(status)
}

/** Runs a command as this process: handles the signals and the end of its reader, and exits the process. */
export const runProcess = (command: CommandEffect, words: ReadonlyArray<string>) => {
  const clock = Clock.make()
  let stop: Stop | null = null
  let stopped_at = Number.POSITIVE_INFINITY
  let hasEnded = false

  // The first signal interrupts the command. The second one exits at once without flushing the output, because the
  // person does not want to wait.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      const now = clock.unsafeCurrentTimeMillis()
      if (hasEnded || now - stopped_at > ONE_PRESS_MS) {
        process.stderr.write("Stopped at once; work in progress was interrupted.\n")
        process.exit(1)
      }
      stop ??= "signal"
      stopped_at = Math.min(stopped_at, now)
    })
  }

  // The reader has closed the pipe, as in `workshop receive --json | head`, so the command is interrupted.
  process.stdout.on("error", () => {
    if (stop !== null || hasEnded) return
    stop = "reader"
    process.kill(process.pid, "SIGTERM")
  })
  process.stderr.on("error", () => undefined)

  const finish = (exit: Exit.Exit<void, { readonly message: string }>) => {
    if (hasEnded) return
    hasEnded = true
    void exitProcess(exitOf(exit, words, stop))
  }
  process.on("uncaughtException", (error) => finish(Exit.die(error)))
  NodeRuntime.runMain(Effect.provide(command, outputLayer), {
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit) => finish(exit as Exit.Exit<void, { readonly message: string }>)
  })
}
