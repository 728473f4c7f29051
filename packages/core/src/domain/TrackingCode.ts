import { inAlphabet } from "./Alphabet.js"
import { ENTROPY_BYTES, type Moment, TRACKING_CODE_AT } from "./Moment.js"

/** Crockford's base 32: no I, L, O or U, so a code read aloud or off a receipt is not mistaken. */
const crockford = inAlphabet("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

/** Eight random characters written `XXXX-XXXX`, derived from nothing else of the ticket (contract §4). */
export const trackingCode = ({ entropy }: Moment): string => {
  const code = crockford(entropy.subarray(TRACKING_CODE_AT, ENTROPY_BYTES))
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

/** The page on which the client follows the ticket: the shop's own base followed by the code, or null without a base. */
export const trackingUrl = (base: string | null, code: string): string | null => (base === null ? null : base + code)
