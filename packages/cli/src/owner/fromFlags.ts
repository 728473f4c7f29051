import { flatten } from "@workshop/core/domain/SchemaIssue"
import { Either, type ParseResult, Schema } from "effect"
import { CommandRefused } from "../OneSentence.js"

/** The flags whose names differ from those of the fields they fill. */
const flagNames: Readonly<Record<string, string>> = {
  event_ids: "--ids",
  "program.active": "--program-active",
  "program.name": "--program-name",
  "program.stamps_required": "--stamps-required",
  "program.stamps_per_ticket": "--stamps-per-ticket",
  "program.reward_label": "--reward-label"
}

const flagOf = (field: string): string => {
  const known = Object.entries(flagNames).find(([name]) => field === name || field.startsWith(`${name}.`))
  return known?.[1] ?? `--${field.split(/\.\d/, 1)[0]!.replaceAll("_", "-")}`
}

/** What was typed without what was left out. */
export const given = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

/** Reads what was typed as a service wants it; what is wrong is told by the flags' names. */
export const decoded = <A, I>(schema: Schema.Schema<A, I>, fields: unknown): Either.Either<A, CommandRefused> =>
  Either.mapLeft(
    Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })(fields),
    ({ issue }: ParseResult.ParseError) => {
      const said = flatten(issue).map(({ field, message }) => `${flagOf(field)} ${message}`)
      return new CommandRefused({ message: `${[...new Set(said)].join("; ")}.` })
    }
  )

/** Reads an id as it was typed in its place. */
export const idFrom = <A>(schema: Schema.Schema<A, string>, what: string, typed: string) =>
  Either.mapLeft(
    Schema.decodeEither(schema)(typed),
    () =>
      new CommandRefused({
        message: `${typed} is no id of ${what}: an id is a UUID, such as 01980000-0000-7000-8000-000000000000.`
      })
  )
