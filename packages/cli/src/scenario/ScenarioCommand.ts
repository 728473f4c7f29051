import { Args, Command } from "@effect/cli"
import { Console, Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { runOptions } from "./RunOptions.js"

const nothingAsked = new CommandRefused({
  message: "Name the files to run, such as workshop scenario run examples/scenarios."
})

const runCommand = Command.make("run", runOptions, (asked) =>
  Effect.gen(function* () {
    if (asked.files.length === 0) return yield* nothingAsked
    const { runFiles } = yield* Effect.promise(() => import("./runFiles.js"))
    return yield* runFiles(asked)
  })
).pipe(Command.withDescription("Run scenarios: one line a step, and a diff where something is not as expected"))

const newCommand = Command.make(
  "new",
  {
    name: Args.text({ name: "name" }).pipe(
      Args.withDescription("The file to write, with or without .yaml; scenario.yaml unless told."),
      Args.withDefault("scenario")
    )
  },
  ({ name }) =>
    Effect.gen(function* () {
      const { writeStart } = yield* Effect.promise(() => import("./writeStart.js"))
      return yield* writeStart(name)
    })
).pipe(Command.withDescription("Write a scenario to start from, and its schema for your editor beside it"))

const schemaCommand = Command.make("schema", {}, () =>
  Effect.gen(function* () {
    const { editorSchema } = yield* Effect.promise(() => import("./Scenario.js"))
    yield* Console.log(editorSchema())
  })
).pipe(Command.withDescription("Print the JSON schema of scenario files"))

/** `workshop scenario` (Specification, Commands). Each part is loaded once it is to run. */
export const scenarioCommand = Command.make("scenario", {}, () =>
  Effect.fail(new CommandRefused({ message: "Say what to do: workshop scenario run, new or schema." }))
).pipe(
  Command.withDescription("Readable scenarios: acts, clock and expectations in YAML"),
  Command.withSubcommands([runCommand, newCommand, schemaCommand])
)
