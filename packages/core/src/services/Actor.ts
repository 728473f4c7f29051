import { Context, Effect } from "effect"
import { type Audited, audited, type Command } from "../decisions/Command.js"
import { Limits } from "../domain/Limits.js"
import type { ShopNotFound } from "../domain/Shop.js"
import type { Store, StoreUnavailable } from "../ports/StorePorts.js"

/** Runs commands on a store for their answers alone, where nobody asks for the limits that they touched. */
export const resultOf =
  (store: Context.Tag.Service<Store>) =>
  <A, E>(command: Command<A, E>): Effect.Effect<A, E | ShopNotFound | StoreUnavailable> =>
    Effect.map(store.transact(command), ({ answer }) => answer)

/**
 * On whose behalf owners' and operators' acts are called, for the audit log: such as `owner:amira` or an employee's name.
 * `unknown` unless provided: `Effect.provideService(acts, Actor, "owner:amira")`.
 */
export class Actor extends Context.Reference<Actor>()("@workshop/core/Actor", {
  defaultValue: (): string => "unknown"
}) {
  /** The actor as it is written down: one line, cut to a length. */
  static readonly current = Effect.map(Actor, (actor) =>
    [...actor.replace(/\p{Cc}/gu, " ")].slice(0, Limits.name_characters).join("")
  )
}

/** Runs commands for their answers, each with the line in the audit log that `tell` makes of its answer. */
export const auditing = (store: Context.Tag.Service<Store>) => {
  const run = resultOf(store)
  return <A, E>(command: Command<A, E>, entryOf: (answer: A) => Audited | null) =>
    Effect.flatMap(Actor.current, (actor) => run(audited(command, actor, entryOf)))
}
