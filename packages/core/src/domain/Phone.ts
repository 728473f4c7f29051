import { Either, Schema } from "effect"
import { isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js"
import { makeTextSchema, type ReadResult } from "./Text.js"

// E.164 numbers have at most fifteen digits, although some countries' numbers could be longer.
const E164 = /^\+[1-9]\d{1,14}$/

const REFUSED = Either.left("must be a phone number in international format, such as +21620123456")

// The length of the longest reasonable spelling of fifteen digits. The parser should not read huge texts.
const LONGEST = 64

// This checks only that a number is possible, which depends on its calling code and length. Only numbers in an assigned
// range are valid, and the ranges change every few months. If the service required a valid number, it would refuse a
// client with a new number until this library is updated, and a stored number could become invalid.
const read = (text: string): ReadResult<string> => {
  const trimmed = text.trim()
  // A `;` begins the parameters of a tel: URI, which may contain the country separately from the number.
  if (trimmed.length > LONGEST || !trimmed.startsWith("+") || trimmed.includes(";")) return REFUSED
  const parsed = parsePhoneNumberFromString(trimmed, { extract: false })
  if (parsed === undefined || parsed.ext !== undefined || !parsed.isPossible()) return REFUSED
  return E164.test(parsed.number) ? Either.right(parsed.number) : REFUSED
}

/**
 * A number that was written in `country`, in the form of tickets: `internationalPhone("06 12 34 56 78", "FR")` is
 * `+33612345678`. A number with `+` keeps its own country. Null if it cannot be a number. `country` is a code of two
 * letters (ISO 3166); throws a `RangeError` if there is no such country.
 */
export const internationalPhone = (text: string, country: string): string | null => {
  const defaultCountry = country.toUpperCase()
  if (!isSupportedCountry(defaultCountry))
    throw new RangeError(`There is no country ${country}. Give the country's two-letter code, such as FR`)
  const trimmed = text.trim()
  if (trimmed.startsWith("+")) return Either.getOrNull(read(trimmed))
  if (trimmed.length > LONGEST || trimmed.includes(";")) return null
  const parsed = parsePhoneNumberFromString(trimmed, { defaultCountry, extract: false })
  return parsed === undefined || parsed.ext !== undefined ? null : Either.getOrNull(read(parsed.number))
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
 * A telephone number in E.164: `+`, the country's calling code and the number, digits only (Specification, Tickets). The input is in
 * international format with `+`; spaces, dashes, dots and brackets between the digits are removed. A number with an extension, with letters
 * or without its country is refused.
 */
export const Phone = makeTextSchema(read, jsonSchema).pipe(Schema.brand("Phone"))
/** A phone number in E.164, such as `+33612345678`. */
export type Phone = typeof Phone.Type

// Only a leading space that no `+` follows is read as `+`; before an escaped `+` it is just a space.
const readInQuery = (text: string): ReadResult<string> =>
  read(text.startsWith(" ") && !text.trimStart().startsWith("+") ? `+${text.trim()}` : text)

/** Like `Phone`, for a query string, where an unescaped `+` arrives as a leading space (Specification, Tickets). */
export const PhoneInQuery = makeTextSchema(readInQuery, jsonSchema).pipe(Schema.brand("Phone"))
