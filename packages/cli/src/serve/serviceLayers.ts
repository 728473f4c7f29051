import { readFile } from "node:fs/promises"
import {
  type ClientNotifier,
  Closer,
  Dispatcher,
  Entropy,
  NotificationSender,
  Notifiers,
  Profanity,
  productionAddresses,
  type StorePorts,
  TrackingPages,
  Workshop
} from "@workshop/core"
import { ClockAdvance, SandboxClock } from "@workshop/core/sandbox"
import { Directory } from "@workshop/core/store"
import { SandboxReceivers } from "@workshop/http-node/sandbox"
import { Effect, Layer } from "effect"
import { refuse } from "../CommandRefused.js"
import { type StoreChoice, storeLayer } from "../database/StoreChoice.js"
import { dispatcherLayer, sandboxDispatcherLayer } from "../dispatch/deliveryLayers.js"
import type { ServeFlags } from "./ServeOptions.js"
import { trackingPagesOf } from "./TrackingOptions.js"

const readWords = (file: string) =>
  Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (error) =>
      refuse(
        `The word list ${file} cannot be read (${error instanceof Error ? error.message : error}). Give --words a text file with one word or phrase per line.`
      )
  })

/**
 * The default words, or the words of a file: one word or phrase per line; empty lines and lines that begin with # are
 * ignored.
 */
const wordsLayer = (file: string | null) =>
  file === null
    ? Profanity.layer
    : Layer.unwrapEffect(
        Effect.gen(function* () {
          const words = (yield* readWords(file))
            .split("\n")
            .filter((line) => line.trim() !== "" && !line.startsWith("#"))
          if (words.length === 0)
            yield* Effect.logWarning(
              `The word list ${file} is empty, so only words that a shop itself forbids are refused.`
            )
          return Profanity.layerWords(words)
        })
      )

const servicesLayer = <Ports, E>(
  flags: ServeFlags,
  store: Layer.Layer<Ports | StorePorts, E, Entropy>,
  clients: Layer.Layer<ClientNotifier>
) =>
  NotificationSender.Default.pipe(
    Layer.provide(Layer.merge(clients, Notifiers.logOwner)),
    Layer.provideMerge(Workshop.layer),
    Layer.provideMerge(store),
    Layer.provideMerge(Layer.succeed(TrackingPages, trackingPagesOf(flags))),
    Layer.provideMerge(wordsLayer(flags.words)),
    Layer.provideMerge(Entropy.layer)
  )

/** The services of a server. */
export const serverLayer = (flags: ServeFlags, choice: StoreChoice) =>
  dispatcherLayer(flags, productionAddresses).pipe(
    Layer.provideMerge(servicesLayer(flags, storeLayer(choice), Notifiers.noClientNotifier))
  )

/** Starts the clock of a sandbox on kept data at the latest time in them, because a shop's time must not go back. */
const clockAtLatestData = Layer.effectDiscard(
  Effect.gen(function* () {
    const clock = yield* SandboxClock
    clock.holdAt(yield* (yield* Directory).latest)
    clock.release(false)
  })
)

/** The services of a server with a sandbox, whose clock testers move. */
export const sandboxLayer = (flags: ServeFlags, choice: StoreChoice) =>
  ClockAdvance.layer([Closer, Dispatcher, NotificationSender]).pipe(
    Layer.provideMerge(sandboxDispatcherLayer(flags)),
    Layer.provideMerge(clockAtLatestData),
    Layer.provideMerge(servicesLayer(flags, storeLayer(choice), Notifiers.inboxOnly)),
    Layer.provideMerge(Layer.merge(SandboxClock.layer, SandboxReceivers.layer))
  )
