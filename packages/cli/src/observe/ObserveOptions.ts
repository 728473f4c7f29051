import { optional, toggle, type Values, value } from "../terminal/commands.js"
import { oneOf, webAddress } from "../terminal/decoders.js"

/** How log lines are written. */
export const LOG_FORMATS = ["json", "pretty"] as const

/** From which level on lines are logged. */
export const LOG_LEVELS = ["debug", "info", "warning", "error", "none"] as const

/** The flags by which an operator sees what a long-running process does. */
export const observeOptions = {
  logFormat: optional({
    ...oneOf(LOG_FORMATS),
    flag: "--log-format <format>",
    description:
      "How log lines are written on standard error: json, one object a line, or pretty, for people. By default pretty on a terminal, otherwise json."
  }),
  logLevel: value({
    ...oneOf(LOG_LEVELS),
    flag: "--log-level <level>",
    description: "The least level that is logged.",
    fallback: "info"
  }),
  otlpEndpoint: optional({
    flag: "--otlp-endpoint <url>",
    description: "Send traces to this OpenTelemetry collector by OTLP over HTTP, such as http://127.0.0.1:4318.",
    decoder: webAddress,
    variable: "OTEL_EXPORTER_OTLP_ENDPOINT"
  })
}

/** The flag by which every request is logged. */
export const accessLog = toggle("access-log", "Log a line for each request: method, route, status and duration.")

/** The values of the flags. */
export type Observed = Values<typeof observeOptions>
