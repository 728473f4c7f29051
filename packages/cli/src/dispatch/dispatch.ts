import { production } from "@workshop/core/domain/WebhookAddress"
import { Entropy } from "@workshop/core/ports/Entropy"
import { Closer } from "@workshop/core/services/Closer"
import { Dispatcher } from "@workshop/core/services/Dispatcher"
import { Messenger } from "@workshop/core/services/Messenger"
import * as Notifiers from "@workshop/core/services/Notifiers"
import * as NodeSender from "@workshop/http-node/sender/NodeSender"
import { Console, Effect, Layer } from "effect"
import { type StoreChoice, storeLayer } from "../StoreChoice.js"
import { workOff } from "./workOff.js"

/** Where to dispatch. */
export interface DispatchOptions extends Pick<StoreChoice, "migrate" | "keepEvents_ms"> {
  readonly databaseUrl: string
}

const services = (choice: StoreChoice) =>
  Layer.mergeAll(Closer.Default, Messenger.Default, Dispatcher.layer()).pipe(
    Layer.provide(Notifiers.layer),
    Layer.provide(NodeSender.layer({ policy: production })),
    Layer.provide(storeLayer(choice)),
    Layer.provide(Entropy.layer)
  )

/** Works off what is due in a database, until interrupted; then it claims no more and waits for what is on its way. */
export const dispatch = (options: DispatchOptions) =>
  Effect.gen(function* () {
    yield* workOff
    yield* Console.log("Delivering and closing what is due in the Postgres database.")
    return yield* Effect.never
    // At once, as the loops are apart from each other and all must be done within ten seconds.
  }).pipe(
    Effect.parallelFinalizers,
    Effect.scoped,
    Effect.provide(services({ ...options, store: "postgres", dataDir: "" }))
  )
