import { databaseUrlFlag, STORES } from "../database/StoreChoice.js"
import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { flagsOf, jsonFlag, optionalFlag, type Values, valueFlag } from "../terminal/commands.js"
import { duration, oneOf, webAddress, wholeNumber } from "../terminal/decoders.js"

/** The largest seed. Seeds have at most 32 bits, so that they are short to read and type. */
export const MAX_SEED = 4_294_967_295

const own = flagsOf("simulate")

/** The flags of `workshop simulate` (Specification, Commands). */
export const simulateOptions = {
  seed: optionalFlag(
    "--seed <number>",
    "The seed of all random choices. By default a random seed is chosen and printed.",
    {
      decoder: wholeNumber(0, MAX_SEED)
    }
  ),
  steps: valueFlag(
    "--steps <number>",
    "How many steps to run. Each step moves the clock and then does something at the new time.",
    { decoder: wholeNumber(1, 1_000_000), fallback: "1000" }
  ),
  shops: valueFlag("--shops <number>", "How many shops to simulate.", { decoder: wholeNumber(1, 100), fallback: "3" }),
  duration: optionalFlag(
    "--duration <duration>",
    "Stop after this much real time, such as 30s, even if not all steps have run.",
    {
      decoder: duration
    }
  ),
  store: own.value("--store <store>", "The store to simulate. For postgres, use an empty database.", {
    ...oneOf(STORES),
    fallback: "memory"
  }),
  databaseUrl: databaseUrlFlag("The database of --store postgres, which must be empty."),
  dataDir: own.value("--data-dir <folder>", "The folder in which --store embedded keeps its data.", {
    fallback: ".workshop/simulate"
  }),
  baseUrl: optionalFlag(
    "--base-url <url>",
    "The address of a running server with a sandbox, to simulate over HTTP instead of a store in this process.",
    { decoder: webAddress }
  ),
  sandboxToken: optionalFlag("--sandbox-token <token>", "The token of that server's sandbox, if it requires one."),
  signatureHeader,
  html: optionalFlag("--html <file>", "Write the report as an HTML page with plots to this file."),
  scenario: optionalFlag(
    "--scenario <file>",
    "Write the first violation to this file as a scenario, with the steps of the shortest run that has the violation."
  ),
  json: jsonFlag
}

/** The values of the flags. */
export type SimulateFlags = Values<typeof simulateOptions>
