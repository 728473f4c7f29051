import { Duration, Either, Option } from "effect"
import type { Reader } from "./Flags.js"

/** Any text, the empty one too. */
export const text: Reader<string> = (given) => Either.right(given)

/** A reader under which a flag that was left out is null. */
export const optional =
  <A>(read: Reader<A>): Reader<A | null> =>
  (given) =>
    given === "" ? Either.right(null) : read(given)

/** One of a few words. */
export const oneOf =
  <const A extends string>(words: ReadonlyArray<A>): Reader<A> =>
  (given) => {
    const word = words.find((word) => word === given)
    return word === undefined ? Either.left(`must be one of ${words.join(", ")}`) : Either.right(word)
  }

/** A whole number from `least` to `most`, both included. */
export const wholeNumber =
  (least: number, most: number): Reader<number> =>
  (given) => {
    const number = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN
    return number >= least && number <= most
      ? Either.right(number)
      : Either.left(`must be a whole number from ${least} to ${most}`)
  }

/** A share from 0 (never) to 1 (always). */
export const share: Reader<number> = (given) =>
  /^(0|1|0?\.\d{1,9}|1\.0+|0\.\d{1,9})$/.test(given)
    ? Either.right(Number(given))
    : Either.left("must be a share from 0 to 1, such as 0.3")

const UNITS: Readonly<Record<string, string>> = {
  ms: "millis",
  s: "seconds",
  m: "minutes",
  min: "minutes",
  h: "hours",
  d: "days"
}

/** A length of time in milliseconds: `250ms`, `3s`, `5m`, `2h`, `60d`; a bare number counts seconds. */
export const duration: Reader<number> = (given) => {
  const [, amount = "", unit = "s"] = /^(\d{1,9}(?:\.\d{1,3})?) ?(ms|s|m|min|h|d)?$/.exec(given) ?? []
  const length = amount === "" ? Option.none() : Duration.decodeUnknown(`${Number(amount)} ${UNITS[unit]}`)
  return Option.match(length, {
    onNone: () => Either.left("must be a length of time such as 250ms, 3s, 5m, 2h or 60d"),
    onSome: (length) => Either.right(Duration.toMillis(length))
  })
}

/** An address of this machine to listen on. */
export const host: Reader<string> = (given) =>
  /^[^\s/]+$/.test(given) ? Either.right(given) : Either.left("must be an address of this machine, such as 127.0.0.1")

/** A port to listen on; 0 takes a free one. */
export const port: Reader<number> = (given) =>
  /^\d{1,5}$/.test(given) && Number(given) <= 65_535
    ? Either.right(Number(given))
    : Either.left("must be a port from 0 to 65535")

/** An http or https address. */
export const webAddress: Reader<string> = (given) =>
  /^https?:\/\/[^\s/]/i.test(given) && URL.canParse(given)
    ? Either.right(given)
    : Either.left("must be an http address, such as http://127.0.0.1:4010")
