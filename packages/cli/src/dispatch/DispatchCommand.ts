import {
  CachedRateLimits,
  Closer,
  Entropy,
  NotificationSender,
  Notifiers,
  productionAddresses,
  TrackingPages
} from "@workshop/core"
import { pipeline, type RequestObserver } from "@workshop/core/http"
import { ClockComparison, warnIfDataAhead } from "@workshop/core/internal"
import { serve as listen, pages } from "@workshop/http-node"
import { baseOf } from "@workshop/http-node/internal"
import { Console, Effect, Layer } from "effect"
import { refuse } from "../CommandRefused.js"
import {
  choiceOf,
  databaseAddressFlags,
  noMigrateFlag,
  type StoreChoice,
  secretsKeyFlag,
  storeLayer
} from "../database/StoreChoice.js"
import { observeOptions } from "../observe/ObserveOptions.js"
import { observabilityLayer } from "../observe/observabilityLayer.js"
import { requestObserver } from "../observe/requestObserver.js"
import { trackingOptions, trackingPagesOf } from "../serve/TrackingOptions.js"
import { withActor } from "../terminal/actor.js"
import { command, optionalFlag, type Values, valueFlag } from "../terminal/commands.js"
import { host, port } from "../terminal/decoders.js"
import { cannotListen } from "../terminal/listenAddress.js"
import { dispatcherLayer, startBackgroundWork } from "./deliveryLayers.js"
import { keepEvents, refuseNetwork, signatureHeader, webhookPort } from "./WebhookOptions.js"

/** The flags of `workshop dispatch` (Specification, Commands). */
export const dispatchOptions = {
  ...databaseAddressFlags("The Postgres database, such as postgres://user:password@host/name."),
  noMigrate: noMigrateFlag,
  secretsKey: secretsKeyFlag,
  keepEvents,
  signatureHeader,
  webhookPort,
  refuseNetwork,
  ...trackingOptions,
  statusHost: valueFlag(
    "--status-host <address>",
    "The address on which --status-port listens. 0.0.0.0 means all addresses of this machine.",
    {
      decoder: host,
      fallback: "127.0.0.1"
    }
  ),
  statusPort: optionalFlag(
    "--status-port <number>",
    "The port for /healthz, /readyz and /metrics; 0 selects a free one. By default the command opens no port.",
    { decoder: port }
  ),
  ...observeOptions
}

type Flags = Values<typeof dispatchOptions>

/** The services that the pages of `--status-port` need. */
const pageServices = Layer.merge(CachedRateLimits.layer, ClockComparison.layer)

const servicesLayer = (choice: StoreChoice, flags: Flags) =>
  Layer.mergeAll(
    Closer.Default,
    NotificationSender.Default,
    dispatcherLayer(flags, productionAddresses),
    pageServices
  ).pipe(
    Layer.provide(Notifiers.layer),
    Layer.provideMerge(storeLayer(choice)),
    Layer.provideMerge(Layer.succeed(TrackingPages, trackingPagesOf(flags))),
    Layer.provideMerge(Entropy.layer)
  )

/** Serves only the pages of health and metrics. Returns their address. */
const servePages = ({ statusHost: host, signatureHeader }: Flags, port: number, watch: RequestObserver) =>
  Effect.gen(function* () {
    const handle = yield* pipeline(yield* pages({ signatureHeader }), watch)
    const listening = yield* Effect.mapError(listen(handle, { host, port, trustProxy: false }), cannotListen)
    return baseOf(host, listening.port)
  })

/**
 * Sends the due deliveries and closes the due tickets of a database until it is interrupted. Then it claims nothing
 * more, and waits for the running attempts.
 */
const dispatch = (flags: Flags, choice: StoreChoice) =>
  Effect.gen(function* () {
    yield* startBackgroundWork
    const { statusPort } = flags
    // With --status-port, the pages themselves warn that the data are ahead of the clock.
    if (statusPort === null) yield* warnIfDataAhead
    const watch = requestObserver({ ...flags, accessLog: false })
    const pagesText =
      statusPort === null ? "" : `\nHealth and metrics are at ${yield* servePages(flags, statusPort, watch)}`
    yield* Console.log(`Sending due deliveries and closing due tickets of the Postgres database.${pagesText}`)
    return yield* Effect.never
    // All loops stop at the same time, because they are independent and must end within ten seconds.
  }).pipe(
    Effect.parallelFinalizers,
    Effect.scoped,
    Effect.provide(servicesLayer(choice, flags)),
    Effect.provide(observabilityLayer(flags)),
    Effect.onInterrupt(() => Console.log("Stopped."))
  )

/**
 * `workshop dispatch` (Specification, Commands): only sends deliveries and notifications and closes tickets. Any number
 * of such processes can run.
 */
export const dispatchCommand = command({
  name: "dispatch",
  examples: ["DATABASE_URL_FILE=/run/secrets/database-url workshop dispatch"],
  options: dispatchOptions,
  run: (flags) => {
    if (flags.databaseUrl === null)
      return refuse(
        "workshop dispatch needs the Postgres database that workshop serve --no-dispatcher uses. Give its address with --database-url."
      )
    if (flags.trackingPages && flags.publicUrl === null)
      return refuse(
        "--tracking-pages also needs --public-url, because workshop dispatch does not know the address of workshop serve. Add --public-url with the address by which clients reach workshop serve."
      )
    return dispatch(flags, { ...choiceOf({ ...flags, dataDir: "" }), keepEventsMs: flags.keepEvents }).pipe(
      withActor(null)
    )
  }
})
