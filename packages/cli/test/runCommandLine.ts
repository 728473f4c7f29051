import { ConfigProvider, Console, Effect } from "effect"
import { makeWorkshop, parseCommandLine } from "../src/commandLine.js"
import { everyCommand, pathOf } from "../src/terminal/program.js"
import { exitOf, outputLayer } from "../src/terminal/runProcess.js"
import { environment } from "./Workshop.js"

/**
 * Runs a command line in this process, because a new process takes a second to start. Arguments, variables, outputs and
 * exit status are the same as in a separate process.
 */
export const runCommandLine = async (
  args: ReadonlyArray<string>,
  extra: Readonly<Record<string, string>> = {},
  within: <A, E>(program: Effect.Effect<A, E>) => Effect.Effect<A, E> = (program) => program
) => {
  const stdout: Array<string> = []
  const stderr: Array<string> = []
  const keeping = (said: Array<string>) => (text: unknown) => Effect.sync(() => void said.push(`${text}\n`))
  const variables = Object.entries(environment(extra)).flatMap(
    ([name, text]): ReadonlyArray<[string, string]> => (text === undefined ? [] : [[name, text]])
  )
  const console = Console.consoleWith((base) =>
    Effect.succeed({ ...base, log: keeping(stdout), error: keeping(stderr) })
  )
  const asked = await parseCommandLine(args)
  if (asked.kind === "print") return { status: 0, stdout: `${asked.text}\n`, stderr: "" }
  if (asked.kind === "refuse") return { status: 1, stdout: "", stderr: `${asked.message}\n` }
  const run = Effect.provide(asked.run, outputLayer)
  const program = Effect.flatMap(console, (kept) => Effect.withConsole(within(run), kept)).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(variables)))
  )
  const exit = await Effect.runPromiseExit(program)
  const { status, complaint } = exitOf(exit, args)
  if (complaint !== null) stderr.push(`${complaint}\n`)
  return { status, stdout: stdout.join(""), stderr: stderr.join("") }
}

/** The help text of every command, and the examples at its end. */
export const everyHelp = async () => {
  const make = await makeWorkshop()
  return Promise.all(
    everyCommand(make(() => undefined)).map(async (command) => {
      const words = pathOf(command)
      const { stdout } = await runCommandLine([...words.split(" ").slice(1), "--help"])
      const [, examples = ""] = /^Examples:\n((?: {2}.*\n)+)/m.exec(stdout) ?? []
      const lines = examples
        .replaceAll(/ \\\n +/g, " ")
        .trim()
        .split("\n")
      return { words, description: command.description(), help: stdout, examples: lines }
    })
  )
}
