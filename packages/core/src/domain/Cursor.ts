import { sha256Hex } from "./Digest.js"
import type { ShopId } from "./Identifier.js"

/** The list that a cursor belongs to: a shop, and the filters under which it was given (Specification, Lists and sync). */
export interface CursorBinding {
  readonly shop_id: ShopId
  readonly filters: unknown
}

const DIGEST_CHARACTERS = 16

const digest = ({ shop_id, filters }: CursorBinding, place: string): string =>
  sha256Hex(JSON.stringify([shop_id, filters, place])).slice(0, DIGEST_CHARACTERS)

/** An opaque text for a place in a list. */
export const encode = (binding: CursorBinding, place: string): string =>
  `${btoa(place)
    .replace(/(?<!=)=+$/, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_")}.${digest(binding, place)}`

/** The place that a cursor stands for; null where it is damaged or bound to another shop or other filters. */
export const decode = (binding: CursorBinding, cursor: string): string | null => {
  const text = /^([A-Za-z0-9_-]{1,200})\.[0-9a-f]+$/.exec(cursor)?.[1]
  if (text === undefined) return null
  try {
    const place = atob(text.replaceAll("-", "+").replaceAll("_", "/"))
    // The whole text, not only the digest: `atob` reads several spellings as one place.
    return encode(binding, place) === cursor ? place : null
  } catch {
    return null
  }
}
