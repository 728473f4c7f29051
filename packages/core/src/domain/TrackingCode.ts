import { Either, ParseResult, Schema } from "effect"
import { ENTROPY_BYTES, type Moment, TRACKING_CODE_AT } from "./Moment.js"
import { makeEncoder } from "./SecretText.js"

/** Crockford's base 32: no I, L, O or U, so that people do not misread or mishear a code. */
const toCrockford = makeEncoder("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

/** Eight random characters, written `XXXX-XXXX`, that cannot be derived from the ticket (Specification, Tickets). */
export const makeTrackingCode = ({ entropy }: Moment): string => {
  const code = toCrockford(entropy.subarray(TRACKING_CODE_AT, ENTROPY_BYTES))
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

const LOOK_ALIKES: Readonly<Record<string, string>> = { O: "0", I: "1", L: "1" }

/**
 * A typed tracking code in its stored form: case, hyphens and dashes do not matter, O is read as 0, I and L as 1 (Specification, Lists and
 * sync).
 */
export const TrackingCodeText = Schema.transformOrFail(Schema.String, Schema.String, {
  strict: true,
  decode: (text, _, ast) => {
    // This converts only a to z, because `toUpperCase` would also convert a long s to an S.
    const capitals = text.trim().replace(/[a-z]/g, (letter) => letter.toUpperCase())
    const code = capitals.replace(/[-\u2010-\u2015OIL]/g, (character) => LOOK_ALIKES[character] ?? "")
    return /^[0-9A-HJKMNP-TV-Z]{8}$/.test(code)
      ? Either.right(`${code.slice(0, 4)}-${code.slice(4)}`)
      : Either.left(new ParseResult.Type(ast, text, "must be a tracking code such as 7K3M-Q9XD"))
  },
  encode: (code) => Either.right(code)
}).annotations({ jsonSchema: { type: "string" } })

/** The address of the client's page: the base URL of the shop, or of the service's own pages, followed by the code; null without a base. */
export const trackingUrl = (base: string | null, code: string): string | null => (base === null ? null : base + code)
