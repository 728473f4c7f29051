import { Effect } from "effect"
import { changeStatus, closeTicket, recordNotified } from "../decisions/changeStatus.js"
import { eraseRecords } from "../decisions/eraseClient.js"
import * as Load from "../decisions/Load.js"
import { beginNotification, discardNotification, recordNotification } from "../decisions/sendNotification.js"
import type { ShopId } from "../domain/Identifier.js"
import { DAY_MS, MINUTE_MS } from "../domain/Instant.js"
import type { ClientNotification, DueNotification, NotificationReceiver } from "../domain/Notification.js"
import { ticketView } from "../domain/Ticket.js"
import { Closures, type DueClosure, NotificationQueue } from "../ports/StorePorts.js"
import { expectSame, expectThat, makeCases, pluck } from "./ContractCase.js"
import {
  failingNotice,
  makeChanges,
  newTicket,
  openAccount,
  openShop,
  putChanges,
  putTickets,
  readLoad,
  runCommand
} from "./Fixtures.js"

const SIXTY_DAYS = 60 * DAY_MS
/** More rows than all cases together leave in the store. */
const PLENTY = 100_000

/** Fails unless `due` returns rows in the order of `due_at`, and only the first ones if there is a limit. */
const earliestFirst = Effect.fnUntraced(function* <E>(
  due: (limit: number) => Effect.Effect<ReadonlyArray<{ readonly due_at: number }>, E>
) {
  const all = pluck(yield* due(PLENTY), "due_at")
  yield* expectSame(
    "in order",
    all,
    all.toSorted((a, b) => a - b)
  )
  for (const limit of [1, 3, all.length]) {
    yield* expectSame(`limit ${limit}`, pluck(yield* due(limit), "due_at"), all.slice(0, limit))
  }
})

/** The closures of these shops that are due by `until`, because the store may have other shops. */
const readClosures = (shops: ReadonlyArray<{ readonly id: ShopId }>, until: number) =>
  Effect.flatMap(Closures, (closures) =>
    Effect.map(closures.due(until, PLENTY), (due) =>
      due.filter(({ shop_id }) => shops.some((shop) => shop.id === shop_id))
    )
  )

/** The tickets that are due for their automatic closure (Specification, States). */
export const closuresContract = makeCases({
  "a ticket is due for closure exactly sixty days after its creation": function* ({ shop, start }) {
    const id = yield* newTicket(shop.id)
    yield* expectSame("before", yield* readClosures([shop], start + SIXTY_DAYS - 1), [])
    const expected = [{ shop_id: shop.id, id, due_at: start + SIXTY_DAYS }]
    yield* expectSame("then", yield* readClosures([shop], start + SIXTY_DAYS), expected)
    yield* expectSame("and later", yield* readClosures([shop], start + 2 * SIXTY_DAYS), expected)
  },

  "a notification postpones the closure of a ticket in the workshop, and not that of a ready ticket": function* ({
    clock,
    shop,
    start
  }) {
    const [waiting, ready] = [yield* newTicket(shop.id), yield* newTicket(shop.id)]
    clock.set(start + DAY_MS)
    yield* runCommand(changeStatus(shop.id, ready, "ready"))
    clock.set(start + 2 * DAY_MS)
    yield* runCommand(recordNotified(shop.id, ready, "call"))
    clock.set(start + 3 * DAY_MS)
    yield* runCommand(recordNotified(shop.id, waiting, "sms"))
    const due = yield* readClosures([shop], start + 2 * SIXTY_DAYS)
    yield* expectSame("due", due, [
      { shop_id: shop.id, id: ready, due_at: start + DAY_MS + SIXTY_DAYS },
      { shop_id: shop.id, id: waiting, due_at: start + 3 * DAY_MS + SIXTY_DAYS }
    ])
  },

  "collected, impossible and closed tickets are never due, and a reopened one is due again": function* (bench) {
    const { clock, shop, start } = bench
    const [impossible, collected, reopened, closed] = yield* Effect.replicateEffect(newTicket(shop.id), 4)
    yield* runCommand(changeStatus(shop.id, impossible!, "impossible"))
    for (const id of [collected!, reopened!]) {
      yield* runCommand(changeStatus(shop.id, id, "ready"))
      yield* runCommand(changeStatus(shop.id, id, "collected"))
    }
    clock.set(start + 1000)
    yield* runCommand(changeStatus(shop.id, reopened!, "workshop"))
    clock.set(start + SIXTY_DAYS)
    yield* expectThat("closed", (yield* runCommand(closeTicket(shop.id, closed!))) !== null)
    yield* expectThat("not yet", (yield* runCommand(closeTicket(shop.id, reopened!))) === null)
    const expected = [{ shop_id: shop.id, id: reopened, due_at: start + 1000 + SIXTY_DAYS }]
    yield* expectSame("due", yield* readClosures([shop], start + 9 * SIXTY_DAYS), expected)
  },

  "due lists the notifications of one kind of receiver, and dueAfter those of a shop that are due later, until discarded":
    function* (bench) {
      const { clock, notificationQueue, shop, start } = bench
      const { phone } = yield* openAccount()
      const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_phone: phone }]))
      yield* runCommand(changeStatus(shop.id, ticket!.id, "ready"))
      for (const step of [1, 2]) {
        clock.set(start + step)
        yield* warn((yield* openShop()).id)
        yield* warn(shop.id)
      }
      const receivers = (receiver?: NotificationReceiver) =>
        Effect.map(notificationQueue.due(start + 2, PLENTY, receiver), (due) =>
          pluck(
            due.filter(({ shop_id }) => shop_id === shop.id),
            "receiver",
            "due_at"
          )
        )
      const [notification, early, late] = [
        ["client", start],
        ["owner", start + 1],
        ["owner", start + 2]
      ]
      yield* expectSame("all", yield* receivers(), [notification, early, late])
      yield* expectSame("clients", yield* receivers("client"), [notification])
      yield* expectSame("owners", yield* receivers("owner"), [early, late])
      const after = (instant: number, limit: number) =>
        Effect.map(notificationQueue.dueAfter(shop.id, instant, limit), (notifications) =>
          pluck(notifications, "receiver", "due_at")
        )
      yield* expectSame("later", yield* after(start, PLENTY), [early, late])
      yield* expectSame("a limit", yield* after(start - 1, 2), [notification, early])
      yield* expectSame("none", yield* after(start + 2, PLENTY), [])
      const [queued] = yield* notificationQueue.dueAfter(shop.id, start - 1, 1)
      yield* expectSame("discarded", yield* runCommand(discardNotification(queued!)), true)
      yield* expectSame("once", yield* runCommand(discardNotification(queued!)), false)
      yield* expectSame("left", yield* after(start - 1, PLENTY), [early, late])
    },

  "the closures of all shops are returned earliest first, and a limit leaves out the later ones": function* (bench) {
    const { clock, closures, start } = bench
    const shops = yield* Effect.replicateEffect(openShop(), 3)
    const expected: Array<DueClosure> = []
    for (const [step, at] of [2, 0, 1, 1, 2, 0, 0, 2].entries()) {
      clock.set(start + step)
      const shop_id = shops[at]!.id
      expected.push({ shop_id, id: yield* newTicket(shop_id), due_at: start + step + SIXTY_DAYS })
    }
    const until = start + SIXTY_DAYS + 6
    yield* expectSame("due", yield* readClosures(shops, until), expected.slice(0, 7))
    yield* earliestFirst((limit) => closures.due(until, limit))
  },

  "a clock that was ahead closes no ticket early, and delays no closure beyond sixty days (Specification, States)":
    function* (bench) {
      const { clock, shop, start } = bench
      const early = yield* newTicket(shop.id)
      clock.set(start + SIXTY_DAYS)
      const ahead = yield* newTicket(shop.id)
      clock.set(start)
      yield* expectThat("not yet", (yield* runCommand(closeTicket(shop.id, early))) === null)
      clock.set(start + DAY_MS)
      const late = yield* newTicket(shop.id)
      yield* expectSame("due", yield* readClosures([shop], start + 2 * SIXTY_DAYS), [
        { shop_id: shop.id, id: early, due_at: start + SIXTY_DAYS },
        { shop_id: shop.id, id: late, due_at: start + DAY_MS + SIXTY_DAYS },
        { shop_id: shop.id, id: ahead, due_at: start + 2 * SIXTY_DAYS }
      ])
    },

  "concurrent closures of a ticket close it once, at the instant at which it was due": function* ({
    clock,
    reads,
    shop,
    start
  }) {
    const id = yield* newTicket(shop.id)
    clock.set(start + SIXTY_DAYS + 12_345)
    const closings = yield* Effect.replicateEffect(runCommand(closeTicket(shop.id, id)), 5, {
      concurrency: "unbounded"
    })
    yield* expectSame("closings", closings.filter((ticket) => ticket !== null).length, 1)
    const record = (yield* reads.ticket(shop.id, id)).tickets[0]!.record
    yield* expectSame("abandoned_at", record.abandoned_at, start + SIXTY_DAYS)
    yield* expectSame("events", pluck(yield* reads.events(shop.id), "type"), ["ticket.created", "ticket.abandoned"])
  }
})

const warn = (shop_id: ShopId) => runCommand(makeChanges(shop_id, (changes) => changes.notifyOwner(failingNotice)))

/** The notifications of these shops that are due by `until`, because the store may have other shops. */
const readNotifications = (shops: ReadonlyArray<{ readonly id: ShopId }>, until: number) =>
  Effect.flatMap(NotificationQueue, ({ due }) =>
    Effect.map(due(until, PLENTY), (notifications) =>
      notifications.filter(({ shop_id }) => shops.some((shop) => shop.id === shop_id))
    )
  )

const summarize = ({ id, receiver, attempts_made, due_at }: DueNotification) => [id, receiver, attempts_made, due_at]

/** The notifications that wait to be sent to clients and owners (Specification, States; Webhooks). */
export const notificationQueueContract = makeCases({
  "a notification and a notice are due from the instant of their change, with the stored data": function* (bench) {
    const { clock, shop, start, directory } = bench
    const { id: client_id } = yield* openAccount()
    const [record] = yield* runCommand(putTickets(shop.id, [{ client_id }]))
    const ticket = ticketView(record!, shop, null, null)
    const notification = { client_id, type: "ticket.ready", ticket, ticket_id: record!.id } as const
    yield* runCommand(makeChanges(shop.id, (changes) => changes.notifyClient(notification)))
    clock.advance(1)
    yield* warn(shop.id)
    yield* expectSame("not before", yield* readNotifications([shop], start - 1), [])
    const [first, second] = yield* readNotifications([shop], start + 1)
    yield* expectSame("the client", summarize(first!), [first!.id, "client", 0, start])
    const [inInbox] = yield* directory.inbox(client_id)
    const { phone } = (yield* directory.account(client_id))!
    yield* expectSame("the notification", first!.payload, { ...inInbox, channel: "app", phone })
    yield* expectSame("the owner", summarize(second!), [second!.id, "owner", 0, start + 1])
    yield* expectSame("what that is", second!.payload, {
      ...failingNotice,
      shop_id: shop.id,
      id: second!.id,
      created_at: start + 1
    })
  },

  "a ticket without a linked client is notified at its number, until its holder blocks the shop or is erased":
    function* ({ directory, personalData, shop, start }) {
      const { id, phone } = yield* openAccount()
      const [ticket] = yield* runCommand(putTickets(shop.id, [{ client_phone: phone }]))
      yield* runCommand(changeStatus(shop.id, ticket!.id, "ready"))
      const payload = () => Effect.map(readNotifications([shop], start), ([notification]) => notification?.payload)
      const notification = (yield* payload()) as ClientNotification
      yield* expectSame(
        "by phone",
        [notification.channel, notification.phone, notification.client_id, notification.ticket_id],
        ["phone", phone, null, ticket!.id]
      )
      yield* expectSame("in no inbox", yield* directory.inbox(id), [])
      const person = { client_id: id, names: ["A", "B"], phones: [phone] }
      const { notifications } = yield* personalData.readShopData(shop.id, person)
      yield* expectSame("held", pluck(notifications, "id"), [notification.id])
      const row = { shop_id: shop.id, client_id: id, known_at: null, blocked_at: start }
      yield* runCommand(putChanges(shop.id, { _tag: "LinkPut", row }))
      yield* expectSame("blocked", yield* payload(), null)
      yield* runCommand(eraseRecords(shop.id, { offers: [], notifications }))
      yield* expectSame("erased", yield* payload(), undefined)
      yield* expectSame("for good", (yield* personalData.readShopData(shop.id, person)).notifications, [])
    },

  "after the clock was set back, a notification is due at once, and its created_at does not go back (Specification, Webhooks)":
    function* (bench) {
      const { clock, shop, start } = bench
      clock.set(start + 9 * MINUTE_MS)
      yield* warn(shop.id)
      clock.set(start)
      yield* warn(shop.id)
      const [notification] = yield* readNotifications([shop], start)
      yield* expectSame("due", notification?.due_at, start)
      yield* expectSame("recorded", notification?.payload?.created_at, start + 9 * MINUTE_MS)
    },

  "only one of several callers begins an attempt of a notification, which is then due again a minute later":
    function* ({ shop, start }) {
      yield* warn(shop.id)
      const [notification] = yield* readNotifications([shop], start)
      const begun = yield* Effect.replicateEffect(runCommand(beginNotification(notification!)), 5, {
        concurrency: "unbounded"
      })
      yield* expectSame("begun", begun.filter((answer) => answer === "begun").length, 1)
      yield* expectSame("put off", yield* readNotifications([shop], start + MINUTE_MS - 1), [])
      yield* expectSame("again", (yield* readNotifications([shop], start + MINUTE_MS)).map(summarize), [
        [notification!.id, "owner", 1, start + MINUTE_MS]
      ])
      const { payload: _, ...row } = notification!
      const expected = { ...row, attempts_made: 1, due_at: start + MINUTE_MS }
      yield* expectSame("needed", yield* runCommand(readLoad(shop.id, Load.queuedNotification(row.id, 1))), expected)
      yield* expectSame(
        "under another count",
        yield* runCommand(readLoad(shop.id, Load.queuedNotification(row.id, 0))),
        null
      )
    },

  "a notification is outdated once its ticket has left the state, and stays in the inbox": function* (bench) {
    const { directory, shop, start } = bench
    const { id: client_id } = yield* openAccount()
    const row = { shop_id: shop.id, client_id, known_at: start, blocked_at: null }
    yield* runCommand(putChanges(shop.id, { _tag: "LinkPut", row }))
    const tickets = yield* runCommand(putTickets(shop.id, [{ client_id }, { client_id }]))
    for (const { id } of tickets) yield* runCommand(changeStatus(shop.id, id, "ready"))
    yield* runCommand(changeStatus(shop.id, tickets[0]!.id, "workshop"))
    for (const queued of yield* readNotifications([shop], start)) {
      const notification = queued.payload as ClientNotification
      const expected = notification.ticket_id === tickets[0]!.id ? "outdated" : "begun"
      yield* expectSame("begun", yield* runCommand(beginNotification(queued, notification)), expected)
    }
    yield* expectSame("left", (yield* readNotifications([shop], start + MINUTE_MS)).length, 1)
    yield* expectSame("in the inbox", (yield* directory.inbox(client_id)).length, 2)
  },

  "a notification that was sent is no longer due, and the others still are": function* ({ shop, start }) {
    for (let n = 0; n < 3; n++) yield* warn(shop.id)
    const [first, second, third] = yield* readNotifications([shop], start)
    yield* runCommand(beginNotification(second!))
    yield* expectSame("sent", yield* runCommand(recordNotification({ ...second!, attempts_made: 1 }, true)), "sent")
    yield* expectSame(
      "an echo",
      yield* runCommand(recordNotification({ ...second!, attempts_made: 1 }, true)),
      "superseded"
    )
    const remainingIds = pluck(yield* readNotifications([shop], start + PLENTY * MINUTE_MS), "id")
    yield* expectSame("left", [...remainingIds].sort(), [first!.id, third!.id].sort())
  },

  "the notifications of all shops are returned earliest first, and a limit leaves out the later ones": function* (
    bench
  ) {
    const { clock, start, notificationQueue } = bench
    const shops = yield* Effect.replicateEffect(openShop(), 3)
    for (const [step, at] of [2, 0, 1, 1, 2, 0].entries()) {
      clock.set(start + step)
      yield* warn(shops[at]!.id)
    }
    const queued = yield* readNotifications(shops, start + 4)
    yield* expectSame(
      "due",
      pluck(queued, "shop_id", "due_at"),
      [2, 0, 1, 1, 2].map((at, step) => [shops[at]!.id, start + step])
    )
    yield* earliestFirst((limit) => notificationQueue.due(start + 4, limit))
  }
})
