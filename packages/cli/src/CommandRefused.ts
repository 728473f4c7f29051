import { Data } from "effect"

/** The reason why a command failed and what to do, on one line. */
export class CommandRefused extends Data.TaggedError("CommandRefused")<{ readonly message: string }> {}

/** Converts any other refusal to a refusal of a command, with the same message. */
export const toCommandRefused = ({ message }: { readonly message: string }): CommandRefused =>
  new CommandRefused({ message })

/** Creates the refusal of a command, with this message. */
export const refuse = (message: string): CommandRefused => new CommandRefused({ message })
