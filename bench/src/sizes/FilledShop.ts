import { type ClientId, Entropy, Limits, type Phone, type TicketId } from "@workshop/core"
import { Closures, Deliveries, Directory, Reads, ServiceLimits } from "@workshop/core/store"
import { PgStore } from "@workshop/store-pg"
import { Effect, Layer } from "effect"
import { createTicket } from "../../../packages/core/dist/decisions/createTicket.js"
import { setWebhook } from "../../../packages/core/dist/decisions/webhookSettings.js"
import { openShop, runCommand, ticketInput } from "../../../packages/core/dist/testing/Fixtures.js"
import { openMigrationSession } from "../../../packages/store-pg/dist/migrate/Session.js"
import { BenchClock } from "../create/Workload.js"
import type { Cluster } from "../pg/Cluster.js"
import { WARM_UP } from "../pg/WarmUp.js"
import { FILL, FILL_CLIENTS } from "./Fill.js"

const SINCE = 1_700_000_000_000
const FIRST_CLOSURE = 1_905_184_000_000
const BETWEEN_TICKETS_MS = 60

/** The time between two creates, because a shop may create only 150 tickets an hour (Specification, Limits). */
const BETWEEN_CREATES_MS = 3_600_000

/**
 * The size of a full batch of the closer. Two of every four consecutive tickets are due to close,
 * each a millisecond after the previous one.
 */
const CLOSURES = ServiceLimits.closures_per_batch

/** The rows that are read for a page of the default size: one more, which shows whether another page follows. */
const PAGE = Limits.page_default + 1

const ticketId = (n: number) => `018f0000-0000-7000-8000-${n.toString(16).padStart(12, "0")}` as TicketId
const clientId = (n: number) => `018f0000-0000-7000-9000-${n.toString(16).padStart(12, "0")}` as ClientId
const accountPhone = (n: number) => `+2167${String(n).padStart(8, "0")}` as Phone

/** A measured act in a shop, and work that must follow before it can be repeated, which is not measured. */
export interface Act {
  readonly act: Effect.Effect<unknown, unknown>
  readonly after?: Effect.Effect<unknown, unknown>
}

/**
 * Creates a database whose one shop has a number of tickets and accounts. Returns the acts to measure, and the time to
 * fill the database.
 */
export const filledShop = (database: Cluster["database"], tickets: number) =>
  Effect.gen(function* () {
    const url = yield* database(`sizes_${tickets}`)
    const clock = new BenchClock()
    // Leases end immediately, so that a claim can be repeated.
    let leases = 0
    const leaseClock = Effect.sync(() => {
      leases += 60_000
      return leases
    })
    const layer = PgStore.layer({ url, leaseClock }).pipe(Layer.provideMerge(Layer.merge(Entropy.layer, clock.layer)))
    const context = yield* Layer.build(layer)
    const { id } = yield* Effect.provide(openShop(), context)
    yield* Effect.provide(runCommand(setWebhook(id, { url: "https://shop.example/hook", secret: "whsec_1" })), context)
    const begun = performance.now()
    const session = yield* openMigrationSession(url)
    yield* session.run("set synchronous_commit = off")
    for (const statement of [...FILL, ...FILL_CLIENTS])
      yield* session.run(statement, statement.includes("$1") ? [tickets] : undefined)
    yield* session.run(WARM_UP)
    const filled_s = (performance.now() - begun) / 1_000
    const [reads, deliveries, closures, directory] = yield* Effect.provide(
      Effect.all([Reads, Deliveries, Closures, Directory]),
      context
    )
    const now = clock.unsafeCurrentTimeMillis()
    let n = 0
    const any = () => ((++n * 7_919) % tickets) + 1
    const tenth = () => Math.ceil(any() / 10) * 10
    const newest = { _tag: "Newest", after: null } as const
    const changes = (since: number) => ({ _tag: "Changes", since, after: null }) as const
    const read = (act: () => Effect.Effect<unknown, unknown>): Act => ({ act: Effect.suspend(act) })
    const create = Effect.suspend(() => {
      clock.advance(BETWEEN_CREATES_MS)
      return runCommand(createTicket(id, ticketInput(), { via: "api", foundWords: [] }))
    }).pipe(Effect.provide(context), Effect.withClock(clock))
    const acts = {
      "GET one ticket": read(() => reads.ticket(id, ticketId(any()))),
      "a page of 50": read(() => reads.tickets(id, { state: ["ready"] }, newest, PAGE)),
      "sync, a page of 50 since an instant": read(() =>
        reads.tickets(id, {}, changes(SINCE + any() * BETWEEN_TICKETS_MS), PAGE)
      ),
      "sync, nothing new": read(() => reads.tickets(id, {}, changes(clock.unsafeCurrentTimeMillis() + 1), PAGE)),
      "tickets by number": read(() => reads.ticketsOfNumber(id, (any() % 90) + 1, Limits.others_max)),
      "tickets by phone": read(() =>
        reads.tickets(id, { phone: `+2162${String(any() % (tickets / 4)).padStart(7, "0")}` as Phone }, newest, PAGE)
      ),
      "a client by id": read(() => reads.client(id, { id: clientId(tenth()) })),
      "a client by phone": read(() => reads.client(id, { phone: accountPhone(tenth()) })),
      "no client by phone": read(() => reads.client(id, { phone: accountPhone(tickets + any()) })),
      "clients who have a phone number": read(() => directory.holders([accountPhone(any())])),
      "search for tickets to close, none due": read(() => closures.due(now, CLOSURES)),
      "search for tickets to close, a batch due": read(() => closures.due(FIRST_CLOSURE + 2 * CLOSURES, CLOSURES)),
      "claim of 4": { act: deliveries.claim(now, 4), after: deliveries.reclaim },
      "create with a webhook": { act: create }
    } satisfies Readonly<Record<string, Act>>
    return { tickets, filled_s, acts }
  })

/** See {@link filledShop}. */
export type FilledShop = Effect.Effect.Success<ReturnType<typeof filledShop>>

/** The names of the acts. */
export type ActName = keyof FilledShop["acts"]
