import { defaultWords } from "../../../packages/core/dist/domain/DefaultWords.js"
import { normalizeEntry } from "../../../packages/core/dist/domain/WordList.js"

const WORD = /[\p{L}\p{M}\p{N}]+|\p{Extended_Pictographic}/gu
const ASCII = /^[\x20-\x7e\n\t]*$/
const ASCII_WORD = /[a-z0-9]+/g

/** The forbidden phrases by their first words, each with the words that must follow. */
const entries = new Map<string, Array<ReadonlyArray<string>>>()
for (const entry of Object.values(defaultWords).flatMap(({ rude }) => rude)) {
  const [first = "", ...rest] = normalizeEntry(entry).split(" ")
  entries.set(first, [...(entries.get(first) ?? []), rest])
}

/** True if a text contains a forbidden word or phrase. Texts in ASCII, which most are, take a faster path. */
export const isForbidden = (text: string): boolean => {
  const words = ASCII.test(text)
    ? text.toLowerCase().match(ASCII_WORD)
    : text.normalize("NFKC").toLowerCase().match(WORD)
  if (words === null) return false
  for (let i = 0; i < words.length; i++) {
    const phrases = entries.get(words[i]!)
    if (phrases?.some((rest) => rest.every((next, distance) => words[i + 1 + distance] === next))) return true
  }
  return false
}
