import { Args } from "@effect/cli"
import { Either } from "effect"
import type { Reader } from "../terminal/Flags.js"
import { json, list, value } from "../terminal/Flags.js"
import { duration, optional, text } from "../terminal/Readers.js"

/** An instant as a person or a log writes it: ISO 8601, or whole seconds since 1970. In milliseconds. */
const instant: Reader<number> = (given) => {
  const at = /^\d{1,12}$/.test(given) ? Number(given) * 1000 : Date.parse(given)
  return Number.isFinite(at) ? Either.right(at) : Either.left("must be an instant such as 2026-01-31T12:00:00Z")
}

/** The flags of `workshop verify` (Specification, Commands). */
export const verifyOptions = {
  secret: list({
    name: "secret",
    placeholder: "whsec",
    description: "The webhook's secret, whsec_ included; several, between commas or one flag each.",
    read: text
  }),
  signature: value({
    name: "signature",
    placeholder: "header",
    description: "The value of the signature header, such as t=1732000000,v1=...",
    read: optional(text),
    fallback: ""
  }),
  tolerance: value({
    name: "tolerance",
    placeholder: "duration",
    description: "How far its time may lie from the receiver's clock.",
    read: duration,
    fallback: "5m"
  }),
  at: value({
    name: "at",
    placeholder: "instant",
    description: "What the receiver's clock showed, in ISO 8601 or seconds since 1970; now unless told.",
    read: optional(instant),
    fallback: ""
  }),
  json,
  file: Args.text({ name: "file" }).pipe(
    Args.withDescription("The raw body as it arrived; standard input unless told."),
    Args.withDefault("-")
  )
}
