import type { Plot } from "./Benchmark.js"

/** A named line. */
export interface Series {
  readonly name: string
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
}

/** A plot's title and the names of its axes. */
export interface PlotText {
  readonly title: string
  readonly x: string
  readonly y: string
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [680, 300, 62, 20, 48, 46]

// An SVG that is shown as an image cannot use the colours of its page, so it has its own colours for light and dark.
const STYLE = `text{font:12px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600;font-size:14px}.g{stroke:#8884}.m{stroke:#cf222e;stroke-dasharray:4 4}
polyline{fill:none;stroke-width:2}.s0{stroke:#0969da}.s1{stroke:#bc4c00}.s2{stroke:#1a7f37}.f0{fill:#0969da}.f1{fill:#bc4c00}.f2{fill:#1a7f37}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s0{stroke:#58a6ff}.s1{stroke:#f0883e}.s2{stroke:#56d364}.f0{fill:#58a6ff}.f1{fill:#f0883e}.f2{fill:#56d364}}`

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

const text = (x: number, y: number, content: string, anchor = "start", name = "") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}"${name === "" ? "" : ` class="${name}"`}>${escaped(content)}</text>`

const picture = (name: string, title: string, height: number, inside: ReadonlyArray<string>): Plot => ({
  name,
  svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}"><style>${STYLE}</style>${text(LEFT, 20, title, "start", "t")}${inside.join("")}</svg>\n`
})

const short = (n: number): string => (n >= 10_000 ? `${Math.round(n / 1000)}k` : String(Number(n.toPrecision(2))))

/** A plot with a line for each series. The x axis is logarithmic by default. */
export const growthPlot = (
  name: string,
  labels: PlotText,
  series: ReadonlyArray<Series>,
  axis: "powers of ten" | "linear" = "powers of ten"
): Plot => {
  const placed = axis === "linear" ? (x: number) => x : Math.log10
  const points = series.flatMap((one) => one.points)
  const xs = points.map(([x]) => placed(x))
  const [min, max] = [Math.min(...xs), Math.max(...xs)]
  const top = Math.max(...points.map(([, y]) => y)) * 1.1
  const bottom = HEIGHT - BOTTOM
  const atX = (x: number) => LEFT + ((placed(x) - min) / (max - min || 1)) * (WIDTH - LEFT - RIGHT)
  const atY = (y: number) => bottom - (y / top) * (bottom - TOP)
  const rows = [0, 0.25, 0.5, 0.75, 1].map((share) => share * top)
  const columns = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b)
  return picture(name, labels.title, HEIGHT, [
    ...rows.map((y) => `<line class="g" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${atY(y)}" y2="${atY(y)}"/>`),
    ...rows.map((y) => text(LEFT - 6, atY(y) + 4, short(y), "end")),
    ...columns.map((x) => text(atX(x), bottom + 18, x.toLocaleString("en"), "middle")),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, labels.x, "middle"),
    text(8, TOP - 12, labels.y),
    ...series.flatMap(({ name, points }, i) => [
      `<polyline class="s${i}" points="${points.map(([x, y]) => `${atX(x).toFixed(1)},${atY(y).toFixed(1)}`).join(" ")}"/>`,
      ...points.map(([x, y]) => `<circle class="f${i}" cx="${atX(x).toFixed(1)}" cy="${atY(y).toFixed(1)}" r="3"/>`),
      `<circle class="f${i}" cx="${LEFT + 120 + i * 150}" cy="${TOP - 16}" r="4"/>`,
      text(LEFT + 130 + i * 150, TOP - 12, name)
    ])
  ])
}

/** A plot with a bar for each ratio, and a line at 1, where both sides are equal. */
export const ratioPlot = (
  name: string,
  title: string,
  bars: ReadonlyArray<{ readonly label: string; readonly ratio: number }>
): Plot => {
  const names = 300
  const max = Math.max(1.2, ...bars.map(({ ratio }) => ratio)) * 1.1
  const at = (ratio: number) => names + (ratio / max) * (WIDTH - names - 50)
  const height = TOP + bars.length * 26 + 20
  return picture(name, title, height, [
    ...bars.flatMap(({ label, ratio }, i) => [
      text(names - 8, TOP + i * 26 + 14, label, "end"),
      `<rect class="f${ratio >= 1 ? 2 : 1}" x="${names}" y="${TOP + i * 26}" width="${(at(ratio) - names).toFixed(1)}" height="18" rx="2"/>`,
      text(at(ratio) + 6, TOP + i * 26 + 14, ratio.toFixed(2))
    ]),
    `<line class="m" x1="${at(1)}" x2="${at(1)}" y1="${TOP - 8}" y2="${height - 14}"/>`,
    text(at(1), height - 2, "as fast as the other", "middle")
  ])
}
