import { Deliveries, ServiceLimits } from "@workshop/core/store"
import { SettableClock } from "@workshop/core/testing"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { openShop, run } from "../../../core/src/testing/Fixtures.js"
import { answered, raising, record } from "../../../core/src/testing/TestDispatcher.js"
import { PLANNED_ONCE } from "../../src/connection/SessionClient.js"
import { CLAIM, LOCK_QUEUES, LOCK_READY_QUEUES, RESCHEDULE_SHOPS } from "../../src/deliveries/ClaimStatements.js"
import { connect } from "../../src/migrate/Session.js"
import { planned, settled } from "../Plan.js"
import { database, node, testing } from "./Node.js"

const SHOPS = 40
const ROUNDS = 60

/** Pages that the statements of a claim touch for all the shops; what they do is undone. */
const pagesOf = (url: string, now: number) =>
  Effect.gen(function* () {
    const session = yield* settled(url, PLANNED_ONCE)
    // Kept for the session, where a claim keeps them for its transaction.
    yield* session.run(LOCK_READY_QUEUES.replaceAll("true)", "false)"), [2 * SHOPS, 0])
    const claim = yield* planned(session, CLAIM, [now, SHOPS, now])
    const turns = yield* planned(session, LOCK_QUEUES, [])
    const again = yield* planned(session, RESCHEDULE_SHOPS, [now, now, false])
    const [table] = yield* session.run<{ pages: number }>(
      "select (pg_relation_size('delivery_queue') / 8192)::integer as pages"
    )
    return { claim: claim.pages, turns: turns.pages, again: again.pages, table: table!.pages }
  }).pipe(Effect.scoped)

describe("a snapshot that another session holds open (docs/operating.md)", { timeout: 120_000 }, () => {
  it("an open snapshot does not make a claim scan the deliveries that ended since", () => {
    const clock = new SettableClock()
    const now = () => clock.unsafeCurrentTimeMillis()
    return testing(
      Effect.gen(function* () {
        const { url } = yield* database
        const ports = yield* node({ url, leaseClock: Effect.sync(now) })
        const within = Effect.provide(ports)
        const shops = yield* Effect.replicateEffect(openShop(), SHOPS).pipe(within)
        const each = <A, E, R>(act: (id: (typeof shops)[number]["id"]) => Effect.Effect<A, E, R>) =>
          Effect.forEach(shops, ({ id }) => act(id), { concurrency: "unbounded" })
        yield* each((id) => run(setWebhook(id, { url: "https://shop.example/hook", secret: "whsec_1" }))).pipe(within)
        // By turns, so that what a shop has due is on as many pages.
        for (let n = 0; n <= ROUNDS; n++) {
          clock.advance(1000)
          yield* each((id) => run(raising(id, [null]))).pipe(within)
        }
        const { claim } = yield* Effect.provide(Deliveries, ports)
        const deliver = Effect.gen(function* () {
          clock.advance(ServiceLimits.delivery_lease_ms)
          const claims = yield* claim(now(), SHOPS)
          expect(claims).toHaveLength(SHOPS)
          yield* Effect.forEach(claims, (one) => record(one, answered(200)), { concurrency: "unbounded" })
        }).pipe(within)
        yield* deliver
        const before = yield* pagesOf(url, now())
        const holder = yield* connect(url)
        yield* holder.run("begin isolation level repeatable read")
        yield* holder.run("select count(*) from delivery")
        for (let n = 1; n < ROUNDS; n++) yield* deliver
        const held = yield* pagesOf(url, now())
        yield* holder.run("commit")
        // Every index still has the rows of delivered events, and of all earlier turns.
        expect(held.claim).toBeLessThan(1.5 * before.claim)
        expect(held.turns).toBeLessThan(1.5 * before.turns)
        expect(held.again).toBeLessThan(2 * before.again)
        // A page holds the turns of all the shops: had each claim written them again, there would be twenty more.
        expect(held.table).toBeLessThanOrEqual(before.table + 4)
      }),
      clock
    )
  })
})
