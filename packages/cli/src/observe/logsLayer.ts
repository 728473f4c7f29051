import { FiberRef, HashSet, Layer, Logger, LogLevel } from "effect"
import { escapeControl } from "../terminal/escapeControl.js"
import type { LOG_LEVELS, LogFormat } from "./ObserveOptions.js"

/** Patterns of secrets that must never appear in a log, each with its replacement. */
const SECRETS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(wk_live|wk_test|whsec)_[\w-]+/g, "$1_..."],
  [/\bBearer\s+[^\s"'\\]+/gi, "Bearer ..."],
  [/(?<!\w)(\w+:\/\/[^\s:@/"]*):[^\s@/"]*@/g, "$1:...@"],
  // The path of a webhook's address may be a secret, and so may its query.
  [/\b(https?:\/\/[^\s/"'?#\\]{1,300})[/?#][^\s"'\\)>\]]+/gi, "$1/..."],
  // A phone number in E.164, even with the plus escaped as in a query string.
  [/(?:\+|%2B)[1-9]\d{6,14}\b/gi, "+..."]
]

/**
 * A line without keys, webhook secrets, tokens, passwords of databases, paths of web addresses and phone numbers. The
 * project's own code logs none of them, but the errors of libraries may contain them.
 */
export const redact = (line: string): string =>
  SECRETS.reduce((text, [pattern, replacement]) => text.replaceAll(pattern, replacement), line)

/** The name of a level, as in `--log-level`. */
const levelNameOf = (level: string): string => (level === "WARN" ? "warning" : level.toLowerCase())

/** Writes a line as one JSON object, in which the annotations, such as `request_id`, are members. */
const jsonLogger = Logger.map(Logger.structuredLogger, ({ message, logLevel, timestamp, cause, annotations, spans }) =>
  JSON.stringify({
    timestamp,
    level: levelNameOf(logLevel),
    message: Array.isArray(message) ? message.map(String).join(" ") : message,
    ...annotations,
    ...(cause === undefined ? {} : { cause }),
    ...(Object.keys(spans).length === 0 ? {} : { spans })
  })
)

const lineLogger = Logger.map(Logger.logfmtLogger, (line) => line.replaceAll(/(?<!\s)\s*\n\s*/g, " | "))

const formats: Readonly<Record<LogFormat, Logger.Logger<unknown, string>>> = { json: jsonLogger, pretty: lineLogger }

/** The greatest lengths, in characters, of a line and of a text within a shortened line. */
const LINE_CHARACTERS = 16 * 1024
const TEXT_CHARACTERS = 4 * 1024

const truncateText = (text: string): string =>
  text.length <= TEXT_CHARACTERS ? text : `${text.slice(0, TEXT_CHARACTERS)}... (${text.length} characters)`

/** Shortens a line to the greatest length. A line of JSON remains valid, because only the texts in it are shortened. */
const boundLine = (line: string, format: LogFormat): string => {
  if (line.length <= LINE_CHARACTERS) return line
  if (format === "pretty") return truncateText(line)
  return JSON.stringify(JSON.parse(line), (_, value) => (typeof value === "string" ? truncateText(value) : value))
}

const levels: Readonly<Record<(typeof LOG_LEVELS)[number], LogLevel.LogLevel>> = {
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  error: LogLevel.Error,
  none: LogLevel.None
}

/** Logs on standard error, one line each, without secrets. `isTerminal` decides the default format. */
export const logsLayer = (
  { logFormat, logLevel }: { readonly logFormat: LogFormat | null; readonly logLevel: (typeof LOG_LEVELS)[number] },
  isTerminal: boolean,
  write: (line: string) => void = globalThis.console.error
): Layer.Layer<never> => {
  const format = logFormat ?? (isTerminal ? "pretty" : "json")
  const logger = Logger.make<unknown, void>((entry) =>
    write(escapeControl(boundLine(redact(formats[format].log(entry)), format)))
  )
  return Layer.merge(
    Layer.locallyScoped(FiberRef.currentLoggers, HashSet.make(logger)),
    Logger.minimumLogLevel(levels[logLevel])
  )
}
