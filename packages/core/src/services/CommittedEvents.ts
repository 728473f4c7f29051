import type { Event } from "@workshop/webhooks"
import { Cause, Context, Deferred, Effect, Either, Exit, Layer, Queue, Runtime, Stream } from "effect"
import type { Command } from "../decisions/Command.js"
import type { Change } from "../decisions/ShopState.js"
import type { EventRecord } from "../domain/Event.js"
import { ServiceLimits } from "../domain/Limits.js"
import { OpenTransaction, Store } from "../ports/StorePorts.js"

/** An event as it was committed: the envelope that webhooks carry, typed by `type` (Specification, Resources; Webhooks). */
export type CommittedEvent = Event

type Listener = (event: CommittedEvent) => unknown

const eventOf = ({ body }: EventRecord): CommittedEvent => JSON.parse(body)

/**
 * The events that this process commits, to refresh a screen or a cache without polling. They are best effort: after its commit, an event is
 * passed to the listeners that exist at that moment, and is not stored. If you must not miss an event, use the webhook or the sync of `GET
 * /v1/tickets?updated_since=…` (Specification, Webhooks).
 */
export class CommittedEvents extends Context.Tag("@workshop/core/CommittedEvents")<
  CommittedEvents,
  {
    /** Every event from the first read on. A reader that is more than 1,024 events behind loses the oldest events. */
    readonly stream: Stream.Stream<CommittedEvent>
    /** Every event from the call of this function on. Events before the first read are buffered, up to 1,024. */
    readonly subscribe: () => Stream.Stream<CommittedEvent>
    /**
     * Calls the listener after each commit, at once; returns a function that stops this. If the listener throws or rejects, the error is
     * logged and has no other effect; no commit waits for its promise.
     */
    readonly listen: (listener: Listener) => () => void
  }
>() {}

type Changes = ReadonlyArray<Change>

/**
 * Like {@link CommittedEvents}, but reports all changes that this process commits, because a sandbox shows more than
 * events.
 */
export class CommittedChanges extends Context.Tag("@workshop/core/CommittedChanges")<
  CommittedChanges,
  {
    /** Calls the listener after each commit, at once; returns a function that stops this. */
    readonly listen: (listener: (changes: Changes) => void) => () => void
  }
>() {}

/** A command that records the changes of its latest run, because a store may run it again and commits the last run. */
const recordChanges = <A, E>(command: Command<A, E>, record: (changes: Changes) => void): Command<A, E> => ({
  ...command,
  run: (state, moment) => {
    const decision = command.run(state, moment)
    record(Either.isRight(decision) ? decision.right.changes : [])
    return decision
  }
})

/** Calls a listener at once. The promise rejects if the listener throws or rejects. */
const callListener = async (listener: Listener, event: CommittedEvent): Promise<void> => void (await listener(event))

const observeStore = (
  store: Context.Tag.Service<Store>,
  runtime: Runtime.Runtime<never>,
  interruption: Deferred.Deferred<void>
) => {
  const listeners = new Set<(changes: Changes) => void>()
  const logListenerFailure = (cause: unknown) =>
    Runtime.runFork(runtime)(Effect.logWarning("A listener to committed events failed", Cause.die(cause)))

  const transact: Context.Tag.Service<Store>["transact"] = (command) =>
    Effect.suspend(() => {
      if (listeners.size === 0) return store.transact(command)
      let committed: Changes = []
      const recorded = recordChanges(command, (changes) => {
        committed = changes
      })
      return Effect.onExit(store.transact(recorded), (exit: Exit.Exit<unknown, unknown>) =>
        Exit.isSuccess(exit)
          ? Effect.map(OpenTransaction, (open) => {
              const notifyAll = () => {
                for (const listener of listeners) listener(committed)
              }
              if (open === null) return notifyAll()
              const events = committed.flatMap((change) => (change._tag === "EventRaised" ? [change.row] : []))
              return void open.onCommit.push({ notify: notifyAll, events })
            })
          : Effect.void
      )
    })

  const listenToChanges = (listener: (changes: Changes) => void) => {
    // Each call adds its own function, so that a listener that was added twice can be removed once.
    const ownListeners = (changes: Changes) => listener(changes)
    listeners.add(ownListeners)
    return () => void listeners.delete(ownListeners)
  }

  const listen = (listener: Listener) =>
    listenToChanges((changes) => {
      for (const change of changes)
        if (change._tag === "EventRaised") void callListener(listener, eventOf(change.row)).catch(logListenerFailure)
    })

  const stream = Stream.asyncPush<CommittedEvent>(
    (emit) =>
      Effect.acquireRelease(
        Effect.sync(() => listen((event) => void emit.single(event))),
        (stop) => Effect.sync(stop)
      ),
    { bufferSize: ServiceLimits.event_stream_buffer, strategy: "sliding" }
  ).pipe(Stream.interruptWhenDeferred(interruption))
  const subscribe = () => {
    const queue = Runtime.runSync(runtime)(Queue.sliding<CommittedEvent>(ServiceLimits.event_stream_buffer))
    const stop = listen((event) => queue.unsafeOffer(event))
    return Stream.fromQueue(queue).pipe(Stream.interruptWhenDeferred(interruption), Stream.ensuring(Effect.sync(stop)))
  }
  return {
    store: Store.of({ transact }),
    events: CommittedEvents.of({ stream, subscribe, listen }),
    changes: CommittedChanges.of({ listen: listenToChanges })
  }
}

/**
 * Wraps the store and reports the changes that are committed through it. This costs nothing while there is no listener.
 */
export const observedStore: Layer.Layer<Store | CommittedEvents | CommittedChanges, never, Store> = Layer.scopedContext(
  Effect.gen(function* () {
    // Streams end with the store; otherwise their readers would wait forever.
    const interruption = yield* Effect.acquireRelease(Deferred.make<void>(), (ended) =>
      Deferred.succeed(ended, undefined)
    )
    const { store, events, changes } = observeStore(yield* Store, yield* Effect.runtime<never>(), interruption)
    return Context.make(Store, store).pipe(Context.add(CommittedEvents, events), Context.add(CommittedChanges, changes))
  })
)
