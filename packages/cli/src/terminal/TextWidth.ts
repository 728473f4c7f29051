import { stripVTControlCharacters } from "node:util"

const ANSI = new RegExp(`(${String.fromCharCode(27)}\\[[0-9;]*m)`)

const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const WIDE =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u

const letters = (text: string) => Array.from(segments.segment(text), ({ segment }) => segment)
const letterWidth = (letter: string): number => (WIDE.test(letter) ? 2 : 1)

/** How many columns of the terminal a text takes, its colours not counted. */
export const widthOf = (text: string): number =>
  letters(stripVTControlCharacters(text)).reduce((sum, letter) => sum + letterWidth(letter), 0)

/** A text in at most `width` columns, with three dots where something was cut; its colours end before them. */
export const shortened = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let left = width - Math.min(3, width)
  const kept = text.split(ANSI).map((part) => {
    if (ANSI.test(part)) return part
    return letters(part)
      .filter((letter) => {
        left -= letterWidth(letter)
        return left >= 0
      })
      .join("")
  })
  return `${kept.join("")}${"...".slice(0, width)}`
}

/** A text with room at its end, or before it where it stands at the right. */
export const padded = (text: string, width: number, align: "left" | "right" = "left"): string => {
  const room = " ".repeat(Math.max(0, width - widthOf(text)))
  return align === "right" ? room + text : text + room
}
