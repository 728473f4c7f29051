import { optionalFlag, toggleFlag, type Values, valueFlag } from "../terminal/commands.js"
import { oneOf, webAddress } from "../terminal/decoders.js"

/** The formats of log lines. */
const LOG_FORMATS = ["json", "pretty"] as const

/** The lowest levels that can be logged. */
export const LOG_LEVELS = ["debug", "info", "warning", "error", "none"] as const

/** The flags for the logs and traces of a long-running process. */
export const observeOptions = {
  logFormat: optionalFlag(
    "--log-format <format>",
    "The format of log lines on standard error: json (one object per line) or pretty (for people). The default is pretty on a terminal, otherwise json.",
    oneOf(LOG_FORMATS)
  ),
  logLevel: valueFlag("--log-level <level>", "The lowest level of the lines that are logged.", {
    ...oneOf(LOG_LEVELS),
    fallback: "info"
  }),
  otlpEndpoint: optionalFlag(
    "--otlp-endpoint <url>",
    "Send traces to this OpenTelemetry collector by OTLP over HTTP, such as http://127.0.0.1:4318.",
    { decoder: webAddress, variable: "OTEL_EXPORTER_OTLP_ENDPOINT" }
  )
}

/** The flag that logs every request. */
export const accessLog = toggleFlag("access-log", "Log a line for each request: method, route, status and duration.")

/** The values of the flags. */
export type ObserveFlags = Values<typeof observeOptions>

/** A format of log lines. */
export type LogFormat = (typeof LOG_FORMATS)[number]
