/**
 * Entry `@workshop/store-memory/testing`: for tests of an app that embeds the workshop. It has a workshop in memory,
 * with a clock that the test moves.
 *
 * @example
 * ```ts
 * import { createTestWorkshop } from "@workshop/store-memory/testing"
 * ```
 *
 * @packageDocumentation
 */

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
  isStopped,
  mustBeBoolean,
  type OptionChecks,
  promiseOptions,
  requireOptions,
  TestKeys
} from "@workshop/core/internal"
import {
  type CommittedEvent,
  type PlainCaller,
  type PromiseOptions,
  type PromiseWorkshop,
  start,
  WorkshopStopped
} from "@workshop/core/promise"
import { type CommitCallback, Directory, OpenTransaction, SandboxData } from "@workshop/core/store"
import { SettableClock, TEST_START } from "@workshop/core/testing"
import { Context, Data, Duration, Effect, Either, Layer, Option, Runtime } from "effect"
import { layer } from "./MemoryStore.js"

/**
 * A memory store that accepts transactions of any client. Commands within a transaction take effect at once, and a
 * rollback does not undo them. As with the Postgres store, `afterCommit` reports their events.
 */
const joinableStore = Layer.merge(
  layer,
  Layer.succeed(Transactions, {
    join: (client) => {
      if (typeof (client as { readonly query?: unknown } | null | undefined)?.query !== "function")
        return new TransactionRefused({ message: "The argument must be a client of pg" })
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

/** Makes the process accept the test keys that are created in a store. */
const withTestKeys = <E, R>(store: Layer.Layer<StorePorts, E, R>): Layer.Layer<StorePorts, E, R> =>
  Layer.merge(store, Layer.succeed(TestKeys, true))

/** Makes a store record the shops that are opened through it. */
const recordShops = <Ports, E, R>(
  store: Layer.Layer<Ports, E, R>,
  openedStores: Set<string>
): Layer.Layer<Ports, E, R> =>
  Layer.map(store, (ports) => {
    const context = ports as unknown as Context.Context<Directory>
    const directory = Context.get(context, Directory)
    return Context.add(context, Directory, {
      ...directory,
      createShop: (shop) =>
        Effect.tap(directory.createShop(shop), () => {
          openedStores.add(shop.id)
        })
    }) as unknown as Context.Context<Ports>
  })

/** The options of a test workshop, including those of `start`. All have defaults. */
export interface TestWorkshopOptions<E = never>
  extends Partial<Omit<PromiseOptions<E>, "clock" | "now" | "background">> {
  /**
   * The seed of ids, codes and keys, so that they are the same in each run; 1 by default. With your own `store` they
   * are random by default, because it may still have the rows of an earlier run.
   */
  readonly seed?: number
  /** The first instant of the clock, in milliseconds or as a date; a Friday morning in November 2026 by default. */
  readonly begins?: number | Date
  /**
   * Whether to remove the data that earlier tests left in the `store`, so that a client can register again and each run
   * starts in the same state. Rejects with {@link EmptyingRefused}, and removes nothing, if the store has shops that
   * were not created with this option. Other tests must not use the same schema at the same time.
   */
  readonly empty?: boolean
}

/** A workshop for tests, with one shop. */
export interface TestWorkshop {
  /** The workshop, like the result of `start`, but without background work. `advance` does the work that is due. */
  readonly workshop: PromiseWorkshop
  /** The shop of the test. */
  readonly shop: ShopRecord
  /** A caller of the shop with all scopes. */
  readonly caller: PlainCaller
  /**
   * Everything that was sent so far, oldest first, for the test's shop and for shops that were opened through this
   * workshop, but not for other shops in the same store.
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
   * Moves the clock by a duration, such as `"61 days"`, `"5 minutes"` or a number of milliseconds. On the way it does
   * each closure, delivery and notification at the instant at which it is due; with 0, it does the work that is due
   * now. Moving by sixty days takes milliseconds. After `stop` it rejects with `WorkshopStopped`.
   */
  readonly advance: (by: Duration.DurationInput) => Promise<void>
  /** Stops the workshop. */
  readonly stop: () => Promise<void>
}

/** Converts a duration to milliseconds. Throws an `Error` if the argument is not a duration. */
const millisOf = (by: Duration.DurationInput): number => {
  const millis = Option.match(Duration.decodeUnknown(by), { onNone: () => Number.NaN, onSome: Duration.toMillis })
  // Effect converts a negative duration and NaN to 0, so this function refuses them.
  if (!Number.isFinite(millis) || /^-|^NaN$/.test(String(by)))
    throw new Error(
      `The argument of advance must be milliseconds, or a text such as "61 days", "5 minutes" or "90 seconds", and not ${by}`
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
  empty: mustBeBoolean,
  ...taken
}

/** A store was not emptied, because it has shops that no test with an empty store created. Nothing was removed. */
export class EmptyingRefused extends Data.TaggedError("EmptyingRefused")<{}> {
  /** The problem and its remedy, as text for the developer. */
  override get message() {
    return "The store has shops that these tests did not create, so its data are not removed. Drop its schema, or give the tests their own schema."
  }
}

/**
 * Empties a store with the sandbox mark, and refuses any other store with shops. `workshop serve` refuses to serve
 * marked data.
 */
const emptyMarkedStore = Effect.gen(function* () {
  if (yield* (yield* SandboxData).clear) return
  const directory = yield* Directory
  if (yield* directory.hasShops) return yield* new EmptyingRefused()
  yield* directory.markSandboxMade
})

/**
 * Removes the data that earlier tests left in a store, for tests with layers:
 * `emptyBeforeUse(MigratedStore.layer({ url, schema }))`. Fails with `EmptyingRefused`, and removes nothing, if the store has
 * shops that were not created through such a layer. Fails with `StoreUnavailable` if the database is unavailable. Other
 * tests must not use the same schema at the same time.
 */
export const emptyBeforeUse = <E, R>(
  store: Layer.Layer<StorePorts, E, R>
): Layer.Layer<StorePorts, E | EmptyingRefused | StoreUnavailable, R> =>
  withTestKeys(Layer.tap(store, (ports) => Effect.provide(emptyMarkedStore, ports)))

/** The maximum number of rounds of due work in one `advance`. More rounds mean that some work stays due forever. */
const MAX_TURNS = 10_000

/** Starts a workshop in memory for a test. */
export const createTestWorkshop = async <E = never>(options: TestWorkshopOptions<E> = {}): Promise<TestWorkshop> => {
  requireOptions("createTestWorkshop", options, OPTIONS)
  const { seed = options.store === undefined ? 1 : undefined, begins = TEST_START, empty = false, ...given } = options
  const clock = new SettableClock(Number(begins))
  const received = {
    events: [] as Array<CommittedEvent>,
    notifications: [] as Array<ClientNotification>,
    notices: [] as Array<NoticeRecord>,
    webhooks: [] as Array<WebhookPost>
  }
  const openedStores = new Set<string>()
  const { store = joinableStore } = given
  const workshop = await start({
    ...(seed !== undefined && { randomBytes: Entropy.seededBytes(seed) }),
    ...given,
    store: withTestKeys(recordShops<StorePorts, E, Entropy>(store, openedStores)),
    clock,
    background: false,
    notifyClient: async (notification) => {
      if (!openedStores.has(notification.shop_id)) return
      await given.notifyClient?.(notification)
      received.notifications.push(notification)
    },
    notifyOwner: async (notice) => {
      if (!openedStores.has(notice.shop_id)) return
      await given.notifyOwner?.(notice)
      received.notices.push(notice)
    },
    ...(given.sender === undefined && {
      send: async (post) => {
        if (!openedStores.has(post.shop_id)) return { status: 200 }
        received.webhooks.push(post)
        return (await given.send?.(post)) ?? { status: 200 }
      }
    })
  })
  workshop.onEvent((event) => openedStores.has(event.shop_id) && received.events.push(event))
  const openShop = async () => {
    if (empty) {
      const result = await Runtime.runPromise(workshop.runtime)(Effect.either(emptyMarkedStore))
      if (Either.isLeft(result)) throw result.left
    }
    return workshop.orThrow.shops.create({ name: "Test shop", currency: "EUR", decimals: 2, time_zone: "Europe/Paris" })
  }
  const shop = await openShop().catch(async (refused) => {
    await workshop.stop()
    throw refused
  })
  const scopes = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"] as const
  const caller: PlainCaller = { shop_id: shop.id, caller_id: "test", scopes, via: "api" }

  const walk = Effect.fnUntraced(function* (target: number) {
    const works = [yield* Closer, yield* Dispatcher, yield* NotificationSender] as const
    for (let turns = 0; turns < MAX_TURNS; turns++) {
      const nextDueTimes: ReadonlyArray<number | null> = yield* Effect.forEach(
        works,
        (work): Effect.Effect<number | null, StoreUnavailable> => work.next(target)
      )
      const due = nextDueTimes.filter((next) => next !== null)
      if (due.length === 0) return clock.set(target)
      clock.set(Math.max(clock.unsafeCurrentTimeMillis(), Math.min(...due)))
      yield* Effect.forEach(works, (work): Effect.Effect<number, StoreUnavailable> => work.runOnce)
    }
    return yield* Effect.dieMessage("The due work never ends")
  })
  const advance = async (by: Duration.DurationInput) => {
    if (isStopped(workshop.runtime)) throw new WorkshopStopped()
    return Runtime.runPromise(workshop.runtime)(walk(clock.unsafeCurrentTimeMillis() + millisOf(by)))
  }
  return { workshop, shop, caller, received, now: () => clock.unsafeCurrentTimeMillis(), advance, stop: workshop.stop }
}
