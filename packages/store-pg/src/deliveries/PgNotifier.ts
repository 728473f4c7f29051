import type { ShopId } from "@workshop/core"
import { Effect, PubSub, type Scope, Stream } from "effect"
import { forgetWaits, sampleWaits } from "../connection/CommitWaits.js"
import { type ReconnectingConnection, reconnecting } from "../connection/Connection.js"
import { type Database, DEFAULT_SCHEMA, quoted } from "../connection/Schema.js"
import { showListener } from "../observe/PgMetrics.js"

/** The time for which notifications are collected before one statement sends them. */
const SEND_DELAY = "10 millis"

/** How often the listening connection is tested, because a connection may break without a sign. */
const HEARTBEAT = "1 second"

/** The pause before a broken connection is replaced. */
const RECONNECT_DELAY = "250 millis"

/**
 * Notifications between the processes of a database, by LISTEN and NOTIFY. They are hints: a process that misses one notices the change a
 * little later.
 */
export interface PgNotifier {
  /** Notifies this process at once, and the others soon, that deliveries may be due. */
  readonly notifyDue: () => void
  /** Notifies the other processes that keys or settings of shops changed. */
  readonly notifyShops: (shop_ids: ReadonlySet<ShopId>) => void
  /** Notifies this process that keys or settings of shops changed, as in a transaction of an embedder. */
  readonly shopsChanged: (shop_ids: ReadonlySet<ShopId>) => void
  /** Waits until a notification says that deliveries may be due. */
  readonly due: Effect.Effect<void>
  /** The shops that other processes reported as changed; null if a notification may have been missed. */
  readonly shops: Stream.Stream<ShopId | null>
}

const DUE = "due"

/** Sends payloads to the other processes: each is the sender's name and `due`, or the id of a changed shop. */
export const notifyStatement = (node: string, payloads: ReadonlySet<string>, channel: string) => ({
  name: "notify",
  text: "select pg_notify($2, word) from unnest($1::text[]) word",
  values: [[...payloads].map((payload) => `${node} ${payload}`), channel]
})

/** Listens until the scope closes, and reconnects if the connection breaks. */
const listen = (listener: ReconnectingConnection, url: string, channel: string, onMissed: () => void) =>
  Effect.gen(function* () {
    yield* showListener(listener, false)
    const connection = yield* listener.connection
    yield* connection.send([{ name: "listen", text: `listen ${quoted(channel)}`, values: [] }])
    yield* showListener(listener, true)
    // Notifications that were sent while this process did not listen are lost.
    onMissed()
    while (connection.isOpen()) {
      yield* Effect.raceFirst(Effect.sleep(HEARTBEAT), connection.broken)
      if (!connection.isOpen()) break
      yield* sampleWaits(url, connection)
    }
  }).pipe(
    Effect.ensuring(Effect.sync(() => forgetWaits(url))),
    Effect.catchAll(() => Effect.zipRight(listener.drop, Effect.sleep(RECONNECT_DELAY))),
    Effect.forever,
    Effect.ensuring(showListener(listener, null))
  )

/** Sends payloads until the scope closes; one statement sends those that come within a short time. Returns the function that queues a payload. */
const payloadSender = (sender: ReconnectingConnection, channel: string, node: string) =>
  Effect.gen(function* () {
    const pending = new Set<string>()
    let wake = (): void => undefined

    const untilPending = Effect.async<void>((resume) => {
      wake = () => resume(Effect.void)
      if (pending.size > 0) wake()
    })
    const flush = Effect.suspend(() => {
      const payloads = new Set(pending)
      pending.clear()
      return Effect.flatMap(sender.connection, ({ send }) => send([notifyStatement(node, payloads, channel)])).pipe(
        // They are sent again, because otherwise a revoked key would work until the caches expire.
        Effect.tapError(() =>
          Effect.sync(() => {
            for (const payload of payloads) pending.add(payload)
          })
        )
      )
    }).pipe(Effect.uninterruptible)
    // Without a notification, the other processes find due deliveries a little later.
    const flushOnClose = Effect.suspend(() => {
      pending.delete(DUE)
      return pending.size === 0 ? Effect.void : Effect.exit(flush)
    })
    yield* Effect.addFinalizer(() => flushOnClose)
    const sendPending = untilPending.pipe(
      Effect.zipRight(Effect.sleep(SEND_DELAY)),
      Effect.zipRight(flush),
      Effect.catchAll(() => Effect.zipRight(sender.drop, Effect.sleep(RECONNECT_DELAY)))
    )
    yield* Effect.forkScoped(Effect.forever(sendPending))
    return (payload: string) => {
      pending.add(payload)
      wake()
    }
  })

/**
 * Sends and listens on a channel that has the schema's name, on connections of its own and outside of all transactions, because a
 * notification within a transaction would delay every commit.
 */
export const pgNotifier = (database: Database, node: string): Effect.Effect<PgNotifier, never, Scope.Scope> =>
  Effect.gen(function* () {
    const changedShops = yield* PubSub.sliding<ShopId | null>(1_024)
    const waiters = new Set<() => void>()

    const wake = () => {
      const woken = [...waiters]
      waiters.clear()
      for (const waiter of woken) waiter()
    }
    const onPayload = (payload: string) => {
      const [from, word] = payload.split(" ")
      if (from === node || word === undefined) return
      if (word === DUE) wake()
      else changedShops.unsafeOffer(word as ShopId)
    }
    const onMissed = () => {
      wake()
      changedShops.unsafeOffer(null)
    }

    const channel = database.schema ?? DEFAULT_SCHEMA
    const sender = yield* reconnecting({ ...database, name: "workshop notifier", lock_timeout_ms: 1_000 })
    const send = yield* payloadSender(sender, channel, node)

    const listener = yield* reconnecting({
      ...database,
      name: "workshop listener",
      lock_timeout_ms: 1_000,
      onNotification: onPayload
    })
    yield* Effect.forkScoped(listen(listener, database.url, channel, onMissed))

    return {
      notifyDue: () => {
        wake()
        send(DUE)
      },
      notifyShops: (shop_ids) => {
        for (const shop_id of shop_ids) send(shop_id)
      },
      shopsChanged: (shop_ids) => {
        for (const shop_id of shop_ids) changedShops.unsafeOffer(shop_id)
      },
      due: Effect.async<void>((resume) => {
        const woken = () => resume(Effect.void)
        waiters.add(woken)
        return Effect.sync(() => waiters.delete(woken))
      }),
      shops: Stream.fromPubSub(changedShops)
    }
  })
