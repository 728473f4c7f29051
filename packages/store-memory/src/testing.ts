/** Entry `@workshop/store-memory/testing`: a workshop in memory for the tests of an app that embeds it, with a clock that you move. */

import {
  type ClientNotification,
  Closer,
  Dispatcher,
  Entropy,
  type NoticeRecord,
  NotificationSender,
  type ShopRecord,
  type StorePorts,
  type StoreUnavailable,
  TransactionRefused,
  Transactions,
  type WebhookPost
} from "@workshop/core"
import {
  checkedOptions,
  isBoolean,
  isStopped,
  type OptionChecks,
  promiseOptions,
  WorkshopStopped
} from "@workshop/core/internal"
import { type CommittedEvent, type PromiseOptions, type PromiseWorkshop, start } from "@workshop/core/promise"
import { type CommitCallback, Directory, OpenTransaction, SandboxData } from "@workshop/core/store"
import { SettableClock, TEST_START, TestKeys } from "@workshop/core/testing"
import { Context, Data, Duration, Effect, Either, Layer, Option, Runtime } from "effect"
import { layer } from "./MemoryStore.js"

/**
 * A memory in which commands "join" a transaction of any client: they take effect at once, and a rollback does not undo them. Events are
 * passed on by `afterCommit`, as with the Postgres store.
 */
const joinable = Layer.merge(
  layer,
  Layer.succeed(Transactions, {
    join: (client) => {
      if (typeof (client as { readonly query?: unknown } | null | undefined)?.query !== "function")
        return new TransactionRefused({ message: "The argument is not a client of pg" })
      const onCommit: Array<CommitCallback> = []
      const run = Effect.provideService(OpenTransaction, { onCommit })
      return Effect.succeed({
        run,
        part: run,
        afterCommit: Effect.sync(() => {
          for (const { notify } of onCommit.splice(0)) notify()
        })
      })
    }
  })
)

/** A store whose process accepts the test keys that a test creates. */
const withTestKeys = <E, R>(store: Layer.Layer<StorePorts, E, R>): Layer.Layer<StorePorts, E, R> =>
  Layer.merge(store, Layer.succeed(TestKeys, true))

/** A store that records the shops which are opened through it. */
const notingShops = <Ports, E, R>(store: Layer.Layer<Ports, E, R>, opened: Set<string>): Layer.Layer<Ports, E, R> =>
  Layer.map(store, (ports) => {
    const context = ports as unknown as Context.Context<Directory>
    const directory = Context.get(context, Directory)
    return Context.add(context, Directory, {
      ...directory,
      createShop: (shop) =>
        Effect.tap(directory.createShop(shop), () => {
          opened.add(shop.id)
        })
    }) as unknown as Context.Context<Ports>
  })

type Caller = Parameters<PromiseWorkshop["tickets"]["create"]>[0]

/** The options of a test workshop, including those of `start`. All have defaults. */
export interface TestWorkshopOptions<E = never>
  extends Partial<Omit<PromiseOptions<E>, "clock" | "now" | "background">> {
  /**
   * The ids, codes and keys follow from this number, so that each run has the same; 1 by default. With a `store` of yours they are random
   * by default, because the rows of an earlier run may still be there.
   */
  readonly seed?: number
  /** The first instant of the clock, in milliseconds or as a date; a Friday morning in November 2026 by default. */
  readonly begins?: number | Date
  /**
   * Removes the data that earlier tests left in the `store`, so that a client can register again and each run begins alike. Rejects with
   * {@link EmptyingRefused}, and removes nothing, if the store has shops that were not created with this option. Other tests must not use the
   * same schema at the same time.
   */
  readonly empty?: boolean
}

/** A workshop for tests, with one shop. */
export interface TestWorkshop {
  /** The workshop, as `start` returns it. It does nothing in the background; `advance` does the work that is due. */
  readonly workshop: PromiseWorkshop
  /** The shop of the test. */
  readonly shop: ShopRecord
  /** A caller of the shop with all scopes. */
  readonly caller: Caller
  /**
   * Lists of everything that was sent so far, oldest first, by the shop and by other shops that were opened through this workshop, but not by
   * other shops in the same store.
   */
  readonly received: {
    /** The events that were committed. */
    readonly events: ReadonlyArray<CommittedEvent>
    /** The notifications to clients. */
    readonly notifications: ReadonlyArray<ClientNotification>
    /** The notices to owners. */
    readonly notices: ReadonlyArray<NoticeRecord>
    /** The webhooks that were posted, each with its signature. */
    readonly webhooks: ReadonlyArray<WebhookPost>
  }
  /** The time of the workshop, in milliseconds. It changes only with `advance`. */
  readonly now: () => number
  /**
   * Moves the clock by a length of time, such as `"61 days"`, `"5 minutes"` or milliseconds. On the way it does each closure, delivery and
   * notification at the instant at which it is due; with 0, those that are due now. Sixty days take milliseconds. After `stop` it rejects
   * with `WorkshopStopped`.
   */
  readonly advance: (by: Duration.DurationInput) => Promise<void>
  /** Ends the workshop. */
  readonly stop: () => Promise<void>
}

/** A length of time in milliseconds; throws an `Error` if the argument is none. */
const millisOf = (by: Duration.DurationInput): number => {
  const millis = Option.match(Duration.decodeUnknown(by), { onNone: () => Number.NaN, onSome: Duration.toMillis })
  // Effect reads a negative length of time, and NaN, as none at all.
  if (!Number.isFinite(millis) || /^-|^NaN$/.test(String(by)))
    throw new Error(
      `advance takes milliseconds, or a text such as "61 days", "5 minutes" or "90 seconds", and not ${by}`
    )
  return millis
}

const { clock: _clock, now: _now, background: _background, ...taken } = promiseOptions
const OPTIONS: OptionChecks = {
  seed: (value) => (Number.isFinite(value) ? undefined : "must be a number"),
  begins: (value) =>
    (typeof value === "number" || value instanceof Date) && Number.isFinite(Number(value))
      ? undefined
      : "must be milliseconds since 1970 or a date",
  empty: isBoolean,
  ...taken
}

/** A store was not emptied, because it has shops that were not created by a test with an empty store. Nothing was removed. */
export class EmptyingRefused extends Data.TaggedError("EmptyingRefused")<{}> {
  override get message() {
    return "only data of tests that began with an empty store are removed, and this store has other shops: drop its schema, or give the tests one of their own"
  }
}

/** Empties a store of tests, and refuses any other. The mark of a sandbox says that the data may be removed; `workshop serve` refuses marked data. */
const emptying = Effect.gen(function* () {
  if (yield* (yield* SandboxData).clear) return
  const directory = yield* Directory
  if (yield* directory.hasShops) return yield* new EmptyingRefused()
  yield* directory.markSandboxMade
})

/**
 * A store for tests of layers, without the data that earlier tests left in it: `emptied(MigratedStore.layer({ url, schema }))`. Fails with
 * `EmptyingRefused`, and removes nothing, if the store has shops that were not created through such a layer, and with `StoreUnavailable` if
 * the database is unavailable. Other tests must not use the same schema at the same time.
 */
export const emptied = <E, R>(
  store: Layer.Layer<StorePorts, E, R>
): Layer.Layer<StorePorts, E | EmptyingRefused | StoreUnavailable, R> =>
  withTestKeys(Layer.tap(store, (ports) => Effect.provide(emptying, ports)))

/** The largest number of turns of one `advance`. More turns mean that some due work never ends. */
const MOST_TURNS = 10_000

/** Starts a workshop in memory for a test. */
export const createTestWorkshop = async <E = never>(options: TestWorkshopOptions<E> = {}): Promise<TestWorkshop> => {
  checkedOptions("createTestWorkshop", options, OPTIONS)
  const { seed = options.store === undefined ? 1 : undefined, begins = TEST_START, empty = false, ...given } = options
  const clock = new SettableClock(Number(begins))
  const received = {
    events: [] as Array<CommittedEvent>,
    notifications: [] as Array<ClientNotification>,
    notices: [] as Array<NoticeRecord>,
    webhooks: [] as Array<WebhookPost>
  }
  const opened = new Set<string>()
  const { store = joinable } = given
  const workshop = await start({
    ...(seed !== undefined && { randomBytes: Entropy.seededBytes(seed) }),
    ...given,
    store: withTestKeys(notingShops<StorePorts, E, Entropy>(store, opened)),
    clock,
    background: false,
    notifyClient: async (notification) => {
      if (!opened.has(notification.shop_id)) return
      await given.notifyClient?.(notification)
      received.notifications.push(notification)
    },
    notifyOwner: async (notice) => {
      if (!opened.has(notice.shop_id)) return
      await given.notifyOwner?.(notice)
      received.notices.push(notice)
    },
    ...(given.sender === undefined && {
      send: async (post) => {
        if (!opened.has(post.shop_id)) return { status: 200 }
        received.webhooks.push(post)
        return (await given.send?.(post)) ?? { status: 200 }
      }
    })
  })
  workshop.onEvent((event) => opened.has(event.shop_id) && received.events.push(event))
  const openShop = async () => {
    if (empty) {
      const emptied = await Runtime.runPromise(workshop.runtime)(Effect.either(emptying))
      if (Either.isLeft(emptied)) throw emptied.left
    }
    return workshop.orThrow.shops.create({ name: "Test shop", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  }
  const shop = await openShop().catch(async (refused) => {
    await workshop.stop()
    throw refused
  })
  const scopes = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"] as const
  const caller: Caller = { shop_id: shop.id, caller_id: "test", scopes, via: "api" }

  const walk = Effect.fnUntraced(function* (target: number) {
    const works = [yield* Closer, yield* Dispatcher, yield* NotificationSender] as const
    for (let turns = 0; turns < MOST_TURNS; turns++) {
      const nexts: ReadonlyArray<number | null> = yield* Effect.forEach(
        works,
        (work): Effect.Effect<number | null, StoreUnavailable> => work.next(target)
      )
      const due = nexts.filter((next) => next !== null)
      if (due.length === 0) return clock.set(target)
      clock.set(Math.max(clock.unsafeCurrentTimeMillis(), Math.min(...due)))
      yield* Effect.forEach(works, (work): Effect.Effect<number, StoreUnavailable> => work.runOnce)
    }
    return yield* Effect.dieMessage("The work that is due never ends")
  })
  const advance = async (by: Duration.DurationInput) => {
    if (isStopped(workshop.runtime)) throw new WorkshopStopped()
    return Runtime.runPromise(workshop.runtime)(walk(clock.unsafeCurrentTimeMillis() + millisOf(by)))
  }
  return { workshop, shop, caller, received, now: () => clock.unsafeCurrentTimeMillis(), advance, stop: workshop.stop }
}
