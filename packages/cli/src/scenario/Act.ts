import { Effect, Schema } from "effect"
import type { Behaviour } from "../receive/Behaviour.js"
import type { Received } from "../receive/Received.js"
import { type Call, type Exchange, isSuccess } from "./Exchange.js"
import { type Names, NameUnknown } from "./Names.js"
import type { WorldBroken } from "./World.js"

/** Who acts. */
export type Actor = "system" | "app" | "owner" | "client" | "receiver" | "clock" | "tester"

/** A step cannot be made: a name stands for nothing, or the service did not play along. */
export type StepBroken = NameUnknown | WorldBroken

/** A shop as the scenario knows it. */
export interface ScenarioShop {
  readonly id: string
  readonly key: string
}

/** What an act is made with: the world, and what the step says besides its argument. */
export interface Doing {
  readonly names: Names
  readonly shop: ScenarioShop
  /** The key's text; null sends none. */
  readonly key: string | null
  /** Null sends none. */
  readonly idempotency_key: string | null
  /** A request as it is. */
  readonly ask: (call: Call) => Effect.Effect<Exchange, StepBroken>
  /** A request of the sandbox, with its token; the path comes after `/sandbox`. What is due now runs first. */
  readonly sandbox: (method: string, path: string, body?: unknown) => Effect.Effect<Exchange, StepBroken>
  /** Moves or reads the clock. */
  readonly clock: (move: Readonly<Record<string, unknown>>) => Effect.Effect<Exchange, StepBroken>
  /** The receiver of the shop; opened, and set as its webhook, where it has none yet. */
  readonly receiver: Effect.Effect<ScenarioReceiver, StepBroken>
  /** Tells the shop's receiver of a new secret, where it has one. */
  readonly trust: (secret: string) => Effect.Effect<void>
  /** How many entries of a list of the shop's the scenario has looked at, and a note of how many it has now. */
  readonly looked: { readonly at: (list: string) => number; readonly upTo: (list: string, n: number) => void }
}

/** The receiver of a shop's webhook. */
export interface ScenarioReceiver {
  readonly url: string
  readonly received: Effect.Effect<ReadonlyArray<Received>>
  readonly behave: (next: Partial<Behaviour>) => Effect.Effect<unknown>
  readonly trust: (secret: string) => Effect.Effect<void>
}

/** Something that a step can do: a row of the table of acts. */
export interface Act {
  /** As it is written in a scenario. */
  readonly name: string
  readonly actor: Actor
  readonly description: string
  /** The endpoint whose answer it has, such as `GET /v1/tickets/:id`; left out where that is for the scenario to say. */
  readonly endpoint?: string
  /** What may stand behind the name. */
  readonly takes: Schema.Schema.AnyNoContext
  /** It is sent with an Idempotency-Key. */
  readonly isRepeatable?: true
  readonly perform: (argument: never, doing: Doing) => Effect.Effect<Exchange, StepBroken>
}

/** Something that a step can look at; its argument is what it expects. */
export interface Look {
  readonly name: string
  readonly description: string
  /** The endpoint that lists what it looks at; left out where none does. */
  readonly endpoint?: string
  /** What its entries are, the field that a bare name stands for, and what that may hold. */
  readonly named?: { readonly what: string; readonly field: string; readonly words: ReadonlyArray<string> }
  readonly takes: Schema.Schema.AnyNoContext
  /** What is there. */
  readonly see: (doing: Doing) => Effect.Effect<ReadonlyArray<unknown>, StepBroken>
  /** A short form of what is expected, written out. */
  readonly expand: (expected: unknown) => unknown
}

/** An id as it is written, or something that has one, such as a captured ticket. */
export const Reference = Schema.String.annotations({
  message: () => "must be a reference such as $ticket, or an id",
  description: "A reference such as $ticket, or an id"
})

/** Anything that JSON holds; references in it are replaced. */
export const Anything = Schema.Unknown

/** Fields that editors know, and any other: what is wrong is for the service to tell. */
export const open = (...known: ReadonlyArray<string>) =>
  Schema.Struct(
    Object.fromEntries(known.map((field) => [field, Schema.optionalWith(Anything, { exact: true })])),
    Schema.Record({ key: Schema.String, value: Anything })
  ).annotations({ message: () => "must be fields and their values, or {} for none" })

/** Fields for paths, which must be there, and others for the body. */
export const about = (subject: string, ...known: ReadonlyArray<string>) =>
  Schema.Struct(
    {
      [subject]: Reference,
      ...Object.fromEntries(known.map((field) => [field, Schema.optionalWith(Anything, { exact: true })]))
    },
    Schema.Record({ key: Schema.String, value: Anything })
  )

const NotHere = Schema.Never.annotations({ message: () => "has no place here: write {} and no more" })

/** Nothing to say: written as `{}` or left empty. */
export const Nothing = Schema.Union(Schema.Record({ key: Schema.String, value: NotHere }), Schema.Null).annotations({
  message: () => "takes nothing: write {} behind it",
  jsonSchema: { type: ["object", "null"], additionalProperties: false }
})

/** The id that a resolved reference stands for, ready for a path. */
export const idOf = (value: unknown): Effect.Effect<string, NameUnknown> => {
  const id = typeof value === "object" && value !== null ? (value as { id?: unknown }).id : value
  return typeof id === "string" || typeof id === "number"
    ? Effect.succeed(encodeURIComponent(id))
    : Effect.fail(new NameUnknown({ message: "what it refers to has no id: capture one ticket or client with `as`" }))
}

/** Asks for what goes before a step, or for what its request depends on; anything but success ends it. */
export const needed = (asked: Effect.Effect<Exchange, StepBroken>, what: string) =>
  Effect.filterOrFail(
    asked,
    isSuccess,
    ({ status, body }) => new NameUnknown({ message: `${what}: the service answers ${status} ${JSON.stringify(body)}` })
  )

/** Acts of one actor. */
export const actsOf = (actor: Actor, rows: ReadonlyArray<Omit<Act, "actor">>): ReadonlyArray<Act> =>
  rows.map((row) => ({ ...row, actor }))
