// The statements that the store sends to Postgres, for packages/store-pg/statements.sql. The statements of commands
// come from their tables. All others are recorded by calling each method of a store on an empty database.
import { Effect, Layer } from "effect"
import { Probes } from "../packages/core/dist/ports/Probes.js"
import {
  AuditLog,
  Closures,
  Deliveries,
  DeliveryLog,
  Directory,
  NotificationQueue,
  PersonalData,
  RateLimits,
  Reads,
  SandboxData
} from "../packages/core/dist/ports/StorePorts.js"
import { openAccount, openShop, putChanges, runCommand } from "../packages/core/dist/testing/Fixtures.js"
import { RiggedEntropy } from "../packages/core/dist/testing/RiggedEntropy.js"
import { SettableClock } from "../packages/core/dist/testing/SettableClock.js"
import {
  LOAD_SHOPS,
  LOCK_FREE_HEADS,
  LOCK_HEADS,
  lookUpReceipt,
  putReceipt
} from "../packages/store-pg/dist/commands/CommandBatch.js"
import { loadStatementTexts } from "../packages/store-pg/dist/commands/LoadStatements.js"
import { saveStatements } from "../packages/store-pg/dist/commands/SaveStatements.js"
import { DEFAULT_SCHEMA } from "../packages/store-pg/dist/connection/Schema.js"
import { textsIn } from "../packages/store-pg/dist/connection/Statement.js"
import { resetQueues } from "../packages/store-pg/dist/deliveries/ClaimStatements.js"
import { notifyStatement } from "../packages/store-pg/dist/deliveries/PgNotifier.js"
import { layer } from "../packages/store-pg/dist/PgStore.js"
import { retention } from "../packages/store-pg/dist/retention/Retention.js"
import { capture, titleOf } from "../packages/store-pg/test/captureStatements.mjs"

/** @typedef {{ readonly title: string, readonly by: string, readonly text: string }} SentStatement */

const ID = "01890000-0000-7000-8000-000000000001"
const NOW = Date.parse("2026-01-01T00:00:00Z")

/**
 * The statements of commands. A batch sends one of the locks, the loads that its commands need, and its saves as one
 * statement.
 */
const ofCommands = () => {
  const describe =
    (/** @type {string} */ by) =>
    (/** @type {Omit<import("../packages/store-pg/dist/connection/Statement.js").Statement, "values">} */ one) => ({
      title: one.name,
      by,
      text: textsIn(DEFAULT_SCHEMA)(one)
    })
  const receipt = { connection: "", batch: 0, saved_at: 0 }
  const receipts = [putReceipt(receipt), lookUpReceipt(receipt)]
  return [
    ...[LOCK_HEADS, LOCK_FREE_HEADS, LOAD_SHOPS, ...loadStatementTexts, ...saveStatements, ...receipts].map(
      describe("workshop lane")
    ),
    describe("workshop deliveries")(resetQueues(new Set())),
    describe("workshop notifier")(notifyStatement("", new Set(), DEFAULT_SCHEMA))
  ]
}

const FILTER = {
  number: 1,
  client_id: ID,
  phone: "+21620000000",
  external_ref: "R",
  created_after: 0,
  created_before: NOW
}
const NEWEST = { _tag: "Newest", after: ID }

const called = Effect.gen(function* () {
  const { id } = yield* openShop()
  const account = yield* openAccount()
  const reads = /** @type {any} */ (yield* Reads)
  yield* reads.shop(id)
  yield* reads.ticket(id, ID)
  yield* reads.tickets(id, FILTER, NEWEST, 50)
  yield* reads.tickets(id, { state: ["ready", "workshop"] }, NEWEST, 50)
  yield* reads.tickets(id, {}, { _tag: "Changes", since: 0, after: 1 }, 50)
  yield* reads.ticketsOfNumber(id, 1, 100)
  yield* reads.client(id, { id: account.id })
  yield* reads.keys(id)
  yield* reads.externalRefs(id, ["R"])
  yield* reads.events(id)
  const directory = /** @type {any} */ (yield* Directory)
  yield* directory.listShops(id, 50)
  yield* directory.listClients(id, 50)
  yield* directory.tracked("")
  yield* directory.latest
  yield* directory.shopsAhead(0)
  yield* directory.markSandboxMade
  yield* directory.isSandboxMade
  yield* directory.hasShops
  yield* directory.claimFirstShop
  yield* directory.keyByHash("")
  yield* directory.keysUsed(new Map([[ID, NOW]]))
  for (const _tag of ["Ticket", "Offer", "Key"]) yield* directory.shopOf({ _tag, id: ID })
  yield* directory.account(account.id)
  yield* directory.holders([FILTER.phone])
  yield* directory.offers(account.id)
  yield* directory.changeClient(account)
  yield* directory.inbox(account.id)
  const audit = /** @type {any} */ (yield* AuditLog)
  yield* audit.append({ shop_id: id, id: ID, created_at: NOW, actor: "owner", act: "shop.changed", details: {} })
  yield* audit.list(id, ID, 50)
  const personal = /** @type {any} */ (yield* PersonalData)
  const person = yield* personal.beginErasure(account.id, [])
  yield* personal.shops(person)
  // The offer makes the store look up its ticket.
  const [phone] = person.phones
  const offer = { id: ID, shop_id: id, ticket_id: ID, phone, status: "accepted", created_at: NOW, answered_at: NOW }
  yield* runCommand(putChanges(id, /** @type {any} */ ({ _tag: "OfferPut", row: offer })))
  yield* personal.readShopData(id, person)
  yield* personal.events(id, person, [ID], 1)
  yield* personal.idempotencyRecords(id, person, [ID], null)
  yield* personal.endErasure(account.id)
  yield* (yield* Closures).due(NOW, 256)
  const queue = yield* NotificationQueue
  yield* queue.due(NOW, 256)
  yield* queue.due(NOW, 256, "owner")
  yield* queue.dueAfter(id, NOW, 256)
  yield* audit.list(null, null, 50)
  const log = yield* DeliveryLog
  yield* log.deliveries(id)
  yield* log.count(id, {})
  yield* log.notices(id)
  const deliveries = yield* Deliveries
  yield* deliveries.claim(NOW, 1)
  yield* deliveries.reclaim
  yield* deliveries.next(NOW)
  yield* deliveries.replays
  yield* (yield* RateLimits).take([{ policy: "requests_per_minute", subject: "a key", time_zone: null }], NOW)
  const whole = yield* SandboxData
  yield* whole.ofShop(id)
  for (const { measure = Effect.void, complaint = Effect.void } of (yield* Probes) ?? []) {
    yield* measure
    yield* complaint
  }
  yield* whole.clear
})

/** The statements that are left out, because it depends on timing which connection sends them and when. */
const COMMON = ["begin", "commit", "rollback", "listen", "heartbeat", "settle", "whose session"]

/** All statements by name. Of a statement with several forms, only some are included. @param {string} url */
export const statements = (url) =>
  Effect.gen(function* () {
    const clock = new SettableClock()
    clock.set(NOW)
    const { sent, stop } = capture()
    const store = Layer.provideMerge(
      layer({ url }),
      Layer.mergeAll(
        new RiggedEntropy(1).layer,
        clock.layer,
        Layer.sync(Probes, () => new Set())
      )
    )
    yield* /** @type {Effect.Effect<unknown, unknown>} */ (
      Effect.flatMap(retention({ url }), ({ runOnce }) => runOnce).pipe(
        Effect.zipRight(Effect.provide(called, store)),
        Effect.withClock(clock),
        Effect.scoped,
        Effect.ensuring(Effect.sync(stop))
      )
    )
    const others = [...sent.values()].flatMap(({ text, by }) => {
      const title = titleOf(text)
      return title === undefined || COMMON.includes(title) ? [] : [{ title, by, text }]
    })
    // Statements that differ only in their numbers are included once, because each monthly partition has its own.
    const distinct = others.filter(({ title, text }, i) => {
      const like = others.findIndex(
        (other) => other.title === title && other.text.replace(/\d+/g, "") === text.replace(/\d+/g, "")
      )
      return like === i
    })
    return /** @type {ReadonlyArray<SentStatement>} */ ([...ofCommands(), ...distinct])
  })
