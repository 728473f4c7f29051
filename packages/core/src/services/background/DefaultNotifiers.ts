import { Effect, Layer } from "effect"
import { hostOf } from "../../domain/Webhook.js"
import { ClientNotifier, OwnerNotifier } from "../../ports/Notifiers.js"

/**
 * Sends no notifications to clients: the notifications wait at most three days for a process on the same store that has
 * a notifier. Clients have them in their inboxes (`Clients.inbox`) in any case.
 */
export const noClientNotifier: Layer.Layer<ClientNotifier> = Layer.succeed(ClientNotifier, { notify: null })

/** Sends nothing, for an installation that notifies nobody: clients have their inbox, and walk-ins are not notified. */
export const inboxOnly: Layer.Layer<ClientNotifier> = Layer.succeed(ClientNotifier, { notify: () => Effect.void })

/** Logs the notices to owners, with the host of the webhook's URL only: its path and its query may be secrets of the receiver. */
export const logOwner: Layer.Layer<OwnerNotifier> = Layer.succeed(OwnerNotifier, {
  notify: ({ kind, shop_id, url }) =>
    Effect.annotateLogs(
      Effect.logWarning(
        "The owner of a shop must be notified about the webhook, but this process has no notifier for owners (notifyOwner). Notify the owner yourself"
      ),
      {
        kind,
        shop_id,
        host: hostOf(url)
      }
    )
})

/** The default notifiers, for embedders without notifiers. */
export const layer: Layer.Layer<ClientNotifier | OwnerNotifier> = Layer.merge(noClientNotifier, logOwner)
