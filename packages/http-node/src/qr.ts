import encodeQr from "qr"

// Medium error correction makes the code readable on a folded receipt. Scanners need a margin of four light modules
// (ISO/IEC 18004).
const modulesOf = (text: string): ReadonlyArray<ReadonlyArray<boolean>> =>
  encodeQr(text, "raw", { ecc: "medium", border: 4 })

/** A QR code of a text as an SVG document, dark on a white background, with one unit per module. */
export const qrSvg = (text: string): string => {
  const rows = modulesOf(text)
  const runs = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => {
      if (!isDark || row[x - 1] === true) return []
      const end = row.findIndex((dark, at) => at > x && !dark)
      return [`M${x} ${y}h${end - x}v1H${x}z`]
    })
  )
  const size = rows.length
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges" role="img" aria-label="QR code">` +
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${runs.join("")}"/></svg>\n`
  )
}

/**
 * A QR code of a text in half blocks, two rows of modules per line. Prints the light modules, for terminals with a dark
 * background.
 */
export const qrLines = (text: string): ReadonlyArray<string> => {
  const rows = modulesOf(text)
  return rows.flatMap((row, y) =>
    y % 2 === 1 ? [] : [row.map((isDark, x) => blocks[`${isDark}${rows[y + 1]?.[x] ?? true}`] ?? "").join("")]
  )
}

const blocks: Readonly<Record<string, string>> = { falsefalse: "█", falsetrue: "▀", truefalse: "▄", truetrue: " " }
