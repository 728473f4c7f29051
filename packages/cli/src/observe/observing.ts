import { readFileSync } from "node:fs"
import type { Watch } from "@workshop/core/http/Pipeline"
import { type Probe, Probes } from "@workshop/core/ports/Probes"
import { makeHttpMetrics } from "@workshop/http-node/metrics/HttpMetrics"
import { processMetrics } from "@workshop/http-node/metrics/ProcessMetrics"
import { Effect, Layer } from "effect"
import { logged } from "./AccessLog.js"
import * as Logs from "./Logs.js"
import type { Observed } from "./ObserveOptions.js"
import { traced } from "./TracedRequests.js"

const version = (): string => JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version

/** Loaded where it is asked for: a start need not wait for it otherwise. */
const tracing = (endpoint: string) =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./Traces.js")),
      (Traces) => Traces.layer(endpoint, version())
    )
  )

/** Logs, metrics and traces as they were asked for, around all else that the process does. */
export const observing = (asked: Observed): Layer.Layer<never> =>
  Layer.scopedDiscard(processMetrics).pipe(
    Layer.provideMerge(Layer.sync(Probes, () => new Set<Probe>())),
    Layer.provideMerge(asked.otlpEndpoint === null ? Layer.empty : tracing(asked.otlpEndpoint)),
    Layer.provideMerge(Logs.layer(asked, process.stderr.isTTY === true))
  )

/** What looks on while requests are answered: always counting, the rest where it was asked for. */
export const watching = (asked: Observed & { readonly accessLog: boolean }): Watch => {
  const counted = makeHttpMetrics()
  const others = [...(asked.accessLog ? [logged] : []), ...(asked.otlpEndpoint === null ? [] : [traced])]
  return (arrival, stamp, answer) =>
    counted(
      arrival,
      stamp,
      others.reduce((watched, watch) => watch(arrival, stamp, watched), answer)
    )
}
