import { readFileSync } from "node:fs"
import { Config, Data, Effect } from "effect"

/** A variable of the environment that cannot be read as it is meant. */
export class WrongVariable extends Data.TaggedError("WrongVariable")<{ readonly message: string }> {}

const textOf = (name: string): Effect.Effect<string> => Effect.orDie(Config.withDefault(Config.string(name), ""))

/**
 * The value of an environment variable, or the content of the file that the variable `NAME_FILE` names, as containers mount
 * secrets; empty where neither is set. A secret in a file stands in no process list and no shell history.
 */
export const variable = (name: string): Effect.Effect<string, WrongVariable> =>
  Effect.gen(function* () {
    const [text, file] = [yield* textOf(name), yield* textOf(`${name}_FILE`)]
    if (file === "") return text
    if (text !== "") return yield* new WrongVariable({ message: `${name} and ${name}_FILE are both set: unset one.` })
    return yield* Effect.try({
      try: () => readFileSync(file, "utf8").replace(/\r?\n$/, ""),
      catch: (cause) => {
        const why = (cause as NodeJS.ErrnoException).code ?? String(cause)
        return new WrongVariable({ message: `${name}_FILE names ${file}, which cannot be read (${why}): correct it.` })
      }
    })
  })
