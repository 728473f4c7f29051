import { type Context, Effect } from "effect"
import type { Command } from "../decisions/Command.js"
import type { Store, StoreUnavailable } from "../ports/Store.js"

/** Runs commands on a store for their answers alone, where nobody asks for the limits that they touched. */
export const resultOf =
  (store: Context.Tag.Service<Store>) =>
  <A, E>(command: Command<A, E>): Effect.Effect<A, E | StoreUnavailable> =>
    Effect.map(store.transact(command), ({ answer }) => answer)
