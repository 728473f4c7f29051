import { FiberRef, HashSet, Layer, Logger, LogLevel } from "effect"
import type { LOG_FORMATS, LOG_LEVELS } from "./ObserveOptions.js"
import { redacted } from "./redaction.js"

type Format = (typeof LOG_FORMATS)[number]

/** What a program may count on in a line: one object, its members' names, and the members of `annotations`, such as `request_id`. */
const asJson = Logger.map(Logger.structuredLogger, ({ message, logLevel, timestamp, cause, annotations, spans }) =>
  JSON.stringify({
    timestamp,
    level: logLevel.toLowerCase(),
    message: Array.isArray(message) ? message.map(String).join(" ") : message,
    ...annotations,
    ...(cause === undefined ? {} : { cause }),
    ...(Object.keys(spans).length === 0 ? {} : { spans })
  })
)

const asLine = Logger.map(Logger.logfmtLogger, (line) => line.replaceAll(/\s*\n\s*/g, " | "))

const formats: Readonly<Record<Format, Logger.Logger<unknown, string>>> = { json: asJson, pretty: asLine }

const levels: Readonly<Record<(typeof LOG_LEVELS)[number], LogLevel.LogLevel>> = {
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  error: LogLevel.Error,
  none: LogLevel.None
}

/** Logs on standard error, one line each, without secrets. `isTerminal` chooses the format where none was asked for. */
export const layer = (
  { logFormat, logLevel }: { readonly logFormat: Format | null; readonly logLevel: (typeof LOG_LEVELS)[number] },
  isTerminal: boolean,
  write: (line: string) => void = globalThis.console.error
): Layer.Layer<never> => {
  const format = formats[logFormat ?? (isTerminal ? "pretty" : "json")]
  const logger = Logger.make<unknown, void>((entry) => write(redacted(format.log(entry))))
  return Layer.merge(
    Layer.locallyScoped(FiberRef.currentLoggers, HashSet.make(logger)),
    Logger.minimumLogLevel(levels[logLevel])
  )
}
