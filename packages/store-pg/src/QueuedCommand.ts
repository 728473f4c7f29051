import type { Command, Decision, Moment } from "@workshop/core/store"
import type { Exit } from "effect"

/** A command that waits for its batch. */
export interface QueuedCommand {
  readonly command: Command<unknown, unknown>
  /** The moment in which it runs; asked for anew whenever it has to run again. */
  readonly moment: () => Moment
  /** Whether it has waited longer than anybody waits for it. */
  readonly isExpired: () => boolean
  /** Called with how it ended; only the first call counts. */
  readonly settle: (exit: Exit.Exit<Decision<unknown>, unknown>) => void
}
