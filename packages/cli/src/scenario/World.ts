import { Data, type Effect, type Scope } from "effect"
import type { Behaviour } from "../receive/Behaviour.js"
import type { Received } from "../receive/Received.js"

/** The service cannot be spoken to, or a receiver cannot be opened. */
export class WorldBroken extends Data.TaggedError("WorldBroken")<{ readonly message: string }> {}

/** Where a shop's webhooks arrive. */
export interface Inbox {
  /** What to set as the webhook's address. */
  readonly url: string
  /** Every request so far, in the order of arrival. */
  readonly received: Effect.Effect<ReadonlyArray<Received>>
  readonly behave: (next: Partial<Behaviour>) => Effect.Effect<unknown>
  /** The secret with which signatures are checked from now on. */
  readonly trust: (secret: string) => Effect.Effect<void>
}

/** What a scenario runs in: a service of the specification with its sandbox, and receivers that it can reach. */
export interface World {
  /** Where it is, without `/v1`. */
  readonly base: string
  /** Needed by `/sandbox`; null where it asks for none. */
  readonly sandbox_token: string | null
  readonly fetch: (request: Request) => Promise<Response>
  /** A phone number that no client has yet. */
  readonly nextPhone: Effect.Effect<string>
  readonly openInbox: Effect.Effect<Inbox, WorldBroken, Scope.Scope>
}
