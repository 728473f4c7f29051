import { Context, Data, type Effect } from "effect"
import type { ClientNotification } from "../domain/Notification.js"
import type { NoticeRecord } from "../domain/Webhook.js"

/** A notifier could not deliver a notification; it is called again later. */
export class NotificationFailed extends Data.TaggedError("NotificationFailed")<{ readonly cause?: unknown }> {
  override get message() {
    return "The notification failed; it is sent again later"
  }
}

/** How clients are notified besides their inbox, such as by push or mail: the embedder's choice (Specification, States). */
export class ClientNotifier extends Context.Tag("@workshop/core/ClientNotifier")<
  ClientNotifier,
  {
    /**
     * Notifies a client at least once: after a crash or a lost result it is called again with the same `id`. If it fails, throws a defect,
     * or takes longer than ten real seconds, it is called again by the webhooks' retry table, eight times in all. Many notifications are
     * sent at once, in no fixed order. Null in a process that notifies no clients: their notifications wait for a process that does, at
     * most three days.
     */
    readonly notify: ((notification: ClientNotification) => Effect.Effect<void, NotificationFailed>) | null
  }
>() {}

/** How owners are notified that their webhook fails or was turned off (Specification, Webhooks). */
export class OwnerNotifier extends Context.Tag("@workshop/core/OwnerNotifier")<
  OwnerNotifier,
  {
    /** Notifies a shop's owner, as {@link ClientNotifier} notifies a client. */
    readonly notify: (notice: NoticeRecord) => Effect.Effect<void, NotificationFailed>
  }
>() {}
