/** A line of a chart. */
export interface Line {
  readonly label: string
  readonly points: ReadonlyArray<{ readonly second: number; readonly value: number }>
}

/** Lines on one time axis, with a common scale that begins at 0. */
export interface Chart {
  readonly name: string
  readonly lines: ReadonlyArray<Line>
}

/** An instant that every chart marks. */
export interface Mark {
  readonly second: number
  readonly label: string
}

const WIDTH = 760
const HEIGHT = 110
const LEFT = 150
const COLOURS = ["#2563eb", "#dc2626", "#16a34a", "#9333ea", "#d97706", "#0891b2"]

const rounded = (value: number) => (value >= 100 ? Math.round(value) : Math.round(value * 10) / 10).toLocaleString("en")

/** Draws charts over time, one below the other. */
export const plot = (title: string, charts: ReadonlyArray<Chart>, marks: ReadonlyArray<Mark> = []): string => {
  const last = Math.max(1, ...charts.flatMap(({ lines }) => lines.flatMap(({ points }) => points.at(-1)?.second ?? 0)))
  const x = (second: number) => (LEFT + (second / last) * (WIDTH - LEFT - 20)).toFixed(1)
  const drawn = charts.map(({ name, lines }, i) => {
    const max = Math.max(1, ...lines.flatMap(({ points }) => points.map(({ value }) => value)))
    const top = 50 + i * (HEIGHT + 24)
    const y = (value: number) => (top + HEIGHT - (value / max) * HEIGHT).toFixed(1)
    const texts = lines.map(
      ({ label }, index) =>
        `<text x="8" y="${top + 50 + 15 * index}" fill="${COLOURS[index % COLOURS.length]}">${label}</text>`
    )
    const curves = lines.map(
      ({ points }, index) =>
        `<polyline stroke="${COLOURS[index % COLOURS.length]}" points="${points.map(({ second, value }) => `${x(second)},${y(value)}`).join(" ")}"/>`
    )
    return `<text x="8" y="${top + 14}">${name}</text><text x="8" y="${top + 31}" fill="#777">up to ${rounded(max)}</text>
${lines.length > 1 ? texts.join("") : ""}<path class="floor" d="M${LEFT} ${top + HEIGHT}H${WIDTH - 20}"/>${curves.join("")}`
  })
  const height = 50 + charts.length * (HEIGHT + 24)
  const lines = marks.map(
    ({ second, label }) =>
      `<path class="mark" d="M${x(second)} 42V${height - 20}"/><text x="${x(second)}" y="38" fill="#777">${label}</text>`
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>${title}</title>
<style>text{font:12px sans-serif}polyline{fill:none;stroke-width:1.5}.floor{stroke:#ccc}.mark{stroke:#bbb;stroke-dasharray:3 3}</style>
<rect width="${WIDTH}" height="${height}" fill="#fff"/><text x="8" y="20">${title} (${Math.round(last)} s)</text>
${lines.join("\n")}
${drawn.join("\n")}
</svg>
`
}
