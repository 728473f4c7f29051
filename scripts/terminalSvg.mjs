// Draws the screens of terminals as an SVG that loads no fonts.

/** The screen of a terminal: its title, and its text with the escapes of its colours. @typedef {{ readonly title: string, readonly text: string }} Terminal */

const CHARACTER = 7.25
const LINE = 18
const MARGIN = 16
const TITLE = 30
const GAP = 14

const COLOURS = /** @type {Record<string, string>} */ ({
  31: "#ff7b72",
  32: "#7ee787",
  33: "#e3b341",
  34: "#79c0ff",
  35: "#d2a8ff",
  36: "#76e3ea",
  90: "#8b949e"
})

/** @param {string} text */
const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(" ", "&#160;")

/** @param {string} text @param {ReadonlySet<string>} codes */
const run = (text, codes) => {
  const colour = [...codes].map((code) => COLOURS[code]).find((candidate) => candidate !== undefined)
  const looks = [
    ...(colour === undefined ? [] : [`fill="${colour}"`]),
    ...(codes.has("1") ? ['font-weight="bold"'] : []),
    ...(codes.has("2") ? ['opacity="0.65"'] : [])
  ]
  return looks.length === 0 ? escaped(text) : `<tspan ${looks.join(" ")}>${escaped(text)}</tspan>`
}

/** A piece of text with its colour codes. @typedef {{ readonly text: string, readonly codes: ReadonlySet<string> }} Piece */

/** Divides a line where its colours change. @param {string} line @returns {ReadonlyArray<Piece>} */
const piecesOf = (line) => {
  /** @type {Set<string>} */
  let codes = new Set()
  const [first = "", ...rest] = line.split("\u001b[")
  return [
    { text: first, codes },
    ...rest.map((part) => {
      const [, numbers = "", text = ""] = /^([\d;]*)m([\s\S]*)$/.exec(part) ?? ["", "", part]
      for (const number of numbers.split(";")) {
        if (number === "0" || number === "") codes = new Set()
        else if (number === "39") codes = new Set([...codes].filter((code) => !(code in COLOURS)))
        else if (number === "22") codes = new Set([...codes].filter((code) => code !== "1" && code !== "2"))
        else codes = new Set([...codes, number])
      }
      return { text, codes }
    })
  ]
}

/** Breaks a line like a terminal, at the last column. @param {ReadonlyArray<Piece>} pieces @param {number} columns */
const wrapped = (pieces, columns) => {
  const characters = pieces.flatMap(({ text, codes }) => [...text].map((text) => ({ text, codes })))
  const rows = Array.from({ length: Math.max(1, Math.ceil(characters.length / columns)) }, (_, i) =>
    characters.slice(i * columns, (i + 1) * columns)
  )
  return rows.map((row) => {
    /** @type {Array<{ text: string, codes: ReadonlySet<string> }>} */
    const together = []
    for (const { text, codes } of row) {
      const last = together.at(-1)
      if (last?.codes === codes) last.text += text
      else together.push({ text, codes })
    }
    return together
  })
}

/** Makes typed lines bold. @param {string} line */
const typed = (line) => (/^(\$ | {2}(\||--json) )/.test(line) ? `\u001b[1m${line}\u001b[0m` : line)

/** @param {Terminal} terminal @param {number} columns @param {number} top */
const draw = ({ title, text }, columns, top) => {
  const rows = text
    .trimEnd()
    .split("\n")
    .flatMap((line) => wrapped(piecesOf(typed(line)), columns))
  const width = columns * CHARACTER + 2 * MARGIN
  const height = TITLE + rows.length * LINE + MARGIN
  const lines = rows.map((row, i) => {
    const y = top + TITLE + (i + 0.8) * LINE
    return `<text x="${MARGIN}" y="${y.toFixed(1)}">${row.map(({ text, codes }) => run(text, codes)).join("")}</text>`
  })
  return {
    height,
    svg: [
      `<rect y="${top}" width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
      `<text x="${MARGIN}" y="${top + 20}" fill="#8b949e">${escaped(title)}</text>`,
      ...lines
    ].join("\n")
  }
}

/** Draws several terminals below each other. @param {ReadonlyArray<Terminal>} terminals @param {number} columns */
export const drawTerminals = (terminals, columns) => {
  let top = 0
  const drawn = terminals.map((terminal) => {
    const { svg, height } = draw(terminal, columns, top)
    top += height + GAP
    return svg
  })
  const [width, height] = [columns * CHARACTER + 2 * MARGIN, top - GAP]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Terminals: the service, a receiver, a till, a scenario">
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace" font-size="12" fill="#e6edf3">
${drawn.join("\n")}
</g>
</svg>
`
}
