import { Effect } from "effect"
import { changeStatus } from "../decisions/changeStatus.js"
import { recordVisit } from "../decisions/clientLink.js"
import { giveStamps, type StampCount } from "../decisions/giveStamps.js"
import { type IdempotencyKey, makeIdempotent } from "../decisions/Idempotency.js"
import { startReplay } from "../decisions/replayDeliveries.js"
import { createKey, type KeyInput } from "../decisions/shopSettings.js"
import type { TicketId } from "../domain/Identifier.js"
import { DAY_MS } from "../domain/Instant.js"
import { RateLimits, SandboxData } from "../ports/StorePorts.js"
import { type CaseFixture, expectSame, expectThat, makeCases } from "./ContractCase.js"
import { createTestTicket, failingNotice, makeChanges, openAccount, putChanges, runCommand } from "./Fixtures.js"
import { record, statusResult } from "./TestDispatcher.js"

/** Opens a shop with every kind of row, and returns it with its clients. */
const openFullShop = Effect.fnUntraced(function* ({
  dispatcher,
  reads,
  clock
}: Pick<CaseFixture, "dispatcher" | "reads" | "clock">) {
  const shop_id = yield* dispatcher.open
  const { id: client_id } = yield* openAccount()
  const stranger = yield* openAccount()
  yield* runCommand(recordVisit(shop_id, client_id))
  const { id: caller_id } = yield* runCommand(
    createKey(shop_id, { name: "Till", scopes: ["tickets:read"] } as unknown as KeyInput, `wk_test_${shop_id}`)
  )
  const program = { active: true, name: "Stamps", stamps_required: 3, stamps_per_ticket: 1, reward_label: "A hem" }
  const { shop } = (yield* reads.shop(shop_id))!
  yield* runCommand(putChanges(shop_id, { _tag: "ShopPut", row: { ...shop, program } }))
  const { id } = yield* runCommand(createTestTicket(shop_id, { service: "Hem", client_id }))
  yield* runCommand(changeStatus(shop_id, id as TicketId, "ready"))
  yield* runCommand(createTestTicket(shop_id, { service: "Hem", client_phone: stranger.phone }))
  const gift = giveStamps(shop_id, { client_id, caller_id, count: 2 as StampCount })
  const operation = { caller_id, operation: "loyalty.stamps", key: "once" as IdempotencyKey, request: { client_id } }
  yield* runCommand(makeIdempotent(operation, gift))
  yield* runCommand(makeChanges(shop_id, (changes) => void changes.notifyOwner(failingNotice)))
  clock.advance(1)
  for (const claim of yield* dispatcher.claim(1)) yield* record(claim, statusResult(500))
  yield* runCommand(startReplay(shop_id, { state: "pending" }))
  return { shop: (yield* reads.shop(shop_id))!.shop, client_id, stranger }
})

/** Reading, removing and restoring all data of a sandbox (Specification, Sandbox). */
export const sandboxDataContract = makeCases({
  "all data of a shop are read as changes, which restore the shop after `clear`": function* (bench) {
    const { directory, deliveries, closures, reads, store, clock } = bench
    const whole = yield* SandboxData
    yield* directory.markSandboxMade
    const { shop, client_id, stranger } = yield* openFullShop(bench)
    const shopData = yield* whole.ofShop(shop.id)
    const accounts = [yield* directory.account(client_id), stranger]
    const until = clock.unsafeCurrentTimeMillis() + 90 * DAY_MS
    const due = yield* closures.due(until, 100_000)
    const ofShop = due.filter(({ shop_id }) => shop_id === shop.id)

    yield* expectSame("cleared", yield* whole.clear, true)
    yield* expectSame("shops", yield* directory.listShops(null, 10), [])
    yield* expectSame("accounts", yield* directory.listClients(null, 10), [])
    yield* expectSame("closures", yield* closures.due(until, 10), [])
    yield* expectSame("next delivery", yield* deliveries.next(until), null)
    yield* expectSame("the shop", yield* reads.shop(shop.id), null)
    yield* expectSame("still a sandbox's", yield* directory.isSandboxMade, true)

    yield* directory.createShop(shop)
    for (const account of accounts) yield* directory.createClient(account!)
    yield* store.transact(putChanges(shop.id, ...shopData))
    const tags = new Set(shopData.map(({ _tag }) => _tag))
    yield* expectThat(`every kind of row is there, but got ${[...tags]}`, tags.size === 17)
    yield* expectSame("all of it", yield* whole.ofShop(shop.id), shopData)
    yield* expectSame("closures again", yield* closures.due(until, 100_000), ofShop)
    yield* expectSame("deliveries are claimed again", (yield* bench.dispatcher.claim()).length, 2)
  },

  "limits count from 0 after `clear`": function* ({ directory, limits, start }) {
    yield* directory.markSandboxMade
    const use = { policy: "unauthenticated_per_minute", subject: "192.0.2.77", time_zone: null } as const
    const { take } = yield* RateLimits
    yield* take([use], start)
    const { limit, remaining } = yield* limits.peek(use, start)
    yield* expectSame("used", remaining, limit - 1)
    yield* (yield* SandboxData).clear
    yield* expectSame("unused", (yield* limits.peek(use, start)).remaining, limit)
  }
})
