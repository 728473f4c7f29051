import { createHmac } from "node:crypto"
import type { AttemptJson, DeliveryJson, EventJson } from "../../testkit/ResponseTypes.js"
import { DAY, HOUR, MINUTE, SECOND } from "../../testkit/Time.js"
import { type Breach, makeBreach } from "./Breach.js"
import type { ShopTrace, Trace, TracedDelivery } from "./Trace.js"
import {
  type CheckFinding,
  groupValues,
  makeCheck,
  recordedDataOf,
  successfulCalls,
  toEpochMs
} from "./traceQueries.js"

/** The delay after each failed attempt, before the next one. */
const RETRY_DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR]
const MAX_ATTEMPTS = RETRY_DELAYS.length + 1

const isAcknowledged = ({ status }: Pick<AttemptJson, "status">): boolean =>
  status !== null && status >= 200 && status < 300

/** The instants at which the shop's deliveries became due again: the webhook was turned on, or they were replayed. */
const requeueInstantsOf = (trace: Trace, shop: string): ReadonlyArray<number> =>
  (["enable webhook", "replay events"] as const).flatMap((name) =>
    successfulCalls(trace, name, shop)
      .filter(({ body }) => (body as { readonly dry_run?: boolean } | undefined)?.dry_run !== true)
      .map(({ now }) => now)
  )

const retryBreach = (message: string): Breach => makeBreach("rule-delivery-retries", message)

/** Finds an attempt that does not follow the delays of the table, unless the delivery became due again in between. */
const findAttemptBreach = (attempts: ReadonlyArray<AttemptJson>, releases: ReadonlyArray<number>): Breach | null => {
  let round = 0
  for (const [i, attempt] of attempts.entries()) {
    if (attempt.n !== i + 1) return retryBreach(`attempt ${i + 1} has number ${attempt.n}`)
    const previousAttempt = attempts[i - 1]
    round += 1
    if (previousAttempt === undefined) continue
    const [previousStart, start] = [toEpochMs(previousAttempt.started_at), toEpochMs(attempt.started_at)]
    const isDue =
      !isAcknowledged(previousAttempt) && round <= MAX_ATTEMPTS && start - previousStart === RETRY_DELAYS[round - 2]
    if (isDue) continue
    if (!releases.some((at) => at >= previousStart && at <= start))
      return retryBreach(
        `attempt ${attempt.n} started ${start - previousStart} ms after the previous attempt, which is not the delay of the retry schedule`
      )
    round = 1
  }
  return null
}

/** The number of attempts since the retry schedule last restarted. */
const roundOf = (attempts: ReadonlyArray<AttemptJson>): number => {
  let round = 0
  for (const [i, attempt] of attempts.entries()) {
    const previousAttempt = attempts[i - 1]
    const gap =
      previousAttempt === undefined ? -1 : toEpochMs(attempt.started_at) - toEpochMs(previousAttempt.started_at)
    round = previousAttempt !== undefined && gap === RETRY_DELAYS[round - 1] ? round + 1 : 1
  }
  return round
}

const findStateBreach = (
  { state, attempts, next_attempt_at }: DeliveryJson,
  shop: ShopTrace,
  ended_at: number
): Breach | null => {
  const parkingBreach = (message: string) => makeBreach("rule-delivery-no-webhook", message)
  const lastAttempt = attempts.at(-1)
  const isOn = shop.webhook?.on === true
  switch (state) {
    case "delivered":
      return lastAttempt !== undefined && isAcknowledged(lastAttempt)
        ? null
        : makeBreach("rule-delivery-status-all", "the delivery is delivered, but its last attempt got no 2xx")
    case "dead":
      if (lastAttempt === undefined || isAcknowledged(lastAttempt))
        return retryBreach("the delivery is dead, but its last attempt did not fail")
      return roundOf(attempts) >= MAX_ATTEMPTS
        ? null
        : retryBreach(`the delivery is dead after only ${roundOf(attempts)} attempts`)
    case "parked":
      return isOn ? parkingBreach("the delivery is parked while the webhook is on") : null
    case "pending":
      if (!isOn) return parkingBreach("the delivery is pending while the webhook is off")
      return next_attempt_at !== null && toEpochMs(next_attempt_at) > ended_at
        ? null
        : retryBreach("the delivery was due but was not sent")
  }
}

const findReceptionBreach = (
  delivery: DeliveryJson,
  event: EventJson,
  received: ReadonlyArray<TracedDelivery>
): Breach | null => {
  if (received.length !== delivery.attempts.length)
    return retryBreach(
      `the event reached the receiver ${received.length} times, but the service logged ${delivery.attempts.length} attempts`
    )
  for (const [i, { status, body }] of received.entries()) {
    if (body !== received[0]!.body) return makeBreach("rule-event-frozen", "the body differs between attempts")
    if (status !== null && delivery.attempts[i]!.status !== status)
      return makeBreach(
        "rule-delivery-status-all",
        `attempt ${i + 1} is logged with the status ${delivery.attempts[i]!.status}, but the receiver responded ${status}`
      )
  }
  const text = received[0]?.body
  return text === undefined || JSON.stringify(JSON.parse(text)) === JSON.stringify(event)
    ? null
    : makeBreach("rule-event-frozen", "the body differs from the event in the list of events")
}

/** The instant from which events are delivered: when the first address was set. */
const webhookSetAt = (trace: Trace, shop: string): number =>
  successfulCalls(trace, "set webhook", shop)[0]?.now ?? Number.POSITIVE_INFINITY

function* findOvertakenEvents(
  shop: ShopTrace,
  received: ReadonlyArray<TracedDelivery>,
  since: number
): Iterable<CheckFinding> {
  const places = new Map(shop.events.map((event, i) => [event.id, { event, i }]))
  const lastSeqByTicket = new Map<string, number>()
  const seen = new Set<string>()
  for (const { body } of received) {
    const { id } = JSON.parse(body) as EventJson
    const place = places.get(id)
    if (place === undefined)
      yield [makeBreach("rule-delivery-no-webhook", `event ${id} was sent but never raised`), { shop: shop.id, body }]
    const ticket = place?.event.data.ticket?.id
    if (seen.has(id) || place === undefined || ticket === undefined || toEpochMs(place.event.created_at) <= since)
      continue
    seen.add(id)
    const previousSeq = lastSeqByTicket.get(ticket) ?? -1
    lastSeqByTicket.set(ticket, Math.max(previousSeq, place.i))
    if (place.i <= previousSeq)
      yield [
        makeBreach("rule-delivery-order", `event ${id} was delivered after a later event of its ticket`),
        { shop: shop.id, ticket, event: place.event }
      ]
  }
}

function* findDeliveryBreaches(trace: Trace, shop: ShopTrace): Iterable<CheckFinding> {
  const since = webhookSetAt(trace, shop.id)
  const releases = requeueInstantsOf(trace, shop.id)
  const receptionsOfShop = trace.receptions.filter((reception) => reception.shop === shop.id)
  const byEvent = groupValues(receptionsOfShop, ({ body }) => (JSON.parse(body) as EventJson).id)
  const deliveries = new Map(shop.deliveries.map((delivery) => [delivery.event_id, delivery]))
  for (const event of shop.events) {
    const delivery = deliveries.get(event.id)
    const received = byEvent.get(event.id)
    if (delivery === undefined) {
      if (toEpochMs(event.created_at) > since)
        yield [makeBreach("rule-delivery-no-webhook", `event ${event.id} has no delivery`), event]
      continue
    }
    const breach =
      findAttemptBreach(delivery.attempts, releases) ??
      findStateBreach(delivery, shop, trace.ended_at) ??
      findReceptionBreach(delivery, event, received ?? [])
    if (breach !== null)
      yield [makeBreach(breach.anchor, `event ${event.id}: ${breach.message}`), { shop: shop.id, delivery, received }]
  }
  yield* findOvertakenEvents(shop, receptionsOfShop, since)
}

/**
 * Every event of a shop with a webhook is delivered, or its deliveries explain why not. Attempts follow the table of
 * retries with the same bytes, and the events of a ticket are in order.
 */
export const checkDeliveries = makeCheck("deliveries", "Specification, Webhooks", function* (trace) {
  for (const shop of trace.shops) yield* findDeliveryBreaches(trace, shop)
})

interface Secret {
  readonly text: string
  readonly since: number
  readonly until: number
}

/** A shop's secrets, each with the period in which it signs, which ends a day after the next secret was made. */
const secretsOf = (trace: Trace, shop: string): ReadonlyArray<Secret> => {
  const [set] = successfulCalls(trace, "set webhook", shop)
  const secrets = [...(set === undefined ? [] : [set]), ...successfulCalls(trace, "rotate secret", shop)].map(
    (reception) => ({
      text: recordedDataOf<{ readonly secret: string }>(reception).secret,
      since: reception.now
    })
  )
  return secrets.map(({ text, since }, i) => {
    const next = secrets[i + 1]?.since
    // A secret stops signing when a second newer secret is made, because only the two newest secrets sign.
    const third = secrets[i + 2]?.since ?? Number.POSITIVE_INFINITY
    return { text, since, until: next === undefined ? Number.POSITIVE_INFINITY : Math.min(next + DAY, third) }
  })
}

const hmacHex = (secret: string, t: string, body: string): string =>
  createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")

const SIGNATURE_FORM = /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/

const findSignatureProblem = (
  { signature, body }: TracedDelivery,
  sent_at: number,
  secrets: ReadonlyArray<Secret>
): string | null => {
  if (signature === null) return "the request has no signature"
  const [, t = "", rest = ""] = SIGNATURE_FORM.exec(signature) ?? []
  if (t === "") return `the signature header is ${signature}, which is not t=<seconds>,v1=<hex>`
  if (Number(t) !== Math.floor(sent_at / SECOND))
    return `the signature's t is ${t}, but the attempt started at ${Math.floor(sent_at / SECOND)}`
  const signatures = rest
    .slice(1)
    .split(",")
    .map((part) => part.slice("v1=".length))
  const certain = secrets.filter(({ since, until }) => since < sent_at && sent_at < until)
  const possible = secrets.filter(({ since, until }) => since <= sent_at && sent_at <= until)
  const missing = certain.find(({ text }) => !signatures.includes(hmacHex(text, t, body)))
  if (missing !== undefined) return "a secret that was valid at that time did not sign"
  return signatures.every((hex) => possible.some(({ text }) => hmacHex(text, t, body) === hex))
    ? null
    : "a secret that was not valid at that time signed"
}

/**
 * Every delivery is signed with the current secret at its instant and, for a day after a rotation, with the previous
 * one as well.
 */
export const checkSignatures = makeCheck("signatures", "Specification, Webhooks", function* (trace) {
  for (const shop of trace.shops) {
    const secrets = secretsOf(trace, shop.id)
    const attempts = new Map(shop.deliveries.map((delivery) => [delivery.event_id, delivery.attempts]))
    const counts = new Map<string, number>()
    for (const reception of trace.receptions) {
      if (reception.shop !== shop.id) continue
      const { id } = JSON.parse(reception.body) as EventJson
      const nth = counts.get(id) ?? 0
      counts.set(id, nth + 1)
      const attempt = attempts.get(id)?.[nth]
      // An attempt that is not logged is skipped, because the check of deliveries reports it.
      const message =
        attempt === undefined ? null : findSignatureProblem(reception, toEpochMs(attempt.started_at), secrets)
      if (message !== null)
        yield [
          makeBreach("rule-signature", `event ${id}, attempt ${nth + 1}: ${message}`),
          { shop: shop.id, reception }
        ]
    }
  }
})

const MAX_FAILURES = 20
const MAX_FAILING_MS = 72 * HOUR

const findOffProblem = ({ webhook, deliveries, notices }: ShopTrace): string | null => {
  if (webhook === null || webhook.on) return null
  const { off_reason, failures_in_row, first_failure_at } = webhook
  const attempts = deliveries.flatMap((delivery) => delivery.attempts)
  const offNotices = notices.filter(({ kind }) => kind === "webhook_off")
  if (offNotices.length === 0) return "it is off, but its owner was not notified"
  if (off_reason === "gone")
    return attempts.some(({ status }) => status === 410)
      ? null
      : "it is off with the reason gone, but no attempt got a 410"
  const lastAttemptAt = Math.max(...attempts.map(({ started_at }) => toEpochMs(started_at)))
  const isDue =
    failures_in_row >= MAX_FAILURES &&
    first_failure_at !== null &&
    lastAttemptAt - toEpochMs(first_failure_at) >= MAX_FAILING_MS
  return isDue ? null : `it is off after only ${failures_in_row} consecutive failures since ${first_failure_at}`
}

const findMissedTurnOff = ({ webhook, deliveries }: ShopTrace): string | null => {
  if (webhook?.on !== true || webhook.first_failure_at === null) return null
  const failedAttempts = deliveries
    .flatMap(({ attempts }) => attempts)
    .filter(({ status }) => status === null || status >= 300)
  const lastFailureAt = Math.max(...failedAttempts.map(({ started_at }) => toEpochMs(started_at)))
  const isOverdue =
    webhook.failures_in_row >= MAX_FAILURES && lastFailureAt - toEpochMs(webhook.first_failure_at) >= MAX_FAILING_MS
  return isOverdue
    ? `it is still on after ${webhook.failures_in_row} consecutive failures since ${webhook.first_failure_at}`
    : null
}

/**
 * A webhook turns off at a 410, or after twenty failures in a row over seventy-two hours, and its owner is notified.
 */
export const checkWebhooks = makeCheck("webhooks", "Specification, Webhooks", function* ({ shops }) {
  for (const shop of shops) {
    const message = findOffProblem(shop) ?? findMissedTurnOff(shop)
    const { webhook, notices } = shop
    if (message !== null)
      yield [makeBreach("rule-webhook-gone", `the webhook of ${shop.id}: ${message}`), { webhook, notices }]
  }
})
