import { layer as memoryStore } from "@workshop/store-memory"
import { Cause, Effect, Exit, Fiber, Layer, Logger, LogLevel } from "effect"
import { describe, expect, it } from "vitest"
import { changeStatus } from "../../src/decisions/changeStatus.js"
import { createTicket } from "../../src/decisions/createTicket.js"
import type { ClientId, ShopId, TicketId } from "../../src/domain/Identifier.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { ClientNotifier, NotificationFailed, OwnerNotifier } from "../../src/ports/Notifiers.js"
import { Directory, Store, type StorePorts, StoreUnavailable } from "../../src/ports/StorePorts.js"
import * as Notifiers from "../../src/services/background/DefaultNotifiers.js"
import { NotificationSender } from "../../src/services/background/NotificationSender.js"
import { ClockAdvance, SandboxClock } from "../../src/services/clock/ClockAdvance.js"
import {
  failingNotice,
  makeChanges,
  openAccount,
  openShop,
  putChanges,
  runCommand,
  ticketInput
} from "../../src/testing/Fixtures.js"
import { TEST_START } from "../../src/testing/SettableClock.js"
import { record, statusResult, TestDispatcher } from "../../src/testing/TestDispatcher.js"
import { HastyClock, until } from "./DispatcherFixture.js"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/**
 * The times of all attempts (Specification, Webhooks): each 1 min, 5 min, 30 min, 2 h, 6 h, 12 h or 24 h after the
 * last.
 */
const EIGHT = [0, MINUTE, 6 * MINUTE, 36 * MINUTE, 156 * MINUTE, 516 * MINUTE, 1236 * MINUTE, 2676 * MINUTE]

/** Replaces the embedder's notifiers: records the notifications, and returns the result that the test has set. */
class RecordingNotifiers {
  readonly notified: Array<{ readonly id: string; readonly at: number; readonly says: unknown }> = []
  script: (id: string) => Effect.Effect<void, NotificationFailed> = () => Effect.void

  readonly #notify = (notification: { readonly id: string }) =>
    Effect.clockWith((clock) => {
      this.notified.push({ id: notification.id, at: clock.unsafeCurrentTimeMillis(), says: notification })
      return this.script(notification.id)
    })

  readonly layer = Layer.merge(
    Layer.succeed(ClientNotifier, { notify: this.#notify }),
    Layer.succeed(OwnerNotifier, { notify: this.#notify })
  )

  /** The milliseconds from `start` to each notification. */
  since(start: number): ReadonlyArray<number> {
    return this.notified.map(({ at }) => at - start)
  }
}

interface Bench {
  readonly clock: HastyClock
  readonly notifiers: RecordingNotifiers
  readonly logs: Array<string>
}

const withNotificationSender =
  <A, E>(
    body: (
      bench: Bench
    ) => Effect.Effect<A, E, NotificationSender | ClientNotifier | OwnerNotifier | StorePorts | Entropy>,
    around: Layer.Layer<StorePorts, never, StorePorts | Entropy> = Layer.context()
  ) =>
  async (): Promise<void> => {
    const bench: Bench = { clock: new HastyClock(), notifiers: new RecordingNotifiers(), logs: [] }
    const log = Logger.replace(Logger.defaultLogger, collectLogs(bench.logs))
    const layers = NotificationSender.Default.pipe(
      Layer.provideMerge(bench.notifiers.layer),
      Layer.provideMerge(around),
      Layer.provideMerge(memoryStore),
      Layer.provideMerge(Entropy.layerSeeded(1)),
      Layer.provideMerge(Layer.merge(bench.clock.layer, log))
    )
    const exit = await Effect.runPromiseExit(body(bench).pipe(Effect.provide(layers), Effect.withClock(bench.clock)))
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  }

const collectLogs = (logs: Array<string>) => Logger.map(Logger.logfmtLogger, (line) => void logs.push(line))

/** A shop that knows a client, who may block it. */
const openShopWithClient = Effect.fnUntraced(function* (blocked_at: number | null = null) {
  const { id } = yield* openShop()
  const { id: client_id } = yield* openAccount()
  yield* runCommand(
    putChanges(id, { _tag: "LinkPut", row: { shop_id: id, client_id, known_at: TEST_START, blocked_at: null } })
  )
  const ticket = yield* runCommand(
    createTicket(id, ticketInput({ service: "Hem", client_id }), { via: "api", foundWords: [] })
  )
  if (blocked_at !== null)
    yield* runCommand(
      putChanges(id, { _tag: "LinkPut", row: { shop_id: id, client_id, known_at: TEST_START, blocked_at } })
    )
  return { shop_id: id, client_id, ticket: ticket.id as TicketId }
})

const ready = ({ shop_id, ticket }: { readonly shop_id: ShopId; readonly ticket: TicketId }) =>
  runCommand(changeStatus(shop_id, ticket, "ready"))

const inbox = (client_id: ClientId) => Effect.flatMap(Directory, (directory) => directory.inbox(client_id))

const notNow = Effect.fail(new NotificationFailed({}))

/** Sends the notifications that are due, from one instant to the next, until none waits. */
const untilNothingWaits = Effect.fnUntraced(function* (clock: HastyClock) {
  const sender = yield* NotificationSender
  for (let at = yield* sender.next(TEST_START + 9 * DAY); at !== null; at = yield* sender.next(at + 9 * DAY)) {
    clock.set(at)
    yield* sender.runOnce
  }
})

describe("Specification, States: a linked client's notification is passed to the embedder's notifier", () => {
  it(
    "a notification is passed to the notifier once, with the same content as in the inbox",
    withNotificationSender(({ notifiers }) =>
      Effect.gen(function* () {
        const met = yield* openShopWithClient()
        const { runOnce, next } = yield* NotificationSender
        expect(yield* runOnce).toBe(0)
        yield* ready(met)
        expect(yield* runOnce).toBe(1)
        const [notification] = yield* inbox(met.client_id)
        expect(notifiers.notified.map(({ says }) => says)).toEqual([
          { ...notification, channel: "app", phone: expect.any(String) }
        ])
        expect(notifiers.notified).toHaveLength(1)
        expect([yield* runOnce, yield* next(TEST_START + 99 * DAY)]).toEqual([0, null])
      })
    )
  )

  it(
    "a refused command sends no notification",
    withNotificationSender(({ notifiers }) =>
      Effect.gen(function* () {
        const met = yield* openShopWithClient()
        yield* ready(met)
        yield* (yield* NotificationSender).runOnce
        expect((yield* Effect.flip(ready(met)))._tag).toBe("SameState")
        expect([yield* (yield* NotificationSender).runOnce, notifiers.notified.length]).toEqual([0, 1])
      })
    )
  )

  it.each(["workshop", "collected"] as const)(
    "a notification is dropped if the ticket was %s before it was sent, or sent again, and stays in the inbox",
    (state) =>
      withNotificationSender(({ clock, notifiers }) =>
        Effect.gen(function* () {
          const { runOnce, next } = yield* NotificationSender
          const [early, late] = [yield* openShopWithClient(), yield* openShopWithClient()]
          const goesOn = ({ shop_id, ticket }: typeof early) => runCommand(changeStatus(shop_id, ticket, state))
          notifiers.script = () => notNow
          yield* ready(late)
          expect(yield* runOnce).toBe(1)
          yield* goesOn(late)
          yield* ready(early)
          yield* goesOn(early)
          clock.advance(DAY)
          expect([yield* runOnce, yield* next(TEST_START + 99 * DAY), notifiers.notified.length]).toEqual([0, null, 1])
          expect((yield* inbox(early.client_id)).map(({ type }) => type)).toEqual(["ticket.ready"])
        })
      )()
  )

  it(
    "no client is notified of a ticket that has no client, or whose client blocks the shop (Specification, Clients and loyalty)",
    withNotificationSender(({ notifiers }) =>
      Effect.gen(function* () {
        yield* ready(yield* openShopWithClient(TEST_START))
        const { id } = yield* openShop()
        const ticket = yield* runCommand(createTicket(id, ticketInput(), { via: "api", foundWords: [] }))
        yield* ready({ shop_id: id, ticket: ticket.id as TicketId })
        expect([yield* (yield* NotificationSender).runOnce, notifiers.notified]).toEqual([0, []])
      })
    )
  )

  it(
    "a process without a notifier leaves notifications to a process that has a notifier, for three days at most",
    withNotificationSender(({ clock, notifiers, logs }) =>
      Effect.gen(function* () {
        const without = yield* Effect.provide(
          NotificationSender,
          NotificationSender.Default.pipe(Layer.provide(Notifiers.layer))
        )
        const walkIns = Effect.fnUntraced(function* (count: number) {
          const { id: shop_id } = yield* openShop()
          const tickets: Array<TicketId> = []
          for (let n = 0; n < count; n++) {
            const { phone } = yield* openAccount()
            const input = ticketInput({ service: "Hem", client_phone: phone })
            const { id } = yield* runCommand(createTicket(shop_id, input, { via: "api", foundWords: [] }))
            tickets.push(id as TicketId)
            yield* ready({ shop_id, ticket: id as TicketId })
          }
          return tickets
        })
        const known = yield* openShopWithClient()
        yield* ready(known)
        yield* runCommand(makeChanges(known.shop_id, (changes) => changes.notifyOwner(failingNotice)))
        yield* walkIns(1)
        expect([yield* without.next(TEST_START + DAY), yield* without.runOnce]).toEqual([TEST_START, 1])
        expect(yield* without.next(TEST_START + DAY)).toBe(null)
        expect([logs.length, logs[0]]).toEqual([
          1,
          expect.stringContaining("The owner of a shop must be notified about the webhook")
        ])
        clock.advance(3 * DAY - 1)
        expect([yield* without.runOnce, yield* (yield* NotificationSender).runOnce]).toEqual([0, 2])
        expect(notifiers.notified).toHaveLength(2)

        yield* ready(yield* openShopWithClient())
        const [first] = yield* walkIns(2)
        expect(yield* without.next(clock.unsafeCurrentTimeMillis() + 9 * DAY)).toBe(
          clock.unsafeCurrentTimeMillis() + 3 * DAY
        )
        clock.advance(3 * DAY)
        expect([yield* without.runOnce, logs.length]).toEqual([0, 2])
        expect(logs[1]).toMatch(
          /level=WARN .*A client without an account was not notified, because no process .* for 3 days/
        )
        expect(logs[1]).toContain(first)
        expect([yield* without.runOnce, yield* (yield* NotificationSender).runOnce, notifiers.notified.length]).toEqual(
          [0, 0, 2]
        )
      })
    )
  )

  it(
    "two senders at the same time send a notification once",
    withNotificationSender(({ notifiers }) =>
      Effect.gen(function* () {
        for (let n = 0; n < 40; n++) yield* ready(yield* openShopWithClient())
        const another = Effect.provide(
          Effect.flatMap(NotificationSender, (other) => other.runOnce),
          NotificationSender.Default
        )
        const both = [(yield* NotificationSender).runOnce, another]
        const counts = yield* Effect.all(both, { concurrency: "unbounded" })
        expect(counts.reduce((sum, n) => sum + n)).toBe(40)
        expect(new Set(notifiers.notified.map(({ id }) => id)).size).toBe(40)
        expect(notifiers.notified).toHaveLength(40)
      })
    )
  )

  it(
    "a running process sends a notification soon after the command",
    withNotificationSender(({ notifiers }) =>
      Effect.gen(function* () {
        const running = yield* Effect.fork((yield* NotificationSender).run)
        for (let n = 1; n <= 3; n++) {
          yield* ready(yield* openShopWithClient())
          yield* until("it was notified", () => notifiers.notified.length === n)
        }
        yield* Fiber.interrupt(running)
      })
    )
  )
})

describe("Specification, Webhooks: a failed notification is sent again by the retry table", () => {
  it(
    "a failed notification is sent again under the same id, eight times in all, and then given up and logged",
    withNotificationSender(({ clock, notifiers, logs }) =>
      Effect.gen(function* () {
        notifiers.script = () => notNow
        yield* ready(yield* openShopWithClient())
        yield* untilNothingWaits(clock)
        expect(notifiers.since(TEST_START)).toEqual(EIGHT)
        expect(new Set(notifiers.notified.map(({ id }) => id)).size).toBe(1)
        expect(logs.filter((line) => line.includes("it will not be sent"))).toHaveLength(1)
      })
    )
  )

  it(
    "a failed notification is sent again until it is delivered",
    withNotificationSender(({ clock, notifiers }) =>
      Effect.gen(function* () {
        notifiers.script = () => (notifiers.notified.length < 4 ? notNow : Effect.void)
        yield* ready(yield* openShopWithClient())
        yield* untilNothingWaits(clock)
        expect(notifiers.since(TEST_START)).toEqual(EIGHT.slice(0, 4))
      })
    )
  )

  it("each retry runs at its own time if the sandbox clock advances past several (Specification, Sandbox)", async () => {
    const notifiers = new RecordingNotifiers()
    notifiers.script = () => notNow
    const layers = ClockAdvance.layer([NotificationSender]).pipe(
      Layer.provideMerge(NotificationSender.Default),
      Layer.provideMerge(notifiers.layer),
      Layer.provideMerge(memoryStore),
      Layer.provideMerge(Entropy.layerSeeded(1)),
      Layer.provideMerge(SandboxClock.layer),
      Layer.provideMerge(Layer.merge(new HastyClock().layer, Logger.minimumLogLevel(LogLevel.None)))
    )
    const body = Effect.gen(function* () {
      const dispatcher = new TestDispatcher()
      const { move } = yield* ClockAdvance
      const shop = yield* Effect.withClock(dispatcher.open, new HastyClock())
      yield* dispatcher.hook(shop, () => ({
        failures_in_row: 19,
        first_failure_at: TEST_START - 72 * HOUR,
        failure_steps_notified: 2
      }))
      yield* dispatcher.raise(shop, null)
      const [claim] = yield* Effect.withClock(dispatcher.claim(), new HastyClock())
      yield* record(claim!, statusResult(503))
      yield* move({ freeze: true, advance_ms: 3 * DAY })
      expect(notifiers.since(TEST_START)).toEqual(EIGHT)
    })
    const exit = await Effect.runPromiseExit(Effect.provide(body, layers))
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  })

  it.each([
    ["dies", Effect.die(new Error("No such table"))],
    ["interrupts itself", Effect.interrupt],
    ["throws", Effect.sync((): void => JSON.parse("{"))]
  ])("a failed notification is sent again even if the notifier %s", (_, end) =>
    withNotificationSender(({ clock, notifiers }) =>
      Effect.gen(function* () {
        notifiers.script = () => (notifiers.notified.length < 3 ? end : Effect.void)
        yield* ready(yield* openShopWithClient())
        yield* untilNothingWaits(clock)
        expect(notifiers.since(TEST_START)).toEqual(EIGHT.slice(0, 3))
      })
    )()
  )

  it(
    "a notifier that never returns delays no other notification, and is called again after ten seconds and a minute",
    withNotificationSender(({ clock, notifiers }) =>
      Effect.gen(function* () {
        const running = yield* Effect.fork((yield* NotificationSender).run)
        notifiers.script = () => (notifiers.notified.length === 1 ? Effect.uninterruptible(Effect.never) : Effect.void)
        yield* ready(yield* openShopWithClient())
        yield* until("it was begun", () => notifiers.notified.length === 1)
        for (let n = 2; n <= 5; n++) {
          yield* ready(yield* openShopWithClient())
          yield* until("another was notified", () => notifiers.notified.length === n)
        }
        clock.advance(10_000)
        clock.endGrace()
        expect(yield* (yield* NotificationSender).runOnce).toBe(5)
        clock.advance(MINUTE - 1)
        expect(yield* (yield* NotificationSender).runOnce).toBe(0)
        clock.advance(1)
        yield* until("it was notified again", () => notifiers.notified.length === 6)
        expect(notifiers.notified[5]!.id).toBe(notifiers.notified[0]!.id)
        yield* Fiber.interrupt(running)
      })
    )
  )

  it(
    "an attempt during which the process crashes counts, so that no notification is repeated forever",
    withNotificationSender(({ clock, notifiers }) =>
      Effect.gen(function* () {
        notifiers.script = () => Effect.never
        yield* ready(yield* openShopWithClient())
        for (const at of EIGHT) {
          clock.set(TEST_START + at)
          const dying = Effect.flatMap(NotificationSender, ({ runOnce }) => Effect.fork(runOnce)).pipe(
            Effect.zipLeft(until("it was begun", () => notifiers.since(TEST_START).at(-1) === at)),
            Effect.flatMap(Fiber.interrupt)
          )
          yield* Effect.provide(dying, NotificationSender.Default)
        }
        notifiers.script = () => Effect.void
        yield* untilNothingWaits(clock)
        expect(notifiers.since(TEST_START)).toEqual(EIGHT)
      })
    )
  )

  it("a notification is sent again if the store became unavailable before its result was recorded", () => {
    let begun = 0
    const away = Layer.effect(
      Store,
      Effect.map(Store, ({ transact }) =>
        Store.of({
          transact: (command) =>
            command.loadRequests[0]?._tag === "QueuedNotification" && begun++ % 2 === 1 && begun < 3
              ? Effect.die(new StoreUnavailable({}))
              : transact(command)
        })
      )
    )
    return withNotificationSender(
      ({ clock, notifiers }) =>
        Effect.gen(function* () {
          yield* ready(yield* openShopWithClient())
          yield* untilNothingWaits(clock)
          expect(notifiers.since(TEST_START)).toEqual([0, MINUTE])
          expect(notifiers.notified[1]!.id).toBe(notifiers.notified[0]!.id)
        }),
      Layer.merge(Layer.context<StorePorts>(), away)
    )()
  })
})

describe("Specification, Webhooks: the owner is notified about their webhook", () => {
  it(
    "the owner is notified when the webhook fails, again later, and when it is turned off (Specification, Webhooks)",
    withNotificationSender(({ clock, notifiers }) =>
      Effect.gen(function* () {
        const dispatcher = new TestDispatcher()
        const { runOnce } = yield* NotificationSender
        const shop = yield* dispatcher.open
        yield* dispatcher.raise(shop, null, null, null, null)
        yield* dispatcher.hook(shop, () => ({ failures_in_row: 18, first_failure_at: TEST_START - 30 * HOUR }))
        const claims = yield* dispatcher.claim()
        const counts: Array<number> = []
        for (const [at, hours] of [0, 20, 42].entries()) {
          clock.set(TEST_START + hours * HOUR)
          yield* record(claims[at]!, statusResult(503))
          counts.push(yield* runOnce)
        }
        yield* record(claims[3]!, statusResult(410))
        expect([...counts, yield* runOnce]).toEqual([1, 1, 1, 0])
        expect(notifiers.notified.map(({ says: notification }) => notification)).toMatchObject([
          { kind: "webhook_failing", off_reason: null, shop_id: shop },
          { kind: "webhook_failing", off_reason: null, shop_id: shop },
          { kind: "webhook_off", off_reason: "failing", shop_id: shop, url: "https://shop.example/hook" }
        ])
      })
    )
  )

  it("without a notifier a notice to the owner is logged with its kind, shop and host, but no path, which may be a secret", async () => {
    const logs: Array<string> = []
    const notification = {
      shop_id: "shop-1" as ShopId,
      id: "1",
      kind: "webhook_off",
      created_at: 0,
      url: "https://shop.example/hook?token=hush",
      off_reason: "gone",
      failures_in_row: 1,
      first_failure_at: 0
    } as const
    await Effect.flatMap(OwnerNotifier, ({ notify }) => notify(notification)).pipe(
      Effect.provide(Notifiers.layer),
      Effect.provide(Logger.replace(Logger.defaultLogger, collectLogs(logs))),
      Effect.runPromise
    )
    expect(logs).toHaveLength(1)
    for (const part of ["WARN", "webhook_off", "shop-1", "shop.example"]) expect(logs[0]).toContain(part)
    expect(logs[0]).not.toMatch(/hook\?|\/hook|hush/)
  })
})
