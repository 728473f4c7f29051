import { Cause, Exit } from "effect"

/** Commands that run until they are stopped: being stopped is how they succeed (Specification, Commands). */
const UNTIL_STOPPED = ["serve", "dispatch", "receive"]

const INTERRUPTED = 130

/** What asked a command to stop: a signal, or the reader of its output, which left. */
export type Stop = "signal" | "reader"

/** How a command ends. */
export interface Ending {
  /** 0 only on success, 130 where Ctrl-C came before it was done (Specification, Commands). */
  readonly status: number
  /** What standard error says; null only on success, or where the person stopped it. */
  readonly complaint: string | null
}

const messageOf = (thrown: unknown): string => {
  const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  return text.replaceAll(/\s+/g, " ").replace(/(?<![:.\s])[:.\s]+$/, "")
}

const bug = (command: string, what: string, trace: string): string =>
  `${command} stopped because of a bug in it (${what}): report it, with the lines below.\n${trace}`.trim()

/** What a person is to read about a failure: the words of a refusal, or that it is a bug, with its trace. */
const complaintOf = (cause: Cause.Cause<{ readonly message: string }>, command: string): string => {
  for (const { message } of Cause.failures(cause)) if (message.trim() !== "") return message
  for (const defect of Cause.defects(cause)) return bug(command, messageOf(defect), Cause.pretty(cause))
  return Cause.isInterruptedOnly(cause) && !Cause.isEmpty(cause)
    ? bug(command, "it was interrupted from within", "")
    : bug(command, "it failed without a reason", "")
}

/**
 * How a command ends, by its exit, its words and what stopped it. Every failure has a complaint, so that no command can end
 * with a failure and an empty standard error.
 */
export const endingOf = (
  exit: Exit.Exit<unknown, { readonly message: string }>,
  words: ReadonlyArray<string>,
  stop: Stop | null = null
): Ending => {
  if (Exit.isSuccess(exit)) return { status: 0, complaint: null }
  const name = words.find((word) => !word.startsWith("-")) ?? ""
  if (stop !== null && Cause.isInterruptedOnly(exit.cause)) {
    return { status: stop === "reader" || UNTIL_STOPPED.includes(name) ? 0 : INTERRUPTED, complaint: null }
  }
  return { status: 1, complaint: complaintOf(exit.cause, `workshop ${name}`.trim()) }
}
