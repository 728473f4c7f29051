import { Deliveries, ServiceLimits } from "@workshop/core/store"
import { SettableClock } from "@workshop/core/testing"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { openShop, runCommand } from "../../../core/src/testing/Fixtures.js"
import { raisePings, record, statusResult } from "../../../core/src/testing/TestDispatcher.js"
import { PLANNED_ONCE } from "../../src/connection/SessionClient.js"
import { CLAIM, LOCK_QUEUES, LOCK_READY_QUEUES, RESCHEDULE_SHOPS } from "../../src/deliveries/ClaimStatements.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { explainPlan, openSession } from "../QueryPlan.js"
import { database, node, runTest } from "./Node.js"

const SHOPS = 40
const ROUNDS = 60

/** The number of pages that each statement of a claim for all shops reads. The statements are rolled back. */
const pagesOf = (url: string, now: number) =>
  Effect.gen(function* () {
    const session = yield* openSession(url, PLANNED_ONCE)
    // Sets the claim's settings for the session, because each statement here runs in its own transaction.
    yield* session.run(LOCK_READY_QUEUES.replaceAll("true)", "false)"), [2 * SHOPS, 0])
    const claim = yield* explainPlan(session, CLAIM, [now, SHOPS, now])
    const turns = yield* explainPlan(session, LOCK_QUEUES, [])
    const rescheduled = yield* explainPlan(session, RESCHEDULE_SHOPS, [now, now, false])
    const [table] = yield* session.run<{ pages: number }>(
      "select (pg_relation_size('delivery_queue') / 8192)::integer as pages"
    )
    return { claim: claim.pages, turns: turns.pages, again: rescheduled.pages, table: table!.pages }
  }).pipe(Effect.scoped)

describe("a snapshot that another session holds open (docs/operating.md)", { timeout: 120_000 }, () => {
  it("a claim does not scan the deliveries that ended since an open snapshot was taken", () => {
    const clock = new SettableClock()
    const now = () => clock.unsafeCurrentTimeMillis()
    return runTest(
      Effect.gen(function* () {
        const { url } = yield* database
        const ports = yield* node({ url, leaseClock: Effect.sync(now) })
        const within = Effect.provide(ports)
        const shops = yield* Effect.replicateEffect(openShop(), SHOPS).pipe(within)
        const each = <A, E, R>(act: (id: (typeof shops)[number]["id"]) => Effect.Effect<A, E, R>) =>
          Effect.forEach(shops, ({ id }) => act(id), { concurrency: "unbounded" })
        yield* each((id) => runCommand(setWebhook(id, { url: "https://shop.example/hook", secret: "whsec_1" }))).pipe(
          within
        )
        // Adds one event of each shop in turn, so that the deliveries of one shop are spread over many pages.
        for (let n = 0; n <= ROUNDS; n++) {
          clock.advance(1000)
          yield* each((id) => runCommand(raisePings(id, [null]))).pipe(within)
        }
        const { claim } = yield* Effect.provide(Deliveries, ports)
        const deliver = Effect.gen(function* () {
          clock.advance(ServiceLimits.delivery_lease_ms)
          const claims = yield* claim(now(), SHOPS)
          expect(claims).toHaveLength(SHOPS)
          yield* Effect.forEach(claims, (one) => record(one, statusResult(200)), { concurrency: "unbounded" })
        }).pipe(within)
        yield* deliver
        const before = yield* pagesOf(url, now())
        const holder = yield* openMigrationSession(url)
        yield* holder.run("begin isolation level repeatable read")
        yield* holder.run("select count(*) from delivery")
        for (let n = 1; n < ROUNDS; n++) yield* deliver
        const held = yield* pagesOf(url, now())
        yield* holder.run("commit")
        // Because of the snapshot, every index still has entries of delivered events and of replaced row versions.
        expect(held.claim).toBeLessThan(1.5 * before.claim)
        expect(held.turns).toBeLessThan(1.5 * before.turns)
        expect(held.again).toBeLessThan(2 * before.again)
        // One page has room for the rows of all shops, so rewriting them in each claim would add about twenty pages.
        expect(held.table).toBeLessThanOrEqual(before.table + 4)
      }),
      clock
    )
  })
})
