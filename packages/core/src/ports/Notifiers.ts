import { Context, Data, type Effect } from "effect"
import type { ClientNotification } from "../domain/Notification.js"
import type { NoticeRecord } from "../domain/Webhook.js"

/** A notifier could not deliver a notification; it is called again later. */
export class NotificationFailed extends Data.TaggedError("NotificationFailed")<{ readonly cause?: unknown }> {
  /** The problem, as a sentence for logs, without the cause. */
  override get message() {
    return "The notification failed. The service sends it again later."
  }
}

/** Notifies clients outside their inbox, such as by push or mail. The embedder implements it (Specification, States). */
export class ClientNotifier extends Context.Tag("@workshop/core/ClientNotifier")<
  ClientNotifier,
  {
    /**
     * Notifies a client at least once: after a crash or a lost result it is called again with the same `id`. If it fails, throws a defect,
     * or takes longer than ten real seconds, it is called again by the webhooks' retry table, eight times in all. Many notifications are
     * sent at once, in no fixed order. Null in a process that notifies no clients: the notifications then wait at most three days
     * for a process that does.
     */
    readonly notify: ((notification: ClientNotification) => Effect.Effect<void, NotificationFailed>) | null
  }
>() {}

/** Sends notices to owners: their webhook fails or was turned off (Specification, Webhooks). */
export class OwnerNotifier extends Context.Tag("@workshop/core/OwnerNotifier")<
  OwnerNotifier,
  {
    /** Sends a notice to a shop's owner, with the same retries as {@link ClientNotifier}. */
    readonly notify: (notice: NoticeRecord) => Effect.Effect<void, NotificationFailed>
  }
>() {}
