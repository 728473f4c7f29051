import { Effect } from "effect"
import { recordAttempt, recordSuperseded } from "../decisions/recordAttempt.js"
import { setWebhook } from "../decisions/webhookSettings.js"
import type { EventId, ShopId, TicketId } from "../domain/Identifier.js"
import { ServiceLimits } from "../domain/Limits.js"
import type { SendError, SendResult, Webhook } from "../domain/Webhook.js"
import { type Claim, Deliveries } from "../ports/StorePorts.js"
import { makeChanges, openShop, runCommand } from "./Fixtures.js"
import { SettableClock } from "./SettableClock.js"

const noResponse: SendResult = {
  status: null,
  error: null,
  detail: null,
  address: "192.0.2.7",
  timings: { lookup_ms: null, connect_ms: 2, tls_ms: null, first_byte_ms: 3, total_ms: 4 },
  head: ""
}

/** An attempt with a response. */
export const statusResult = (status: number): SendResult => ({
  ...noResponse,
  status,
  head: `HTTP/1.1 ${status} Said\n`
})

/** An attempt without a response. */
export const errorResult = (error: SendError): SendResult => ({ ...noResponse, error })

/** More deliveries than any case has due at once. */
const PLENTY = 20_000

/** Raises a ping for each ticket, or for no ticket where it is null. Tickets are small numbers and need not exist. */
export const raisePings = (shop_id: ShopId, tickets: ReadonlyArray<number | null>) =>
  makeChanges(shop_id, (changes) => {
    for (const ticket of tickets)
      changes.raiseEvent(
        "ping",
        {},
        ticket === null ? null : (`00000000-0000-7000-8000-${String(ticket).padStart(12, "0")}` as TicketId)
      )
  })

/** A dispatcher for a case, which claims deliveries only of the shops that it opened. */
export class TestDispatcher {
  readonly #shops: Array<ShopId> = []

  /** Opens a shop whose webhook is on. */
  readonly open = Effect.suspend(() =>
    Effect.tap(
      Effect.map(openShop(), ({ id }) => id),
      (shop_id) => {
        this.#shops.push(shop_id)
        return runCommand(setWebhook(shop_id, { url: "https://shop.example/hook", secret: "whsec_1" }))
      }
    )
  )

  /** Raises an event for each ticket, all at the same instant. */
  readonly raise = (shop_id: ShopId, ...tickets: ReadonlyArray<number | null>) =>
    runCommand(raisePings(shop_id, tickets))

  /**
   * Claims at most `max` due deliveries. They belong to this dispatcher's shops, because earlier cases leave nothing
   * due.
   */
  readonly claim = (max = PLENTY) =>
    Effect.gen(this, function* () {
      const clock = yield* SettableClock.current
      const claims = yield* (yield* Deliveries).claim(clock.unsafeCurrentTimeMillis(), max)
      return claims.filter(({ shop_id }) => this.#shops.includes(shop_id))
    })

  /** Changes fields of the webhook's row. */
  readonly hook = (shop_id: ShopId, change: (webhook: Webhook) => Partial<Webhook>) =>
    runCommand(
      makeChanges(shop_id, (changes, _, { webhook }) =>
        changes.add({ _tag: "WebhookPut", row: { ...webhook!, ...change(webhook!) } })
      )
    )

  /** Turns the webhook off as after a 410. */
  readonly turnOff = (shop_id: ShopId) => this.hook(shop_id, () => ({ off_reason: "gone" }))

  /** Turns all webhooks off and moves the clock past every lease, so that nothing is due in the next case. */
  readonly close = Effect.gen(this, function* () {
    if (this.#shops.length === 0) return
    for (const shop_id of this.#shops) yield* this.turnOff(shop_id)
    const clock = yield* SettableClock.current
    clock.advance(ServiceLimits.delivery_lease_ms)
    yield* (yield* Deliveries).reclaim
  })
}

/** Records the attempt of a claim, with the current instant as its start and without jitter. */
export const record = (
  { shop_id, event_id, token, webhook: { url } }: Pick<Claim, "shop_id" | "event_id" | "token" | "webhook">,
  sent: SendResult
) =>
  Effect.clockWith((clock) => {
    const started_at = clock.unsafeCurrentTimeMillis()
    const recording = runCommand(recordAttempt(shop_id, { event_id, token, url, started_at, sent, jitter: 0 }))
    return Effect.map(recording, ({ outcome }) => outcome)
  })

/** Records the attempt of a claim that another dispatcher has taken over, as the dispatcher does after "superseded". */
export const recordLate = ({ shop_id, event_id, token, webhook: { url } }: Claim, sent: SendResult) =>
  Effect.clockWith((clock) => {
    const started_at = clock.unsafeCurrentTimeMillis()
    return runCommand(recordSuperseded(shop_id, { event_id, token, url, started_at, sent, jitter: 0 }))
  })

/** The ids of the claimed events. */
export const eventsOf = (claims: ReadonlyArray<Claim>): ReadonlyArray<EventId> => claims.map(({ event_id }) => event_id)
