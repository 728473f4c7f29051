import type { Command } from "@effect/cli"
import { Either } from "effect"
import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { json, list, type Reader, toggle, value } from "../terminal/Flags.js"
import { optional, text, webAddress } from "../terminal/Readers.js"
import { type Section, sections } from "./Case.js"

const names = Object.keys(sections) as ReadonlyArray<Section>

/** `§3`, and `3` for those whose keyboard lacks the sign. */
const section: Reader<Section> = (given) => {
  const found = names.find((name) => name === given || name === `§${given}`)
  return found === undefined ? Either.left(`must be one of ${names.join(" ")}`) : Either.right(found)
}

const file = (name: string, description: string) =>
  value({
    name,
    placeholder: "file",
    description,
    read: optional(text),
    fallback: "",
    variable: `WORKSHOP_CONFORM_${name.toUpperCase()}`
  })

/** The flags of `workshop conform` (Specification, Commands). */
export const conformOptions = {
  baseUrl: value({
    name: "base-url",
    placeholder: "url",
    description: "The server to test, with or without /v1.",
    read: optional(webAddress),
    fallback: ""
  }),
  key: value({
    name: "key",
    placeholder: "key",
    description:
      "A full-access key, for a server without a sandbox: runs the part that needs none, on that key's shop.",
    read: optional(text),
    fallback: "",
    // Not the key that a shell has for everything else: with it, a run would write tickets where nobody meant it to.
    variable: "WORKSHOP_CONFORM_KEY"
  }),
  sandboxToken: value({
    name: "sandbox-token",
    placeholder: "text",
    description: "The token that the server's sandbox asks for.",
    read: optional(text),
    fallback: ""
  }),
  signatureHeader,
  section: list({
    name: "section",
    placeholder: "section",
    description: "Run the cases of this section, such as §3 or 3; may be repeated.",
    read: section,
    variable: "WORKSHOP_CONFORM_SECTION"
  }),
  only: list({
    name: "only",
    placeholder: "id",
    description: "Run this case; may be repeated.",
    read: text,
    variable: "WORKSHOP_CONFORM_ONLY"
  }),
  junit: file("junit", "Write the report as JUnit XML to this file."),
  html: file("html", "Write the report as one HTML page to this file."),
  list: toggle("list", "List the cases and run none.", "WORKSHOP_CONFORM_LIST"),
  json
}

/** The flags as they were read. */
export type ConformFlags = Command.Command.ParseConfig<typeof conformOptions>
