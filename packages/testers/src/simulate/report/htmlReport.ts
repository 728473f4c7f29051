import { escapeHtml } from "@workshop/core/internal"
import { pluralize } from "@workshop/core/internal/terminal"
import { detailRow, entryItem, pageText, ruleLink } from "../../page/page.js"
import type { EventJson } from "../../testkit/ResponseTypes.js"
import type { Trace, Violation } from "../auditor/Trace.js"
import { groupValues, toEpochMs } from "../auditor/traceQueries.js"
import type { Timing } from "../Observers.js"
import { countLines, endLines, latencyColumns, percentile, type RunReport, ruleLine } from "./textReport.js"
import { violationStory } from "./violationStory.js"

/** A named series of points, in their order. */
interface Series {
  readonly name: string
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
}

/** The texts of a plot. */
interface PlotText {
  readonly title: string
  readonly x: string
  readonly y: string
}

const WIDTH = 640
const HEIGHT = 220
/** The space between the edges of a figure and its plot, in pixels. */
const MARGIN = { left: 56, bottom: 34, top: 10, right: 10 } as const

const formatCompact = (n: number): string =>
  n >= 1_000_000
    ? `${(n / 1_000_000).toFixed(1)}M`
    : n >= 10_000
      ? `${Math.round(n / 1000)}k`
      : n >= 100 || Number.isInteger(n)
        ? String(Math.round(n))
        : n.toPrecision(2)

const makeScale = (min: number, max: number, from: number, to: number) => (n: number) =>
  from + ((n - min) / (max - min || 1)) * (to - from)

const plotFigure = (
  { title, x, y }: PlotText,
  mostY: number,
  [minX, maxX]: readonly [string, string],
  inside: string,
  legend: ReadonlyArray<string> = []
): string => {
  const bottom = HEIGHT - MARGIN.bottom
  const marks = [0, 0.5, 1].map((share) => {
    const tickY = bottom - share * (bottom - MARGIN.top)
    return `<line class="grid" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${tickY}" y2="${tickY}"/><text x="${MARGIN.left - 6}" y="${tickY + 4}" text-anchor="end">${formatCompact(share * mostY)}</text>`
  })
  const names = legend.map((name, i) => `<span><i class="c${i}"></i>${escapeHtml(name)}</span>`).join("")
  return `<figure><figcaption>${escapeHtml(title)}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">${marks.join("")}${inside}<text x="${MARGIN.left}" y="${HEIGHT - 16}">${escapeHtml(minX)}</text><text x="${WIDTH - MARGIN.right}" y="${HEIGHT - 16}" text-anchor="end">${escapeHtml(maxX)}</text><text x="${(MARGIN.left + WIDTH) / 2}" y="${HEIGHT - 2}" text-anchor="middle">${escapeHtml(x)}</text><text class="second" x="12" y="${bottom / 2}" text-anchor="middle" transform="rotate(-90 12 ${bottom / 2})">${escapeHtml(y)}</text></svg>${names === "" ? "" : `<p class="legend">${names}</p>`}</figure>`
}

const extentOf = (series: ReadonlyArray<Series>) => {
  const allPoints = series.flatMap(({ points }) => points)
  const xs = allPoints.length === 0 ? [0, 1] : allPoints.map(([x]) => x)
  return { min: Math.min(...xs), max: Math.max(...xs), top: Math.max(0, ...allPoints.map(([, y]) => y)) || 1 }
}

/** A plot of lines on a common axis. `label` formats the ends of the x axis. */
const linePlot = (text: PlotText, series: ReadonlyArray<Series>, label: (x: number) => string): string => {
  const { min, max, top } = extentOf(series)
  const [x, y] = [
    makeScale(min, max, MARGIN.left, WIDTH - MARGIN.right),
    makeScale(0, top, HEIGHT - MARGIN.bottom, MARGIN.top)
  ]
  const polylines = series.map(
    ({ points }, i) =>
      `<polyline class="l${i}" points="${points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(" ")}"/>`
  )
  return plotFigure(
    text,
    top,
    [label(min), label(max)],
    polylines.join(""),
    series.length > 1 ? series.map(({ name }) => name) : []
  )
}

/** A plot of stacked areas, all with the same x values. */
const stackedPlot = (text: PlotText, series: ReadonlyArray<Series>, label: (x: number) => string): string => {
  const sumUpTo = (upTo: number, at: number) =>
    series.slice(0, upTo).reduce((sum, { points }) => sum + (points[at]?.[1] ?? 0), 0)
  const xs = series[0]?.points.map(([x]) => x) ?? []
  const top = Math.max(0, ...xs.map((_, at) => sumUpTo(series.length, at))) || 1
  const [min, max] = [xs[0] ?? 0, xs.at(-1) ?? 1]
  const [x, y] = [
    makeScale(min, max, MARGIN.left, WIDTH - MARGIN.right),
    makeScale(0, top, HEIGHT - MARGIN.bottom, MARGIN.top)
  ]
  const areas = series.map((_, i) => {
    const upper = xs.map((px, at) => `${x(px).toFixed(1)},${y(sumUpTo(i + 1, at)).toFixed(1)}`)
    const lower = xs.map((px, at) => `${x(px).toFixed(1)},${y(sumUpTo(i, at)).toFixed(1)}`).reverse()
    return `<polygon class="a${i}" points="${[...upper, ...lower].join(" ")}"/>`
  })
  return plotFigure(
    text,
    top,
    [label(min), label(max)],
    areas.join(""),
    series.map(({ name }) => name)
  )
}

/** A plot with a bar for each name. */
const barPlot = (text: PlotText, values: ReadonlyArray<readonly [name: string, n: number]>): string => {
  const top = Math.max(0, ...values.map(([, n]) => n)) || 1
  const wide = (WIDTH - MARGIN.left - MARGIN.right) / Math.max(1, values.length)
  const rects = values.map(([name, n], i) => {
    const height = (n / top) * (HEIGHT - MARGIN.bottom - MARGIN.top)
    const x = MARGIN.left + i * wide
    return `<rect class="a0" x="${(x + 1).toFixed(1)}" y="${(HEIGHT - MARGIN.bottom - height).toFixed(1)}" width="${Math.max(1, wide - 2).toFixed(1)}" height="${height.toFixed(1)}"><title>${escapeHtml(name)}: ${formatCompact(n)}</title></rect><text${i % 2 === 1 ? ' class="second"' : ""} x="${(x + wide / 2).toFixed(1)}" y="${HEIGHT - 18}" text-anchor="middle">${escapeHtml(name.length * 6 > wide ? "" : name)}</text>`
  })
  return plotFigure(text, top, ["", ""], rects.join(""))
}

const BUCKETS = 60

/** The requests per second in equal parts of the run. */
const throughputSeries = (timings: ReadonlyArray<Timing>): Series => {
  const first = timings[0]?.ended_ms ?? 0
  const width = Math.max(1, ((timings.at(-1)?.ended_ms ?? 1) - first) / BUCKETS)
  const counts = Array.from({ length: BUCKETS }, () => 0)
  for (const { ended_ms } of timings) counts[Math.min(BUCKETS - 1, Math.floor((ended_ms - first) / width))]! += 1
  return { name: "requests", points: counts.map((n, i) => [(i * width) / 1000, (n / width) * 1000] as const) }
}

const latencySeries = (timings: ReadonlyArray<Timing>): ReadonlyArray<Series> => {
  const size = Math.max(1, Math.ceil(timings.length / BUCKETS))
  const parts = Array.from({ length: Math.ceil(timings.length / size) }, (_, i) =>
    timings
      .slice(i * size, (i + 1) * size)
      .map(({ took_ms }) => took_ms)
      .sort((a, b) => a - b)
  )
  return (
    [
      ["p50", 0.5],
      ["p99", 0.99]
    ] as const
  ).map(([name, share]) => ({ name, points: parts.map((part, i) => [i * size, percentile(part, share)] as const) }))
}

const DELAY_BUCKETS: ReadonlyArray<readonly [name: string, max: number]> = [
  ["at once", 1000],
  ["1 min", 61_000],
  ["6 min", 361_000],
  ["36 min", 2_161_000],
  ["3 h", 10_800_000],
  ["9 h", 32_400_000],
  ["21 h", 75_600_000],
  ["2 d", 172_800_000],
  ["longer", Number.POSITIVE_INFINITY]
]

/** The times from each event to its delivery, on the sandbox clock. */
const deliveryDelaysOf = ({ shops }: Trace): ReadonlyArray<readonly [string, number]> => {
  const counts = new Map(DELAY_BUCKETS.map(([name]) => [name, 0]))
  for (const { events, deliveries } of shops) {
    const raisedAt = new Map(events.map(({ id, created_at }) => [id, toEpochMs(created_at)]))
    for (const { event_id, attempts } of deliveries) {
      const firstSuccess = attempts.find(({ status }) => status !== null && status < 300)
      if (firstSuccess === undefined) continue
      const delay = toEpochMs(firstSuccess.started_at) - (raisedAt.get(event_id) ?? 0)
      const name = DELAY_BUCKETS.find(([, max]) => delay <= max)?.[0] ?? "longer"
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return [...counts]
}

const STATES = ["workshop", "ready", "impossible", "collected", "abandoned"] as const

/** The number of tickets in each state, over the days of the simulation. */
const stateSeries = ({ shops, started_at, ended_at }: Trace): ReadonlyArray<Series> => {
  const events: ReadonlyArray<EventJson> = shops
    .flatMap((shop) => shop.events)
    .sort((a, b) => toEpochMs(a.created_at) - toEpochMs(b.created_at))
  const states = new Map<string, string>()
  const series = STATES.map((name) => ({ name, points: [] as Array<readonly [number, number]> }))
  let next = 0
  for (let bucket = 0; bucket <= BUCKETS; bucket++) {
    const until = started_at + ((ended_at - started_at) * bucket) / BUCKETS
    for (; next < events.length && toEpochMs(events[next]!.created_at) <= until; next++) {
      const { ticket } = events[next]!.data
      if (ticket !== undefined) states.set(ticket.id, ticket.state)
    }
    const allStates = [...states.values()]
    for (const { name, points } of series) points.push([until, allStates.filter((state) => state === name).length])
  }
  return series
}

const formatDay = (instant: number): string => new Date(instant).toISOString().slice(0, 10)

/** The plots of a simulation: its speed, the delays of deliveries, the states of tickets. */
const plotsOf = (trace: Trace, timings: ReadonlyArray<Timing>): ReadonlyArray<string> => [
  linePlot(
    { title: "Throughput", x: "seconds of the run", y: "requests a second" },
    [throughputSeries(timings)],
    (x) => `${x.toFixed(1)} s`
  ),
  linePlot({ title: "Latency", x: "requests", y: "milliseconds" }, latencySeries(timings), (x) => String(x)),
  barPlot(
    {
      title: "Delay of deliveries, by the sandbox clock",
      x: "from the event to its arrival, at most",
      y: "deliveries"
    },
    deliveryDelaysOf(trace)
  ),
  stackedPlot({ title: "Tickets by state", x: "the sandbox clock", y: "tickets" }, stateSeries(trace), formatDay)
]

const COLOURS = ["#2f6fde", "#2f9e6e", "#d9822b", "#7b5fc7", "#8a8f98"]

const STYLE = `
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 1rem; margin: 1rem 0; }
figure { margin: 0; } figcaption { font-weight: 600; }
figure svg { width: 100%; height: auto; } figure svg text { font-size: 11px; fill: currentColor; opacity: .75; }
.grid { stroke: currentColor; opacity: .15; } polyline { fill: none; stroke-width: 1.5; }
@media (max-width: 36rem) { figure svg text { font-size: 15px; } figure svg .second { display: none; } }
.legend { margin: .25rem 0 0; } .legend span { display: inline-block; margin-right: 1rem; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .35em; border-radius: 2px; }
.counts p { margin: .15rem 0; } .counts { margin: .75rem 0; }
table { border-collapse: collapse; margin-bottom: 1rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem .15rem 0; text-align: left; border-bottom: 1px solid var(--line); }
.right { text-align: right; }
${COLOURS.map((colour, i) => `.c${i}{background:${colour}}.l${i}{stroke:${colour}}.a${i}{fill:${colour}}`).join("")}
`

/** The largest number of violations of a rule that the page shows, because their evidence is long. */
const MAX_SHOWN_VIOLATIONS = 20

const cellOf = (tag: "td" | "th", text: string, align = "left"): string =>
  `<${tag}${align === "right" ? ' class="right"' : ""}>${escapeHtml(text)}</${tag}>`

const latencyTable = (latencies: RunReport["latencies"]): string => {
  const titles = latencyColumns.map(({ title, align }) => cellOf("th", title, align))
  const rows = latencies.map((row) => latencyColumns.map(({ cell, align }) => cellOf("td", cell(row), align)))
  return `<table>${[titles, ...rows].map((cells) => `<tr>${cells.join("")}</tr>`).join("\n")}</table>`
}

const violationItem = (trace: Trace, command: string) => (violation: Violation, i: number) => {
  const { rule, rule_at, message, evidence } = violation
  const story = violationStory(trace, violation)
  const timeline = story === null ? "" : `<div data-story="${escapeHtml(JSON.stringify(story))}"></div>`
  return entryItem({
    ...{ id: `${rule}-${i + 1}`, outcome: "failed", title: escapeHtml(message), command },
    body: `<dl>${detailRow("written in", ruleLink(rule_at), "html")}${detailRow("evidence", JSON.stringify(evidence, null, 2), "code")}</dl>${timeline}`
  })
}

/** The violations of one rule, each with its evidence and a story of its ticket that can be unfolded. */
const brokenRuleSection = (
  trace: Trace,
  command: string,
  rule: string,
  violations: ReadonlyArray<Violation>
): string => {
  const shown = violations.slice(0, MAX_SHOWN_VIOLATIONS).map(violationItem(trace, command))
  const hiddenCount = violations.length - shown.length
  const hiddenNote =
    hiddenCount > 0 ? `<p class="faint">and ${hiddenCount} more. To print all of them, use --json</p>` : ""
  return `<section><h2 class="failed">${escapeHtml(ruleLine(rule, violations))}</h2><ul class="entries">${shown.join("\n")}</ul>${hiddenNote}</section>`
}

/** The report of a simulation as one HTML page, which loads no other file. */
export const htmlReport = (report: RunReport, trace: Trace, timings: ReadonlyArray<Timing>): string => {
  const { seed, violations } = report.summary
  const times = pluralize(violations.length, "violation")
  const counts = countLines(report).map((line) => `<p class="faint">${escapeHtml(line)}</p>`)
  const sections = [...groupValues(violations, ({ rule }) => rule)].map(([rule, ruleViolations]) =>
    brokenRuleSection(trace, report.command, rule, ruleViolations)
  )
  return pageText({
    title: `Simulation of seed ${seed} ${violations.length === 0 ? "passed: no violations" : `failed: ${times}`}`,
    isGood: violations.length === 0,
    style: STYLE,
    body: `<div class="counts">${counts.join("\n")}</div>
<pre>${escapeHtml(endLines(report).join("\n"))}</pre>
${sections.join("\n")}
<div class="plots">${plotsOf(trace, timings).join("\n")}</div>
${latencyTable(report.latencies)}`
  })
}
