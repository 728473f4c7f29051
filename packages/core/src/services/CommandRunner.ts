import { type Context, Effect } from "effect"
import { type AuditedAct, type Command, withAuditEntry } from "../decisions/Command.js"
import type { ShopNotFound } from "../domain/Shop.js"
import type { Store, StoreUnavailable } from "../ports/StorePorts.js"
import { Actor } from "./Actor.js"

/** Runs commands on a store and returns only their results, without the statuses of limits. */
export const makeCommandRunner =
  (store: Context.Tag.Service<Store>) =>
  <A, E>(command: Command<A, E>): Effect.Effect<A, E | ShopNotFound | StoreUnavailable> =>
    Effect.map(store.transact(command), ({ result }) => result)

/**
 * Runs commands and returns their results. Each command is saved with the audit entry that `entryOf` makes from its result, or without one if
 * that is null. The entry names the current {@link Actor}.
 */
export const makeAuditedCommandRunner = (store: Context.Tag.Service<Store>) => {
  const run = makeCommandRunner(store)
  return <A, E>(command: Command<A, E>, entryOf: (result: A) => AuditedAct | null) =>
    Effect.flatMap(Actor.current, (actor) => run(withAuditEntry(command, actor, entryOf)))
}
