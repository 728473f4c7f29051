import type { Command } from "@effect/cli"
import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { STORES } from "../StoreChoice.js"
import { databaseUrlFlag } from "../StoreFlags.js"
import { json, value } from "../terminal/Flags.js"
import { duration, oneOf, optional, text, webAddress, wholeNumber } from "../terminal/Readers.js"

/** Seeds fit in 32 bits, so that they are easily read and typed. */
export const LARGEST_SEED = 4_294_967_295

/** The flags of `workshop simulate` (Specification, Commands). */
export const simulateOptions = {
  seed: value({
    name: "seed",
    placeholder: "number",
    description: "What everything is drawn from; drawn and printed where it is left out.",
    read: optional(wholeNumber(0, LARGEST_SEED)),
    fallback: ""
  }),
  steps: value({
    name: "steps",
    placeholder: "number",
    description: "How many steps are made, each a move of the clock and something that happens then.",
    read: wholeNumber(1, 1_000_000),
    fallback: "1000"
  }),
  shops: value({
    name: "shops",
    placeholder: "number",
    description: "How many shops there are.",
    read: wholeNumber(1, 100),
    fallback: "3"
  }),
  duration: value({
    name: "duration",
    placeholder: "time",
    description: "Stop after so much real time, such as 30s, though steps are left.",
    read: optional(duration),
    fallback: ""
  }),
  store: value({
    name: "store",
    // Not the variable of serve: a simulation must not end up in the database that it serves.
    variable: "WORKSHOP_SIMULATE_STORE",
    placeholder: STORES.join("|"),
    description: "Where tickets are kept: memory, embedded, or postgres, which should be an empty database.",
    read: oneOf(STORES),
    fallback: "memory"
  }),
  databaseUrl: databaseUrlFlag("The database of --store postgres."),
  dataDir: value({
    name: "data-dir",
    variable: "WORKSHOP_SIMULATE_DATA_DIR",
    placeholder: "folder",
    description: "Where --store embedded keeps its data.",
    read: text,
    fallback: ".workshop/simulate"
  }),
  baseUrl: value({
    name: "base-url",
    placeholder: "address",
    description: "A running server with its sandbox, to be simulated over HTTP in place of a store in this process.",
    read: optional(webAddress),
    fallback: ""
  }),
  sandboxToken: value({
    name: "sandbox-token",
    placeholder: "text",
    description: "The token of that server's sandbox, where it asks for one.",
    read: optional(text),
    fallback: ""
  }),
  signatureHeader,
  html: value({
    name: "html",
    placeholder: "file",
    description: "Write a page with plots there.",
    read: optional(text),
    fallback: ""
  }),
  json
}

/** The flags as they were read. */
export type SimulateFlags = Command.Command.ParseConfig<typeof simulateOptions>
