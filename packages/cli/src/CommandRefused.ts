import { Data } from "effect"

/** The reason for which a command was not done, in one sentence that says what to do. */
export class CommandRefused extends Data.TaggedError("CommandRefused")<{ readonly message: string }> {}

/** Any other refusal as that of a command, with its message. */
export const refused = ({ message }: { readonly message: string }): CommandRefused => new CommandRefused({ message })

/** A command is refused with this message. */
export const refuse = (message: string): CommandRefused => new CommandRefused({ message })
