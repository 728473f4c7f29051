import { Args, type Command } from "@effect/cli"
import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { json, toggle, value } from "../terminal/Flags.js"
import { optional, text, webAddress } from "../terminal/Readers.js"

/** The flags of `workshop scenario run` (Specification, Commands). */
export const runOptions = {
  files: Args.text({ name: "file" }).pipe(
    Args.withDescription("Scenario files, folders of them, or patterns such as 'specs/*.yaml'."),
    Args.repeated
  ),
  baseUrl: value({
    name: "base-url",
    placeholder: "url",
    description: "Run against this service and its sandbox; left out, each scenario has its own in this process.",
    read: optional(webAddress),
    fallback: ""
  }),
  sandboxToken: value({
    name: "sandbox-token",
    placeholder: "text",
    description: "The token that the service's sandbox asks for.",
    read: optional(text),
    fallback: ""
  }),
  signatureHeader,
  bail: toggle("bail", "Stop after the first scenario that fails."),
  json
}

/** The flags as they were read. */
export type RunFlags = Command.Command.ParseConfig<typeof runOptions>
