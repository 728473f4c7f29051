import { Effect, Layer } from "effect"
import { ClientNotifier, OwnerNotifier } from "../ports/Notifiers.js"

/** Clients have their inbox (`Clients.inbox`), and are told nothing more. */
export const inboxOnly: Layer.Layer<ClientNotifier> = Layer.succeed(ClientNotifier, { notify: () => Effect.void })

/** Owners are told in the log. A webhook's query may hold a secret of its receiver, so it is left out. */
export const logOwner: Layer.Layer<OwnerNotifier> = Layer.succeed(OwnerNotifier, {
  notify: ({ kind, shop_id, url }) =>
    Effect.annotateLogs(Effect.logWarning("An owner is to be told of their webhook"), {
      kind,
      shop_id,
      url: url.split("?")[0]
    })
})

/** What a service has whose embedder brings no notifiers of its own. */
export const layer: Layer.Layer<ClientNotifier | OwnerNotifier> = Layer.merge(inboxOnly, logOwner)
