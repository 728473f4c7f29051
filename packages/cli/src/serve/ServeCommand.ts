import { sandboxAddresses, TrackingPages } from "@workshop/core"
import { pipeline, type RouteGroup, trackingRoutes, workshopRoutes } from "@workshop/core/http"
import { serve as listen, pages } from "@workshop/http-node"
import { baseOf } from "@workshop/http-node/internal"
import { sandboxRoutes } from "@workshop/http-node/sandbox"
import { Console, Effect, Ref } from "effect"
import { refuse } from "../CommandRefused.js"
import { CommandHints, makeHints } from "../database/CommandHints.js"
import { choiceOf, type StoreChoice } from "../database/StoreChoice.js"
import { startBackgroundWork, webhookPolicyFrom } from "../dispatch/deliveryLayers.js"
import { observabilityLayer } from "../observe/observabilityLayer.js"
import { requestObserver } from "../observe/requestObserver.js"
import { withActor } from "../terminal/actor.js"
import { command } from "../terminal/commands.js"
import { cannotListen, isEverywhere } from "../terminal/listenAddress.js"
import { GivenKey, refuseRealData } from "./FirstShop.js"
import { boundHeapGrowth } from "./heapGrowth.js"
import { connectionLimits, flagConflict, type ServeFlags, serveHeadings, serveOptions } from "./ServeOptions.js"
import { reopenStartShop, type StartKey, startShop } from "./StartShop.js"
import { sandboxLayer, serverLayer } from "./serviceLayers.js"
import { sandboxLines, stoppingLines, storageLine, trialLines } from "./startLines.js"
import { trackingBase } from "./TrackingOptions.js"
import { waitUntilStopped } from "./untilStopped.js"

/** Serves the API and the pages, and delivers in the background, until interrupted. */
const runServer = <E, R>(
  flags: ServeFlags,
  choice: StoreChoice,
  groupsWith: (api: RouteGroup, startKey: StartKey) => Effect.Effect<ReadonlyArray<RouteGroup>, E, R>
) =>
  Effect.gen(function* () {
    const startKey = yield* Ref.make(flags.demoKey)
    if (flags.sandbox && !flags.sandboxOnRealData) yield* refuseRealData
    const routes = yield* groupsWith(yield* workshopRoutes({ validateResponses: false }), startKey)
    const groups = [...routes, ...(flags.trackingPages ? [yield* trackingRoutes()] : []), ...(yield* pages(flags))]
    // The server opens the port before it opens a shop, because the key of the shop would be lost if the port is in
    // use.
    const handle = yield* pipeline(groups, requestObserver(flags))
    const { port } = yield* Effect.mapError(listen(handle, { ...flags, limits: connectionLimits(flags) }), cannotListen)
    const base = baseOf(flags.host, port)
    const tracking = yield* TrackingPages
    if (flags.trackingPages) tracking.base_url ??= trackingBase(base)
    const { lines, key } = yield* startShop(flags, base).pipe(
      Effect.provideService(GivenKey, flags.demoKey),
      Effect.provideService(CommandHints, makeHints(choice, process.env))
    )
    yield* Ref.set(startKey, key)
    if (!flags.noDispatcher) yield* startBackgroundWork
    yield* Console.log(
      [
        `Listening on ${base}${isEverywhere(flags.host) ? ", and on every other address of this machine" : ""}`,
        ...(flags.sandbox ? [`Open the sandbox's console: ${base}/console`] : []),
        storageLine(choice),
        ...lines,
        `Read and try the API: ${base}/docs`,
        ...(flags.trackingPages ? [`Clients follow their tickets at ${tracking.base_url}{tracking_code}`] : []),
        ...(flags.sandbox ? sandboxLines(base, choice) : trialLines(choice)),
        ...stoppingLines(process.env)
      ].join("\n")
    )
    return yield* waitUntilStopped(flags.shutdownDelay)
    // All parts stop at the same time, because they must end within the ten seconds of a shutdown (Specification,
    // Commands).
  }).pipe(Effect.parallelFinalizers, Effect.scoped)

/**
 * Runs a scenario outside this sandbox, with the real clock and its own services. The module is loaded at the first
 * run.
 */
const runScenario = (text: string) =>
  Effect.promise(async (signal) => {
    const { runScenarioText } = await import("@workshop/testers/internal/scenario")
    return Effect.runPromise(runScenarioText(text), { signal })
  })

/** The server that the flags describe, with its services. */
const serverOf = (flags: ServeFlags) => {
  // A sandbox keeps its events, because a move of its clock would make all of them too old.
  const removesOldEvents = !flags.noDispatcher && !flags.sandbox
  const choice = { ...choiceOf(flags), ...(removesOldEvents ? { keepEventsMs: flags.keepEvents } : {}) }
  if (!flags.sandbox)
    return Effect.provide(
      runServer(flags, choice, (api) => Effect.succeed([api])),
      serverLayer(flags, choice)
    )
  const options = {
    token: flags.sandboxToken,
    webhookPolicy: webhookPolicyFrom(sandboxAddresses, flags),
    validateResponses: false
  }
  const groupsWith = (api: RouteGroup, startKey: StartKey) =>
    Effect.gen(function* () {
      const begin = Effect.provide(
        reopenStartShop(flags, startKey),
        yield* Effect.context<Effect.Effect.Context<ReturnType<typeof reopenStartShop>>>()
      )
      return yield* sandboxRoutes({ ...options, api, begin, runScenario })
    })
  return Effect.provide(runServer(flags, choice, groupsWith), sandboxLayer(flags, choice))
}

const serve = (flags: ServeFlags) =>
  Effect.zipRight(Effect.sync(boundHeapGrowth), Effect.provide(serverOf(flags), observabilityLayer(flags))).pipe(
    Effect.onInterrupt(() =>
      Console.log(flags.store === "memory" ? "Stopped. The data in memory are lost." : "Stopped. All data are kept.")
    )
  )

/** `workshop serve` (Specification, Commands). */
export const serveCommand = command({
  name: "serve",
  examples: ["workshop serve", "workshop serve --sandbox --demo --store memory"],
  options: serveOptions,
  headings: serveHeadings,
  run: (flags, isTyped) =>
    Effect.gen(function* () {
      const message = flagConflict(flags, isTyped)
      if (message !== undefined) return yield* refuse(message)
      return yield* serve(flags)
    }).pipe(withActor(null))
})
