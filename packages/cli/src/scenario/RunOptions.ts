import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { json, optional, repeatable, toggle, type Values } from "../terminal/commands.js"
import { webAddress } from "../terminal/decoders.js"
import { Operand } from "../terminal/program.js"

/** The flags of `workshop scenario run` (Specification, Commands). */
export const runOptions = {
  files: new Operand<ReadonlyArray<string>>(
    "<file...>",
    "Scenario files, folders of them, or patterns such as 'specs/*.yaml'."
  ),
  baseUrl: optional(
    "--base-url <url>",
    "Run against this service and its sandbox; left out, each scenario has its own in this process.",
    { decoder: webAddress }
  ),
  sandboxToken: optional("--sandbox-token <text>", "The token that the service's sandbox asks for."),
  signatureHeader,
  bail: toggle("bail", "Stop after the first scenario that fails."),
  only: repeatable("--only <text>", "Run the scenarios whose name contains this text; may be repeated.", {
    variable: "WORKSHOP_SCENARIO_ONLY"
  }),
  verbose: toggle("verbose", "Print the request and the response of every step.", "WORKSHOP_SCENARIO_VERBOSE"),
  watch: toggle("watch", "Run again whenever one of the files changes.", "WORKSHOP_SCENARIO_WATCH"),
  html: optional("--html <file>", "Write the report as one HTML page to this file.", {
    variable: "WORKSHOP_SCENARIO_HTML"
  }),
  junit: optional("--junit <file>", "Write the report as JUnit XML to this file.", {
    variable: "WORKSHOP_SCENARIO_JUNIT"
  }),
  json
}

/** The values of the flags. */
export type RunFlags = Values<typeof runOptions>
