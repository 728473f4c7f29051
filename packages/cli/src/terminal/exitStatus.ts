import { Cause, Exit } from "effect"

/** Commands that run until they are told to stop: being interrupted is how they end well (contract §11). */
const UNTIL_TOLD = ["serve", "dispatch", "receive"]

const INTERRUPTED = 130

/** The exit status of a command: 0 only on success, 130 where Ctrl-C came before it was done (contract §11). */
export const exitStatusOf = (exit: Exit.Exit<unknown, unknown>, argv: ReadonlyArray<string>): number => {
  if (Exit.isSuccess(exit)) return 0
  if (!Cause.isInterruptedOnly(exit.cause)) return 1
  return UNTIL_TOLD.includes(argv[2] ?? "") ? 0 : INTERRUPTED
}
