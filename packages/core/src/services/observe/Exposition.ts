import { Clock, Effect, Metric, type MetricKey, MetricKeyType, type MetricPair, MetricState, Option } from "effect"
import { ServiceLimits } from "../../domain/Limits.js"
import { Probes } from "../../ports/Probes.js"

/** The content type of Prometheus' text format. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** The metrics that `scrape` shows: the service's own, and those of the process and of Node, which Prometheus' dashboards use. */
const SHOWN = /^(workshop|process|nodejs)_/

type Labels = ReadonlyArray<readonly [string, string]>

const escapeText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")

const formatNumber = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"

/** A name in the form that Prometheus accepts. Prometheus would reject the whole text because of one wrong name. */
const metricName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_:]/g, "_").replace(/^(?=\d)/, "_")

const formatSample = (name: string, labels: Labels, value: number): string => {
  const labelText = labels
    .map(([key, text]) => `${metricName(key).replaceAll(":", "_")}="${escapeText(text).replaceAll('"', '\\"')}"`)
    .join(",")
  return `${name}${labelText === "" ? "" : `{${labelText}}`} ${formatNumber(value)}`
}

const typeOf = ({ keyType }: MetricKey.MetricKey.Untyped): string => {
  if (MetricKeyType.isCounterKey(keyType) || MetricKeyType.isFrequencyKey(keyType)) return "counter"
  if (MetricKeyType.isHistogramKey(keyType)) return "histogram"
  return MetricKeyType.isSummaryKey(keyType) ? "summary" : "gauge"
}

const formatSamples = (name: string, { metricKey, metricState: state }: MetricPair.MetricPair.Untyped) => {
  const { tags } = metricKey
  const labels: Labels = tags.map(({ key, value }) => [key, value])
  if (MetricState.isHistogramState(state)) {
    return [
      ...state.buckets
        .filter(([until]) => until !== Number.POSITIVE_INFINITY)
        .map(([until, n]) => formatSample(`${name}_bucket`, [...labels, ["le", formatNumber(until)]], n)),
      formatSample(`${name}_bucket`, [...labels, ["le", "+Inf"]], state.count),
      formatSample(`${name}_sum`, labels, state.sum),
      formatSample(`${name}_count`, labels, state.count)
    ]
  }
  if (MetricState.isSummaryState(state)) {
    return [
      ...state.quantiles.map(([quantile, value]) =>
        formatSample(
          name,
          [...labels, ["quantile", formatNumber(quantile)]],
          Option.getOrElse(value, () => Number.NaN)
        )
      ),
      formatSample(`${name}_sum`, labels, state.sum),
      formatSample(`${name}_count`, labels, state.count)
    ]
  }
  if (MetricState.isFrequencyState(state)) {
    return [...state.occurrences].map(([key, count]) => formatSample(name, [...labels, ["key", key]], count))
  }
  if (MetricState.isCounterState(state)) return [formatSample(name, labels, Number(state.count))]
  return MetricState.isGaugeState(state) ? [formatSample(name, labels, Number(state.value))] : []
}

const headOf = (name: string, { metricKey }: MetricPair.MetricPair.Untyped): string => {
  const { description } = metricKey
  const help = Option.match(description, {
    onNone: () => "",
    onSome: (text) => `# HELP ${name} ${escapeText(text)}\n`
  })
  return `${help}# TYPE ${name} ${typeOf(metricKey)}`
}

/**
 * Metrics in Prometheus' text format, version 0.0.4: each name once, with its help, if any, and its type, then its
 * samples. A frequency is a counter with the label `key`. By default it contains only the metrics of the service, of
 * the process (`process_`) and of Node (`nodejs_`).
 */
export const formatExposition = (
  pairs: ReadonlyArray<MetricPair.MetricPair.Untyped>,
  isShown: (name: string) => boolean = (name) => SHOWN.test(name)
): string => {
  const families = new Map<string, { readonly head: string; readonly lines: Array<string> }>()
  for (const pair of pairs) {
    const name = metricName(pair.metricKey.name)
    const lines = isShown(name) ? formatSamples(name, pair) : []
    if (lines.length === 0) continue
    const family = families.get(name) ?? { head: headOf(name, pair), lines: [] }
    families.set(name, family)
    family.lines.push(...lines)
  }
  return [...families]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { head, lines }]) => `${head}\n${lines.join("\n")}\n`)
    .join("")
}

/** Updates the gauges of the process, and stops waiting for the database after a time limit. */
const measure: Effect.Effect<void> = Effect.gen(function* () {
  const probes = [...((yield* Probes) ?? [])]
  const measureAll = Effect.forEach(probes, ({ measure = Effect.void }) => measure, { concurrency: "unbounded" })
  yield* Effect.withClock(Effect.timeoutOption(measureAll, ServiceLimits.measuring_ms), Clock.make())
})

/**
 * The metrics of the service in Prometheus' text format, and the metrics whose names begin with `process_` or `nodejs_`
 * (Specification, Commands). Metrics of your own are in {@link scrapeAll}.
 */
export const scrape: Effect.Effect<string> = Effect.map(measure, () => formatExposition(Metric.unsafeSnapshot()))

/**
 * Effect's counts of its own fibers. They mislead an operator, because a fiber that another one interrupts counts as
 * failed.
 */
const OF_FIBERS = /^effect_fiber_/

/**
 * The metrics of {@link scrape} in Prometheus' text format, with your own metrics and the metrics of libraries, but
 * without Effect's `effect_fiber_…`. A character that Prometheus refuses in a name is an underscore.
 */
export const scrapeAll: Effect.Effect<string> = Effect.map(measure, () =>
  formatExposition(Metric.unsafeSnapshot(), (name) => !OF_FIBERS.test(name))
)
