import type { Answer } from "./auditor/Evidence.js"
import type { Dice } from "./Dice.js"
import type { Receivers } from "./Receivers.js"
import type { HeldKey, Town } from "./Town.js"

/** What happens to a request on its way: its answer is lost, or it is cut off while the service works on it. */
export type Fate = "plain" | "lost" | "cut"

/** A request that somebody is about to make. */
export interface Errand {
  readonly actor: string
  readonly act: string
  /** The shop it is about. */
  readonly shop: string | null
  readonly key?: HeldKey
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly query?: string
  readonly once?: string
  readonly body?: unknown
  readonly fate?: Fate
  /** What they make of the answer; null where none came. */
  readonly told?: (answer: Answer | null) => void
}

/** Where an act is planned: who there is, and the dice that decide. */
export interface Stage {
  readonly town: Town
  readonly dice: Dice
  readonly receivers: Receivers
  /** Where the receiver of a shop listens. */
  readonly receiverOf: (shop: string) => string
}

/** Something that people do. */
export interface Deed {
  readonly name: string
  readonly weight: number
  /** Nothing else happens at its instant. */
  readonly isAlone?: boolean
  /** Its requests, all made at once; null where it cannot be done now. */
  readonly plan: (stage: Stage) => ReadonlyArray<Errand> | null
}

/** Reads what a success answered, where one came. */
export const successOf = <A>(answer: Answer | null): A | null =>
  answer !== null && answer.status < 300 ? (answer.body.data as A) : null
