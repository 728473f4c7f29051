import { Context, Effect } from "effect"
import { type Audited, audited, type Command } from "../decisions/Command.js"
import { Limits } from "../domain/Limits.js"
import type { ShopNotFound } from "../domain/Shop.js"
import type { Store, StoreUnavailable } from "../ports/StorePorts.js"

/** Runs commands on a store and returns their results alone, without the statuses of limits. */
export const resultOf =
  (store: Context.Tag.Service<Store>) =>
  <A, E>(command: Command<A, E>): Effect.Effect<A, E | ShopNotFound | StoreUnavailable> =>
    Effect.map(store.transact(command), ({ answer }) => answer)

/**
 * The person or program on whose behalf owners' and operators' methods are called, for the audit log: such as `owner:amira` or an
 * employee's name. The default is `unknown`; set it with `Effect.provideService(acts, Actor, "owner:amira")`.
 */
export class Actor extends Context.Reference<Actor>()("@workshop/core/Actor", {
  defaultValue: (): string => "unknown"
}) {
  /** The actor as the audit log stores it: one line, cut to a maximum length. */
  static readonly current = Effect.map(Actor, (actor) =>
    [...actor.replace(/\p{Cc}/gu, " ")].slice(0, Limits.name_characters).join("")
  )
}

/** Runs commands and returns their results. Each is saved with the audit entry that `entryOf` makes from its result. */
export const auditing = (store: Context.Tag.Service<Store>) => {
  const run = resultOf(store)
  return <A, E>(command: Command<A, E>, entryOf: (answer: A) => Audited | null) =>
    Effect.flatMap(Actor.current, (actor) => run(audited(command, actor, entryOf)))
}
