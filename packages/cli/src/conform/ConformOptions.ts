import { type Section, sections } from "@workshop/testers/internal/conform"
import { Schema } from "effect"
import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { flagsOf, jsonFlag, optionalFlag, type Values } from "../terminal/commands.js"
import { textMatching, webAddress } from "../terminal/decoders.js"

const names = Object.keys(sections) as ReadonlyArray<Section>

const sectionOf = (text: string): Section | undefined => names.find((name) => name === text || name === `§${text}`)

/** Decodes `§3`, and also `3`, because not every keyboard has the sign. */
const section = Schema.transform(
  textMatching(`must be one of ${names.join(" ")}`, (text) => sectionOf(text) !== undefined),
  Schema.Literal(...names),
  { strict: true, decode: (text) => sectionOf(text)!, encode: (name) => name }
)

const own = flagsOf("conform")

const file = (name: string, description: string) => own.optional(`--${name} <file>`, description)

/** The flags of `workshop conform` (Specification, Commands). */
export const conformOptions = {
  baseUrl: optionalFlag("--base-url <url>", "The address of the server to test, with or without /v1.", {
    decoder: webAddress
  }),
  key: own.optional(
    "--key <key>",
    "An API key with full access. If the server has no sandbox, the cases that need none run on this key's shop."
  ),
  sandboxToken: optionalFlag("--sandbox-token <token>", "The token of the server's sandbox, if it requires one."),
  signatureHeader,
  section: own.repeatable(
    "--section <section>",
    "Run only the cases of this section, such as §3 or 3. May be repeated.",
    {
      decoder: section
    }
  ),
  only: own.repeatable("--only <id>", "Run only the case with this id. May be repeated."),
  junit: file("junit", "Write the report as JUnit XML to this file."),
  html: file("html", "Write the report as one HTML page to this file."),
  list: own.toggle("list", "List the cases without running them."),
  json: jsonFlag
}

/** The values of the flags. */
export type ConformFlags = Values<typeof conformOptions>
