import type { ShopId } from "@workshop/core"
import { Effect, PubSub, type Scope, Stream } from "effect"
import { forgetWaits, sampleWaits } from "../connection/CommitWaits.js"
import { makeReconnecting, type ReconnectingConnection } from "../connection/Connection.js"
import { type Database, DEFAULT_SCHEMA, quoteSchema } from "../connection/Schema.js"
import { showListener } from "../observe/PgMetrics.js"

/** The time for which payloads are collected before one statement sends them. */
const SEND_DELAY = "10 millis"

/** The interval at which the listening connection is tested, because a connection may break silently. */
const HEARTBEAT = "1 second"

/** The pause before a broken connection is replaced. */
const RECONNECT_DELAY = "250 millis"

/**
 * Notifications between the processes of a database, with LISTEN and NOTIFY. A process that misses a notification
 * notices the change a little later by polling or when its cache expires.
 */
export interface PgNotifier {
  /** Notifies this process at once, and other processes after a short delay, that deliveries may be due. */
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

/** Notifies the other processes. A payload is the sender's name with `due` or with the id of a changed shop. */
export const notifyStatement = (node: string, payloads: ReadonlySet<string>, channel: string) => ({
  name: "notify",
  text: "select pg_notify($2, word) from unnest($1::text[]) word",
  values: [[...payloads].map((payload) => `${node} ${payload}`), channel]
})

/** Listens until the scope closes, and reconnects if the connection breaks. Calls `onMissed` after each connect. */
const listen = (listener: ReconnectingConnection, url: string, channel: string, onMissed: () => void) =>
  Effect.gen(function* () {
    yield* showListener(listener, false)
    const connection = yield* listener.connection
    yield* connection.send([{ name: "listen", text: `listen ${quoteSchema(channel)}`, values: [] }])
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

/**
 * Sends payloads until the scope closes, those of {@link SEND_DELAY} with one statement. Returns the function that
 * queues a payload.
 */
const payloadSender = (sender: ReconnectingConnection, channel: string, node: string) =>
  Effect.gen(function* () {
    const pending = new Set<string>()
    let wake = (): void => undefined

    const waitForPending = Effect.async<void>((resume) => {
      wake = () => resume(Effect.void)
      if (pending.size > 0) wake()
    })
    const flush = Effect.suspend(() => {
      const payloads = new Set(pending)
      pending.clear()
      return Effect.flatMap(sender.connection, ({ send }) => send([notifyStatement(node, payloads, channel)])).pipe(
        // Queues the payloads again, because without them a revoked key would be accepted until caches expire.
        Effect.tapError(() =>
          Effect.sync(() => {
            for (const payload of payloads) pending.add(payload)
          })
        )
      )
    }).pipe(Effect.uninterruptible)
    // Omits due deliveries, because the other processes also poll for them.
    const flushOnClose = Effect.suspend(() => {
      pending.delete(DUE)
      return pending.size === 0 ? Effect.void : Effect.exit(flush)
    })
    yield* Effect.addFinalizer(() => flushOnClose)
    const sendPending = waitForPending.pipe(
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
 * Sends and listens on a channel with the schema's name. It uses its own connections, because a NOTIFY within a
 * command's transaction would delay every commit.
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
    const sender = yield* makeReconnecting({ ...database, name: "workshop notifier", lock_timeout_ms: 1_000 })
    const send = yield* payloadSender(sender, channel, node)

    const listener = yield* makeReconnecting({
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
