import * as MemoryStore from "@workshop/store-memory"
import { runCases, suite } from "@workshop/testers/conform"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { RUNS_ALL } from "../../../../test/runsAll.js"
import { postgresStore } from "../../../store-pg/test/cluster/TestStore.js"
import { Api } from "../../src/testkit/Api.js"
import { brokenDecisions } from "./broken/decisions.js"
import { brokenDeliveries } from "./broken/deliveries.js"
import { brokenLimits } from "./broken/limits.js"
import { brokenResponses } from "./broken/responses.js"
import { type Fault, inProcess } from "./InProcess.js"

/** Runs cases against our own server, correct or with a fault. */
const outcomes = async (fault: Fault, ids: ReadonlyArray<string>, store?: Parameters<typeof inProcess>[1]) => {
  const server = await inProcess(fault, store)
  const api = new Api("http://workshop.test", { fetch: server.ask })
  const target = { api, key: undefined, sandbox: { inboxes: server.inboxes } }
  const results = await Effect.runPromise(
    runCases(
      target,
      suite.filter(({ id }) => ids.includes(id))
    )
  )
  await server.close()
  return results
}

const ids = suite.map(({ id }) => id)

/**
 * Cases with tens or hundreds of requests. They are left out on Postgres, where the store contract proves their rules:
 * its subjects on limits, on stamps, on the list and on deliveries.
 */
const MANY_REQUESTS = [
  ...["limit-tickets-day", "limit-tickets-hour", "limit-tickets-replay", "limit-failed-tickets", "limit-requests"],
  ...["limit-lookups-day", "limit-lookups-hour", "limit-unauthenticated", "error-422-before-limit"],
  ...["limit-requests-refused", "limit-writes-count", "limit-stamps", "error-limit-before-403", "error-retry-after"],
  ...["by-number-many-others", "list-default-page", "webhook-failing", "webhook-failing-early"]
]

describe("a server without a fault", () => {
  it.each([
    ["memory", MemoryStore.layer, ids],
    ["Postgres", postgresStore, ids.filter((id) => RUNS_ALL || !MANY_REQUESTS.includes(id))]
  ] as const)(
    "a server without a fault passes every case on the %s store, and every case is run",
    async (_, store, named) => {
      const results = await outcomes({}, named, store)
      const others = results.filter(({ outcome }) => outcome !== "passed")
      expect(others.map(({ case: { id }, failure }) => [id, failure?.expected, failure?.found])).toEqual([])
      expect(results.map((result) => result.case.id)).toEqual(named)
    },
    300_000
  )
})

describe("a broken server is caught by the case that states the rule", () => {
  it.each(
    [...brokenResponses, ...brokenDecisions, ...brokenDeliveries, ...brokenLimits].map(
      (server) => [server.does, server] as const
    )
  )(
    "a server is caught by the case of the rule if it %s",
    async (_, { caughtBy, fault }) => {
      const results = await outcomes(fault(), caughtBy)
      expect(results.map((result) => `${result.case.id} ${result.outcome}`).sort()).toEqual(
        caughtBy.map((id) => `${id} failed`).sort()
      )
      // A failure is useful only if it shows the expectation and the request.
      for (const { failure } of results) {
        expect(failure?.expected, failure?.found).not.toBe("the case to finish without an error")
        expect(failure?.exchange).toBeDefined()
      }
    },
    60_000
  )
})
