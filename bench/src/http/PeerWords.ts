import { everyLanguage } from "@workshop/core/domain/DefaultWords"

const WORD = /[\p{L}\p{M}\p{N}]+|\p{Extended_Pictographic}/gu
const ASCII = /^[\x20-\x7e\n\t]*$/
const ASCII_WORD = /[a-z0-9]+/g

/** Whether a text holds a forbidden word or phrase. Plain ASCII, which most texts are, goes a short way. */
export const isForbidden = (text: string): boolean => {
  const words = ASCII.test(text)
    ? text.toLowerCase().match(ASCII_WORD)
    : text.normalize("NFKC").toLowerCase().match(WORD)
  if (words === null) return false
  for (let i = 0; i < words.length; i++) {
    const phrases = everyLanguage.get(words[i]!)
    if (phrases?.some((rest) => rest.every((next, distance) => words[i + 1 + distance] === next))) return true
  }
  return false
}
