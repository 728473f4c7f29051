import { Effect, Predicate, Schema } from "effect"
import type { Behaviour, ReceivedDelivery } from "../receive/Receiver.js"
import type { CallOptions, EnvironmentFailed } from "../testkit/Api.js"
import type { CallActor } from "../testkit/Calls.js"
import type { StepExchange } from "./Report.js"
import { type Names, ReferenceUnknown } from "./references.js"

/** A step cannot be run, because a reference has no value or a request that the step needs failed. */
export type StepFailure = ReferenceUnknown | EnvironmentFailed

/** A shop of the scenario, with its key. */
export interface ScenarioShop {
  readonly id: string
  readonly key: string
}

/** The context of an action: the environment, and the options of the step. */
export interface StepContext {
  readonly names: Names
  readonly shop: ScenarioShop
  /** The key's text; null sends none. */
  readonly key: string | null
  /** The Idempotency-Key; null sends none. */
  readonly idempotencyKey: string | null
  /** Sends a request unchanged. */
  readonly send: (method: string, path: string, options?: CallOptions) => Effect.Effect<StepExchange, StepFailure>
  /** Sends a request to the sandbox with its token, after the closures and deliveries that are due. */
  readonly askSandbox: (method: string, path: string, body?: unknown) => Effect.Effect<StepExchange, StepFailure>
  /** Moves or reads the clock. */
  readonly moveClock: (move: Readonly<Record<string, unknown>>) => Effect.Effect<StepExchange, StepFailure>
  /** The receiver of the shop. It is opened and set as the shop's webhook if there is none yet. */
  readonly receiver: Effect.Effect<ScenarioReceiver, StepFailure>
  /** Gives the shop's receiver a new secret, if there is a receiver. */
  readonly trust: (secret: string) => Effect.Effect<void>
  /** Reads and sets the number of entries that the scenario has observed of a list of the shop. */
  readonly observedCounts: { readonly get: (list: string) => number; readonly set: (list: string, n: number) => void }
}

/** The receiver of a shop's webhook. */
export interface ScenarioReceiver {
  readonly url: string
  readonly received: Effect.Effect<ReadonlyArray<ReceivedDelivery>>
  readonly setBehaviour: (next: Partial<Behaviour>) => Effect.Effect<unknown>
  readonly trust: (secrets: ReadonlyArray<string>) => Effect.Effect<void>
}

/** Something that a step can do: a row of the table of actions. */
export interface Action {
  /** The name of the action in a scenario. */
  readonly name: string
  readonly actor: CallActor
  readonly description: string
  /**
   * The endpoint whose response the action returns, such as `GET /v1/tickets/:id`; undefined if the scenario names it.
   */
  readonly endpoint?: string
  /** The schema of the argument that follows the name. */
  readonly takes: Schema.Schema.AnyNoContext
  /** True if the request has an Idempotency-Key. */
  readonly isRepeatable?: true
  readonly perform: (argument: never, context: StepContext) => Effect.Effect<StepExchange, StepFailure>
}

/** Something that a step can observe. Its argument is the expected value. */
export interface ObservationKind {
  readonly name: string
  readonly description: string
  /** The endpoint that lists the observed entries, if there is one. */
  readonly endpoint?: string
  /** The kind of its entries, the field that a bare name gives, and the values of that field. */
  readonly entryKind?: { readonly what: string; readonly field: string; readonly words: ReadonlyArray<string> }
  readonly takes: Schema.Schema.AnyNoContext
  readonly observe: (context: StepContext) => Effect.Effect<ReadonlyArray<unknown>, StepFailure>
  /** Expands the short form of an expected value. */
  readonly expand: (expected: unknown) => unknown
}

/** An id, or a reference to something with an id, such as a captured ticket. */
export const ReferenceText = Schema.String.annotations({
  message: () => "must be a reference such as $ticket, or an id",
  description: "A reference such as $ticket, or an id"
})

/** Any JSON value, in which references are replaced. */
export const Anything = Schema.Unknown

/** An optional field of a scenario's text. */
export const optionalField = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** A phone number. It needs quotes, because YAML would otherwise read it as a number. */
export const PhoneText = Schema.String.annotations({
  message: () => 'must be a text. Put it in quotes, such as "+21620123456"'
})

const optionalFields = (known: ReadonlyArray<string>) =>
  Object.fromEntries(known.map((field) => [field, optionalField(Anything)]))

/** An object with fields that editors complete, and any others, which the service checks. */
export const openObject = (...known: ReadonlyArray<string>) =>
  Schema.Struct(optionalFields(known), Schema.Record({ key: Schema.String, value: Anything })).annotations({
    message: () => "must be fields with their values, or {} for no fields"
  })

/** An object with a required field for the path, and other fields for the body. */
export const objectWithSubject = (subject: string, ...known: ReadonlyArray<string>) =>
  Schema.Struct(
    { [subject]: ReferenceText, ...optionalFields(known) },
    Schema.Record({ key: Schema.String, value: Anything })
  )

const NotAllowed = Schema.Never.annotations({
  message: () => "is not allowed, because the action takes no argument. Write only {}"
})

/** No argument: written as `{}` or left empty. */
export const EmptyBody = Schema.Union(
  Schema.Record({ key: Schema.String, value: NotAllowed }),
  Schema.Null
).annotations({
  message: () => "takes no argument. Write {} after the colon",
  jsonSchema: { type: ["object", "null"], additionalProperties: false }
})

/** Returns the id of a resolved reference. */
export const idOf = (value: unknown): Effect.Effect<string, ReferenceUnknown> => {
  const id = Predicate.isRecord(value) ? value.id : value
  return typeof id === "string" || typeof id === "number"
    ? Effect.succeed(String(id))
    : Effect.fail(
        new ReferenceUnknown({
          message:
            "the reference names a value without an id. Capture a single ticket or client with `as`, and refer to that"
        })
      )
}

/** The status of a lost response, whose connection was cut before it arrived. */
export const LOST_RESPONSE = 0

/** True for a 2xx. */
export const isSuccess = ({ status }: StepExchange): boolean => status >= 200 && status < 300

/** The `data` of a response. */
export const stepData = ({ body }: StepExchange): unknown => (Predicate.isRecord(body) ? body.data : undefined)

/** Makes a request that a step needs before its own. The step fails unless the response is a success. */
export const requireSuccess = (request: Effect.Effect<StepExchange, StepFailure>, what: string) =>
  Effect.filterOrFail(
    request,
    isSuccess,
    ({ status, body }) =>
      new ReferenceUnknown({
        message: `The request for ${what} failed: the service responded ${status} ${JSON.stringify(body)}`
      })
  )

/** The time zone of the step's shop. */
export const zoneOf = ({ askSandbox, shop }: StepContext) =>
  Effect.map(
    requireSuccess(askSandbox("GET", `/sandbox/shops/${shop.id}`), "the shop's time zone"),
    (response) => (stepData(response) as { readonly time_zone: string }).time_zone
  )
