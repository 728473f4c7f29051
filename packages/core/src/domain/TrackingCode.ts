import type { Moment } from "./Moment.js"

/** Crockford's base 32: no I, L, O or U, so a code read aloud or off a receipt is not mistaken. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const FIRST_BYTE = 8

/** Eight random characters written `XXXX-XXXX`, derived from nothing else of the ticket (contract §4). */
export const trackingCode = ({ entropy }: Moment): string => {
  let bits = 0
  let held = 0
  let code = ""
  for (let i = FIRST_BYTE; i < FIRST_BYTE + 5; i++) {
    bits = (bits << 8) | entropy[i]!
    held += 8
    while (held >= 5) {
      held -= 5
      code += alphabet[(bits >> held) & 31]
    }
    bits &= (1 << held) - 1
  }
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

/** The page on which the client follows the ticket: the shop's own base followed by the code, or null without a base. */
export const trackingUrl = (base: string | null, code: string): string | null => (base === null ? null : base + code)
