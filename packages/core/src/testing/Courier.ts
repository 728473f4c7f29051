import { Effect } from "effect"
import type { YieldWrap } from "effect/Utils"
import { recordAttempt, recordSuperseded } from "../decisions/recordAttempt.js"
import { setWebhook } from "../decisions/webhookSettings.js"
import type { SendError, Sent } from "../domain/Attempt.js"
import type { EventId, ShopId, TicketId } from "../domain/Identifier.js"
import { ServiceLimits } from "../domain/Limits.js"
import type { Webhook } from "../domain/Webhook.js"
import { type Claim, Deliveries } from "../ports/Deliveries.js"
import type { Entropy } from "../ports/Entropy.js"
import type { StorePorts } from "../ports/StorePorts.js"
import type { ContractCase } from "./ContractCase.js"
import { changing, openShop, run } from "./Fixtures.js"
import { SettableClock } from "./SettableClock.js"

const nothing: Sent = {
  status: null,
  error: null,
  detail: null,
  address: "192.0.2.7",
  timings: { lookup_ms: null, connect_ms: 2, tls_ms: null, first_byte_ms: 3, total_ms: 4 },
  head: ""
}

/** An attempt that was answered. */
export const answered = (status: number): Sent => ({ ...nothing, status, head: `HTTP/1.1 ${status} Said\n` })

/** An attempt that was not answered. */
export const unanswered = (error: SendError): Sent => ({ ...nothing, error })

/** More than any case has due at once. */
const PLENTY = 20_000

/** Raises a ping for each ticket named; null stands for none. A name is a small number: no ticket need exist. */
export const raising = (shop_id: ShopId, tickets: ReadonlyArray<number | null>) =>
  changing(shop_id, (changes) => {
    for (const ticket of tickets)
      changes.raise(
        "ping",
        {},
        ticket === null ? null : (`00000000-0000-7000-8000-${String(ticket).padStart(12, "0")}` as TicketId)
      )
  })

/** What a case does with the deliveries of shops of its own: it stands where a dispatcher would. */
export class Courier {
  readonly #shops: Array<ShopId> = []

  /** Opens a shop whose webhook is on. */
  readonly open = Effect.suspend(() =>
    Effect.tap(
      Effect.map(openShop(), ({ id }) => id),
      (shop_id) => {
        this.#shops.push(shop_id)
        return run(setWebhook(shop_id, { url: "https://shop.example/hook", secret: "whsec_1" }))
      }
    )
  )

  /** Raises an event for each ticket named, in one moment. */
  readonly raise = (shop_id: ShopId, ...tickets: ReadonlyArray<number | null>) => run(raising(shop_id, tickets))

  /** Claims what is due now of its own shops; a case leaves nothing due behind, so `most` counts these alone. */
  readonly claim = (most = PLENTY) =>
    Effect.gen(this, function* () {
      const clock = yield* SettableClock.current
      const claims = yield* (yield* Deliveries).claim(clock.unsafeCurrentTimeMillis(), most)
      return claims.filter(({ shop_id }) => this.#shops.includes(shop_id))
    })

  /** Changes the webhook's row by hand. */
  readonly hook = (shop_id: ShopId, change: (webhook: Webhook) => Partial<Webhook>) =>
    run(
      changing(shop_id, (changes, _, { webhook }) =>
        changes.add({ _tag: "WebhookPut", row: { ...webhook!, ...change(webhook!) } })
      )
    )

  /** Turns the webhook off as if its receiver had said it is gone. */
  readonly turnOff = (shop_id: ShopId) => this.hook(shop_id, () => ({ off_reason: "gone" }))

  /** Turns everything off and lets every lease end, so that the next case finds nothing due. */
  readonly leave = Effect.gen(this, function* () {
    for (const shop_id of this.#shops) yield* this.turnOff(shop_id)
    const clock = yield* SettableClock.current
    clock.advance(ServiceLimits.delivery_lease_ms)
    yield* (yield* Deliveries).reclaim
  })
}

/** Records what came of a claim, as of now, without jitter. */
export const record = (
  { shop_id, event_id, token, webhook: { url } }: Pick<Claim, "shop_id" | "event_id" | "token" | "webhook">,
  sent: Sent
) =>
  Effect.clockWith((clock) =>
    run(recordAttempt(shop_id, { event_id, token, url, started_at: clock.unsafeCurrentTimeMillis(), sent, jitter: 0 }))
  )

/** Records what came of a claim that was taken over since: what the dispatcher does where `record` says so. */
export const recordLate = ({ shop_id, event_id, token, webhook: { url } }: Claim, sent: Sent) =>
  Effect.clockWith((clock) => {
    const started_at = clock.unsafeCurrentTimeMillis()
    return run(recordSuperseded(shop_id, { event_id, token, url, started_at, sent, jitter: 0 }))
  })

/** Which events were claimed. */
export const eventsOf = (claims: ReadonlyArray<Claim>): ReadonlyArray<EventId> => claims.map(({ event_id }) => event_id)

type Step = YieldWrap<Effect.Effect<unknown, unknown, StorePorts | Entropy>>

/** Names a case that has a courier. */
export const courierCase = <Y extends Step>(
  name: string,
  body: (courier: Courier) => Generator<Y, void>
): ContractCase => ({
  name,
  effect: Effect.suspend(() => {
    const courier = new Courier()
    return Effect.ensuring(
      Effect.gen<Step, void>(() => body(courier)),
      Effect.orDie(courier.leave)
    )
  })
})
