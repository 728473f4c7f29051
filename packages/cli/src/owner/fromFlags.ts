import { inputIssues } from "@workshop/core"
import { Either, type ParseResult, Schema } from "effect"
import { CommandRefused } from "../CommandRefused.js"

/** The flags whose names differ from those of the fields they fill. */
const flagNames: Readonly<Record<string, string>> = {
  event_ids: "--ids",
  "program.active": "--program-active",
  "program.name": "--program-name",
  "program.stamps_required": "--stamps-required",
  "program.stamps_per_ticket": "--stamps-per-ticket",
  "program.reward_label": "--reward-label"
}

/** The flag that fills a field. */
export const flagOf = (field: string): string => {
  const known = Object.entries(flagNames).find(([name]) => field === name || field.startsWith(`${name}.`))
  return known?.[1] ?? `--${field.split(/\.\d/, 1)[0]!.replaceAll("_", "-")}`
}

/** The values of flags by the fields that they fill; null where a flag was left out. */
export type Fields = Readonly<Record<string, unknown>>

/** What was typed without what was left out. */
export const given = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

const isMissing = (fields: Fields, field: string, message: string): boolean =>
  field in fields ? fields[field] === null : message === "is required"

const wrongField = (fields: Fields, field: string, message: string): string => {
  const typed = field.split(".").reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], fields)
  return `${flagOf(field)} ${message}${typeof typed === "string" ? `, and not "${typed}"` : ""}`
}

const missingFields = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.length === 0
    ? []
    : [
        `${names.map(flagOf).join(", ")} ${names.length === 1 ? "is" : "are"} missing: add --help to this command for an example`
      ]

/** Reads what was typed as a service wants it, null where a flag was left out; what is wrong is told by the flags' names. */
export const decoded = <A, I>(schema: Schema.Schema<A, I>, fields: Fields): Either.Either<A, CommandRefused> =>
  Either.mapLeft(
    Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })(fields),
    ({ issue }: ParseResult.ParseError) => {
      const issues = inputIssues(issue)
      const names = issues.flatMap(({ field, message }) => (isMissing(fields, field, message) ? [field] : []))
      const wrong = issues.filter(({ field }) => !names.includes(field))
      const said = wrong.map(({ field, message }) => wrongField(fields, field, message))
      return new CommandRefused({ message: `${[...missingFields(names), ...new Set(said)].join("; ")}.` })
    }
  )

/** Reads an id as it was typed; null where it was left out. */
export const idFrom = <A>(schema: Schema.Schema<A, string>, what: string, typed: string | null) =>
  Either.mapLeft(Schema.decodeEither(schema)(typed ?? ""), () => {
    const form = "an id is a UUID, such as 01980000-0000-7000-8000-000000000000"
    return new CommandRefused({
      message:
        typed === null
          ? `The id of ${what} is missing: ${form}.`
          : `${typed === "" ? '""' : typed} is no id of ${what}: ${form}.`
    })
  })
