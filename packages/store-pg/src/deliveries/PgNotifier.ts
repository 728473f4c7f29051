import type { ShopId } from "@workshop/core"
import { Effect, PubSub, type Scope, Stream } from "effect"
import { forgetWaits, sampleWaits } from "../connection/CommitWaits.js"
import { type ReconnectingConnection, reconnecting } from "../connection/Connection.js"
import { type Database, DEFAULT_SCHEMA, quoted } from "../connection/Schema.js"
import { showListener } from "../observe/PgMetrics.js"

/** How long notifications are collected before they are sent together. */
const GATHERED = "10 millis"

/** How often the listening connection is tested, because a broken one may give no sign. */
const HEARTBEAT = "1 second"

/** How soon a broken connection is made again. */
const AGAIN = "250 millis"

/** Notifications between processes. They are only hints: a process that misses one notices the change a little later. */
export interface PgNotifier {
  /** Notifies this process at once, and the others soon, that deliveries may be due. */
  readonly notifyDue: () => void
  /** Notifies the other processes that keys or settings of shops changed. */
  readonly notifyShops: (shop_ids: ReadonlySet<ShopId>) => void
  /** Notifies this process that keys or settings of shops changed without its knowledge. */
  readonly shopsChanged: (shop_ids: ReadonlySet<ShopId>) => void
  /** Returns when deliveries may be due. */
  readonly due: Effect.Effect<void>
  /** The shops that other processes reported as changed; null if a notification may have been missed. */
  readonly shops: Stream.Stream<ShopId | null>
}

const DUE = "due"

/** Sends words to the other processes. */
export const notifying = (node: string, words: ReadonlySet<string>, channel: string) => ({
  name: "notify",
  text: "select pg_notify($2, word) from unnest($1::text[]) word",
  values: [[...words].map((word) => `${node} ${word}`), channel]
})

/** Listens while the scope is open, and reconnects if the connection breaks. */
const listening = (listener: ReconnectingConnection, url: string, channel: string, onSilence: () => void) =>
  Effect.gen(function* () {
    yield* showListener(listener, false)
    const connection = yield* listener.connection
    yield* connection.send([{ name: "listen", text: `listen ${quoted(channel)}`, values: [] }])
    yield* showListener(listener, true)
    // Notifications that were sent while this process did not listen are lost.
    onSilence()
    while (connection.isOpen()) {
      yield* Effect.raceFirst(Effect.sleep(HEARTBEAT), connection.broken)
      if (!connection.isOpen()) break
      yield* sampleWaits(url, connection)
    }
  }).pipe(
    Effect.ensuring(Effect.sync(() => forgetWaits(url))),
    Effect.catchAll(() => Effect.zipRight(listener.drop, Effect.sleep(AGAIN))),
    Effect.forever,
    Effect.ensuring(showListener(listener, null))
  )

/** Sends words while the scope is open, those that come close together in one notification. Returns the function that queues a word. */
const sending = (sender: ReconnectingConnection, channel: string, node: string) =>
  Effect.gen(function* () {
    const pending = new Set<string>()
    let wake = (): void => undefined

    const untilPending = Effect.async<void>((resume) => {
      wake = () => resume(Effect.void)
      if (pending.size > 0) wake()
    })
    const flush = Effect.suspend(() => {
      const words = new Set(pending)
      pending.clear()
      return Effect.flatMap(sender.connection, ({ send }) => send([notifying(node, words, channel)])).pipe(
        // Sent again rather than lost, because a revoked key must not work until the caches expire.
        Effect.tapError(() =>
          Effect.sync(() => {
            for (const word of words) pending.add(word)
          })
        )
      )
    }).pipe(Effect.uninterruptible)
    // The other processes find due deliveries by themselves.
    const flushOnClose = Effect.suspend(() => {
      pending.delete(DUE)
      return pending.size === 0 ? Effect.void : Effect.exit(flush)
    })
    yield* Effect.addFinalizer(() => flushOnClose)
    const sendPending = untilPending.pipe(
      Effect.zipRight(Effect.sleep(GATHERED)),
      Effect.zipRight(flush),
      Effect.catchAll(() => Effect.zipRight(sender.drop, Effect.sleep(AGAIN)))
    )
    yield* Effect.forkScoped(Effect.forever(sendPending))
    return (word: string) => {
      pending.add(word)
      wake()
    }
  })

/**
 * Sends and listens on a channel that has the schema's name, on connections of its own and outside of all transactions, because a
 * notification within a transaction would delay every commit.
 */
export const pgNotifier = (database: Database, node: string): Effect.Effect<PgNotifier, never, Scope.Scope> =>
  Effect.gen(function* () {
    const news = yield* PubSub.sliding<ShopId | null>(1_024)
    const sleepers = new Set<() => void>()

    const wake = () => {
      const all = [...sleepers]
      sleepers.clear()
      for (const one of all) one()
    }
    const onPayload = (payload: string) => {
      const [from, word] = payload.split(" ")
      if (from === node || word === undefined) return
      if (word === DUE) wake()
      else news.unsafeOffer(word as ShopId)
    }
    const missed = () => {
      wake()
      news.unsafeOffer(null)
    }

    const channel = database.schema ?? DEFAULT_SCHEMA
    const sender = yield* reconnecting({ ...database, name: "workshop notifier", lock_timeout_ms: 1_000 })
    const send = yield* sending(sender, channel, node)

    const listener = yield* reconnecting({
      ...database,
      name: "workshop listener",
      lock_timeout_ms: 1_000,
      onNotification: onPayload
    })
    yield* Effect.forkScoped(listening(listener, database.url, channel, missed))

    return {
      notifyDue: () => {
        wake()
        send(DUE)
      },
      notifyShops: (shop_ids) => {
        for (const shop_id of shop_ids) send(shop_id)
      },
      shopsChanged: (shop_ids) => {
        for (const shop_id of shop_ids) news.unsafeOffer(shop_id)
      },
      due: Effect.async<void>((resume) => {
        const woken = () => resume(Effect.void)
        sleepers.add(woken)
        return Effect.sync(() => sleepers.delete(woken))
      }),
      shops: Stream.fromPubSub(news)
    }
  })
