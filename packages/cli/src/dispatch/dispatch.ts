import { Closer, dataAhead, Entropy, NotificationSender, Notifiers, productionAddresses } from "@workshop/core"
import { pipeline, type RequestObserver } from "@workshop/core/http"
import { serve as listen, pages } from "@workshop/http-node"
import { Console, Effect, Layer } from "effect"
import type { Observed } from "../observe/ObserveOptions.js"
import { observing, watching } from "../observe/observing.js"
import { type StoreChoice, storeLayer } from "../StoreChoice.js"
import { baseOf, cannotListen } from "../terminal/listenAddress.js"
import { type DeliveryOptions, delivering, workOff } from "./delivering.js"

/** Where to dispatch. */
export interface DispatchOptions
  extends Pick<StoreChoice, "migrate" | "keepEvents_ms" | "secretsKeys">,
    DeliveryOptions,
    Observed {
  readonly databaseUrl: string
  readonly statusHost: string
  /** Where health and metrics are answered; null: nowhere. */
  readonly statusPort: number | null
}

const services = (choice: StoreChoice, options: DeliveryOptions) =>
  Layer.mergeAll(Closer.Default, NotificationSender.Default, delivering(options, productionAddresses)).pipe(
    Layer.provide(Notifiers.layer),
    Layer.provideMerge(storeLayer(choice)),
    Layer.provideMerge(Entropy.layer)
  )

/** Answers health and metrics, and nothing else. Answers where. */
const status = ({ statusHost: host, signatureHeader }: DispatchOptions, port: number, watch: RequestObserver) =>
  Effect.gen(function* () {
    const pipe = yield* pipeline(yield* pages({ signatureHeader }), watch)
    const at = yield* Effect.mapError(listen(pipe, { host, port, trustProxy: false }), cannotListen)
    return baseOf(host, at.port)
  })

/** Works off what is due in a database, until interrupted; then it claims no more and waits for what is on its way. */
export const dispatch = (options: DispatchOptions) =>
  Effect.gen(function* () {
    yield* workOff
    const { statusPort } = options
    // The pages see to it where there are any.
    if (statusPort === null) yield* dataAhead
    const watch = watching({ ...options, accessLog: false })
    const at = statusPort === null ? "" : `\nHealth and metrics are at ${yield* status(options, statusPort, watch)}`
    yield* Console.log(`Delivering and closing what is due in the Postgres database.${at}`)
    return yield* Effect.never
    // At once, as the loops are apart from each other and all must be done within ten seconds.
  }).pipe(
    Effect.parallelFinalizers,
    Effect.scoped,
    Effect.provide(services({ ...options, store: "postgres", dataDir: "" }, options)),
    Effect.provide(observing(options)),
    Effect.onInterrupt(() => Console.log("Stopped."))
  )
