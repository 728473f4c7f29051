import * as Reactivity from "@effect/experimental/Reactivity"
import { Limits, type Phone, type ShopId, type TicketId } from "@workshop/core"
import type { Reads, TicketFilter, TicketOrder } from "@workshop/core/store"
import { type Context, Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { openShop } from "../../core/src/testing/Fixtures.js"
import { readPool, readsOn } from "../src/connection/Sql.js"
import { openMigrationSession } from "../src/migrate/Session.js"
import { pgReads } from "../src/reads/PgReads.js"
import { unencryptedSecrets } from "../src/secrets/WebhookSecrets.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { node, runTest } from "./nodes/Node.js"

/** More than the five executions after which Postgres may switch to a generic plan. */
const TIMES = 12

const PREPARED = `select substring(statement from '/\\* workshop ([^*]*) \\*/') as title, generic_plans::integer as kept
  from pg_prepared_statements where generic_plans + custom_plans > 0 order by 1`

/** Inserts tickets of the only shop: half are ready, a quarter are in the workshop and a quarter are impossible. */
const FILL = `insert into ticket (shop_id, id, number, state, type, service, items, tracking_code, created_at, updated_at, created_via,
    change_seq, shop_changed_at, stamps_earned)
  select s.id, ('018f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 1, (array['workshop', 'ready', 'impossible', 'ready'])[n % 4 + 1],
    'repair', 'Resoling', '[]', 'C' || n::text, n, n, 'api', n, n, false
  from shop s, generate_series(1, $1::integer) n`

type Read = (reads: Context.Tag.Service<Reads>, shop_id: ShopId) => Effect.Effect<unknown, unknown>

/** The names of the statements that the only connection prepared, and whether it ran each with a generic plan. */
const keptAfter = (read: Read, { tickets = 0, before }: { readonly tickets?: number; readonly before?: Read } = {}) =>
  runTest(
    Effect.gen(function* () {
      const { url } = yield* testDatabase
      const { id } = yield* Effect.provide(openShop(), yield* node({ url }))
      const session = yield* openMigrationSession(url)
      yield* session.run(FILL, [tickets])
      yield* session.run("vacuum analyze ticket")
      const pool = yield* readPool({ url, connections: 1 })
      const sql = Layer.provide(
        readsOn(() => pool, {}),
        Reactivity.layer
      )
      const reads = yield* Effect.provide(pgReads(unencryptedSecrets), yield* Layer.build(sql))
      if (before !== undefined) yield* before(reads, id)
      for (let i = 0; i < TIMES; i++) yield* read(reads, id)
      const { rows } = yield* Effect.promise(() => pool.query<{ title: string; kept: number }>(PREPARED))
      return rows.map(({ title, kept }) => ({ title, isKept: kept > 0 }))
    })
  )

const newest: TicketOrder = { _tag: "Newest", after: null }

it("a connection reuses the plan of a ticket's read, because planning takes longer than reading the row", async () => {
  const read = await keptAfter((reads, shop_id) =>
    reads.ticket(shop_id, "018f0000-0000-7000-8000-000000000001" as TicketId)
  )
  expect(read).toEqual([{ title: "read ticket", isKept: true }])
})

const LISTS: ReadonlyArray<readonly [string, TicketFilter, TicketOrder]> = [
  ["all tickets", {}, newest],
  ["a state", { state: ["ready"] }, newest],
  ["two states", { state: ["ready", "workshop"] }, newest],
  ["a phone number", { phone: "+21620123456" as Phone }, newest],
  ["a number", { number: 7 }, newest],
  ["a reference", { external_ref: "POS-1" }, newest],
  ["changes", {}, { _tag: "Changes", since: 0, after: null }]
]

it.each(LISTS)("a connection reuses the plan of a list of %s", async (_, filter, order) => {
  const list = await keptAfter((reads, shop_id) => reads.tickets(shop_id, filter, order, 50))
  expect(list).toEqual([{ title: "list tickets", isKept: true }])
})

it.each([Limits.page_default, Limits.page_max])(
  "a connection reuses the plan of a page of %i tickets in a large shop too",
  async (size) => {
    const page = (reads: Context.Tag.Service<Reads>, shop_id: ShopId) =>
      reads.tickets(shop_id, { state: ["ready"] }, newest, size + 1)
    expect(await keptAfter(page, { tickets: 20_000 })).toEqual([{ title: "list tickets", isKept: true }])
  }
)

it("a connection plans a search at each execution, because its values decide which index is best", async () => {
  const filter = { state: ["ready"], external_ref: "POS-1" } as const
  expect(await keptAfter((reads, shop_id) => reads.tickets(shop_id, filter, newest, 50))).toEqual([])
})

/** Every combination of two or more of these filters. */
const searches = [
  { state: ["ready"] },
  { state: ["ready", "workshop"] },
  { type: "repair" },
  { number: 7 },
  { phone: "+21620123456" },
  { external_ref: "POS-1" },
  { tracking_code: "CCCCCC" },
  { created_after: 1 },
  { created_before: 2 }
]
  .reduce<ReadonlyArray<object>>((all, one) => all.concat(all.map((other) => ({ ...other, ...one }))), [{}])
  .filter((filter) => Object.keys(filter).length > 1) as ReadonlyArray<TicketFilter>

it("a connection prepares a list even after more searches than it may have prepared statements", async () => {
  // No other test queries these three states, because all connections of a process share the list of known statements.
  const list: Read = (reads, shop_id) =>
    reads.tickets(shop_id, { state: ["ready", "workshop", "impossible"] }, newest, 50)
  const before: Read = (reads, shop_id) =>
    Effect.forEach([51, 101, 50], (count) =>
      Effect.forEach(searches, (filter) => reads.tickets(shop_id, filter, newest, count))
    )
  expect(await keptAfter(list, { before })).toEqual([{ title: "list tickets", isKept: true }])
})
