import { sha256Hex } from "./Digest.js"
import type { ShopId } from "./Identifier.js"

/** The list of a cursor: its shop and its filters (Specification, Lists and sync). */
export interface CursorBinding {
  readonly shop_id: ShopId
  readonly filters: unknown
}

const DIGEST_CHARACTERS = 16

const digestOf = ({ shop_id, filters }: CursorBinding, position: string): string =>
  sha256Hex(JSON.stringify([shop_id, filters, position])).slice(0, DIGEST_CHARACTERS)

/** Makes an opaque text from a position in a list. */
export const encode = (binding: CursorBinding, position: string): string =>
  `${btoa(position)
    .replace(/(?<!=)=+$/, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_")}.${digestOf(binding, position)}`

/** The position of a cursor; null if the cursor is damaged, or belongs to another shop or other filters. */
export const decode = (binding: CursorBinding, cursor: string): string | null => {
  const text = /^([A-Za-z0-9_-]{1,200})\.[0-9a-f]+$/.exec(cursor)?.[1]
  if (text === undefined) return null
  try {
    const position = atob(text.replaceAll("-", "+").replaceAll("_", "/"))
    // This compares the whole text and not only the digest, because `atob` decodes several texts to the same position.
    return encode(binding, position) === cursor ? position : null
  } catch {
    return null
  }
}
