import type { KeyId } from "@workshop/core"
import { Directory } from "@workshop/core/store"
import { Effect, Fiber, Schedule, type Scope } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { WAITS_FOR_STANDBY } from "../../src/connection/CommitWaits.js"
import type { Session } from "../../src/migrate/Session.js"
import { create, node, numbers, type Ports, runTest } from "../nodes/Node.js"
import { complaints, withProbes } from "./notReadyReasons.js"
import { waitingForStandby } from "./WaitingForStandby.js"

/** The number of the nodes' connections, by application name. */
const connections = (session: Session) =>
  Effect.map(
    session.run<{ name: string; n: number }>(
      "select application_name as name, count(*)::integer as n from pg_stat_activity where application_name like 'workshop %' group by 1"
    ),
    (rows) => new Map(rows.map(({ name, n }) => [name, n]))
  )

/** Starts ten ticket commands and ten directory writes a second, for some seconds. */
const load = (ports: Ports, work: Effect.Effect<unknown, unknown, never>, seconds: number) =>
  Effect.forkScoped(
    Effect.repeat(Effect.fork(work), Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(seconds * 10)))
  ).pipe(Effect.provide(ports))

const PROCESSES = 2
const CONNECTIONS_PER_PROCESS = 16

describe("commits that wait for a missing synchronous standby", { timeout: 120_000 }, () => {
  it("waiting commits do not exceed a process's connection limit, reads succeed, and the node reports why it is not ready", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session, waitFor, commitsWait } = yield* waitingForStandby
        const nodes = yield* Effect.all(Array.from({ length: PROCESSES }, () => node({ url })))
        const ports = nodes[0]!
        const shop = yield* Effect.provide(openShop(), ports)
        expect(yield* Effect.provide(create(shop.id), ports)).toBe(1)
        expect(yield* complaints).toEqual([])
        yield* commitsWait
        const noting = Effect.flatMap(Directory, ({ keysUsed }) => keysUsed(new Map([[shop.id as string as KeyId, 1]])))
        const running = yield* Effect.forEach(nodes, (one) =>
          Effect.all([load(one, Effect.provide(create(shop.id), one), 16), load(one, Effect.provide(noting, one), 16)])
        )
        const samples: Array<ReadonlyMap<string, number>> = []
        for (let second = 0; second < 16; second++) {
          yield* Effect.sleep("1 second")
          samples.push(yield* connections(session))
          // In the first seconds reads may fail, because the pooled connections wait in commits until a time limit ends
          // them.
          if (second > 5) expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual([1])
        }
        yield* Effect.forEach(running.flat(), Fiber.join)
        const max = (name: string) => Math.max(...samples.map((one) => one.get(name) ?? 0))
        for (const name of ["workshop lane 1", "workshop lane 2", "workshop contended"])
          expect([name, max(name) <= PROCESSES]).toEqual([name, true])
        const all = samples.map((one) => [...one.values()].reduce((sum, n) => sum + n, 0))
        expect(Math.max(...all)).toBeLessThanOrEqual(PROCESSES * CONNECTIONS_PER_PROCESS)
        expect(yield* complaints).toContain(WAITS_FOR_STANDBY)
        // A later create is refused with an error that names the standby.
        const refusal = Effect.flip(Effect.provide(create(shop.id), ports))
        yield* until("a refusal that names the standby", refusal, (found) =>
          Object.values(found).includes(WAITS_FOR_STANDBY)
        )

        yield* waitFor("")
        yield* until("a node that is ready", complaints, (reasons) => reasons.length === 0)
        const number = yield* Effect.provide(create(shop.id), ports).pipe(
          Effect.retry(Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(100)))
        )
        expect((yield* Effect.provide(numbers(shop.id), ports)).at(-1)).toBe(number)
      }).pipe(withProbes) as Effect.Effect<void, unknown, Scope.Scope>
    ))
})
