import { Data, type Effect } from "effect"
import type { Answer } from "./auditor/Evidence.js"
import type { Fate } from "./Errand.js"

/** The service cannot be reached, or does not answer as a service of the specification does. */
export class FaceBroken extends Data.TaggedError("FaceBroken")<{ readonly message: string }> {}

/** A request as it goes over HTTP. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly query: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON; undefined where there is no body. */
  readonly body: string | undefined
  readonly fate: Fate
  /** How often others get their turn while the body is on its way. */
  readonly pauses: number
}

/** A service with its sandbox, as it is met from outside. */
export interface Face {
  /** The answer; null where the request was cut off. */
  readonly ask: (call: Call) => Effect.Effect<Answer | null, FaceBroken>
  /** Where the receiver of a shop listens. */
  readonly receiverOf: (shop: string) => string
}
