import { QuoteInput, type TicketId } from "@workshop/core"
import { checkData } from "@workshop/store-pg/migrate"
import { Effect, Exit, Schema, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { changeStatus } from "../../../core/src/decisions/changeStatus.js"
import { recordVisit } from "../../../core/src/decisions/clientLink.js"
import { createTicket } from "../../../core/src/decisions/createTicket.js"
import { proposeQuote } from "../../../core/src/decisions/quotes.js"
import { startReplay } from "../../../core/src/decisions/replayDeliveries.js"
import { setWebhook } from "../../../core/src/decisions/webhookSettings.js"
import { freshPhone, openAccount, openShop, runCommand, ticketInput } from "../../../core/src/testing/Fixtures.js"
import { checkInvariants } from "../../src/check/checkData.js"
import { invariants } from "../../src/check/invariants.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { copyOf, testDatabase } from "../cluster/TestDatabase.js"
import { database, node, runTest } from "../nodes/Node.js"

const TIMEOUT_MS = 60_000

/**
 * Fills a shop: a webhook, a linked ticket that is ready and earned a stamp, an offered ticket with a quote, and a
 * replay.
 */
const work = Effect.fnUntraced(function* (url: string) {
  const ports = yield* node({ url })
  yield* Effect.gen(function* () {
    const { id } = yield* openShop()
    const account = yield* openAccount()
    yield* runCommand(setWebhook(id, { url: "https://example.com/", secret: "whsec_x" }))
    yield* runCommand(recordVisit(id, account.id))
    const make = (input: Parameters<typeof ticketInput>[0]) =>
      runCommand(createTicket(id, ticketInput(input), { via: "api", foundWords: [] }))
    const linked = yield* make({ service: "Hem", client_id: account.id })
    const offered = yield* make({ service: "Zip", client_phone: yield* freshPhone })
    yield* runCommand(proposeQuote(id, offered.id as TicketId, Schema.decodeSync(QuoteInput)({ price_minor: 900 })))
    yield* runCommand(changeStatus(id, linked.id as TicketId, "ready"))
    yield* runCommand(startReplay(id, {}))
  }).pipe(Effect.provide(ports))
}, Effect.scoped)

const scope = Effect.runSync(Scope.make())
let original: { readonly url: string }
beforeAll(
  () =>
    runTest(
      Effect.gen(function* () {
        original = yield* Scope.extend(testDatabase, scope)
        yield* work(original.url)
      })
    ),
  TIMEOUT_MS
)
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), TIMEOUT_MS)

/**
 * Statements that violate each invariant, and the number of rows that the check then finds. Each runs in a transaction
 * that is rolled back.
 */
const damages: Readonly<Record<string, ReadonlyArray<readonly [sql: string, count: number]>>> = {
  "shop-head": [["delete from shop_head", 1]],
  "shop-rows": [
    ["insert into webhook select gen_random_uuid(), url, secret, null, null, null, 0, null, 0, 1, 0 from webhook", 1]
  ],
  "schema-rules": [
    ["alter table offer add constraint later check (phone <> '') not valid", 1],
    ["update pg_index set indisvalid = false where indexrelid = 'offer_open'::regclass", 1]
  ],
  "ticket-number": [
    ["alter table ticket drop constraint ticket_number_range; update ticket set number = 0", 2],
    ["alter table shop_head drop constraint shop_head_next_number_range; update shop_head set next_number = 10000", 1]
  ],
  "change-place": [
    ["update shop_head set change_seq = 1", 2],
    ["update shop_head set last_recorded_at = 1", 2]
  ],
  "change-order": [
    ["update ticket set updated_at = updated_at + 60000, created_at = 0 where state = 'workshop'", 1],
    ["drop index ticket_change; update ticket set change_seq = 1", 1]
  ],
  "ticket-closure": [
    ["update ticket set closure_due_at = null", 2],
    ["update ticket set closure_due_at = closure_due_at + 1 where state = 'ready'", 1]
  ],
  "ticket-quote": [
    [`update ticket set quote = '{"status":"haggled","price_minor":1,"proposed_at":1}' where quote is not null`, 1],
    [`update ticket set quote = '{"status":"accepted","price_minor":1,"proposed_at":1}' where quote is not null`, 1],
    ["update ticket set quote = '{}' where quote is not null", 1]
  ],
  "offer-ticket": [
    ["update offer set ticket_id = gen_random_uuid()", 1],
    [
      "drop index offer_open; insert into offer (shop_id, id, ticket_id, phone, status, created_at) select shop_id, gen_random_uuid(), ticket_id, phone, status, 0 from offer",
      2
    ]
  ],
  "card-ledger": [
    ["update loyalty_card set balance = 0", 1],
    ["update loyalty_card set lifetime = lifetime + 1", 1],
    ["update loyalty_card set rewards_redeemed = 1", 1],
    ["delete from loyalty_card", 1],
    ["insert into loyalty_card select shop_id, gen_random_uuid(), 3, 3, 0, null from loyalty_card", 1]
  ],
  "ledger-ticket": [
    ["update ticket set stamps_earned = false", 1],
    ["update loyalty_ledger set ticket_id = gen_random_uuid()", 1]
  ],
  "link-client": [["delete from client_account", 1]],
  "notification-content": [["delete from notification", 1]],
  "event-order": [
    ["delete from event where seq = 2", 1],
    ["delete from event where seq = (select max(seq) from event)", 1],
    ["update event set seq = seq + 1 where seq = 1", 1],
    ["update shop_head set event_seq = event_seq - 1", 1]
  ],
  "delivery-event": [
    ["delete from event where seq = 1", 1],
    ["update delivery set ticket_id = null where seq = 1", 1]
  ],
  "delivery-webhook": [
    ["delete from webhook", 6],
    ["update delivery set generation = 2 where seq = 1", 1]
  ],
  "delivery-queue": [
    ["delete from delivery_queue", 1],
    ["update delivery_queue set next_claim_at = 253402300799999", 1]
  ],
  "queue-webhook": [["delete from webhook", 1]],
  "replay-range": [["update replay set until_seq = 1000", 1]]
}

describe("workshop check (docs/operating.md)", { timeout: TIMEOUT_MS }, () => {
  it("the check reports no violation in data that only the program wrote", () =>
    runTest(
      Effect.gen(function* () {
        expect(yield* checkData(original.url, { timeoutMs: TIMEOUT_MS })).toEqual({
          checks: Object.keys(damages).length,
          findings: []
        })
      })
    ))

  it("this file has damaging statements for every invariant", () => {
    expect(Object.keys(damages).sort()).toEqual(
      invariants(0)
        .map(({ name }) => name)
        .sort()
    )
  })

  it.each(Object.entries(damages))(
    "the check reports the rows that violate %s, with their shop",
    async (name, ways) => {
      await runTest(
        Effect.gen(function* () {
          const session = yield* openMigrationSession(original.url)
          for (const [sql, count] of ways) {
            yield* session.run("begin")
            yield* session.run(sql)
            const { findings } = yield* checkInvariants(session, TIMEOUT_MS)
            yield* session.run("rollback")
            const violation = findings.find((finding) => finding.name === name)
            expect([sql, violation?.count]).toEqual([sql, count])
            expect(violation?.first).toHaveLength(Math.min(count, 5))
            for (const row of violation!.first) expect(Object.keys(row)).toContain("shop_id")
          }
        })
      )
    }
  )

  it("the check does not report rows that retention removed as a gap", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* copyOf(original)
        const session = yield* openMigrationSession(url)
        yield* session.run(
          "update event set created_at = 0 where seq <= 3; delete from event where seq = 2; update delivery set lease_until = 0"
        )
        yield* session.run("delete from delivery where seq = 2")
        expect((yield* checkData(url, { timeoutMs: TIMEOUT_MS })).findings).toEqual([])
        yield* session.run("update event set created_at = (select max(created_at) from event)")
        expect((yield* checkData(url, { timeoutMs: TIMEOUT_MS })).findings.map(({ name }) => name)).toEqual([
          "event-order"
        ])
      })
    ))

  it("the check writes nothing, counts all rows that violate an invariant, and lists five of them", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        yield* session.run(`insert into delivery_queue select gen_random_uuid(), 0, n from generate_series(1, 20000) n`)
        const { findings } = yield* checkData(`${url}?options=-c%20default_transaction_read_only%3Don`, {
          timeoutMs: TIMEOUT_MS
        })
        const turns = findings.find(({ name }) => name === "queue-webhook")
        expect([turns?.count, turns?.first.length]).toEqual([20_000, 5])
      })
    ))

  it("a check that exceeds its time limit fails with an error that names the invariant and the remedy", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        yield* session.run("begin; lock table delivery_queue")
        const failed = yield* Effect.flip(checkData(url, { timeoutMs: 500 }))
        expect((failed as { message: string }).message).toMatch(
          /^The check [a-z-]+ took longer than 0\.5 seconds. Increase --timeout, or check a copy of the database\.$/
        )
      })
    ))

  it("the check refuses a database with another schema version", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* database
        yield* session.run("delete from schema_migration where version = (select max(version) from schema_migration)")
        expect(yield* Effect.flip(checkData(url, { timeoutMs: TIMEOUT_MS }))).toMatchObject({ _tag: "SchemaBehind" })
      })
    ))

  it("findings contain only ids and counts", () => {
    const columns = invariants(0).flatMap(({ sql }) => [
      ...sql.matchAll(/\b(phone|given_name|family_name|hash|secret|body)\b/g)
    ])
    expect(columns).toEqual([])
  })
})
