import type { Sample } from "./Probe.js"

const WIDTH = 720
const HEIGHT = 110
const LEFT = 120

/** Draws each measure of a soak over time, one below the other. */
export const plot = (samples: ReadonlyArray<Sample>, title: string): string => {
  const names = [
    "requests_per_s",
    "p50_ms",
    "p99_ms",
    "rss_mib",
    "handles",
    "connections",
    "tables_mib",
    "indexes_mib",
    "dead_rows"
  ] as const
  const last = samples.at(-1)?.second ?? 1
  const charts = names.map((name, i) => {
    const points = samples.flatMap((one) => (one[name] === null ? [] : [{ second: one.second, value: one[name] }]))
    const most = Math.max(1, ...points.map(({ value }) => value))
    const top = 40 + i * (HEIGHT + 20)
    const place = ({ second, value }: { readonly second: number; readonly value: number }) =>
      `${(LEFT + (second / last) * (WIDTH - LEFT - 20)).toFixed(1)},${(top + HEIGHT - (value / most) * HEIGHT).toFixed(1)}`
    return `<text x="8" y="${top + 14}">${name}</text><text x="8" y="${top + 32}" class="most">up to ${most}</text>
<path class="floor" d="M${LEFT} ${top + HEIGHT}H${WIDTH - 20}"/><polyline points="${points.map(place).join(" ")}"/>`
  })
  const height = 40 + names.length * (HEIGHT + 20)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>${title}</title>
<style>text{font:13px sans-serif;fill:#333}.most{fill:#777}polyline{fill:none;stroke:#2563eb;stroke-width:1.5}.floor{stroke:#ccc}rect{fill:#fff}</style>
<rect width="${WIDTH}" height="${height}"/><text x="8" y="20">${title}</text>
${charts.join("\n")}
</svg>
`
}
