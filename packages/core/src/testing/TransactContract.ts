import { Data, Effect, Either, Exit, Fiber } from "effect"
import { type Command, makeCommand } from "../decisions/Command.js"
import type { ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import { Transactions } from "../ports/StorePorts.js"
import { expectSame, expectThat, makeCases, pluck, ticketIds } from "./ContractCase.js"
import {
  createTestTicket,
  FIRST_PAGE,
  makeChanges,
  makeId,
  openAccount,
  openShop,
  putTickets,
  runCommand
} from "./Fixtures.js"

class Refused extends Data.TaggedError("Refused")<{ readonly seen: number }> {}

/** Reads the shop's next number and increments it. If two commands ran concurrently, an increment would be lost. */
const makeCountCommand = (shop_id: ShopId): Command<number> =>
  makeCommand(shop_id, {}, ({ head }, _changes, { recorded_at }) => {
    const moved = { ...head, next_number: head.next_number + 1, last_recorded_at: recorded_at }
    return Either.right({
      result: head.next_number,
      changes: [{ _tag: "HeadPut", row: moved } as const],
      limitStatuses: []
    })
  })

const makeRefusingCommand = (shop_id: ShopId): Command<never, Refused> =>
  makeCommand(shop_id, {}, ({ head }) => Either.left(new Refused({ seen: head.next_number })))

const makeThrowingCommand = (shop_id: ShopId): Command<never> =>
  makeCommand(shop_id, {}, () => {
    throw new Error("a bug in a decision")
  })

const yieldTimes = (n: number) => Effect.yieldNow().pipe(Effect.repeatN(n))

/** Commands of one shop run one after another, each completely or not at all (docs/how-it-is-built.md). */
export const transactContract = makeCases({
  "`join` refuses a database client that is not in a transaction, and later commands run without the client":
    function* ({ shop }) {
      const { join } = yield* Transactions
      for (const client of [undefined, {}, { query: () => Promise.reject(new Error("no server")) }]) {
        const refused = yield* Effect.flip(join(client))
        yield* expectThat("it is refused", refused._tag === "TransactionRefused" || refused._tag === "StoreUnavailable")
      }
      yield* expectSame("the shop is as it was", yield* runCommand(makeCountCommand(shop.id)), 1)
    },

  "a command's changes are visible to every read after its result": function* ({ reads, shop }) {
    const { id, phone } = yield* openAccount()
    const ticket = yield* runCommand(createTestTicket(shop.id, { service: "Hem", client_phone: phone }))
    const state = yield* reads.shop(shop.id)
    const listed = yield* reads.tickets(shop.id, {}, FIRST_PAGE, 10)
    const events = yield* reads.events(shop.id)
    yield* expectSame("number moved on", state?.head.next_number, 2)
    yield* expectSame("the ticket is listed", ticketIds(listed.tickets), [ticket.id])
    yield* expectSame("its event is there", pluck(events, "type"), ["ticket.created"])
    yield* expectSame("and no client is linked by it", yield* reads.client(shop.id, { id }), null)
  },

  "a command sees the changes of earlier commands": function* ({ shop }) {
    const results = []
    for (let n = 0; n < 5; n++) results.push(yield* runCommand(makeCountCommand(shop.id)))
    yield* expectSame("each saw the last one's head", results, [1, 2, 3, 4, 5])
  },

  "a refused command saves nothing, and its refusal is returned unchanged": function* ({ reads, shop }) {
    yield* runCommand(makeCountCommand(shop.id))
    const before = yield* reads.shop(shop.id)
    const refusal = yield* Effect.flip(runCommand(makeRefusingCommand(shop.id)))
    yield* expectSame("the refusal", refusal instanceof Refused ? refusal.seen : refusal, 2)
    yield* expectSame("the shop is as it was", yield* reads.shop(shop.id), before)
  },

  "a decision that throws fails only its own command": function* ({ reads, shop }) {
    const exits = yield* Effect.forEach(
      Array.from({ length: 30 }, (_, i) => i),
      (i) =>
        Effect.exit(i % 3 === 1 ? runCommand(makeThrowingCommand(shop.id)) : runCommand(makeCountCommand(shop.id))),
      { concurrency: "unbounded" }
    )
    const failed = exits.flatMap((exit, i) => (Exit.isFailure(exit) ? [i % 3] : []))
    yield* expectSame("only those that throw fail", failed, Array(10).fill(1))
    yield* expectSame("the others are saved", (yield* reads.shop(shop.id))?.head.next_number, 21)
  },

  "commands and reads of an unknown shop fail with ShopNotFound, without an effect on commands in the same batch":
    function* ({ reads, shop }) {
      const unknownShopId = yield* makeId<ShopId>()
      const filter = { _tag: "Newest", after: null } as const
      const refusals = yield* Effect.all([
        Effect.flip(runCommand(makeCountCommand(unknownShopId))),
        Effect.flip(reads.ticket(unknownShopId, yield* makeId<TicketId>())),
        Effect.flip(reads.tickets(unknownShopId, {}, filter, 1)),
        Effect.flip(reads.ticketsOfNumber(unknownShopId, 1, 1))
      ])
      yield* expectSame("refused", pluck(refusals, "_tag"), Array(4).fill("ShopNotFound"))
      yield* expectSame("no client", yield* reads.client(unknownShopId, { id: yield* makeId<ClientId>() }), null)
      const both = yield* Effect.all(
        [Effect.either(runCommand(makeCountCommand(unknownShopId))), runCommand(makeCountCommand(shop.id))],
        {
          concurrency: 2
        }
      )
      yield* expectSame("the other is answered", both[1], 1)
    },

  "a refused command does not affect concurrent ones": function* ({ shop }) {
    const exits = yield* Effect.forEach(
      Array.from({ length: 40 }, (_, i) => i),
      (i) =>
        Effect.exit(i % 2 === 0 ? runCommand(makeRefusingCommand(shop.id)) : runCommand(makeCountCommand(shop.id))),
      { concurrency: "unbounded" }
    )
    yield* expectSame("twenty are answered", exits.filter(Exit.isSuccess).length, 20)
    yield* expectSame("and counted once each", yield* runCommand(makeCountCommand(shop.id)), 21)
  },

  "concurrent commands of several shops run one after another in each shop": function* () {
    const shops = yield* Effect.replicateEffect(openShop(), 4)
    const results = yield* Effect.forEach(
      Array.from({ length: 400 }, (_, i) => i),
      (i) => Effect.zipRight(yieldTimes((i * 7) % 5), runCommand(makeCountCommand(shops[i % 4]!.id))),
      { concurrency: "unbounded" }
    )
    for (const at of [0, 1, 2, 3]) {
      const own = results.filter((_, i) => i % 4 === at).sort((a, b) => a - b)
      yield* expectSame(
        "no number twice, none skipped",
        own,
        Array.from({ length: 100 }, (_, n) => n + 1)
      )
    }
  },

  "later writes do not change the objects that a read returned": function* ({ reads, shop }) {
    const [ticket] = yield* runCommand(putTickets(shop.id, [{}]))
    const state = yield* reads.shop(shop.id)
    const seen = yield* reads.ticket(shop.id, ticket!.id)
    const events = yield* reads.events(shop.id)
    yield* runCommand(createTestTicket(shop.id))
    yield* expectSame("head", state?.head.next_number, 1)
    yield* expectSame("ticket", seen.tickets[0]?.record, ticket)
    yield* expectSame("events", events, [])
  },

  "a command that is interrupted before it starts never runs": function* ({ reads, shop }) {
    let ran = 0
    const readOnlyChange = makeChanges(shop.id, () => {
      ran++
    })
    const fibers = yield* Effect.replicateEffect(Effect.fork(runCommand(readOnlyChange)), 20)
    yield* Fiber.interruptAll(fibers)
    yield* runCommand(makeCountCommand(shop.id))
    yield* expectSame("none ran", ran, 0)
    yield* expectSame("and nothing was saved", (yield* reads.shop(shop.id))?.head.next_number, 2)
  },

  "a command that is interrupted in flight is saved completely or not at all, and never after its end": function* (
    bench
  ) {
    const { reads, shop } = bench
    const fibers = yield* Effect.forEach(Array.from({ length: 60 }), () =>
      Effect.fork(runCommand(createTestTicket(shop.id)))
    )
    yield* yieldTimes(3)
    const exits = yield* Effect.forEach(
      fibers,
      (fiber, i) => (i % 2 === 0 ? Fiber.interrupt(fiber) : Fiber.await(fiber)),
      {
        concurrency: "unbounded"
      }
    )
    const state = yield* reads.shop(shop.id)
    const { tickets } = yield* reads.tickets(shop.id, {}, FIRST_PAGE, 100)
    const events = yield* reads.events(shop.id)
    const successCount = exits.filter(Exit.isSuccess).length
    yield* expectThat("every acknowledged ticket is saved", tickets.length >= successCount && successCount >= 30)
    yield* expectSame("each with its event", events.length, tickets.length)
    yield* expectSame("each with its number", state?.head.next_number, tickets.length + 1)
    yield* runCommand(makeCountCommand(shop.id))
    yield* expectSame("and none comes later", (yield* reads.events(shop.id)).length, events.length)
  },

  "a shop's clock never goes back, even if the process's clock does": function* ({ clock, reads, shop, start }) {
    const at = makeChanges(shop.id, () => undefined)
    const instants = []
    for (const step of [0, 50, -40, -1000, 20, 5000]) {
      clock.advance(step)
      instants.push((yield* runCommand(at)).recorded_at - start)
    }
    clock.set(start + 5000)
    yield* expectSame("instants", instants, [0, 50, 50, 50, 50, 4030])
    yield* expectSame("kept", (yield* reads.shop(shop.id))?.head.last_recorded_at, start + 4030)
    const other = yield* openShop()
    clock.set(start)
    yield* expectSame(
      "another shop has a clock of its own",
      (yield* runCommand(makeChanges(other.id, () => undefined))).recorded_at,
      start
    )
  },

  "if a drawn tracking code exists already, the ticket gets another one, and its command takes effect once": function* (
    bench
  ) {
    const { clock, entropy, reads, shop } = bench
    const first = yield* runCommand(createTestTicket(shop.id))
    clock.advance(1)
    entropy.repeat(1)
    const second = yield* runCommand(createTestTicket(shop.id))
    entropy.repeat(0)
    yield* expectThat("the codes differ", first.tracking_code !== second.tracking_code)
    yield* expectSame("nothing is skipped", [first.number, second.number], [1, 2])
    yield* expectSame("one event each", (yield* reads.events(shop.id)).length, 2)
    yield* expectSame("two tickets", (yield* reads.tickets(shop.id, {}, FIRST_PAGE, 9)).tickets.length, 2)
  },

  "two shops may have the same tracking code": function* ({ clock, entropy }) {
    const [one, other] = [yield* openShop(), yield* openShop()]
    const first = yield* runCommand(createTestTicket(one.id))
    clock.advance(1)
    entropy.repeat(1)
    const second = yield* runCommand(createTestTicket(other.id))
    entropy.repeat(0)
    yield* expectSame("the code", second.tracking_code, first.tracking_code)
  },

  "a result includes the limits that its decision used": function* ({ store, shop }) {
    const { limitStatuses } = yield* store.transact(createTestTicket(shop.id))
    yield* expectSame("statuses of limits", pluck(limitStatuses, "policy", "limit", "remaining"), [
      ["tickets_per_hour", 150, 149],
      ["tickets_per_day", 600, 599]
    ])
  }
})
