import { readFile } from "node:fs/promises"
import { make } from "@workshop/core/domain/WordList"
import * as Profanity from "@workshop/core/services/Profanity"
import { Effect, Layer } from "effect"
import { CommandRefused } from "./OneSentence.js"

const read = (file: string) =>
  Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (error) =>
      new CommandRefused({
        message: `The words in ${file} cannot be read (${error instanceof Error ? error.message : error}): give --words a text file with one word or phrase a line.`
      })
  })

const isEntry = (line: string): boolean => line.trim() !== "" && !line.startsWith("#")

/** The default words, or those of a file: one word or phrase a line; empty lines and lines that begin with # are passed over. */
export const wordsLayer = (file: string | null) =>
  file === null
    ? Profanity.layer
    : Layer.unwrapEffect(Effect.map(read(file), (text) => Profanity.layerWords(make(text.split("\n").filter(isEntry)))))
