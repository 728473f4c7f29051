import { type Inboxes, type Reply, Shelf } from "@workshop/cli/conform/Inbox"
import type { Ask } from "@workshop/cli/conform/Wire"
import type { Sent } from "@workshop/core/domain/Attempt"
import { SIGNATURE_HEADER } from "@workshop/core/domain/Signature"
import type { Take } from "@workshop/core/domain/Take"
import { sandbox } from "@workshop/core/domain/WebhookAddress"
import { pipeline } from "@workshop/core/http/Pipeline"
import { webHandler } from "@workshop/core/http/WebHandler"
import { workshopBranch } from "@workshop/core/http/workshopBranch"
import { Entropy } from "@workshop/core/ports/Entropy"
import { RateLimits } from "@workshop/core/ports/RateLimits"
import { Store } from "@workshop/core/ports/Store"
import { type WebhookPost, WebhookSender } from "@workshop/core/ports/WebhookSender"
import { Closer } from "@workshop/core/services/Closer"
import { Dispatcher } from "@workshop/core/services/Dispatcher"
import { Messenger } from "@workshop/core/services/Messenger"
import * as Notifiers from "@workshop/core/services/Notifiers"
import * as Profanity from "@workshop/core/services/Profanity"
import { SandboxClock } from "@workshop/core/services/SandboxClock"
import { TimeWalk } from "@workshop/core/services/TimeWalk"
import { layer as workshopLayer } from "@workshop/core/services/Workshop"
import { sandboxBranch } from "@workshop/http-node/sandbox/sandboxBranch"
import * as MemoryStore from "@workshop/store-memory/MemoryStore"
import { type Context, Effect, Layer, Logger, ManagedRuntime } from "effect"

/** Brings a delivery to a receiver; answers what the receiver said. */
export type Send = (post: WebhookPost) => Reply

/** What can be broken about a server, from the outside in. */
export interface Fault {
  readonly ask?: (ask: Ask) => Ask
  readonly send?: (send: Send) => Send
  /** Changes what is counted against which limits. */
  readonly limits?: { readonly takes: (takes: ReadonlyArray<Take>) => ReadonlyArray<Take> }
  readonly store?: (store: Context.Tag.Service<Store>) => Context.Tag.Service<Store>
}

const ORIGIN = "http://inbox.localhost"

const NO_TIMINGS = { lookup_ms: null, connect_ms: 0, tls_ms: null, first_byte_ms: 0, total_ms: 0 }

const sentOf = (reply: Reply): Sent => {
  const common = { detail: null, address: "127.0.0.1", timings: NO_TIMINGS, head: "" }
  return reply === "silence"
    ? { ...common, status: null, error: "timeout" }
    : { ...common, status: reply.status, error: null }
}

const same = <A>(it: A): A => it

const layerOf = ({ send = same, store = same, limits = { takes: same } }: Fault, shelf: Shelf) => {
  const post: Send = ({ url, headers, body }) => {
    const lower = Object.entries({ ...headers, "Content-Type": "application/json; charset=utf-8" }).map(
      ([name, value]) => [name.toLowerCase(), value] as const
    )
    return shelf.take(new URL(url).pathname, Object.fromEntries(lower), body)
  }
  const sending = send(post)
  const sender = Layer.succeed(
    WebhookSender,
    WebhookSender.of({ send: (post) => Effect.sync(() => sentOf(sending(post))) })
  )
  const counted = ({ take, giveBack, look }: Context.Tag.Service<RateLimits>) =>
    RateLimits.of({ take: (takes, now) => take(limits.takes(takes), now), giveBack, look })
  const stored = MemoryStore.layer.pipe(
    Layer.provideMerge(Entropy.layer),
    // Laid over the store, it is the one that all services get.
    (whole) =>
      Layer.mergeAll(
        whole,
        Layer.effect(Store, Effect.map(Store, store)).pipe(Layer.provide(whole)),
        Layer.effect(RateLimits, Effect.map(RateLimits, counted)).pipe(Layer.provide(whole))
      )
  )
  const services = Messenger.Default.pipe(
    Layer.provide(Notifiers.layer),
    Layer.provideMerge(workshopLayer),
    Layer.provideMerge(stored),
    Layer.provideMerge(Profanity.layer)
  )
  return TimeWalk.layer([Closer, Dispatcher, Messenger]).pipe(
    Layer.provideMerge(Dispatcher.layer({ isJittered: false })),
    Layer.provide(sender),
    Layer.provideMerge(services),
    Layer.provideMerge(SandboxClock.layer),
    Layer.provideMerge(Logger.replace(Logger.defaultLogger, Logger.none))
  )
}

/** Our own server in this process, asked without a socket; whole, or with a fault. */
export const inProcess = async (
  fault: Fault = {}
): Promise<{ readonly ask: Ask; readonly inboxes: Inboxes; readonly close: () => Promise<void> }> => {
  const shelf = new Shelf(ORIGIN, SIGNATURE_HEADER)
  const runtime = ManagedRuntime.make(layerOf(fault, shelf))
  const handler = await runtime.runPromise(
    Effect.gen(function* () {
      const v1 = yield* workshopBranch({ isHeld: false })
      const others = yield* sandboxBranch({ token: null, webhookPolicy: sandbox, isHeld: false })
      return webHandler(yield* pipeline([v1, others]), yield* Effect.runtime<never>())
    })
  )
  return { ask: (fault.ask ?? same)(handler), inboxes: shelf, close: () => runtime.dispose() }
}
