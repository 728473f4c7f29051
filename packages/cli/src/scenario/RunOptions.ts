import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { json, optional, toggle, type Values } from "../terminal/commands.js"
import { webAddress } from "../terminal/decoders.js"
import { Operand } from "../terminal/program.js"

/** The flags of `workshop scenario run` (Specification, Commands). */
export const runOptions = {
  files: new Operand<ReadonlyArray<string>>(
    "<file...>",
    "Scenario files, folders of them, or patterns such as 'specs/*.yaml'."
  ),
  baseUrl: optional({
    flag: "--base-url <url>",
    description: "Run against this service and its sandbox; left out, each scenario has its own in this process.",
    decoder: webAddress
  }),
  sandboxToken: optional({
    flag: "--sandbox-token <text>",
    description: "The token that the service's sandbox asks for."
  }),
  signatureHeader,
  bail: toggle("bail", "Stop after the first scenario that fails."),
  json
}

/** The values of the flags. */
export type RunFlags = Values<typeof runOptions>
