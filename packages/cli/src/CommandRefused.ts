import { Data } from "effect"

/** The reason why a command failed and what to do, on one line. */
export class CommandRefused extends Data.TaggedError("CommandRefused")<{ readonly message: string }> {}

/** Any other refusal as that of a command, with its message. */
export const refused = ({ message }: { readonly message: string }): CommandRefused => new CommandRefused({ message })

/** A command is refused with this message. */
export const refuse = (message: string): CommandRefused => new CommandRefused({ message })
