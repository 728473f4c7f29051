import { plainWords } from "../domain/DefaultWords.js"
import type { FoundWord } from "../domain/ForbiddenWord.js"
import type { ShopRecord } from "../domain/Shop.js"
import * as WordList from "../domain/WordList.js"
import type { TicketInput } from "./TicketInput.js"

/** The texts of a ticket in which a forbidden word is looked for, each with its dotted path (Specification, Errors). */
export const spokenTexts = (input: {
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

type Spoken = Parameters<typeof spokenTexts>[0]

const isRefused = (shop: ShopRecord, text: string, { word, languages }: FoundWord): boolean => {
  if (languages !== undefined && !languages.some((language) => shop.languages.includes(language))) return false
  const allowed = [
    WordList.make(shop.allowed_words),
    ...(languages === undefined ? [] : shop.languages.map(plainWords))
  ]
  const list = WordList.make([word])
  // A filter of the embedder's may name a word otherwise than it is written; then the word itself must be allowed.
  return WordList.found(list, WordList.contains(list, text) ? text : word, allowed).length > 0
}

/**
 * The first text of a ticket that the shop refuses: because of a word that was found and is neither plain in the
 * shop's languages nor allowed by it, or because of one of its own forbidden words (Specification, Errors).
 */
export const refusedField = (shop: ShopRecord, input: Spoken, found: ReadonlyArray<FoundWord>): string | null => {
  if (found.length === 0 && shop.forbidden_words.length === 0) return null
  const texts = spokenTexts(input)
  const byFilter = texts.find(([field, text]) =>
    found.some((word) => word.field === field && isRefused(shop, text, word))
  )
  if (byFilter !== undefined) return byFilter[0]
  const own = WordList.make(shop.forbidden_words)
  return texts.find(([, text]) => WordList.contains(own, text))?.[0] ?? null
}
