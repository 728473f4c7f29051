import { escaped } from "../../page/escaped.js"

/** A named series of points, in their order. */
export interface Series {
  readonly name: string
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
}

/** What stands beside a plot. */
export interface PlotText {
  readonly title: string
  readonly x: string
  readonly y: string
}

const WIDTH = 640
const HEIGHT = 220
const LEFT = 56
const BOTTOM = 34
const TOP = 10
const RIGHT = 10

const short = (n: number): string =>
  n >= 1_000_000
    ? `${(n / 1_000_000).toFixed(1)}M`
    : n >= 10_000
      ? `${Math.round(n / 1000)}k`
      : n >= 100 || Number.isInteger(n)
        ? String(Math.round(n))
        : n.toPrecision(2)

const scale = (least: number, most: number, from: number, to: number) => (n: number) =>
  from + ((n - least) / (most - least || 1)) * (to - from)

const framed = (
  { title, x, y }: PlotText,
  mostY: number,
  [leastX, mostX]: readonly [string, string],
  inside: string,
  legend: ReadonlyArray<string> = []
): string => {
  const bottom = HEIGHT - BOTTOM
  const marks = [0, 0.5, 1].map((share) => {
    const at = bottom - share * (bottom - TOP)
    return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/><text x="${LEFT - 6}" y="${at + 4}" text-anchor="end">${short(share * mostY)}</text>`
  })
  const names = legend.map((name, i) => `<span><i class="c${i}"></i>${escaped(name)}</span>`).join("")
  return `<figure><figcaption>${escaped(title)}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">${marks.join("")}${inside}<text x="${LEFT}" y="${HEIGHT - 16}">${escaped(leastX)}</text><text x="${WIDTH - RIGHT}" y="${HEIGHT - 16}" text-anchor="end">${escaped(mostX)}</text><text x="${(LEFT + WIDTH) / 2}" y="${HEIGHT - 2}" text-anchor="middle">${escaped(x)}</text><text class="second" x="12" y="${bottom / 2}" text-anchor="middle" transform="rotate(-90 12 ${bottom / 2})">${escaped(y)}</text></svg>${names === "" ? "" : `<p class="legend">${names}</p>`}</figure>`
}

const extent = (series: ReadonlyArray<Series>) => {
  const xs = series.flatMap(({ points }) => points.map(([x]) => x))
  const ys = series.flatMap(({ points }) => points.map(([, y]) => y))
  const fold = (all: ReadonlyArray<number>, pick: (a: number, b: number) => number, start: number) =>
    all.reduce((a, b) => pick(a, b), start)
  return {
    least: fold(xs, Math.min, xs[0] ?? 0),
    most: fold(xs, Math.max, xs[0] ?? 1),
    top: fold(ys, Math.max, 0) || 1
  }
}

/** Lines over a common axis. `label` writes the ends of the x axis. */
export const lines = (text: PlotText, series: ReadonlyArray<Series>, label: (x: number) => string): string => {
  const { least, most, top } = extent(series)
  const [x, y] = [scale(least, most, LEFT, WIDTH - RIGHT), scale(0, top, HEIGHT - BOTTOM, TOP)]
  const drawn = series.map(
    ({ points }, i) =>
      `<polyline class="l${i}" points="${points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(" ")}"/>`
  )
  return framed(
    text,
    top,
    [label(least), label(most)],
    drawn.join(""),
    series.length > 1 ? series.map(({ name }) => name) : []
  )
}

/** Areas one upon the other, all with the same x. */
export const stacked = (text: PlotText, series: ReadonlyArray<Series>, label: (x: number) => string): string => {
  const sums = (upTo: number, at: number) =>
    series.slice(0, upTo).reduce((sum, { points }) => sum + (points[at]?.[1] ?? 0), 0)
  const xs = series[0]?.points.map(([x]) => x) ?? []
  const top = xs.reduce((most, _, at) => Math.max(most, sums(series.length, at)), 0) || 1
  const [least, most] = [xs[0] ?? 0, xs.at(-1) ?? 1]
  const [x, y] = [scale(least, most, LEFT, WIDTH - RIGHT), scale(0, top, HEIGHT - BOTTOM, TOP)]
  const areas = series.map((_, i) => {
    const upper = xs.map((px, at) => `${x(px).toFixed(1)},${y(sums(i + 1, at)).toFixed(1)}`)
    const lower = xs.map((px, at) => `${x(px).toFixed(1)},${y(sums(i, at)).toFixed(1)}`).reverse()
    return `<polygon class="a${i}" points="${[...upper, ...lower].join(" ")}"/>`
  })
  return framed(
    text,
    top,
    [label(least), label(most)],
    areas.join(""),
    series.map(({ name }) => name)
  )
}

/** A bar for each name. */
export const bars = (text: PlotText, named: ReadonlyArray<readonly [name: string, n: number]>): string => {
  const top = named.reduce((most, [, n]) => Math.max(most, n), 0) || 1
  const wide = (WIDTH - LEFT - RIGHT) / Math.max(1, named.length)
  const drawn = named.map(([name, n], i) => {
    const height = (n / top) * (HEIGHT - BOTTOM - TOP)
    const at = LEFT + i * wide
    return `<rect class="a0" x="${(at + 1).toFixed(1)}" y="${(HEIGHT - BOTTOM - height).toFixed(1)}" width="${Math.max(1, wide - 2).toFixed(1)}" height="${height.toFixed(1)}"><title>${escaped(name)}: ${short(n)}</title></rect><text${i % 2 === 1 ? ' class="second"' : ""} x="${(at + wide / 2).toFixed(1)}" y="${HEIGHT - 18}" text-anchor="middle">${escaped(name.length * 6 > wide ? "" : name)}</text>`
  })
  return framed(text, top, ["", ""], drawn.join(""))
}
