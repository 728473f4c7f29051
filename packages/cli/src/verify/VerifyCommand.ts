import { readFile } from "node:fs/promises"
import { buffer } from "node:stream/consumers"
import { durationInWords, hasSecretPrefix } from "@workshop/core/internal"
import { DEFAULT_TOLERANCE_SECONDS, type VerifyFailure, verify } from "@workshop/webhooks"
import { Clock, Console, Effect, Schema } from "effect"
import { type CommandRefused, refuse } from "../CommandRefused.js"
import { command, jsonFlag, optionalFlag, repeatableFlag, valueFlag } from "../terminal/commands.js"
import { duration, textMatching } from "../terminal/decoders.js"
import { Operand } from "../terminal/program.js"

/** A stored delivery. Times are in milliseconds. */
export interface StoredDelivery {
  readonly body: Uint8Array
  readonly signature: string | null
  readonly secrets: ReadonlyArray<string>
  readonly tolerance_ms: number
  /** The instant on the receiver's clock. */
  readonly at: number
}

/** The verdict on a delivery; for a rejected one, the reason and what to check. */
interface Verdict {
  readonly valid: boolean
  readonly reason: VerifyFailure | null
  readonly sentence: string
  /** The instant of the signature, in seconds since 1970; null if the header has none. */
  readonly t: number | null
  /** The seconds from the signature's time to the receiver's clock; negative if the signature's time is later. */
  readonly age_seconds: number | null
}

const NEWLINE = 10

/** The body with a newline at its end added or removed, because saving or pasting may have changed that. */
const toggleNewline = (body: Uint8Array): Uint8Array =>
  body.at(-1) === NEWLINE ? body.subarray(0, body.at(-2) === 13 ? -2 : -1) : Uint8Array.from([...body, NEWLINE])

const mismatchSentence = (isOnlyNewline: boolean, { secrets, body }: StoredDelivery): string => {
  if (isOnlyNewline) {
    return body.at(-1) === NEWLINE
      ? "The signature belongs to this body without the newline at its end. Keep the exact bytes of the body."
      : "The signature belongs to this body with a newline at its end. Keep the exact bytes of the body."
  }
  const secret = secrets.every(hasSecretPrefix)
    ? ""
    : " A secret starts with whsec_, so give the secret including whsec_."
  return `The signature does not match this body and this secret. Check the secret. Check also that the body has exactly the bytes that arrived, and was not parsed and serialized again.${secret}`
}

const sentences: Readonly<Record<Exclude<VerifyFailure, "mismatch">, (age: number, tolerance: number) => string>> = {
  missing: () => "There is no signature. Give the value of the Service-Signature header with --signature.",
  malformed: () =>
    "The value of --signature does not have the form t=<seconds>,v1=<64 hex digits>. Give the header's complete value, without its name.",
  too_old: (age, tolerance) =>
    `The signature is valid but ${durationInWords(age)} older than the receiver's clock, and at most ${durationInWords(tolerance)} is allowed. Give the time of arrival with --at, or increase --tolerance.`,
  too_new: (age, tolerance) =>
    `The signature is valid but ${durationInWords(-age)} ahead of the receiver's clock, and at most ${durationInWords(tolerance)} is allowed. One of the two clocks is wrong, or a sandbox's clock was moved. Give the time of arrival with --at, or increase --tolerance.`
}

/** Verifies a delivery, and finds out why it is rejected. */
export const verifyDelivery = Effect.fnUntraced(function* (delivery: StoredDelivery) {
  const { body, signature, secrets, tolerance_ms, at } = delivery
  const tolerance = tolerance_ms / 1000
  const options = { toleranceSeconds: tolerance, now: new Date(at) }
  const result = yield* Effect.promise(() => verify(body, signature, secrets, options))
  const given_t = /(?:^|,)\s*t=(\d{1,12})(?:,|\s|$)/.exec(signature ?? "")?.[1]
  const t = given_t === undefined ? null : Number(given_t)
  const age_seconds = t === null ? null : Math.floor(at / 1000) - t
  const age = age_seconds ?? 0
  const makeVerdict = (reason: VerifyFailure | null, sentence: string): Verdict => {
    return { valid: reason === null, reason, sentence, t, age_seconds }
  }
  if (result.ok) {
    const when = `${durationInWords(Math.abs(age))} ${age < 0 ? "after" : "before"} the receiver's clock`
    return makeVerdict(null, `Valid: signed at ${new Date(result.t * 1000).toISOString()}, ${when}.`)
  }
  const { reason } = result
  if (reason !== "mismatch") return makeVerdict(reason, sentences[reason](age, tolerance))
  const otherResult = yield* Effect.promise(() => verify(toggleNewline(body), signature, secrets, options))
  const isOnlyNewline = otherResult.ok || otherResult.reason === "too_old" || otherResult.reason === "too_new"
  return makeVerdict(reason, mismatchSentence(isOnlyNewline, delivery))
})

const instantOf = (text: string): number => (/^\d{1,12}$/.test(text) ? Number(text) * 1000 : Date.parse(text))

/** An instant as a person or a log writes it: ISO 8601, or whole seconds since 1970. In milliseconds. */
const instant = Schema.transform(
  textMatching("must be an instant such as 2026-01-31T12:00:00Z", (text) => Number.isFinite(instantOf(text))),
  Schema.Number,
  { strict: true, decode: instantOf, encode: (at) => new Date(at).toISOString() }
)

const options = {
  secret: repeatableFlag(
    "--secret <secret>",
    "The webhook's secret, including whsec_. For several secrets, separate them by commas or repeat the flag."
  ),
  signature: optionalFlag("--signature <header>", "The value of the signature header, such as t=1732000000,v1=..."),
  tolerance: valueFlag("--tolerance <duration>", "How far the signature's time may be from the receiver's clock.", {
    decoder: duration,
    fallback: `${DEFAULT_TOLERANCE_SECONDS / 60}m`
  }),
  at: optionalFlag(
    "--at <instant>",
    "The time on the receiver's clock when the webhook arrived, in ISO 8601 or seconds since 1970. The default is now.",
    { decoder: instant }
  ),
  json: jsonFlag,
  file: new Operand<string>("[file]", "The file with the raw body as it arrived. - means standard input.").default("-")
}

/** Reads the bytes of a body from a file, or from standard input for `-`. */
const readBody = (file: string): Effect.Effect<Buffer, CommandRefused> => {
  if (file !== "-") {
    return Effect.tryPromise({
      try: () => readFile(file),
      catch: () => refuse(`The file ${file} cannot be read. Give the file that contains the raw body.`)
    })
  }
  return process.stdin.isTTY === true
    ? Effect.fail(
        refuse(
          "The raw body is missing. Give its file as an argument, or redirect it to standard input with < body.json."
        )
      )
    : Effect.promise(() => buffer(process.stdin))
}

/** `workshop verify` (Specification, Commands): succeeds only if the signature is valid. */
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
      const verdict = yield* verifyDelivery({ body, signature, secrets, tolerance_ms, at: arrived_at })
      if (json) yield* Console.log(JSON.stringify(verdict))
      else if (verdict.valid) yield* Console.log(verdict.sentence)
      return verdict.valid ? undefined : yield* refuse(verdict.sentence)
    })
})
