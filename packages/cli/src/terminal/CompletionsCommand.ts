import { Args, Command } from "@effect/cli"
import { Console } from "effect"
import type { Outlined } from "./CommandOutline.js"
import { completionScript, SHELLS } from "./completionScripts.js"

const shell = Args.choice(
  SHELLS.map((name) => [name, name] as const),
  { name: SHELLS.join("|") }
).pipe(Args.withDescription("The shell."))

/** `workshop completions`: a script by which a shell completes `workshop`, made of the commands that there are. */
export const completionsCommand = (all: () => ReadonlyArray<Outlined>) =>
  Command.make("completions", { shell }, (asked) => Console.log(completionScript(asked.shell, all()))).pipe(
    Command.withDescription("Print the script by which bash, zsh or fish completes workshop")
  )
