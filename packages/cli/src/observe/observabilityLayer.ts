import { readFileSync } from "node:fs"
import { Probes } from "@workshop/core"
import { processMetrics } from "@workshop/http-node"
import { Effect, Layer } from "effect"
import { logsLayer } from "./logsLayer.js"
import type { ObserveFlags } from "./ObserveOptions.js"

const readVersion = (): string =>
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version

/** Loads the tracer only if it is used, so that other starts do not wait for it. */
const tracesLayer = (endpoint: string) =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./Traces.js")),
      (Traces) => Traces.layer(endpoint, readVersion())
    )
  )

/** The logs, metrics and traces of the process, as the flags configure them. */
export const observabilityLayer = (flags: ObserveFlags): Layer.Layer<never> =>
  Layer.scopedDiscard(processMetrics).pipe(
    Layer.provideMerge(Probes.layer),
    Layer.provideMerge(flags.otlpEndpoint === null ? Layer.empty : tracesLayer(flags.otlpEndpoint)),
    Layer.provideMerge(logsLayer(flags, process.stderr.isTTY === true))
  )
