import { Effect } from "effect"
import * as Need from "../decisions/Load.js"
import { beginNotification, recordNotification } from "../decisions/sendNotification.js"
import type { ShopId } from "../domain/Identifier.js"
import { MINUTE_MS } from "../domain/Instant.js"
import type { Message } from "../domain/Message.js"
import { ticketView } from "../domain/Ticket.js"
import { Messages } from "../ports/Messages.js"
import { cases, each, holds, same } from "./ContractCase.js"
import { changing, loaded, openAccount, openShop, placing, run, warning } from "./Fixtures.js"

/** More than other cases leave behind. */
const PLENTY = 100_000

const warn = (shop_id: ShopId) => run(changing(shop_id, (changes) => changes.tellOwner(warning)))

/** The messages of these shops due by then: others may share the store. */
const dueIn = (shops: ReadonlyArray<{ readonly id: ShopId }>, until: number) =>
  Effect.flatMap(Messages, ({ due }) =>
    Effect.map(due(until, PLENTY), (messages) =>
      messages.filter(({ shop_id }) => shops.some((shop) => shop.id === shop_id))
    )
  )

const brief = ({ id, receiver, attempts_made, due_at }: Message) => [id, receiver, attempts_made, due_at]

/** Which messages wait to be told to clients and owners (Specification, States; Webhooks). */
export const messagesContract = cases({
  "a notification and a notice wait from the instant of their change, and say what is stored": function* (bench) {
    const { clock, shop, start, directory } = bench

    const { id: client_id } = yield* openAccount()
    const [record] = yield* run(placing(shop.id, [{ client_id }]))
    const ticket = ticketView(record!, shop, null)
    const told = { client_id, type: "ticket.ready", ticket, ticket_id: record!.id } as const
    yield* run(changing(shop.id, (changes) => changes.tellClient(told)))
    clock.advance(1)
    yield* warn(shop.id)
    yield* same("not before", yield* dueIn([shop], start - 1), [])
    const [first, second] = yield* dueIn([shop], start + 1)
    yield* same("the client", brief(first!), [first!.id, "client", 0, start])
    yield* same("what they are told", first!.says, (yield* directory.inbox(client_id))[0])
    yield* same("the owner", brief(second!), [second!.id, "owner", 0, start + 1])
    yield* same("what that is", second!.says, { ...warning, shop_id: shop.id, id: second!.id, created_at: start + 1 })
  },

  "after the clock was set back, a message is due at once, and recorded in its order (Specification, Webhooks)":
    function* (bench) {
      const { clock, shop, start } = bench

      clock.set(start + 9 * MINUTE_MS)
      yield* warn(shop.id)
      clock.set(start)
      yield* warn(shop.id)
      const [message] = yield* dueIn([shop], start)
      yield* same("due", message?.due_at, start)
      yield* same("recorded", message?.says.created_at, start + 9 * MINUTE_MS)
    },

  "one begun waits on under its next instant, and is begun once however many found it": function* ({ shop, start }) {
    yield* warn(shop.id)
    const [message] = yield* dueIn([shop], start)
    const begun = yield* Effect.replicateEffect(run(beginNotification(message!)), 5, { concurrency: "unbounded" })
    yield* same("begun", begun.filter((answer) => answer === "begun").length, 1)
    yield* same("put off", yield* dueIn([shop], start + MINUTE_MS - 1), [])
    yield* same("again", (yield* dueIn([shop], start + MINUTE_MS)).map(brief), [
      [message!.id, "owner", 1, start + MINUTE_MS]
    ])
    const { says: _, ...row } = message!
    const expected = { ...row, attempts_made: 1, due_at: start + MINUTE_MS }
    yield* same("needed", yield* run(loaded(shop.id, Need.message(row.id, 1))), expected)
    yield* same("under another count", yield* run(loaded(shop.id, Need.message(row.id, 0))), null)
  },

  "one that was told waits no more, and leaves the others": function* ({ shop, start }) {
    for (let n = 0; n < 3; n++) yield* warn(shop.id)
    const [first, second, third] = yield* dueIn([shop], start)
    yield* run(beginNotification(second!))
    yield* same("told", yield* run(recordNotification({ ...second!, attempts_made: 1 }, true)), "told")
    yield* same("an echo", yield* run(recordNotification({ ...second!, attempts_made: 1 }, true)), "superseded")
    const left = each(yield* dueIn([shop], start + PLENTY * MINUTE_MS), "id")
    yield* same("left", [...left].sort(), [first!.id, third!.id].sort())
  },

  "the earliest come first, across shops, and a limit leaves the later ones for next time": function* (bench) {
    const { clock, start, messages } = bench

    const { due } = messages
    const shops = yield* Effect.replicateEffect(openShop(), 3)
    for (const [step, at] of [2, 0, 1, 1, 2, 0].entries()) {
      clock.set(start + step)
      yield* warn(shops[at]!.id)
    }
    const found = yield* dueIn(shops, start + 4)
    yield* same(
      "due",
      each(found, "shop_id", "due_at"),
      [2, 0, 1, 1, 2].map((at, step) => [shops[at]!.id, start + step])
    )
    const all = yield* due(start + 4, PLENTY)
    yield* holds(
      "in order",
      all.every(({ due_at }, i) => i === 0 || due_at >= all[i - 1]!.due_at)
    )
    for (const limit of [1, 3, all.length]) {
      const instants = each(yield* due(start + 4, limit), "due_at")
      yield* same(`limit ${limit}`, instants, each(all.slice(0, limit), "due_at"))
    }
  }
})
