import type { Delivery, DeliveryAttempt, Event } from "../../testkit/Shapes.js"
import { HOUR, MINUTE } from "../../testkit/Time.js"
import { goodActs, grouped, isGood, ms, reporter } from "./Reading.js"
import type { ReceivedDelivery, ShopTrace, Trace, Violation } from "./Trace.js"

const report = reporter("deliveries", "Specification, Webhooks")

/** After each failed attempt, how long until the next. */
const DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR]
const MOST = DELAYS.length + 1

const isAcknowledged = ({ status }: Pick<DeliveryAttempt, "status">): boolean =>
  status !== null && status >= 200 && status < 300

/** When the shop's deliveries were made due anew: by turning the webhook on, or by a replay. */
const releasesOf = (trace: Trace, shop: string): ReadonlyArray<number> =>
  (["enable", "replay"] as const).flatMap((kind) =>
    goodActs(trace, kind)
      .filter((one) => one.id === shop && (one.body as { readonly dry_run?: boolean } | undefined)?.dry_run !== true)
      .map(({ now }) => now)
  )

/** Attempts follow one another after the delays of the table, unless they were made due anew between. */
const attemptsWrong = (attempts: ReadonlyArray<DeliveryAttempt>, releases: ReadonlyArray<number>): string | null => {
  let round = 0
  for (const [i, attempt] of attempts.entries()) {
    if (attempt.n !== i + 1) return `attempt ${i + 1} has number ${attempt.n}`
    const before = attempts[i - 1]
    round += 1
    if (before === undefined) continue
    const [was, is] = [ms(before.started_at), ms(attempt.started_at)]
    const isDue = !isAcknowledged(before) && round <= MOST && is - was === DELAYS[round - 2]
    if (isDue) continue
    if (!releases.some((at) => at >= was && at <= is))
      return `attempt ${attempt.n} came ${is - was} ms after the one before`
    round = 1
  }
  return null
}

/** How many attempts were made since it was last made due anew. */
const roundOf = (attempts: ReadonlyArray<DeliveryAttempt>): number => {
  let round = 0
  for (const [i, attempt] of attempts.entries()) {
    const before = attempts[i - 1]
    const gap = before === undefined ? -1 : ms(attempt.started_at) - ms(before.started_at)
    round = before !== undefined && gap === DELAYS[round - 1] ? round + 1 : 1
  }
  return round
}

const stateWrong = (
  { state, attempts, next_attempt_at }: Delivery,
  shop: ShopTrace,
  ended_at: number
): string | null => {
  const last = attempts.at(-1)
  const isOn = shop.webhook?.on === true
  switch (state) {
    case "delivered":
      return last !== undefined && isAcknowledged(last) ? null : "delivered without a 2xx"
    case "dead":
      if (last === undefined || isAcknowledged(last)) return "given up without a failure"
      return roundOf(attempts) >= MOST ? null : `given up after ${roundOf(attempts)} attempts`
    case "parked":
      return isOn ? "parked while the webhook is on" : null
    case "pending":
      if (!isOn) return "pending while the webhook is off"
      return next_attempt_at !== null && ms(next_attempt_at) > ended_at ? null : "was due and not sent"
  }
}

const receivedWrong = (delivery: Delivery, event: Event, received: ReadonlyArray<ReceivedDelivery>): string | null => {
  if (received.length !== delivery.attempts.length)
    return `reached the receiver ${received.length} times in ${delivery.attempts.length} attempts`
  for (const [i, { status, body }] of received.entries()) {
    if (body !== received[0]!.body) return "its text changed between attempts"
    if (status !== null && delivery.attempts[i]!.status !== status)
      return `attempt ${i + 1} is logged as ${delivery.attempts[i]!.status}, and was answered ${status}`
  }
  const text = received[0]?.body
  return text === undefined || JSON.stringify(JSON.parse(text)) === JSON.stringify(event)
    ? null
    : "its text is not the event"
}

/** Since when events are delivered: from the first address on. */
const setAt = ({ exchanges }: Trace, shop: string): number =>
  exchanges.find((one) => one.method === "PUT" && one.path === `/sandbox/shops/${shop}/webhook` && isGood(one))?.now ??
  Number.POSITIVE_INFINITY

const orderWrong = (
  shop: ShopTrace,
  received: ReadonlyArray<ReceivedDelivery>,
  since: number
): ReadonlyArray<Violation> => {
  const places = new Map(shop.events.map((event, i) => [event.id, { event, i }]))
  const reached = new Map<string, number>()
  const seen = new Set<string>()
  return received.flatMap(({ body }) => {
    const { id } = JSON.parse(body) as Event
    const place = places.get(id)
    if (place === undefined) return report(`event ${id} was sent and never raised`, { shop: shop.id, body })
    const ticket = place.event.data.ticket?.id
    if (seen.has(id) || ticket === undefined || ms(place.event.created_at) <= since) return []
    seen.add(id)
    const before = reached.get(ticket) ?? -1
    reached.set(ticket, Math.max(before, place.i))
    return place.i > before
      ? []
      : report(`event ${id} overtook another of its ticket`, { shop: shop.id, ticket, event: place.event })
  })
}

const inShop = (trace: Trace, shop: ShopTrace): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const since = setAt(trace, shop.id)
  const releases = releasesOf(trace, shop.id)
  const mine = trace.receptions.filter((one) => one.shop === shop.id)
  const received = grouped(mine, ({ body }) => (JSON.parse(body) as Event).id)
  const deliveries = new Map(shop.deliveries.map((delivery) => [delivery.event_id, delivery]))
  for (const event of shop.events) {
    const delivery = deliveries.get(event.id)
    if (delivery === undefined) {
      if (ms(event.created_at) > since)
        found.push(...report(`event ${event.id} is neither delivered nor accounted for`, event))
      continue
    }
    const message =
      attemptsWrong(delivery.attempts, releases) ??
      stateWrong(delivery, shop, trace.ended_at) ??
      receivedWrong(delivery, event, received.get(event.id) ?? [])
    if (message !== null)
      found.push(
        ...report(`event ${event.id}: ${message}`, { shop: shop.id, delivery, received: received.get(event.id) })
      )
  }
  return [...found, ...orderWrong(shop, mine, since)]
}

/** Every event of a shop with a webhook is delivered or accounted for, by the table of retries, byte for byte, a ticket's in order. */
export const checkDeliveries = (trace: Trace): ReadonlyArray<Violation> =>
  trace.shops.flatMap((shop) => inShop(trace, shop))
