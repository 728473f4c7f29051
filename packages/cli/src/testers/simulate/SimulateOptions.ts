import { databaseUrlFlag, STORES } from "../../database/StoreChoice.js"
import { signatureHeader } from "../../dispatch/WebhookOptions.js"
import { flagsOf, json, optional, type Values, value } from "../../terminal/commands.js"
import { duration, oneOf, webAddress, wholeNumber } from "../../terminal/decoders.js"

/** The largest seed. Seeds have at most 32 bits, so that they are short to read and type. */
export const MAX_SEED = 4_294_967_295

const own = flagsOf("simulate")

/** The flags of `workshop simulate` (Specification, Commands). */
export const simulateOptions = {
  seed: optional("--seed <number>", "The seed of all random choices; if it is omitted, one is drawn and printed.", {
    decoder: wholeNumber(0, MAX_SEED)
  }),
  steps: value(
    "--steps <number>",
    "How many steps are made, each a move of the clock and something that happens then.",
    { decoder: wholeNumber(1, 1_000_000), fallback: "1000" }
  ),
  shops: value("--shops <number>", "How many shops there are.", { decoder: wholeNumber(1, 100), fallback: "3" }),
  duration: optional("--duration <time>", "Stop after so much real time, such as 30s, though steps are left.", {
    decoder: duration
  }),
  store: own.value("--store <store>", "The store of the tickets; for postgres, use an empty database.", {
    ...oneOf(STORES),
    fallback: "memory"
  }),
  databaseUrl: databaseUrlFlag("The database of --store postgres."),
  dataDir: own.value("--data-dir <folder>", "Where --store embedded keeps its data.", {
    fallback: ".workshop/simulate"
  }),
  baseUrl: optional(
    "--base-url <address>",
    "A running server with a sandbox to use over HTTP, instead of a store in this process.",
    { decoder: webAddress }
  ),
  sandboxToken: optional("--sandbox-token <text>", "The token of that server's sandbox, if it requires one."),
  signatureHeader,
  html: optional("--html <file>", "Write the report as an HTML page with plots to this file."),
  scenario: optional(
    "--scenario <file>",
    "Write the first violation to this file as a scenario, with the steps of the shortest run that has it."
  ),
  json
}

/** The values of the flags. */
export type SimulateFlags = Values<typeof simulateOptions>
