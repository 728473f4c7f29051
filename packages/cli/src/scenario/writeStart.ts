import { existsSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Console, Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { editorSchema } from "./editorSchema.js"
import { startingFile } from "./startingFile.js"

const SCHEMA = "scenario.schema.json"

const refusals: Readonly<Record<string, (file: string) => string>> = {
  EEXIST: (file) => `${file} is there already and stays as it is: choose another name.`,
  ENOENT: (file) => `There is no folder ${dirname(file)}: make it first.`
}

const write = (file: string, text: string) =>
  Effect.try({
    try: () => writeFileSync(file, text, { flag: "wx" }),
    catch: (cause) => {
      const say = refusals[(cause as { code?: string }).code ?? ""]
      return new CommandRefused({ message: say?.(file) ?? `${file} cannot be written: choose another place.` })
    }
  })

/** `workshop scenario new`: a file to start from, and the schema beside it unless there is one; nothing is overwritten. */
export const writeStart = Effect.fnUntraced(function* (name: string) {
  const file = /\.ya?ml$/.test(name) ? name : `${name}.yaml`
  yield* write(file, startingFile(SCHEMA))
  const schema = join(dirname(file), SCHEMA)
  if (!existsSync(schema)) yield* write(schema, editorSchema())
  yield* Console.log(`${file} is written. Run it with: npx workshop scenario run ${file}`)
})
