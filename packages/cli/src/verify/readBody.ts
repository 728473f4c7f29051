import { readFile } from "node:fs/promises"
import { Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"

const fromStdin = async (): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** A body byte for byte: of a file, or of standard input for `-`. */
export const readBody = (file: string): Effect.Effect<Buffer, CommandRefused> => {
  if (file !== "-") {
    return Effect.tryPromise({
      try: () => readFile(file),
      catch: () => new CommandRefused({ message: `${file} cannot be read: name the file that holds the raw body.` })
    })
  }
  return process.stdin.isTTY === true
    ? Effect.fail(
        new CommandRefused({
          message: "Give the raw body: name its file, or send it to standard input with < body.json."
        })
      )
    : Effect.promise(fromStdin)
}
