import { Effect, Layer } from "effect"
import { hostOf } from "../domain/Webhook.js"
import { ClientNotifier, OwnerNotifier } from "../ports/Notifiers.js"

/**
 * For a process that notifies no clients besides their inbox (`Clients.inbox`). Their notifications wait for a process on the same store
 * that does, at most three days.
 */
export const inboxOnly: Layer.Layer<ClientNotifier> = Layer.succeed(ClientNotifier, { notify: null })

/** Logs the notices to owners, with the host of the webhook's URL only: its path and its query may be secrets of the receiver. */
export const logOwner: Layer.Layer<OwnerNotifier> = Layer.succeed(OwnerNotifier, {
  notify: ({ kind, shop_id, url }) =>
    Effect.annotateLogs(Effect.logWarning("An owner has a notice about their webhook"), {
      kind,
      shop_id,
      host: hostOf(url)
    })
})

/** The default notifiers, for embedders without notifiers. */
export const layer: Layer.Layer<ClientNotifier | OwnerNotifier> = Layer.merge(inboxOnly, logOwner)
