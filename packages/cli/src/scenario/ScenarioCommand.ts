import { Console, Effect } from "effect"
import { command } from "../terminal/commands.js"
import { group, Operand } from "../terminal/program.js"
import { runOptions } from "./RunOptions.js"

const runCommand = command({
  name: "run",
  description: "Run scenarios, and print one line per step and a diff of each failed expectation",
  examples: [
    "workshop scenario run examples/scenarios",
    "workshop scenario run specs/*.yaml --base-url http://127.0.0.1:4010 --bail"
  ],
  options: runOptions,
  run: (flags) =>
    Effect.flatMap(
      Effect.promise(() => import("./runFiles.js")),
      ({ runFiles }) => runFiles(flags)
    )
})

const newCommand = command({
  name: "new",
  description: "Write an example scenario to start from, and beside it the JSON schema for your editor",
  examples: ["workshop scenario new reopening"],
  options: { name: new Operand<string>("[name]", "The file to write, with or without .yaml.").default("scenario") },
  run: ({ name }) =>
    Effect.flatMap(
      Effect.promise(() => import("./writeStart.js")),
      ({ writeStartingFile }) => writeStartingFile(name)
    )
})

const schemaCommand = command({
  name: "schema",
  description: "Print the JSON schema of scenario files",
  examples: ["workshop scenario schema > scenario.schema.json"],
  options: {},
  run: () =>
    Effect.flatMap(
      Effect.promise(() => import("@workshop/testers/internal/scenario")),
      ({ editorSchema }) => Console.log(editorSchema())
    )
})

/** `workshop scenario` (Specification, Commands). The code of each subcommand is loaded only when it runs. */
export const scenarioCommand = group(
  {
    name: "scenario",
    examples: ["workshop scenario new reopening", "workshop scenario run examples/scenarios"]
  },
  [runCommand, newCommand, schemaCommand]
)
