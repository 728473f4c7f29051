import type { Entropy, StorePorts, WebhookPost } from "@workshop/core"
import { SIGNATURE_HEADER } from "@workshop/core/internal"
import { type LimitUse, RateLimits, Store } from "@workshop/core/store"
import * as MemoryStore from "@workshop/store-memory"
import { type Context, Effect, Layer, Logger, ManagedRuntime } from "effect"
import { Inboxes } from "../../src/conform/Target.js"
import type { Fetch } from "../../src/testkit/Api.js"
import { inProcessFetch, inProcessServiceLayer } from "../../src/testkit/InProcessService.js"
import type { Handler, Reply } from "../../src/testkit/LoopbackServer.js"

/** Sends a delivery to a receiver, and returns the receiver's reply. */
export type Send = (post: Pick<WebhookPost, "url" | "headers" | "body">) => Reply

/** Replacements for parts of a server, to give it a fault. */
export interface Fault {
  readonly ask?: (ask: Fetch) => Fetch
  readonly send?: (send: Send) => Send
  /** Changes the uses that the limits count. */
  readonly limits?: { readonly takes: (takes: ReadonlyArray<LimitUse>) => ReadonlyArray<LimitUse> }
  readonly store?: (store: Context.Tag.Service<Store>) => Context.Tag.Service<Store>
}

type StoreLayer = Layer.Layer<StorePorts, never, Entropy>

const same = <A>(it: A): A => it

/** Passes deliveries to the receivers through a sender that may have a fault. */
const receiversOf = ({ send = same }: Fault, inboxes: Inboxes) => {
  const sending = send(({ url, headers, body }) => {
    const incoming = { method: "POST", path: new URL(url).pathname, headers, body: Buffer.from(body), isKept: false }
    return Effect.runSync(inboxes.handler(incoming)).reply
  })
  return (url: string): Handler =>
    ({ headers, body }) =>
      Effect.sync(() => {
        const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
        return { reply: sending({ url, headers: named, body: String(body) }) }
      })
}

const layerOf = (fault: Fault, inboxes: Inboxes, whole: StoreLayer) => {
  const { store = same, limits = { takes: same } } = fault
  const counted = ({ take, giveBack, peek }: Context.Tag.Service<RateLimits>) =>
    RateLimits.of({ take: (takes, now) => take(limits.takes(takes), now), giveBack, peek })
  // The last two layers replace the ports of the store, so that all services use the faulty ones.
  const stored = Layer.mergeAll(
    whole,
    Layer.effect(Store, Effect.map(Store, store)).pipe(Layer.provide(whole)),
    Layer.effect(RateLimits, Effect.map(RateLimits, counted)).pipe(Layer.provide(whole))
  )
  return Layer.merge(
    inProcessServiceLayer({
      store: stored,
      receiverAt: receiversOf(fault, inboxes),
      seed: 1,
      start: Date.UTC(2026, 0, 5, 9)
    }),
    Logger.replace(Logger.defaultLogger, Logger.none)
  )
}

/** Our own server in this process, called without a socket, correct or with a fault. */
export const inProcess = async (
  fault: Fault = {},
  store: StoreLayer = MemoryStore.layer
): Promise<{ readonly ask: Fetch; readonly inboxes: Inboxes; readonly close: () => Promise<void> }> => {
  const inboxes = new Inboxes(SIGNATURE_HEADER)
  inboxes.origin = "http://inbox.localhost"
  const runtime = ManagedRuntime.make(layerOf(fault, inboxes, store))
  const handler = await runtime.runPromise(inProcessFetch)
  return { ask: (fault.ask ?? same)(handler), inboxes, close: () => runtime.dispose() }
}
