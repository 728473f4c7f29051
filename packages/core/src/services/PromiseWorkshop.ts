import { Cause, type Clock, Effect, Either, Exit, Layer, ManagedRuntime, Runtime, Stream } from "effect"
import type { NotificationRecord } from "../domain/Notification.js"
import { Refused } from "../domain/Refusal.js"
import { SIGNATURE_HEADER } from "../domain/Signature.js"
import { type TicketBounds, ticketBounds } from "../domain/Ticket.js"
import type { NoticeRecord } from "../domain/Webhook.js"
import { Entropy } from "../ports/Entropy.js"
import { ClientNotifier, NotificationFailed, OwnerNotifier } from "../ports/Notifiers.js"
import type { ProfanityFilter } from "../ports/ProfanityFilter.js"
import { type StorePorts, type StoreUnavailable, Transactions } from "../ports/StorePorts.js"
import { TrackingPages } from "../ports/TrackingPages.js"
import { WebhookSender } from "../ports/WebhookSender.js"
import { Actor } from "./Actor.js"
import { Closer } from "./Closer.js"
import { type CommittedEvent, CommittedEvents, observing } from "./CommittedEvents.js"
import { Dispatcher } from "./Dispatcher.js"
import { NotificationSender } from "./NotificationSender.js"
import * as Notifiers from "./Notifiers.js"
import * as Profanity from "./Profanity.js"
import { promiseApi, type Run, toPromise } from "./PromiseApi.js"
import { TicketLimits } from "./Tickets.js"
import { layer as services } from "./Workshop.js"

/** The options of a workshop; only the store has no default. */
export interface PromiseOptions<E = never> {
  readonly store: Layer.Layer<StorePorts, E, Entropy>
  /** How webhooks leave; without one, events are recorded and queued, for a process that has one. */
  readonly sender?: Layer.Layer<WebhookSender>
  /**
   * The header that carries the signature of a webhook (Specification, Webhooks), `Service-Signature` where it is left out. Where you serve the OpenAPI document, pass it to `documentOf` too.
   */
  readonly signatureHeader?: string
  /** Notifies a client besides their inbox; where it rejects, it is called again later with the same notification (Specification, States). */
  readonly clientNotifier?: (notification: NotificationRecord) => Promise<void>
  /** Notifies a shop's owner about their webhook, in the same way; the log where it is left out (Specification, Webhooks). */
  readonly ownerNotifier?: (notice: NoticeRecord) => Promise<void>
  /** How often a ticket may be moved, and its client notified, in a day of its shop: 100 and 50 where they are left out. */
  readonly ticketLimits?: Partial<TicketBounds>
  /**
   * The beginning of `tracking_url` in a shop without a `tracking_base_url`, such as `https://shop.example/t/`: where you serve the
   * clients' pages, see `trackingPages` of the mounts. Null, and no such page, where it is left out.
   */
  readonly trackingBaseUrl?: string
  /** The usual English and French words where it is left out. */
  readonly profanity?: Layer.Layer<ProfanityFilter>
  /** The system's random source where it is left out. */
  readonly entropy?: Layer.Layer<Entropy>
  /** The real clock where it is left out. */
  readonly clock?: Clock.Clock
  /**
   * Whether it closes due tickets, delivers and notifies by itself, until it is stopped: true where it is left out. With
   * false nothing happens but by `closer.runOnce`, `dispatcher.runOnce` and `messenger.runOnce`, such as from a cron job.
   */
  readonly background?: boolean
}

/** `dispatcher.runOnce` was called, but `start` was given no `sender`: its events wait for a process that has one. */
export class NoSender extends Refused("NoSender", "This workshop has no way to send webhooks; give start a sender") {}

/** Everything a workshop runs on: for what is built on top of it in Effect, such as `PromiseWorkshop.runtime`. */
export type WorkshopServices =
  | Layer.Layer.Success<typeof services>
  | StorePorts
  | Entropy
  | CommittedEvents
  | Dispatcher
  | NotificationSender

/** The background work, a turn at a time: for cron jobs. */
const turns = (run: Run<WorkshopServices>, hasSender: boolean) => {
  const method = toPromise(run)
  return {
    closer: {
      /** Closes everything due by now; how many tickets that were. For cron jobs. */
      runOnce: method([], () => Closer.runOnce)
    },
    dispatcher: {
      /** Makes every delivery due by now and waits for their answers; how many that were. For cron jobs. */
      runOnce: method([], () =>
        Effect.flatMap(
          Dispatcher,
          ({ runOnce }): Effect.Effect<number, NoSender | StoreUnavailable> =>
            hasSender ? runOnce : Effect.fail(new NoSender())
        )
      )
    },
    messenger: {
      /** Sends clients and owners all notifications due by now; how many attempts that were. For cron jobs. */
      runOnce: method([], () => NotificationSender.runOnce)
    }
  }
}

/** A workshop for teams without Effect: every service by plain values and promises, until it is stopped. */
export type PromiseWorkshop = ReturnType<typeof promiseApi> &
  ReturnType<typeof turns> & {
    /** The same services on behalf of somebody, as whom the audit log names whoever does an owner's or operator's act. */
    readonly as: (actor: string) => ReturnType<typeof promiseApi> & Pick<PromiseWorkshop, "within">
    /**
     * Calls `work` with services whose commands and reads run in the open transaction of a `pg` client: their rows and yours commit
     * together, or not at all. You begin and end the transaction. Await everything within `work`, and roll back or throw where a command
     * was refused. Rejects with `TransactionRefused` before anything is written where the client is in no transaction, or in another
     * database. Call `afterCommit` after your commit: otherwise deliveries wait for the next look of a dispatcher, a fraction of a
     * second, other processes know of a revoked key after at most half a minute, and `onEvent` listeners are not called.
     */
    readonly within: <A>(
      client: PgClientLike,
      work: (services: ReturnType<typeof promiseApi>) => Promise<A>
    ) => Promise<Within<A>>
    /** Calls back after each commit of this process; answers how to stop it. Best effort, see {@link CommittedEvents}. */
    readonly onEvent: (listener: (event: CommittedEvent) => unknown) => () => void
    /** The same as an iterable; a loop over it ends when it is left. */
    readonly events: () => AsyncIterable<CommittedEvent>
    /** For what is built on it: mounts (`@workshop/core/http`), or effects of your own over its services. */
    readonly runtime: Runtime.Runtime<WorkshopServices>
    /** Lets go of everything, the store too; waits at most five seconds for what is on its way. Calls made afterwards reject. */
    readonly stop: () => Promise<void>
  }

/** A client of the package `pg`, or what a pool of it lends. */
export interface PgClientLike {
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of `pg` fit no narrower type
  readonly query: (...args: Array<any>) => any
}

/** The result of `within`, before you commit. */
export interface Within<A> {
  readonly value: A
  /** To be called after your commit, and not after a rollback. */
  readonly afterCommit: () => Promise<void>
}

/** Stands where no sender was given; the dispatcher on it is never asked to deliver. */
const noSender = Layer.succeed(WebhookSender, { send: () => Effect.die(new NoSender()) })

const telling = <Record>(tell: (record: Record) => Promise<void>) => ({
  notify: (record: Record) =>
    Effect.tryPromise({ try: () => tell(record), catch: (cause) => new NotificationFailed({ cause }) })
})

/** Notifies clients and owners with the given notifiers. */
const messenger = ({ clientNotifier, ownerNotifier }: Pick<PromiseOptions, "clientNotifier" | "ownerNotifier">) =>
  NotificationSender.Default.pipe(
    Layer.provide(
      clientNotifier === undefined ? Notifiers.inboxOnly : Layer.succeed(ClientNotifier, telling(clientNotifier))
    ),
    Layer.provide(
      ownerNotifier === undefined ? Notifiers.logOwner : Layer.succeed(OwnerNotifier, telling(ownerNotifier))
    )
  )

/** The background work: closing, notifying and, where there is a sender, delivering. */
const inBackground = (hasSender: boolean) => {
  const closing = Effect.flatMap(Closer, ({ run }) => Effect.forkScoped(run))
  const telling = Effect.flatMap(NotificationSender, ({ run }) => Effect.forkScoped(run))
  const delivering = Effect.flatMap(Dispatcher, ({ run }) => Effect.forkScoped(run))
  const always = Effect.zipRight(closing, telling)
  return Layer.scopedDiscard(hasSender ? Effect.zipRight(always, delivering) : always)
}

const layerOf = <E>(options: PromiseOptions<E>) => {
  const { store, sender = noSender, profanity = Profanity.layer, entropy = Entropy.layer, clock } = options
  const { signatureHeader = SIGNATURE_HEADER } = options
  const background = options.background === false ? Layer.empty : inBackground(options.sender !== undefined)
  const whole = background.pipe(
    Layer.provideMerge(messenger(options)),
    Layer.provideMerge(Layer.provide(Dispatcher.layer({ signatureHeader }), sender)),
    Layer.provideMerge(services),
    Layer.provideMerge(observing(store)),
    Layer.provideMerge(Layer.succeed(TicketLimits, { ...ticketBounds, ...options.ticketLimits })),
    Layer.provideMerge(profanity),
    Layer.provideMerge(Layer.succeed(TrackingPages, { base_url: options.trackingBaseUrl ?? null })),
    Layer.provideMerge(entropy)
  )
  return clock === undefined ? whole : Layer.provideMerge(whole, Layer.setClock(clock))
}

/** Starts a workshop on a store. It closes due tickets and notifies clients and owners by itself; `stop` lets go of everything. */
export const start = async <E>(options: PromiseOptions<E>): Promise<PromiseWorkshop> => {
  const managed = ManagedRuntime.make(layerOf(options))
  const started = await Effect.runPromiseExit(managed.runtimeEffect)
  if (Exit.isFailure(started)) throw Cause.squash(started.cause)
  const runtime = started.value
  const runExit = Runtime.runPromiseExit(runtime)
  let isStopped = false
  const run: Run<WorkshopServices> = async (effect) => {
    if (isStopped) throw new Error("This workshop was stopped; start another one")
    const exit = await runExit(effect)
    if (Exit.isSuccess(exit)) return { ok: true, value: exit.value }
    const failure = Cause.failureOrCause(exit.cause)
    if (Either.isLeft(failure)) return { ok: false, refusal: failure.left }
    throw Cause.squash(exit.cause)
  }
  const { listen, stream } = Runtime.runSync(runtime)(CommittedEvents)
  const stop = () => {
    isStopped = true
    return managed.dispose()
  }
  const joining = (runAs: Run<WorkshopServices>): Pick<PromiseWorkshop, "within"> => ({
    within: async (client, work) => {
      const joined = await run(Effect.flatMap(Transactions, ({ join }) => join(client)))
      if (!joined.ok) throw joined.refusal
      const value = await work(promiseApi((effect) => runAs(joined.value.run(effect))))
      return { value, afterCommit: () => Runtime.runPromise(runtime)(joined.value.afterCommit) }
    }
  })
  return {
    ...promiseApi(run),
    ...joining(run),
    as: (actor) => {
      const runAs: Run<WorkshopServices> = (effect) => run(Effect.provideService(effect, Actor, actor))
      return { ...promiseApi(runAs), ...joining(runAs) }
    },
    ...turns(run, options.sender !== undefined),
    onEvent: listen,
    events: () => Stream.toAsyncIterableRuntime(stream, runtime),
    runtime,
    stop
  }
}
