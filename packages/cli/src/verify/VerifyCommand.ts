import { readFile } from "node:fs/promises"
import { buffer } from "node:stream/consumers"
import { Clock, Console, Effect, Schema } from "effect"
import { CommandRefused } from "../CommandRefused.js"
import { command, json, optional, repeatable, value } from "../terminal/commands.js"
import { duration, textThat } from "../terminal/decoders.js"
import { Operand } from "../terminal/program.js"
import { judge } from "./judge.js"

const refuse = (message: string) => new CommandRefused({ message })

const instantOf = (text: string): number => (/^\d{1,12}$/.test(text) ? Number(text) * 1000 : Date.parse(text))

/** An instant as a person or a log writes it: ISO 8601, or whole seconds since 1970. In milliseconds. */
const instant = Schema.transform(
  textThat("must be an instant such as 2026-01-31T12:00:00Z", (text) => Number.isFinite(instantOf(text))),
  Schema.Number,
  { strict: true, decode: instantOf, encode: (at) => new Date(at).toISOString() }
)

const options = {
  secret: repeatable({
    flag: "--secret <whsec>",
    description: "The webhook's secret, whsec_ included; several, between commas or one flag each."
  }),
  signature: optional({
    flag: "--signature <header>",
    description: "The value of the signature header, such as t=1732000000,v1=..."
  }),
  tolerance: value({
    flag: "--tolerance <duration>",
    description: "How far its time may be from the receiver's clock.",
    decoder: duration,
    fallback: "5m"
  }),
  at: optional({
    flag: "--at <instant>",
    description: "What the receiver's clock showed, in ISO 8601 or seconds since 1970; now by default.",
    decoder: instant
  }),
  json,
  file: new Operand<string>("[file]", "The raw body as it arrived; - is standard input.").default("-")
}

/** A body byte for byte: of a file, or of standard input for `-`. */
const readBody = (file: string): Effect.Effect<Buffer, CommandRefused> => {
  if (file !== "-") {
    return Effect.tryPromise({
      try: () => readFile(file),
      catch: () => refuse(`${file} cannot be read: name the file that holds the raw body.`)
    })
  }
  return process.stdin.isTTY === true
    ? Effect.fail(refuse("Give the raw body: name its file, or send it to standard input with < body.json."))
    : Effect.promise(() => buffer(process.stdin))
}

/** `workshop verify` (Specification, Commands): succeeds only where the signature is good. */
export const verifyCommand = command({
  name: "verify",
  examples: [
    "WORKSHOP_SECRET_FILE=secret.txt workshop verify --signature 't=1732000000,v1=...' body.json",
    "WORKSHOP_SECRET_FILE=secret.txt workshop verify --signature 't=1732000000,v1=...' --at 2024-11-19T07:06:40Z < body.json"
  ],
  options,
  run: ({ secret: secrets, signature, tolerance: tolerance_ms, at, json, file }) =>
    Effect.gen(function* () {
      if (secrets.length === 0) return yield* refuse("Set WORKSHOP_SECRET to the webhook's secret.")
      const arrived_at = at ?? (yield* Clock.currentTimeMillis)
      const body = yield* readBody(file)
      const verdict = yield* judge({ body, signature, secrets, tolerance_ms, at: arrived_at })
      if (json) yield* Console.log(JSON.stringify(verdict))
      else if (verdict.valid) yield* Console.log(verdict.sentence)
      return verdict.valid ? undefined : yield* refuse(verdict.sentence)
    })
})
