import { Effect } from "effect"
import { type Exchange, isSuccess } from "./Exchange.js"
import { match } from "./Expectation.js"
import { type Fields, isObject } from "./Fields.js"
import type { Mismatch } from "./Mismatch.js"
import type { Names, NameUnknown } from "./Names.js"
import type { ExpectedAnswer } from "./Scenario.js"

/** The places of an answer that a scenario can name; headers in small letters, numbers in them as numbers. */
export const placesOf = ({ status, headers, body }: Exchange): Fields => {
  const { data, meta, error } = isObject(body) ? body : {}
  const told = Object.entries(headers).map(([name, value]) => [name, /^\d{1,15}$/.test(value) ? Number(value) : value])
  return { status, data, meta, error, body, headers: Object.fromEntries(told) }
}

/** The status, and in a refusal its code and reason. */
const verdict = (exchange: Exchange): string => {
  const { error } = placesOf(exchange)
  if (!isObject(error)) return String(exchange.status)
  const reason = isObject(error.details) && typeof error.details.reason === "string" ? ` ${error.details.reason}` : ""
  return `${exchange.status} ${String(error.code)}${reason}`
}

const mismatch = (expected: string, exchange: Exchange): ReadonlyArray<Mismatch> => [
  { path: "status", expected, actual: verdict(exchange) }
]

/** `409 REOPEN_WINDOW`: the status, and the code or the reason. */
const matchShort = (expected: string, exchange: Exchange): ReadonlyArray<Mismatch> => {
  const [status, word] = expected.split(" ")
  const [actual, ...words] = verdict(exchange).split(" ")
  return status === actual && (word === undefined || words.includes(word)) ? [] : mismatch(expected, exchange)
}

const withSmallHeaders = (expected: Fields): Fields =>
  isObject(expected.headers)
    ? {
        ...expected,
        headers: Object.fromEntries(
          Object.entries(expected.headers).map(([name, value]) => [name.toLowerCase(), value])
        )
      }
    : expected

/** What of an answer is not as expected. Unless a refusal is expected, it must be a success. */
export const matchAnswer = (
  expected: ExpectedAnswer | undefined,
  exchange: Exchange,
  names: Names
): Effect.Effect<ReadonlyArray<Mismatch>, NameUnknown> => {
  const success = isSuccess(exchange) ? [] : mismatch("a success (2xx)", exchange)
  if (expected === undefined) return Effect.succeed(success)
  if (typeof expected !== "object") return Effect.succeed(matchShort(String(expected), exchange))
  const maySayNo = "status" in expected || "error" in expected || "body" in expected
  return maySayNo || success.length === 0
    ? match(withSmallHeaders(expected), placesOf(exchange), names)
    : Effect.succeed(success)
}
