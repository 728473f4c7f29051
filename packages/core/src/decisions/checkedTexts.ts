import { plainWords } from "../domain/DefaultWords.js"
import type { FoundWord } from "../domain/ForbiddenWord.js"
import type { ShopRecord } from "../domain/Shop.js"
import * as WordList from "../domain/WordList.js"
import type { TicketInput } from "./TicketInput.js"

/** The texts of a ticket in which a forbidden word is looked for, each with its dotted path (Specification, Errors). */
export const checkedTexts = (input: {
  readonly service?: string | null
  readonly item?: string | null
  readonly description?: string | null
  readonly items?: TicketInput["items"]
}): ReadonlyArray<readonly [field: string, text: string]> => {
  const texts: Array<readonly [string, string]> = []
  const add = (field: string, text: string | null | undefined) => {
    if (text !== null && text !== undefined) texts.push([field, text])
  }
  add("service", input.service)
  add("item", input.item)
  add("description", input.description)
  input.items?.forEach((item, i) => {
    add(`items.${i}.label`, item.label)
    add(`items.${i}.service`, item.service)
  })
  return texts
}

const wordOf = ({ word }: FoundWord): string => word

type Spoken = Parameters<typeof checkedTexts>[0]

/**
 * Whether a shop refuses a text because of words that were found in it. Words that the same shop's lists judge are looked for
 * together, because a text may hold hundreds.
 */
const isRefused = (text: string, found: ReadonlyArray<string>, allowed: ReadonlyArray<WordList.WordList>): boolean => {
  if (found.length === 0) return false
  const words = [...new Set(found.map(WordList.spelled))]
  const list = WordList.makeWordList(words)
  if (WordList.findWords(list, text, allowed).length > 0) return true
  // A filter of the embedder's may name a word otherwise than it is written; then the word itself must be allowed.
  const written = new Set(WordList.findWords(list, text))
  return words.some(
    (word) => !written.has(word) && WordList.findWords(WordList.makeWordList([word]), word, allowed).length > 0
  )
}

/**
 * The first text of a ticket that the shop refuses: because of a word that was found and is neither plain in the
 * shop's languages nor allowed by it, or because of one of its own forbidden words (Specification, Errors).
 */
export const refusedField = (shop: ShopRecord, input: Spoken, found: ReadonlyArray<FoundWord>): string | null => {
  if (found.length === 0 && shop.forbidden_words.length === 0) return null
  const texts = checkedTexts(input)
  const everywhere = [WordList.makeWordList(shop.allowed_words)]
  const here = [...everywhere, ...shop.languages.map(plainWords)]
  const byFilter = texts.find(([field, text]) => {
    const of = found.filter((word) => word.field === field)
    const local = of.filter(({ languages }) => languages?.some((language) => shop.languages.includes(language)))
    const always = of.filter(({ languages }) => languages === undefined)
    return isRefused(text, local.map(wordOf), here) || isRefused(text, always.map(wordOf), everywhere)
  })
  if (byFilter !== undefined) return byFilter[0]
  const own = WordList.makeWordList(shop.forbidden_words)
  return texts.find(([, text]) => WordList.containsWord(own, text))?.[0] ?? null
}
