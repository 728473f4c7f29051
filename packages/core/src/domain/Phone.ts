import { Either, Schema } from "effect"
import { parsePhoneNumberFromString } from "libphonenumber-js"
import { keptText, type Reading } from "./Text.js"

// Fifteen digits is the longest number E.164 knows; some countries' numbers could be possible beyond it.
const E164 = /^\+[1-9]\d{1,14}$/

const REFUSED = Either.left("must be a phone number in international format, such as +21620123456")

// The longest way of writing fifteen digits that a person would use; spares the parser anything absurd.
const LONGEST = 64

// Possible, not valid: `isPossible` judges the country's calling code and the length. Validity also asks whether the
// operator's range is assigned, which changes every few months: a client with a newly issued number would be turned
// away until this library is updated, and a number kept since last year could stop being one.
const read = (text: string): Reading<string> => {
  const trimmed = text.trim()
  // A `;` starts the parameters of a tel: address, where the country may be given apart from the number.
  if (trimmed.length > LONGEST || !trimmed.startsWith("+") || trimmed.includes(";")) return REFUSED
  const parsed = parsePhoneNumberFromString(trimmed, { extract: false })
  if (parsed === undefined || parsed.ext !== undefined || !parsed.isPossible()) return REFUSED
  return E164.test(parsed.number) ? Either.right(parsed.number) : REFUSED
}

/** The parts of a number in E.164: the country's calling code, and the number as it is dialled within the country. */
export const numberParts = (phone: Phone): { readonly calling_code: string; readonly national: string } => {
  const parsed = parsePhoneNumberFromString(phone)
  return parsed === undefined
    ? { calling_code: "", national: phone.slice(1) }
    : { calling_code: parsed.countryCallingCode, national: parsed.nationalNumber }
}

const jsonSchema = {
  type: "string",
  description: "A phone number in international format, with its leading +.",
  examples: ["+21620123456"]
}

/**
 * A telephone number in E.164: `+`, the country's calling code and the number, digits only (Specification, Tickets). Read from
 * international format with `+`; spaces, dashes, dots and brackets between the digits are dropped. An extension,
 * a number without its country or letters are refused.
 */
export const Phone = keptText(read, jsonSchema).pipe(Schema.brand("Phone"))
export type Phone = typeof Phone.Type

// Only a leading space stands for the sign; a space before an escaped + is just a space.
const readInQuery = (text: string): Reading<string> =>
  read(text.startsWith(" ") && !text.trimStart().startsWith("+") ? `+${text.trim()}` : text)

/** As `Phone`, for a query string, where a `+` that was not escaped arrives as a leading space (Specification, Tickets). */
export const PhoneInQuery = keptText(readInQuery, jsonSchema).pipe(Schema.brand("Phone"))
