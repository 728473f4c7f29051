import { type AttemptOutcome, recordAttempt } from "../../src/decisions/recordAttempt.js"
import { setWebhook } from "../../src/decisions/webhookSettings.js"
import type { DeliveryRecord } from "../../src/domain/Delivery.js"
import type { EventId, TicketId } from "../../src/domain/Identifier.js"
import type { SendResult, Webhook } from "../../src/domain/Webhook.js"
import { raisePings } from "../../src/testing/TestDispatcher.js"
import { SHOP, TestShop } from "../decisions/fixtures.js"

export const URL_1 = "https://shop.example.com/hook"

/** A shop whose webhook is on, with functions for tests of deliveries. */
export class HookedShop extends TestShop {
  constructor() {
    super()
    this.does(setWebhook(SHOP, { url: URL_1, secret: "whsec_1" }))
  }

  /** Raises an event; its ticket need not exist. */
  raises(ticket: number | null = null): EventId {
    this.does(raisePings(SHOP, [ticket]))
    return this.rows("EventRaised")[0]!.id
  }

  get webhook(): Webhook {
    return this.slice.webhook!
  }

  hooks(change: Partial<Webhook>): this {
    this.slice.webhook = { ...this.webhook, ...change }
    return this
  }

  delivery(event_id: EventId): DeliveryRecord | undefined {
    return this.slice.deliveries.get(event_id)
  }

  /** Changes fields of a delivery's row. */
  delivers(event_id: EventId, change: Partial<DeliveryRecord>): this {
    this.slice.deliveries.set(event_id, { ...this.delivery(event_id)!, ...change })
    return this
  }

  /** Records an attempt that ends now, by default under the delivery's own token and to the webhook's own address. */
  attempts(
    event_id: EventId,
    sent: SendResult,
    { token, url = this.webhook.url, jitter = 0 }: { token?: number; url?: string; jitter?: number } = {}
  ): AttemptOutcome {
    const own = this.delivery(event_id)?.token ?? 0
    const attempted = { event_id, token: token ?? own, url, started_at: this.now - 5, sent, jitter }
    return this.does(recordAttempt(SHOP, attempted)).outcome
  }
}

export const ticket = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}` as TicketId
