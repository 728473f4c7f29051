import { Cause, Context, Effect, Either, Exit, Layer, ManagedRuntime, Runtime, Stream } from "effect"
import { type Complaint, mustBeFunction, mustBeText, OptionRefused } from "../../domain/OptionChecks.js"
import { RefusalOf } from "../../domain/RefusalOf.js"
import { SIGNATURE_HEADER } from "../../domain/Signature.js"
import type { Entropy } from "../../ports/Entropy.js"
import { Probes } from "../../ports/Probes.js"
import { type RetentionWorker, StoreRetention } from "../../ports/Retention.js"
import {
  Store,
  type StorePorts,
  type StoreUnavailable,
  TransactionRefused,
  Transactions
} from "../../ports/StorePorts.js"
import { WebhookSender } from "../../ports/WebhookSender.js"
import { Actor } from "../Actor.js"
import { BackgroundWork } from "../background/BackgroundWork.js"
import { Closer } from "../background/Closer.js"
import { Dispatcher } from "../background/Dispatcher.js"
import { NotificationSender } from "../background/NotificationSender.js"
import { type CommittedEvent, CommittedEvents } from "../CommittedEvents.js"
import { scrape } from "../observe/Exposition.js"
import { notReadyReason } from "../observe/Readiness.js"
import { layer as services } from "../Workshop.js"
import { isStopped, Lifecycle, WorkshopStopped } from "../WorkshopStopped.js"
import { type OrThrow, promiseApi, unwrapMethods } from "./PromiseApi.js"
import { findStartRefusal, type PromiseOptions, settingsOf } from "./PromiseOptions.js"
import { promiseTransfers } from "./PromiseTransfers.js"
import { type RunEffect, toPromise } from "./toPromise.js"

/** `dispatcher.runOnce` was called on a workshop without a sender, so its events wait for a process that has one. */
export class NoSender extends RefusalOf(
  "NoSender",
  "This workshop cannot send webhooks, because start got neither sender nor send. Pass one of these options to start."
) {}

/** The services in the runtime of a workshop, for your own effects: see `PromiseWorkshop.runtime`. */
export type WorkshopServices =
  | Layer.Layer.Success<typeof services>
  | StorePorts
  | Entropy
  | Dispatcher
  | NotificationSender
  | BackgroundWork
  | BackgroundRetention
  | Lifecycle

/** The methods that do the due background work once, for cron jobs. */
const makeCronMethods = (run: RunEffect<WorkshopServices>, hasSender: boolean) => {
  const method = toPromise(run)
  return {
    closer: {
      /** Closes all tickets whose closure is scheduled by now, and returns their number. For cron jobs. */
      runOnce: method([], () => Closer.runOnce)
    },
    dispatcher: {
      /**
       * Makes every delivery that is scheduled by now, waits for the responses, and returns the number of deliveries.
       * For cron jobs.
       */
      runOnce: method([], () =>
        Effect.flatMap(
          Dispatcher,
          ({ runOnce }): Effect.Effect<number, NoSender | StoreUnavailable> =>
            hasSender ? runOnce : Effect.fail(new NoSender())
        )
      )
    },
    retention: {
      /** Removes old rows by the rules of retention, a batch of each table. For cron jobs. Does nothing in a store without such rows. */
      runOnce: method([], () => Effect.flatMap(BackgroundRetention, (worker) => worker?.runOnce ?? Effect.void))
    },
    notificationSender: {
      /** Sends all notifications that are scheduled by now, and returns the number of attempts. For cron jobs. */
      runOnce: method([], () => NotificationSender.runOnce)
    }
  }
}

/** The services on behalf of one actor: the methods of tickets, clients, offers, shops, keys, webhooks and transfers. */
export type ActorServices = ReturnType<typeof promiseApi> & ReturnType<typeof promiseTransfers>

/** A workshop for teams without Effect: every service with plain values and promises, until it is stopped. */
export type PromiseWorkshop = ActorServices &
  ReturnType<typeof makeCronMethods> & {
    /** The same services on behalf of an actor, whom the audit log names for an owner's or operator's act. */
    readonly as: (
      actor: string
    ) => ActorServices & Pick<PromiseWorkshop, "within"> & { readonly orThrow: OrThrow<ActorServices> }
    /**
     * Calls `work` with services whose commands and reads run in the open transaction of a `pg` client: their rows and
     * yours commit together, or not at all. You begin and end the transaction, and roll back or throw if a command was
     * refused; the services also have `orThrow`. Resolves when `work` and all commands that it called have ended; later
     * calls of these services are refused. Rejects with `TransactionRefused`, before it writes anything, if the client
     * is in no transaction or connected to another database. Call `afterCommit` after your commit. Otherwise deliveries
     * wait a fraction of a second for the next poll of a dispatcher, other processes may accept a revoked key for
     * `ServiceLimits.api_key_cache_ms`, and `onEvent` listeners are not called.
     */
    readonly within: <A>(
      client: PgClientLike,
      work: (services: TransactionServices) => Promise<A>
    ) => Promise<WithinResult<A>>
    /**
     * Calls the listener with each event that this process commits; returns a function that stops this. Best effort,
     * see {@link CommittedEvents}.
     */
    readonly onEvent: (listener: (event: CommittedEvent) => unknown) => () => void
    /**
     * The committed events as an iterable, from this call on. Events before your first read are buffered, up to 1,024.
     * Leaving the loop ends it.
     */
    readonly events: () => AsyncIterable<CommittedEvent>
    /**
     * The same services, whose promises resolve to the value itself and reject with the refusal. A refusal that you do not handle is then an
     * unhandled rejection, so you notice it.
     */
    readonly orThrow: OrThrow<ActorServices & ReturnType<typeof makeCronMethods>>
    /** The work outside of requests: closing, delivering, notifying and removing old rows. */
    readonly background: {
      /**
       * Begins the background work of a workshop that was started with `background: false`, or begins it again after `stop`. Call it once
       * your server listens, because a receiver in the same program otherwise refuses the first deliveries. Does nothing if the work has
       * begun. Rejects with `WorkshopStopped` after `stop` of the workshop.
       */
      readonly start: () => Promise<void>
      /**
       * Ends the background work, and waits up to five seconds for work in progress. The services remain. Call it before your server closes.
       * Does nothing if the work has ended.
       */
      readonly stop: () => Promise<void>
    }
    /** Returns whether the process should get requests now, for a health check, or the reason why it should not. */
    readonly ready: () => Promise<Readiness>
    /** The metrics of the process in Prometheus' text format. They include every workshop in the process. */
    readonly metrics: () => Promise<string>
    /** The runtime of the services, for mounts (`@workshop/core/http`) and for your own effects. */
    readonly runtime: Runtime.Runtime<WorkshopServices>
    /** Stops the background work, waits up to five seconds for work in progress, and closes the store. Later calls are refused with `WorkshopStopped`. */
    readonly stop: () => Promise<void>
  }

/** Whether a process should get requests. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string }

/** A client of the package `pg`, such as one from a pool. A pool itself cannot be used, because its statements run on any of its connections. */
export interface PgClientLike {
  /** Runs a statement, as `Client.query` of the package `pg` does. */
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of `pg` fit no narrower type
  readonly query: (...args: Array<any>) => any
  /** A property that only a pool has, so that the compiler refuses a pool with this message. */
  readonly totalCount?: "within needs a client, not a pool. Pass the client that pool.connect() resolves to."
}

/** The services whose commands run in your transaction. */
export type TransactionServices = ReturnType<typeof promiseApi> & {
  /** The same services, whose promises reject with a refusal, which then ends `work`, so that you can roll back. */
  readonly orThrow: OrThrow<ReturnType<typeof promiseApi>>
}

/** The result of `within`, before you commit. */
export interface WithinResult<A> {
  /** The value that `work` returned. */
  readonly value: A
  /** Notifies dispatchers, listeners and key caches. Call it after your commit, and not after a rollback. */
  readonly afterCommit: () => Promise<void>
}

/**
 * Runs effects until `end`, which waits for all of them. A command that the caller did not await must not run after the caller's commit,
 * because each of its statements would then commit by itself.
 */
const trackRuns = (run: RunEffect<WorkshopServices>) => {
  const pendingRuns = new Set<Promise<unknown>>()
  let isEnded = false
  const runWithin: RunEffect<WorkshopServices> = (effect) => {
    if (isEnded) return Promise.reject(new TransactionRefused({ message: WITHIN_ENDED }))
    const running = run(effect).finally(() => pendingRuns.delete(running))
    pendingRuns.add(running)
    return running
  }
  const endRuns = async () => {
    while (pendingRuns.size > 0) await Promise.allSettled(pendingRuns)
    isEnded = true
  }
  return { runWithin, end: endRuns }
}

const WITHIN_ENDED =
  "This call of within has ended, so its services can no longer be used. Use them only inside the function work, or use the services of the workshop."

/** The sender of a workshop that was started without one. It is never called. */
const noSender = Layer.succeed(WebhookSender, { send: () => Effect.die(new NoSender()) })

/** The retention worker of this workshop; null if the store has none, or the option `retention` is false. */
class BackgroundRetention extends Context.Tag("@workshop/core/PromiseWorkshop/BackgroundRetention")<
  BackgroundRetention,
  RetentionWorker | null
>() {}

/**
 * Makes the retention worker of the store, in its own scope. It needs the store, which provides {@link StoreRetention}.
 */
const retentionLayer = (retention: PromiseOptions["retention"]) =>
  Layer.scoped(
    BackgroundRetention,
    Effect.flatMap(Effect.zipRight(Store, StoreRetention), (makeWorker) =>
      makeWorker === null || retention === false ? Effect.succeed(null) : makeWorker(retention?.keepEventsMs)
    )
  )

/** The background work: closing, notifying, removing old rows and, where there is a sender, delivering. */
const backgroundWork = (hasSender: boolean, notifiesClients: boolean) =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.once(
        Effect.logInfo(
          "This process notifies no clients, because it was started without notifyClient. Notifications wait up to three days for a process with notifyClient"
        )
      ),
      (logNoNotifier) =>
        BackgroundWork.layer(
          Effect.gen(function* () {
            if (!notifiesClients) yield* logNoNotifier
            yield* Effect.forkScoped((yield* Closer).run)
            yield* Effect.forkScoped((yield* NotificationSender).run)
            if (hasSender) yield* Effect.forkScoped((yield* Dispatcher).run)
            const retention = yield* BackgroundRetention
            if (retention !== null) yield* Effect.forkScoped(retention.run)
          })
        )
    )
  )

const layerOf = <E>(options: PromiseOptions<E>) => {
  const { environment, sender = noSender, notifiers, profanity, entropy } = settingsOf(options)
  const { signatureHeader = SIGNATURE_HEADER } = options
  const startWork = options.background === false ? Effect.void : Effect.flatMap(BackgroundWork, ({ start }) => start)
  return Layer.effectDiscard(startWork).pipe(
    Layer.provideMerge(backgroundWork(sender !== noSender, options.notifyClient !== undefined)),
    Layer.provideMerge(Layer.provide(NotificationSender.Default, notifiers)),
    Layer.provideMerge(Layer.provide(Dispatcher.layer({ signatureHeader }), sender)),
    Layer.provideMerge(services),
    Layer.provideMerge(retentionLayer(options.retention)),
    Layer.provideMerge(options.store),
    Layer.provideMerge(profanity),
    Layer.provideMerge(entropy),
    Layer.provideMerge(Layer.merge(Probes.layer, Lifecycle.layer)),
    Layer.provideMerge(environment)
  )
}

/** Throws if the argument of a method that returns no promise is wrong. */
const requireArgument = (option: string, method: string, complaint: Complaint) => {
  if (complaint !== undefined) throw new OptionRefused({ option, message: `The ${option} of ${method} ${complaint}` })
}

/** Starts a workshop on a store. It closes due tickets and notifies clients and owners by itself until `stop`. */
export const start = async <E>(options: PromiseOptions<E>): Promise<PromiseWorkshop> => {
  const refused = findStartRefusal(options)
  if (refused !== null) throw refused
  const managed = ManagedRuntime.make(layerOf(options))
  const started = await Effect.runPromiseExit(managed.runtimeEffect)
  if (Exit.isFailure(started)) throw Cause.squash(started.cause)
  const runtime = started.value
  const runExit = Runtime.runPromiseExit(runtime)
  const run: RunEffect<WorkshopServices> = async (effect) => {
    if (isStopped(runtime)) return { ok: false, refusal: new WorkshopStopped() }
    const exit = await runExit(effect)
    if (Exit.isSuccess(exit)) return { ok: true, value: exit.value }
    const failure = Cause.failureOrCause(exit.cause)
    if (Either.isLeft(failure)) return { ok: false, refusal: failure.left }
    throw Cause.squash(exit.cause)
  }
  const { listen, subscribe } = Runtime.runSync(runtime)(CommittedEvents)
  const stop = () => {
    Context.get(runtime.context, Lifecycle).isStopped = true
    return managed.dispose()
  }
  const work = Runtime.runSync(runtime)(BackgroundWork)
  const background: PromiseWorkshop["background"] = {
    start: async () => {
      if (isStopped(runtime)) throw new WorkshopStopped()
      await Runtime.runPromise(runtime)(work.start)
    },
    stop: () => Runtime.runPromise(runtime)(work.stop)
  }
  const ready = async (): Promise<Readiness> => {
    if (isStopped(runtime)) return { ready: false, reason: new WorkshopStopped().message }
    const reason = await Runtime.runPromise(runtime)(notReadyReason)
    return reason === null ? { ready: true } : { ready: false, reason }
  }
  const joinMethods = (runAs: RunEffect<WorkshopServices>): Pick<PromiseWorkshop, "within"> => ({
    within: async (client, work) => {
      const joined = await run(Effect.flatMap(Transactions, ({ join }) => join(client)))
      if (!joined.ok) throw joined.refusal
      const { runWithin, end: endRuns } = trackRuns((effect) => runAs(joined.value.part(effect)))
      const api = promiseApi(runWithin)
      const value = await work({ ...api, orThrow: unwrapMethods(api) }).finally(endRuns)
      const settled = await run(joined.value.run(Effect.void))
      if (!settled.ok) throw settled.refusal
      return { value, afterCommit: () => Runtime.runPromise(runtime)(joined.value.afterCommit) }
    }
  })
  const actsOf = (runAs: RunEffect<WorkshopServices>): ActorServices => ({
    ...promiseApi(runAs),
    ...promiseTransfers(runAs)
  })
  const services = {
    ...actsOf(run),
    ...makeCronMethods(run, options.sender !== undefined || options.send !== undefined)
  }
  return {
    ...services,
    ...joinMethods(run),
    orThrow: unwrapMethods(services),
    as: (actor) => {
      requireArgument("actor", "as", mustBeText(actor))
      const runAs: RunEffect<WorkshopServices> = (effect) => run(Effect.provideService(effect, Actor, actor))
      const acts = actsOf(runAs)
      return { ...acts, ...joinMethods(runAs), orThrow: unwrapMethods(acts) }
    },
    background,
    ready,
    metrics: async () => {
      if (isStopped(runtime)) throw new WorkshopStopped()
      return Runtime.runPromise(runtime)(scrape)
    },
    onEvent: (listener) => {
      requireArgument("listener", "onEvent", mustBeFunction(listener))
      return listen(listener)
    },
    events: () => Stream.toAsyncIterableRuntime(subscribe(), runtime),
    runtime,
    stop
  }
}
