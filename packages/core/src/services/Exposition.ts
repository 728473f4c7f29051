import { Clock, Effect, Metric, type MetricKey, MetricKeyType, type MetricPair, MetricState, Option } from "effect"
import { ServiceLimits } from "../domain/Limits.js"
import { Probes } from "../ports/Probes.js"

/** The content type of Prometheus' text format. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** The names that are shown: our own, and the two kinds that Prometheus' dashboards know. Effect's own metrics are not. */
const SHOWN = /^(workshop|process|nodejs)_/

type Labels = ReadonlyArray<readonly [string, string]>

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")

const number = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"

const sample = (name: string, labels: Labels, value: number): string => {
  const inner = labels.map(([key, text]) => `${key}="${escaped(text).replaceAll('"', '\\"')}"`).join(",")
  return `${name}${inner === "" ? "" : `{${inner}}`} ${number(value)}`
}

const typeOf = ({ keyType }: MetricKey.MetricKey.Untyped): string =>
  MetricKeyType.isCounterKey(keyType) ? "counter" : MetricKeyType.isHistogramKey(keyType) ? "histogram" : "gauge"

const samples = ({ metricKey, metricState: state }: MetricPair.MetricPair.Untyped): ReadonlyArray<string> => {
  const { name, tags } = metricKey
  const labels: Labels = tags.map(({ key, value }) => [key, value])
  if (MetricState.isHistogramState(state)) {
    return [
      ...state.buckets
        .filter(([until]) => until !== Number.POSITIVE_INFINITY)
        .map(([until, n]) => sample(`${name}_bucket`, [...labels, ["le", number(until)]], n)),
      sample(`${name}_bucket`, [...labels, ["le", "+Inf"]], state.count),
      sample(`${name}_sum`, labels, state.sum),
      sample(`${name}_count`, labels, state.count)
    ]
  }
  if (MetricState.isCounterState(state)) return [sample(name, labels, Number(state.count))]
  return MetricState.isGaugeState(state) ? [sample(name, labels, Number(state.value))] : []
}

const head = ({ metricKey }: MetricPair.MetricPair.Untyped): string => {
  const { name, description } = metricKey
  const help = Option.match(description, {
    onNone: () => "",
    onSome: (text) => `# HELP ${name} ${escaped(text)}\n`
  })
  return `${help}# TYPE ${name} ${typeOf(metricKey)}`
}

/**
 * The metrics in Prometheus' text format, version 0.0.4: each name once, with its help where it has any and its
 * type, then its samples. Summaries and frequencies, of which we keep none, are left out.
 */
export const exposition = (measured: ReadonlyArray<MetricPair.MetricPair.Untyped>): string => {
  const families = new Map<string, { readonly head: string; readonly lines: Array<string> }>()
  for (const pair of measured) {
    const { name } = pair.metricKey
    const lines = SHOWN.test(name) ? samples(pair) : []
    if (lines.length === 0) continue
    const family = families.get(name) ?? { head: head(pair), lines: [] }
    families.set(name, family)
    family.lines.push(...lines)
  }
  return [...families]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { head, lines }]) => `${head}\n${lines.join("\n")}\n`)
    .join("")
}

/** All metrics of the process as Prometheus reads them (Specification, Commands). */
export const scrape: Effect.Effect<string> = Effect.gen(function* () {
  const probes = [...((yield* Probes) ?? [])]
  const measured = Effect.forEach(probes, ({ measure = Effect.void }) => measure, { concurrency: "unbounded" })
  yield* Effect.withClock(Effect.timeoutOption(measured, ServiceLimits.measuring_ms), Clock.make())
  return exposition(Metric.unsafeSnapshot())
})
