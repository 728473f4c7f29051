import { Closer } from "@workshop/core/services/Closer"
import { Dispatcher } from "@workshop/core/services/Dispatcher"
import { Messenger } from "@workshop/core/services/Messenger"
import { Effect } from "effect"

/** Closes, delivers and tells what is due, beside everything else, until the scope closes. */
export const workOff = Effect.gen(function* () {
  yield* Effect.forkScoped((yield* Closer).run)
  yield* Effect.forkScoped((yield* Dispatcher).run)
  yield* Effect.forkScoped((yield* Messenger).run)
})
