import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { flagsOf, jsonFlag, optionalFlag, toggleFlag, type Values } from "../terminal/commands.js"
import { webAddress } from "../terminal/decoders.js"
import { Operand } from "../terminal/program.js"

const own = flagsOf("scenario")

/** The flags of `workshop scenario run` (Specification, Commands). */
export const runOptions = {
  files: new Operand<ReadonlyArray<string>>(
    "<file...>",
    "Scenario files, folders of them, or patterns such as 'specs/*.yaml'."
  ),
  baseUrl: optionalFlag(
    "--base-url <url>",
    "The address of a service with a sandbox to run against. Without it, each scenario gets its own service in this process.",
    { decoder: webAddress }
  ),
  sandboxToken: optionalFlag("--sandbox-token <token>", "The token of the service's sandbox, if it requires one."),
  signatureHeader,
  bail: toggleFlag("bail", "Stop after the first scenario that fails."),
  only: own.repeatable("--only <text>", "Run only the scenarios whose name contains this text. May be repeated."),
  verbose: own.toggle("verbose", "Print the request and the response of every step."),
  watch: own.toggle("watch", "Run the scenarios again whenever one of the files changes."),
  html: own.optional("--html <file>", "Write the report as one HTML page to this file."),
  junit: own.optional("--junit <file>", "Write the report as JUnit XML to this file."),
  json: jsonFlag
}

/** The values of the flags. */
export type RunFlags = Values<typeof runOptions>
