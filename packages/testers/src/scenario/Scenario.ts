import { Scope } from "@workshop/core"
import { JSONSchema, Schema } from "effect"
import { type Action, Anything, type ObservationKind, optionalField, PhoneText } from "./Action.js"
import { actions } from "./actions.js"
import { observations } from "./observations.js"
import { ReceiverText } from "./references.js"
import type { Position } from "./Source.js"

const Text = Schema.String.annotations({ message: () => "must be a text. Put it in quotes" })

const Name = Text.pipe(
  Schema.pattern(/^[A-Za-z_]\w*$/, { message: () => "must be a name of letters, digits and _, without a $ before it" })
)

const recordByName = <A, I>(schema: Schema.Schema<A, I>) => Schema.Record({ key: Name, value: schema })

const Program = Schema.Struct({
  active: optionalField(Schema.Boolean),
  name: optionalField(Schema.NullOr(Text)),
  stamps_required: optionalField(Schema.Int),
  stamps_per_ticket: optionalField(Schema.Int),
  reward_label: optionalField(Schema.NullOr(Text))
})

const KeyRights = Schema.Union(Schema.Literal("full", "read"), Schema.NonEmptyArray(Scope)).annotations({
  message: () => `must be full, read, or a list of ${Scope.literals.join(", ")}`
})

const GivenShop = Schema.Struct({
  name: optionalField(Text),
  currency: optionalField(Text),
  decimals: optionalField(Schema.Int),
  time_zone: optionalField(Text),
  tracking_base_url: optionalField(Text),
  approved: optionalField(Schema.Boolean),
  active: optionalField(Schema.Boolean),
  api_enabled: optionalField(Schema.Boolean),
  program: optionalField(Program).annotations({
    description: "The shop's loyalty programme, which is on if this field is present"
  }),
  next_number: optionalField(Schema.Int),
  forbidden_words: optionalField(Schema.Array(Schema.String)),
  allowed_words: optionalField(Schema.Array(Schema.String)),
  languages: optionalField(Schema.Array(Schema.String)),
  keys: optionalField(recordByName(KeyRights)).annotations({
    description: "More API keys of the shop, by name. The value of each is full, read, or a list of scopes"
  }),
  webhook: optionalField(Schema.Union(Schema.Literal(true), ReceiverText)).annotations({
    description:
      "The behaviour of the receiver at the shop's webhook, or true for a receiver that responds 200 to every event"
  })
}).annotations({ identifier: "Shop" })
/** A shop under `given`. */
export type GivenShop = typeof GivenShop.Type

const GivenClient = Schema.Struct({
  given_name: optionalField(Text),
  family_name: optionalField(Text),
  phone: optionalField(PhoneText),
  hide_name: optionalField(Schema.Boolean),
  knows: optionalField(Schema.Array(Schema.String)).annotations({
    description: "Shops that know the client, such as [$lac]"
  })
}).annotations({ identifier: "Client" })
/** A client under `given`. */
export type GivenClient = typeof GivenClient.Type

const SHORT_FORM = /^(\d{3}( [A-Z_]+)?|lost)$/

const ExpectedResponse = Schema.Union(
  Schema.Int,
  Schema.String.pipe(Schema.pattern(SHORT_FORM)),
  Schema.Struct({
    status: optionalField(Anything),
    data: optionalField(Anything),
    meta: optionalField(Anything),
    error: optionalField(Anything),
    headers: optionalField(Schema.Record({ key: Schema.String, value: Anything })),
    body: optionalField(Anything)
  })
).annotations({
  identifier: "ExpectedAnswer",
  message: () =>
    "must be a status such as 201, a status and a reason such as 409 REOPEN_WINDOW, the word lost, or fields of the response"
})
/** The response that a step expects. */
export type ExpectedResponse = typeof ExpectedResponse.Type

const Captures = Schema.Union(Name, Schema.Record({ key: Name, value: Schema.String })).annotations({
  description:
    "A name for the response's data, or names for parts of the response, such as { cursor: meta.next_cursor }"
})

const stepKinds = [...actions.values(), ...observations.values()]

const stepOptions = {
  title: optionalField(Text).annotations({
    description: "The title of the step, which reports show instead of its action"
  }),
  as: optionalField(Captures),
  expect: optionalField(ExpectedResponse).annotations({
    description:
      "The expected response, or lost if a fault cuts the connection before the response. By default any success is expected"
  }),
  repeat: optionalField(
    Schema.Int.pipe(Schema.between(1, 1000, { message: () => "must be a whole number from 1 to 1000" }))
  ).annotations({ description: "How many times the step runs. $n is the number of the current run, from 1" }),
  statuses: optionalField(Schema.Record({ key: Schema.String, value: Schema.Int })).annotations({
    description: "For a repeated step, how many responses must have each status, such as { 201: 1, 200: 29 }"
  }),
  shop: optionalField(Text).annotations({
    description: "The shop of the step, such as $lac. The default is the first shop"
  }),
  key: optionalField(Schema.NullOr(Text)).annotations({
    description: "The API key that the shop's system sends, such as $reader. null sends no key"
  }),
  idempotency_key: optionalField(Schema.NullOr(Text)).annotations({
    description: "The Idempotency-Key that the step sends. The default is a new key for each request. null sends no key"
  })
} as const

/** The fields of a step other than its action. */
export const STEP_OPTIONS: ReadonlyArray<string> = Object.keys(stepOptions)

const stepFields = Object.fromEntries(
  stepKinds.map(({ name, description, takes }) => [name, optionalField(takes).annotations({ description })])
)

const AT_LEAST_ONE_STEP = { title: "Steps", description: "At least one step", message: () => "needs at least one step" }

const SingleStep = Schema.Struct({ ...stepFields, ...stepOptions }).annotations({ identifier: "SingleStep" })

const Step = Schema.Struct({
  ...stepFields,
  together: optionalField(Schema.Array(SingleStep).pipe(Schema.minItems(1, AT_LEAST_ONE_STEP))).annotations({
    description: "Steps that all start at the same time"
  }),
  ...stepOptions
}).annotations({ identifier: "Step" })

/** The schema of a scenario file. The checks of files and the schema for editors both use it. */
export const ScenarioText = Schema.Struct({
  name: Text.annotations({ description: "The rule that the scenario tests, as a sentence" }),
  section: optionalField(Schema.Union(Schema.String, Schema.Number)).annotations({
    description: "The section of the specification that contains the rule"
  }),
  given: optionalField(
    Schema.Struct({
      shops: optionalField(recordByName(Schema.NullOr(GivenShop))),
      clients: optionalField(recordByName(Schema.NullOr(GivenClient)))
    })
  ).annotations({
    description: "The shops and clients at the start. The default is one shop with the name shop"
  }),
  steps: Schema.Array(Step).pipe(Schema.minItems(1, AT_LEAST_ONE_STEP))
}).annotations({ identifier: "Scenario", title: "Workshop scenario" })
/** The content of a scenario file. */
export type ScenarioText = typeof ScenarioText.Type

const hasId = (value: unknown): value is { readonly $id: string; readonly title?: string } =>
  typeof value === "object" && value !== null && "$id" in value

/**
 * Removes the `$id` of schemas that accept anything, because Effect gives all of them the same `$id` and validators
 * refuse that.
 */
const withoutIds = (_: string, value: unknown): unknown => {
  if (!hasId(value)) return value
  const { $id: _id, title: _title, ...rest } = value
  return rest
}

/** The schema of scenario files for editors, from the schema that checks them. */
export const editorSchema = (): string => `${JSON.stringify(JSONSchema.make(ScenarioText), withoutIds, 2)}\n`

/** A step that is ready to run. */
export interface Step extends Position {
  /** The title that is shown. */
  readonly title: string
  readonly action: Action | ObservationKind | "together"
  readonly argument: unknown
  readonly together: ReadonlyArray<Step>
  /** The names that the step captures, each with its path in the response; an empty path means the data. */
  readonly captures: ReadonlyArray<{ readonly name: string; readonly path: string }>
  readonly expect?: ExpectedResponse
  readonly statuses?: Readonly<Record<string, number>>
  readonly repeat?: number
  readonly shop?: string
  readonly key?: string | null
  readonly idempotency_key?: string | null
}

/** A scenario, ready to run. */
export interface Scenario {
  /** The name of the file, as on the command line. */
  readonly file: string
  /** The name of the scenario. */
  readonly name: string
  /** The section of the specification that the scenario tests; null if the file names none. */
  readonly section: string | null
  /** The shops under `given`, each with the name by which steps refer to it. */
  readonly shops: ReadonlyArray<readonly [string, GivenShop]>
  /** The clients under `given`, each with the name by which steps refer to it. */
  readonly clients: ReadonlyArray<readonly [string, GivenClient]>
  /** The steps, in the order of the file. */
  readonly steps: ReadonlyArray<Step>
}
