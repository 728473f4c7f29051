import { readFileSync } from "node:fs"
import {
  Closer,
  Dispatcher,
  Entropy,
  NotificationSender,
  Notifiers,
  Probes,
  Profanity,
  sandboxAddresses
} from "@workshop/core"
import { pipeline, webHandler, workshopRoutes } from "@workshop/core/http"
import { SettableClock } from "@workshop/core/testing"
import { makeHttpMetrics, pages, processMetrics } from "@workshop/http-node"
import * as NodeSender from "@workshop/http-node/sender"
import { PgStore } from "@workshop/store-pg"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { createTicket } from "../../../core/src/decisions/createTicket.js"
import { layer as workshopLayer } from "../../../core/src/services/Workshop.js"
import { openShop, runCommand, ticketInput } from "../../../core/src/testing/Fixtures.js"
import { readExposition } from "../../../http-node/test/metrics/Exposition.js"
import { testDatabase } from "../../../store-pg/test/cluster/TestDatabase.js"
import { dispatchOptions } from "../../src/dispatch/DispatchCommand.js"
import { serveOptions } from "../../src/serve/ServeOptions.js"
import type { Flag } from "../../src/terminal/program.js"

const page = readFileSync(new URL("../../../../docs/operating.md", import.meta.url), "utf8")

/** The rows of the first table below a heading, without the backticks of the cells. */
const tableBelow = (heading: string): ReadonlyArray<ReadonlyArray<string>> => {
  const section = page.slice(page.indexOf(`\n${heading}\n`))
  const [, rows = ""] = /\n\|---.*\n((?:\|.*\n)+)/.exec(section) ?? []
  return rows
    .trim()
    .split("\n")
    .map((row) =>
      row
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`([^`]*)`$/, "$1"))
    )
}

/** The name, the variable and the default of each flag. */
const settings = (options: Readonly<Record<string, Flag<unknown>>>) =>
  Object.values(options).map(({ long, variable, fallback }) => [long, variable, fallback])

describe("the tables of docs/operating.md", { timeout: 30_000 }, () => {
  it.each([
    ["### `workshop serve`", serveOptions],
    ["### `workshop dispatch`", dispatchOptions]
  ] as const)(
    "the table of %s has every flag, its variable and its default, in order, and no other",
    (heading, options) => {
      expect(tableBelow(heading).map((row) => row.slice(0, 3))).toEqual(settings(options))
      expect(settings(options).length).toBeGreaterThanOrEqual(8)
    }
  )

  it("every metric that a node on Postgres shows is in the table with its type and labels, and no other", async () => {
    const clock = new SettableClock(Date.parse("2026-03-01T10:00:00Z"))
    const text = await Effect.runPromise(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const layer = Layer.scopedDiscard(processMetrics).pipe(
          Layer.provideMerge(Dispatcher.layer()),
          Layer.provideMerge(Layer.provide(NotificationSender.Default, Notifiers.layer)),
          Layer.provide(NodeSender.layer({ policy: sandboxAddresses })),
          Layer.provideMerge(workshopLayer),
          Layer.provideMerge(PgStore.layer({ url })),
          Layer.provideMerge(Profanity.layer),
          Layer.provideMerge(Entropy.layerSeeded(3))
        )
        return yield* Effect.gen(function* () {
          const branches = [yield* workshopRoutes({ validateResponses: true }), ...(yield* pages())]
          const answer = webHandler(yield* pipeline(branches, makeHttpMetrics()), yield* Effect.runtime<never>())
          const get = (path: string) =>
            Effect.promise(async () => (await answer(new Request(`http://x${path}`))).text())
          const { id } = yield* openShop()
          yield* runCommand(createTicket(id, ticketInput(), { via: "api", foundWords: [] }))
          yield* Closer.runOnce
          yield* get("/healthz")
          // The store connects its listener in the background.
          return yield* until("the node to listen", get("/metrics"), (text) =>
            text.includes("workshop_pg_listener_connected 1")
          )
        }).pipe(Effect.provide(layer))
      }).pipe(Effect.scoped, Effect.provide(Probes.layer), Effect.withClock(clock))
    )
    // An earlier test in this process may have had cells, whose gauges have the additional label `cell`.
    const ofNoCell = [...readExposition(text)].flatMap(([name, { type, samples }]) => {
      const left = samples.filter(({ labels }) => !("cell" in labels))
      return left.length === 0 && samples.length > 0 ? [] : [{ name, type, samples: left }]
    })
    const shown = ofNoCell.map(({ name, type, samples }) => {
      const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)))
      labels.delete("le")
      return [name, type, [...labels].sort().join(", ")]
    })
    const documented = tableBelow("## Metrics").map(([name = "", type = "", labels = ""]) => [
      name,
      type,
      labels.replaceAll("`", "")
    ])
    expect(documented.toSorted()).toEqual(shown.filter(([name]) => !name?.startsWith("workshop_test_")).toSorted())
  })
})
