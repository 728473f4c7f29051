import { Context, Data, type Effect } from "effect"
import type { ClientNotification } from "../domain/Notification.js"
import type { NoticeRecord } from "../domain/Webhook.js"

/** A notifier could not deliver a notification; it is sent again later. */
export class NotificationFailed extends Data.TaggedError("NotificationFailed")<{ readonly cause?: unknown }> {
  override get message() {
    return "The notification failed; it is sent again later"
  }
}

/** How clients hear of their tickets besides their inbox: by push or mail, as the embedder sees fit (Specification, States). */
export class ClientNotifier extends Context.Tag("@workshop/core/ClientNotifier")<
  ClientNotifier,
  {
    /**
     * Notifies a client, at least once: after a crash or a lost answer the same notification comes again, under the same
     * `id`. A failure, a defect, or ten real seconds without an answer make it come again by the retry table of
     * webhooks, eight attempts in all. Many are sent at once, and their order is not kept.
     */
    readonly notify: (notification: ClientNotification) => Effect.Effect<void, NotificationFailed>
  }
>() {}

/** How owners hear that their webhook fails or was turned off (Specification, Webhooks). */
export class OwnerNotifier extends Context.Tag("@workshop/core/OwnerNotifier")<
  OwnerNotifier,
  {
    /** Notifies a shop's owner, as {@link ClientNotifier} notifies a client. */
    readonly notify: (notice: NoticeRecord) => Effect.Effect<void, NotificationFailed>
  }
>() {}
