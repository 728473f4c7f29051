import { Entropy, Profanity, TrackingPages } from "@workshop/core"
import type { SettableClock } from "@workshop/core/testing"
import { Layer, Logger } from "effect"
import { layer as workshopLayer } from "../../core/src/services/Workshop.js"
import type { Faults } from "./spec/Faults.js"
import { testStore } from "./TestStore.js"

/** The services of a test service with their dependencies. */
export const layerOf = (
  clock: SettableClock,
  faults: Faults,
  seed: number,
  logs: Array<string>,
  base_url: string | null = null
) =>
  workshopLayer.pipe(
    Layer.provideMerge(faults.layer),
    Layer.provideMerge(testStore),
    Layer.provideMerge(Layer.succeed(TrackingPages, { base_url })),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layerSeeded(seed)),
    Layer.provideMerge(Layer.merge(clock.layer, Logger.replace(Logger.defaultLogger, collectLogs(logs))))
  )

const collectLogs = (logs: Array<string>) => Logger.map(Logger.logfmtLogger, (line) => void logs.push(line))

/** The context of a test service. */
export type Services = Layer.Layer.Success<ReturnType<typeof layerOf>>
