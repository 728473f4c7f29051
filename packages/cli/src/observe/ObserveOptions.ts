import type { Command } from "@effect/cli"
import { toggle, value } from "../terminal/Flags.js"
import { oneOf, optional, webAddress } from "../terminal/Readers.js"

/** How log lines are written. */
export const LOG_FORMATS = ["json", "pretty"] as const

/** From which level on lines are logged. */
export const LOG_LEVELS = ["debug", "info", "warning", "error", "none"] as const

/** The flags by which an operator sees what a long-running process does. */
export const observeOptions = {
  logFormat: value({
    name: "log-format",
    placeholder: LOG_FORMATS.join("|"),
    description:
      "How log lines are written on standard error: json, one object a line, or pretty, for people. Default: pretty on a terminal, otherwise json.",
    read: optional(oneOf(LOG_FORMATS)),
    fallback: ""
  }),
  logLevel: value({
    name: "log-level",
    placeholder: LOG_LEVELS.join("|"),
    description: "The least that is logged: debug, info, warning, error or none.",
    read: oneOf(LOG_LEVELS),
    fallback: "info"
  }),
  otlpEndpoint: value({
    name: "otlp-endpoint",
    placeholder: "url",
    description: "Send traces to this OpenTelemetry collector by OTLP over http, such as http://127.0.0.1:4318.",
    read: optional(webAddress),
    fallback: "",
    variable: "OTEL_EXPORTER_OTLP_ENDPOINT"
  })
}

/** The flag by which every request is logged. */
export const accessLog = toggle("access-log", "Log a line for each request: method, route, status and duration.")

/** The flags as they were read. */
export type Observed = Command.Command.ParseConfig<typeof observeOptions>
