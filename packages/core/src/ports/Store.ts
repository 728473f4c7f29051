import { Context, Data, type Effect } from "effect"
import type { Command, Outcome } from "../decisions/Command.js"

/** The store cannot be reached or did not settle in time. Nothing tells whether it will be back soon; try again (Specification, Errors). */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  readonly cause?: unknown
  /** What is wrong and what to do, where waiting alone does not mend it: a sentence for the operator, without secrets or addresses. */
  readonly remedy?: string
}> {
  override get message() {
    return this.remedy ?? "The store cannot be reached; try again in a moment"
  }
}

/** Where all writes to a shop go. */
export class Store extends Context.Tag("@workshop/core/Store")<
  Store,
  {
    /**
     * Runs `command` alone on its shop with everything it asks for loaded, then saves all its changes, or none.
     * Commands of one shop run one after another, across all processes; whoever is answered has been saved.
     * Interrupted before its turn, a command never runs; afterwards it runs to its end. A `run` that throws
     * fails this command alone. Should a stored rule (such as a tracking code taken already) reject the changes,
     * the command runs again in a fresh moment. An unknown shop is a defect: ids of shops come from the directory.
     */
    readonly transact: <A, E>(command: Command<A, E>) => Effect.Effect<Outcome<A>, E | StoreUnavailable>
  }
>() {}
