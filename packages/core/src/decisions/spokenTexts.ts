import type { ShopRecord } from "../domain/Shop.js"
import * as WordList from "../domain/WordList.js"
import type { TicketInput } from "./TicketInput.js"

/** The texts of a ticket in which a forbidden word is looked for, each with its dotted path (contract §2). */
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

/** The first text of a ticket that holds one of the shop's own forbidden words. */
export const ownForbiddenField = (shop: ShopRecord, input: Parameters<typeof spokenTexts>[0]): string | null => {
  if (shop.forbidden_words.length === 0) return null
  const words = WordList.make(shop.forbidden_words)
  return spokenTexts(input).find(([, text]) => WordList.contains(words, text))?.[0] ?? null
}
