import { readFileSync } from "node:fs"
import * as Headers from "@effect/platform/Headers"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import { Probes, WebhookSender } from "@workshop/core"
import type { RequestObserver } from "@workshop/core/http"
import { Tracing } from "@workshop/core/store"
import { makeHttpMetrics, processMetrics } from "@workshop/http-node"
import { shownMethod, shownRoute } from "@workshop/http-node/adapter"
import { Clock, Effect, FiberRef, HashSet, Layer, Logger, LogLevel, Option } from "effect"
import { optional, toggle, type Values, value } from "../terminal/commands.js"
import { oneOf, webAddress } from "../terminal/decoders.js"
import { legible } from "../terminal/legible.js"

/** The formats of log lines. */
const LOG_FORMATS = ["json", "pretty"] as const

/** The lowest levels that can be logged. */
const LOG_LEVELS = ["debug", "info", "warning", "error", "none"] as const

/** The flags by which an operator sees what a long-running process does. */
export const observeOptions = {
  logFormat: optional(
    "--log-format <format>",
    "How log lines are written on standard error: json, one object per line, or pretty, for people. By default pretty on a terminal, otherwise json.",
    oneOf(LOG_FORMATS)
  ),
  logLevel: value("--log-level <level>", "The lowest level that is logged.", {
    ...oneOf(LOG_LEVELS),
    fallback: "info"
  }),
  otlpEndpoint: optional(
    "--otlp-endpoint <url>",
    "Send traces to this OpenTelemetry collector by OTLP over HTTP, such as http://127.0.0.1:4318.",
    { decoder: webAddress, variable: "OTEL_EXPORTER_OTLP_ENDPOINT" }
  )
}

/** The flag by which every request is logged. */
export const accessLog = toggle("access-log", "Log a line for each request: method, route, status and duration.")

/** The values of the flags. */
type Observed = Values<typeof observeOptions>

/** Patterns of secrets that must never appear in a log, each with its replacement. */
const SECRETS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(wk_live|wk_test|whsec)_[\w-]+/g, "$1_..."],
  [/\bBearer\s+[^\s"'\\]+/gi, "Bearer ..."],
  [/(?<!\w)(\w+:\/\/[^\s:@/"]*):[^\s@/"]*@/g, "$1:...@"],
  // The path of a webhook's address may be a secret, and so may its query.
  [/\b(https?:\/\/[^\s/"'?#\\]{1,300})[/?#][^\s"'\\)>\]]+/gi, "$1/..."],
  // In E.164, even if a query string escaped the plus.
  [/(?:\+|%2B)[1-9]\d{6,14}\b/gi, "+..."]
]

/** A line without keys, webhook secrets, tokens, passwords of databases, paths of web addresses and phone numbers. No code of ours logs any: causes from elsewhere might. */
export const redacted = (line: string): string =>
  SECRETS.reduce((said, [pattern, instead]) => said.replaceAll(pattern, instead), line)

type Format = (typeof LOG_FORMATS)[number]

/** A level under the name by which `--log-level` asks for it. */
const shownLevel = (level: string): string => (level === "WARN" ? "warning" : level.toLowerCase())

/** The form of a line for programs: one object, its members' names, and the members of `annotations`, such as `request_id`. */
const asJson = Logger.map(Logger.structuredLogger, ({ message, logLevel, timestamp, cause, annotations, spans }) =>
  JSON.stringify({
    timestamp,
    level: shownLevel(logLevel),
    message: Array.isArray(message) ? message.map(String).join(" ") : message,
    ...annotations,
    ...(cause === undefined ? {} : { cause }),
    ...(Object.keys(spans).length === 0 ? {} : { spans })
  })
)

const asLine = Logger.map(Logger.logfmtLogger, (line) => line.replaceAll(/(?<!\s)\s*\n\s*/g, " | "))

const formats: Readonly<Record<Format, Logger.Logger<unknown, string>>> = { json: asJson, pretty: asLine }

/** The longest line, in characters, and the longest text that one keeps. */
const LINE_CHARACTERS = 16 * 1024
const TEXT_CHARACTERS = 4 * 1024

const cut = (text: string): string =>
  text.length <= TEXT_CHARACTERS ? text : `${text.slice(0, TEXT_CHARACTERS)}... (${text.length} characters)`

/** A line of a bounded length. JSON stays JSON: only the texts in it are cut. */
const bounded = (line: string, format: Format): string => {
  if (line.length <= LINE_CHARACTERS) return line
  if (format === "pretty") return cut(line)
  return JSON.stringify(JSON.parse(line), (_, value) => (typeof value === "string" ? cut(value) : value))
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
  { logFormat, logLevel }: { readonly logFormat: Format | null; readonly logLevel: (typeof LOG_LEVELS)[number] },
  isTerminal: boolean,
  write: (line: string) => void = globalThis.console.error
): Layer.Layer<never> => {
  const format = logFormat ?? (isTerminal ? "pretty" : "json")
  const logger = Logger.make<unknown, void>((entry) =>
    write(legible(bounded(redacted(formats[format].log(entry)), format)))
  )
  return Layer.merge(
    Layer.locallyScoped(FiberRef.currentLoggers, HashSet.make(logger)),
    Logger.minimumLogLevel(levels[logLevel])
  )
}

const real = Clock.make()

/** Logs a line for each request: by its route and never by its path or query, which may hold phone numbers. */
export const logged: RequestObserver = ({ method }, _, answer) => {
  const began = real.unsafeCurrentTimeNanos()
  return Effect.tap(answer, ({ status, context, failure }) => {
    const ms = Number((real.unsafeCurrentTimeNanos() - began) / 1000n) / 1000
    return Effect.annotateLogs(Effect.logInfo("Answered"), {
      method: shownMethod(method),
      route: shownRoute(context),
      status,
      ...(failure && { failure: failure._tag }),
      ms
    })
  })
}

const parentOf = (header: (name: string) => string | undefined) => {
  const traceparent = header("traceparent")
  return traceparent === undefined
    ? {}
    : Option.match(HttpTraceContext.fromHeaders(Headers.fromInput({ traceparent })), {
        onNone: () => ({}),
        onSome: (parent) => ({ parent })
      })
}

/** A span for each request, below the caller's where they sent theirs. */
export const traced: RequestObserver = ({ method: sent, header }, context, answer) => {
  const method = shownMethod(sent)
  return Effect.useSpan(
    method,
    {
      kind: "server",
      captureStackTrace: false,
      attributes: { "http.request.method": method, request_id: context.id },
      ...parentOf(header)
    },
    (span) =>
      Effect.map(Effect.withParentSpan(answer, span), (response) => {
        const route = shownRoute(response.context)
        span.attribute("http.route", route)
        // Only now is it known; a span has no other way to be renamed.
        Object.assign(span, { name: `${method} ${route}` })
        span.attribute("http.response.status_code", response.status)
        return response
      })
  )
}

/** The sender with a span for each attempt, where somebody traces; it names the shop and what came of it, not the address. */
export const tracedSender: Layer.Layer<WebhookSender, never, WebhookSender> = Layer.effect(
  WebhookSender,
  Effect.gen(function* () {
    const { within } = yield* Tracing
    const sender = yield* WebhookSender
    return WebhookSender.of({
      send: (post) =>
        within(
          "webhook attempt",
          { shop_id: post.shop_id },
          Effect.tap(sender.send(post), ({ status, error }) =>
            Effect.annotateCurrentSpan({ ...(status === null ? {} : { status }), ...(error === null ? {} : { error }) })
          )
        )
    })
  })
)

const version = (): string => JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version

/** Loads the tracer only if it is used, so that other starts do not wait for it. */
const tracing = (endpoint: string) =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./Traces.js")),
      (Traces) => Traces.layer(endpoint, version())
    )
  )

/** The logs, metrics and traces of the flags, for everything that the process does. */
export const observing = (flags: Observed): Layer.Layer<never> =>
  Layer.scopedDiscard(processMetrics).pipe(
    Layer.provideMerge(Probes.layer),
    Layer.provideMerge(flags.otlpEndpoint === null ? Layer.empty : tracing(flags.otlpEndpoint)),
    Layer.provideMerge(logsLayer(flags, process.stderr.isTTY === true))
  )

/** The observer of requests: it always counts them, and logs or traces them where a flag says so. */
export const watching = (flags: Observed & { readonly accessLog: boolean }): RequestObserver => {
  const counted = makeHttpMetrics()
  const others = [...(flags.accessLog ? [logged] : []), ...(flags.otlpEndpoint === null ? [] : [traced])]
  return (request, context, answer) =>
    counted(
      request,
      context,
      others.reduce((observed, observe) => observe(request, context, observed), answer)
    )
}
