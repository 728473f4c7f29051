import { Data } from "effect"
import { plainWordsOf } from "./DefaultWords.js"
import type { Language } from "./Language.js"
import type { ShopRecord } from "./Shop.js"
import * as WordList from "./WordList.js"

/** A word that was found in a text, and that a shop may refuse. */
export interface FoundWord {
  /** The path of the text, such as `items.1.label`. */
  readonly field: string
  /** The word as it is in the text. A shop allows it in this form. */
  readonly word: string
  /** Only shops with one of these languages refuse the word; if undefined, every shop does. */
  readonly languages?: ReadonlyArray<Language>
}

/**
 * A text contains a word of the embedder's list or of the shop's own (Specification, Errors). `field` is the path of
 * the text, such as `items.1.label`.
 */
export class ForbiddenWord extends Data.TaggedError("ForbiddenWord")<{ readonly field: string }> {
  /** The problem, as a sentence for people, without the word itself. */
  override get message() {
    return `The text of ${this.field} contains a forbidden word. Use other words.`
  }
}

/** The fields of a ticket that are searched for forbidden words. */
export interface TicketTexts {
  readonly service?: string | null | undefined
  readonly item?: string | null | undefined
  readonly description?: string | null | undefined
  readonly items?:
    | ReadonlyArray<{ readonly label: string; readonly service?: string | null | undefined }>
    | null
    | undefined
}

/** The texts of a ticket that are searched for forbidden words, each with its dotted path (Specification, Errors). */
export const ticketTextsOf = (input: TicketTexts): ReadonlyArray<readonly [field: string, text: string]> => {
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

const toWord = ({ word }: FoundWord): string => word

/**
 * Whether a shop refuses a text because of the words found in it. All words are looked up in the shop's lists at once, because a text may
 * contain hundreds.
 */
const isRefused = (
  text: string,
  foundWords: ReadonlyArray<string>,
  allowed: ReadonlyArray<WordList.WordList>
): boolean => {
  if (foundWords.length === 0) return false
  const words = [...new Set(foundWords.map(WordList.normalizeEntry))]
  const list = WordList.makeWordList(words)
  if (WordList.findWords(list, text, allowed).length > 0) return true
  // An embedder's filter may return a word in a form that differs from the list's, and the shop must then allow that
  // form.
  const written = new Set(WordList.findWords(list, text))
  return words.some(
    (word) => !written.has(word) && WordList.findWords(WordList.makeWordList([word]), word, allowed).length > 0
  )
}

/**
 * The first text of a ticket that the shop refuses: for a found word that is not harmless in the shop's languages and not allowed by it, or
 * for a word that the shop forbids (Specification, Errors).
 */
export const forbiddenField = (
  shop: ShopRecord,
  input: TicketTexts,
  foundWords: ReadonlyArray<FoundWord>
): string | null => {
  if (foundWords.length === 0 && shop.forbidden_words.length === 0) return null
  const texts = ticketTextsOf(input)
  const allowedByShop = [WordList.makeWordList(shop.allowed_words)]
  const harmlessForShop = [...allowedByShop, ...shop.languages.map(plainWordsOf)]
  const byFilter = texts.find(([field, text]) => {
    const foundInField = foundWords.filter((word) => word.field === field)
    const ofShopLanguages = foundInField.filter(({ languages }) =>
      languages?.some((language) => shop.languages.includes(language))
    )
    const ofAllLanguages = foundInField.filter(({ languages }) => languages === undefined)
    return (
      isRefused(text, ofShopLanguages.map(toWord), harmlessForShop) ||
      isRefused(text, ofAllLanguages.map(toWord), allowedByShop)
    )
  })
  if (byFilter !== undefined) return byFilter[0]
  const forbiddenByShop = WordList.makeWordList(shop.forbidden_words)
  return texts.find(([, text]) => WordList.containsWord(forbiddenByShop, text))?.[0] ?? null
}
