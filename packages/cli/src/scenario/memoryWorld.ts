import { sandbox } from "@workshop/core/domain/WebhookAddress"
import { pipeline } from "@workshop/core/http/Pipeline"
import { webHandler } from "@workshop/core/http/WebHandler"
import { workshopBranch } from "@workshop/core/http/workshopBranch"
import { Entropy } from "@workshop/core/ports/Entropy"
import { OwnerNotifier } from "@workshop/core/ports/Notifiers"
import { Closer } from "@workshop/core/services/Closer"
import { Dispatcher } from "@workshop/core/services/Dispatcher"
import { Messenger } from "@workshop/core/services/Messenger"
import * as Notifiers from "@workshop/core/services/Notifiers"
import * as Profanity from "@workshop/core/services/Profanity"
import { MovableClock, SandboxClock } from "@workshop/core/services/SandboxClock"
import { TimeWalk } from "@workshop/core/services/TimeWalk"
import { layer as workshopLayer } from "@workshop/core/services/Workshop"
import { sandboxBranch } from "@workshop/http-node/sandbox/sandboxBranch"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { Clock, Effect, Layer, Logger, LogLevel, ManagedRuntime, type Scope } from "effect"
import { MemoryInboxes } from "./MemoryInboxes.js"
import type { World } from "./World.js"

/** The instant at which every scenario begins in process: a Monday, 10 o'clock in Tunis. */
export const START = Date.UTC(2026, 0, 5, 9)

/** Tells one instant for ever; sleeping and durations are real. */
const standing = (instant: number): Clock.Clock => {
  const real = Clock.make()
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    currentTimeMillis: Effect.succeed(instant),
    unsafeCurrentTimeMillis: () => instant,
    currentTimeNanos: real.currentTimeNanos,
    unsafeCurrentTimeNanos: () => real.unsafeCurrentTimeNanos(),
    sleep: (duration) => real.sleep(duration)
  }
}

const startClock = Layer.suspend(() => {
  const clock = new MovableClock(standing(START))
  return Layer.merge(Layer.succeed(SandboxClock, clock), Layer.setClock(clock))
})

const SEED = 1

/** What owners are told is kept by the service all the same, and read there. */
const silentOwner = Layer.succeed(OwnerNotifier, { notify: () => Effect.void })

const logs = Layer.merge(
  Logger.replace(
    Logger.defaultLogger,
    Logger.make((entry) => console.error(Logger.logfmtLogger.log(entry)))
  ),
  Logger.minimumLogLevel(LogLevel.Warning)
)

const layerOf = (inboxes: MemoryInboxes) => {
  const services = Messenger.Default.pipe(
    Layer.provide(Layer.merge(Notifiers.inboxOnly, silentOwner)),
    Layer.provideMerge(workshopLayer),
    Layer.provideMerge(MemoryStore.layer),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layerSeeded(SEED))
  )
  return TimeWalk.layer([Closer, Dispatcher, Messenger]).pipe(
    Layer.provideMerge(Dispatcher.layer({ isJittered: false })),
    Layer.provide(inboxes.sender),
    Layer.provideMerge(services),
    Layer.provideMerge(Layer.merge(startClock, logs))
  )
}

const served = Effect.gen(function* () {
  const branches = [
    yield* workshopBranch({ isHeld: false }),
    yield* sandboxBranch({ token: null, webhookPolicy: sandbox, isHeld: false })
  ]
  return webHandler(yield* pipeline(branches), yield* Effect.runtime<never>())
})

/** A service of its own in this process, on the memory store, without sockets. What is due runs when its clock is moved. */
export const memoryWorld: Effect.Effect<World, never, Scope.Scope> = Effect.gen(function* () {
  const inboxes = new MemoryInboxes()
  const runtime = yield* Effect.acquireRelease(
    Effect.sync(() => ManagedRuntime.make(layerOf(inboxes))),
    (runtime) => runtime.disposeEffect
  )
  const fetch = yield* Effect.promise(() => runtime.runPromise(served))
  let phones = 0
  const nextPhone = Effect.sync(() => `+2162${String(++phones).padStart(7, "0")}`)
  return { base: "http://127.0.0.1", sandbox_token: null, fetch, nextPhone, openInbox: inboxes.open }
})
