import { ReplayInput, type ShopId, WebhookNotSet } from "@workshop/core"
import type { CallName } from "@workshop/testers/internal"
import { Chunk, Effect, Option, Schema, Stream } from "effect"
import type { AskSandbox } from "../sandbox/Sandbox.js"
import type { Delivery, SetWebhook, WebhookAdmin, WebhookStatus } from "./WebhookAdmin.js"

/** The deliveries that one request reads: few enough that a response with all attempts stays below the size limit. */
const PAGE_SIZE = 500

/** The webhook in the response of a server. */
type ShownWebhook = WebhookStatus & { readonly previous_secret_until: string | null }

/** The fields that a database has too, so that a command prints the same in both places. */
const toStatus = ({ url, on, off_reason, failures_in_row, first_failure_at }: WebhookStatus): WebhookStatus => ({
  url,
  on,
  off_reason,
  failures_in_row,
  first_failure_at
})

const toDelivery = ({ event_id, type, state, next_attempt_at, attempts }: Delivery): Delivery => ({
  event_id,
  type,
  state,
  next_attempt_at,
  attempts
})

/** The webhooks of a running server with a sandbox. */
export const sandboxWebhookAdmin = (ask: AskSandbox): typeof WebhookAdmin.Service => {
  const read = (shop: ShopId) => ask<ShownWebhook>("get webhook", shop)

  /** Makes a call that needs a webhook. The server's 404 does not say that it is missing, so the webhook is then read. */
  const callWebhook = <A>(name: CallName, shop: ShopId, body?: unknown) =>
    Effect.catchTag(ask<A>(name, shop, { body }), "CommandRefused", (refusal) =>
      Effect.flatMap(read(shop), ({ url }) => Effect.fail(url === null ? new WebhookNotSet() : refusal))
    )

  return {
    set: (shop, url) =>
      Effect.map(ask<Omit<SetWebhook, "isUndelivered">>("set webhook", shop, { body: { url } }), (set) => ({
        ...set,
        isUndelivered: false
      })),
    status: (shop) => Effect.map(read(shop), toStatus),
    previousSecretUntil: (shop) => Effect.map(read(shop), ({ previous_secret_until }) => previous_secret_until),
    rotate: (shop) => callWebhook("rotate secret", shop),
    enable: (shop) => callWebhook("enable webhook", shop),
    disable: (shop) => callWebhook("disable webhook", shop),
    remove: (shop) => callWebhook("remove webhook", shop),
    ping: (shop) => ask("ping", shop),
    deliveries: (shop) =>
      Stream.paginateChunkEffect({ limit: String(PAGE_SIZE) } as Readonly<Record<string, string>>, (query) =>
        Effect.map(ask<ReadonlyArray<Delivery>>("list deliveries", shop, { query }), (deliveries) => [
          Chunk.reverse(Chunk.fromIterable(deliveries.map(toDelivery))),
          Option.map(Option.fromNullable(deliveries[0]), ({ event_id }) => ({ ...query, before: event_id }))
        ])
      ),
    replay: (shop, input) => callWebhook("replay events", shop, Schema.encodeSync(ReplayInput)(input)),
    notices: (shop) => ask("list notices", shop)
  }
}
