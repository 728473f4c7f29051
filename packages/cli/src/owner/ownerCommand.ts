import { Entropy, InvalidInput, inputIssues, Profanity, Workshop } from "@workshop/core"
import { Effect, Either, Layer, type Layer as LayerType, type ParseResult, Schema } from "effect"
import { CommandRefused, refuse } from "../CommandRefused.js"
import { CommandHints, makeHints } from "../database/CommandHints.js"
import {
  choiceOf,
  databaseAddressFlags,
  type StoreChoice,
  secretsKeyFlag,
  servedDataDir,
  storeLayer
} from "../database/StoreChoice.js"
import { trackingPagesLayer } from "../serve/TrackingOptions.js"
import { actorFlag, withActor } from "../terminal/actor.js"
import {
  command,
  flagsOf,
  jsonFlag,
  type OptionalFlagOptions,
  type Options,
  toggleFlag,
  type Values
} from "../terminal/commands.js"
import { type Output, printOutput } from "../terminal/Output.js"
import { type CommandHelp, type Flag, type MakeCommand, Operand } from "../terminal/program.js"

/** The flags whose names differ from the names of the fields that they fill. */
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
  const flag = Object.entries(flagNames).find(([name]) => field === name || field.startsWith(`${name}.`))
  return flag?.[1] ?? `--${field.split(/\.\d/, 1)[0]!.replaceAll("_", "-")}`
}

/** The values of flags by the fields that they fill; null for an omitted flag. */
export type FlagFields = Readonly<Record<string, unknown>>

/** The fields whose flags were given. */
export const givenFieldsOf = (fields: FlagFields): FlagFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

const isMissing = (fields: FlagFields, field: string, message: string): boolean =>
  field in fields ? fields[field] === null : message === "is required"

const wrongFieldMessage = (fields: FlagFields, field: string, message: string): string => {
  const typed = field.split(".").reduce<unknown>((value, name) => (value as FlagFields | undefined)?.[name], fields)
  return `${flagOf(field)} ${message}${typeof typed === "string" ? `, and not "${typed}"` : ""}`
}

const missingFieldsMessage = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.length === 0 ? [] : [`${names.map(flagOf).join(", ")} ${names.length === 1 ? "is" : "are"} missing`]

/** Decodes typed fields for a service; a message about a field names its flag. */
export const decodeFields = <A, I>(schema: Schema.Schema<A, I>, fields: FlagFields): Either.Either<A, CommandRefused> =>
  Either.mapLeft(
    Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })(fields),
    ({ issue }: ParseResult.ParseError) => {
      const issues = inputIssues(issue)
      const names = issues.flatMap(({ field, message }) => (isMissing(fields, field, message) ? [field] : []))
      const wrongIssues = issues.filter(({ field }) => !names.includes(field))
      const messages = wrongIssues.map(({ field, message }) => wrongFieldMessage(fields, field, message))
      const advice = names.length === 0 ? "" : " Run this command with --help to see an example."
      return refuse(`${[...missingFieldsMessage(names), ...new Set(messages)].join("; ")}.${advice}`)
    }
  )

/** Decodes a typed id; an omitted id is refused. */
export const idFrom = <A>(schema: Schema.Schema<A, string>, what: string, typed: string | null) =>
  Either.mapLeft(Schema.decodeEither(schema)(typed ?? ""), () => {
    const form = "An id is a UUID, such as 01980000-0000-7000-8000-000000000000"
    return refuse(
      typed === null
        ? `The id of ${what} is missing. ${form}.`
        : `${typed === "" ? '""' : typed} is not the id of ${what}. ${form}.`
    )
  })

/** The flags of every owner's command: the database, the actor for the audit log, and the form of the output. */
export const databaseOptions = {
  ...databaseAddressFlags("The Postgres database. The default is the embedded Postgres in --data-dir."),
  dataDir: servedDataDir,
  noMigrate: toggleFlag("no-migrate", "Refuse a database with an older schema instead of migrating it."),
  secretsKey: secretsKeyFlag,
  actor: actorFlag,
  json: jsonFlag
}

/** The refusal of a service. */
export interface ServiceRefusal {
  readonly _tag: string
  readonly message: string
}

/** All services over the chosen store. */
export const servicesLayer = (choice: StoreChoice) =>
  Workshop.layer.pipe(
    Layer.provideMerge(storeLayer(choice)),
    Layer.provide(Profanity.layer),
    Layer.provide(Entropy.layer)
  )

/** The services that the commands may call. */
export type Services = LayerType.Layer.Success<ReturnType<typeof servicesLayer>>

const advice: Readonly<Record<string, string>> = {
  ShopNotFound: "List the shops with workshop shop list",
  KeyNotFound: "List a shop's keys with workshop key list",
  TooManyKeys: "List the keys with workshop key list, and revoke one with workshop key revoke",
  WebhookNotSet: "Set its address with workshop webhook set",
  OfferNotFound: "List a client's offers with workshop client offers",
  StoreUnavailable: "Check --database-url, and that the database server is running"
}

/** The message of a refusal without a final sentence of advice and without its full stop. */
const withoutAdvice = (message: string): string => message.replace(/(?<=\.) [^.]+\.$/, "").replace(/\.$/, "")

/** Converts the refusal of a service to a refusal of a command, with advice. */
export const commandRefusal = (refusal: ServiceRefusal & { readonly remedy?: string | undefined }): CommandRefused => {
  if (refusal instanceof CommandRefused) return refusal
  if (refusal instanceof InvalidInput) {
    const issues = refusal.issues.map(({ field, message }) => `${flagOf(field)} ${message}`)
    return refuse(`${issues.join("; ")}.`)
  }
  const what = refusal.remedy === undefined ? advice[refusal._tag] : undefined
  const sentences = what === undefined ? refusal.message : `${withoutAdvice(refusal.message)}. ${what}`
  return refuse(sentences.endsWith(".") ? sentences : `${sentences}.`)
}

/** Runs an effect on the chosen database, and prints its output unless that is null. */
export const runOnDatabase = <E extends ServiceRefusal>(
  { actor, json, ...flags }: Values<typeof databaseOptions>,
  effect: Effect.Effect<Output | null, E, Services>
) => {
  const choice = choiceOf(flags)
  return Effect.mapError(effect, commandRefusal).pipe(
    Effect.provideService(CommandHints, makeHints(choice, process.env)),
    Effect.provide(servicesLayer({ ...choice, isShared: true })),
    Effect.provide(trackingPagesLayer),
    Effect.flatMap((output) => (output === null ? Effect.void : printOutput(output, json))),
    withActor(actor)
  )
}

/** The values of the options that a command has of its own. */
export const ownValues = <O extends Options>(options: O, values: Values<Options>): Values<O> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name in options)) as Values<O>

/** A command on a database. `run` gets the values of the command's own options. */
export const ownerCommand = <O extends Options, E extends ServiceRefusal>({
  run,
  options,
  ...help
}: CommandHelp & {
  readonly options: O
  readonly run: (values: Values<O>) => Effect.Effect<Output | null, E, Services>
}): MakeCommand =>
  command({
    ...help,
    options: { ...databaseOptions, ...options },
    run: (values) => runOnDatabase(values as Values<typeof databaseOptions>, run(ownValues(options, values)))
  })

/** An optional flag of one command that fills a field. An empty text is a value. */
export const fieldFlag =
  (command: string) =>
  <A = string>(flag: string, description: string, options: OptionalFlagOptions<A> = {}): Flag<NoInfer<A> | null> =>
    flagsOf(command).optional(flag, description, { ...options, isEmptyValue: true })

/** An operand that is an id. */
export const idOf = (name: string): Operand<string> => new Operand(`<${name}>`, `The ${name}'s id.`)
