import { UNKNOWN_ID } from "../../testkit/Ids.js"
import type { TicketJson } from "../../testkit/ResponseTypes.js"
import {
  type Activity,
  drawKnownTicket,
  drawTicket,
  type HeldKey,
  type KnownClient,
  type KnownShop,
  type KnownTicket,
  type PlanContext,
  type PlannedRequest,
  planRequest,
  remember,
  rememberTicket,
  type SentAttempt,
  type SimulatedFault,
  successData,
  UNKNOWN_PHONE
} from "../Actors.js"
import type { RecordedResponse } from "../auditor/Trace.js"
import type { Dice } from "../Dice.js"

/** A shop with a full-access key of its till. */
interface Till {
  readonly shop: KnownShop
  readonly key: HeldKey
}

/** Draws a till; null if the shop has no valid key. */
export const drawTill = ({ actors, dice }: PlanContext): Till | null => {
  const shop = dice.pick(actors.shops)
  const key = shop && dice.pick(shop.keys.filter(({ isRevoked, scopes }) => !isRevoked && scopes === "full"))
  return shop === undefined || key === undefined ? null : { shop, key }
}

type Requests = ReadonlyArray<PlannedRequest>

const planAtTill =
  (plan: (till: Till, planning: PlanContext) => Requests | null): Activity["plan"] =>
  (planning) => {
    const till = drawTill(planning)
    return till === null ? null : plan(till, planning)
  }

const planOnTicket = (plan: (till: Till, ticket: KnownTicket, dice: Dice) => Requests): Activity["plan"] =>
  planAtTill((till, { dice }) => {
    const ticket = drawKnownTicket(till.shop, dice)
    return ticket === undefined ? null : plan(till, ticket, dice)
  })

const planWithClient = (
  plan: (till: Till, client: Pick<KnownClient, "id" | "phone">, planning: PlanContext) => Requests
): Activity["plan"] =>
  planAtTill((till, planning) => {
    const { actors, dice } = planning
    const stranger = { id: UNKNOWN_ID, phone: UNKNOWN_PHONE }
    return plan(till, dice.chance(0.08) ? stranger : (dice.pick(actors.clients) ?? stranger), planning)
  })

const repeatTimes = (n: number, request: () => PlannedRequest): Requests => Array.from({ length: n }, request)

const planRead = ({ shop, key }: Till, action: string, path: string, query = ""): PlannedRequest => ({
  actor: "till",
  action,
  shop: shop.id,
  key,
  method: "GET",
  path,
  query
})

/** Draws the fault of a request: most have none, some lose their response, and some are cut off. */
const drawFault = (dice: Dice): SimulatedFault => (dice.chance(0.9) ? "plain" : dice.chance(0.65) ? "lost" : "cut")

/** The largest number of attempts with a response that a till keeps, of which it repeats some later. */
const MAX_KEPT_ATTEMPTS = 40

const settleAttempt = (shop: KnownShop, attempt: SentAttempt, response: RecordedResponse | null) => {
  shop.openAttempts = shop.openAttempts.filter((openAttempt) => openAttempt !== attempt)
  if (response === null) {
    shop.openAttempts.push(attempt)
    return
  }
  const data = successData<TicketJson>(response)
  if (data === null) return
  shop.doneAttempts.push(attempt)
  if (shop.doneAttempts.length > MAX_KEPT_ATTEMPTS) shop.doneAttempts.shift()
  if (attempt.action === "create" && response.status === 201) remember(shop, data)
}

/** The first or a repeated request of an attempt. The till keeps the attempt until it gets the response. */
export const planAttempt = (
  shop: KnownShop,
  attempt: SentAttempt,
  fault: SimulatedFault,
  action = attempt.action
): PlannedRequest => ({
  ...attempt,
  actor: "till",
  action,
  shop: shop.id,
  method: "POST",
  fault,
  onResponse: (response) => settleAttempt(shop, attempt, response)
})

const LIKELY_STATUSES: Readonly<Record<string, readonly [string, ...Array<string>]>> = {
  workshop: ["ready", "ready", "ready", "impossible"],
  ready: ["collected", "collected", "workshop"],
  impossible: ["collected", "workshop"],
  collected: ["workshop", "collected", "ready"],
  abandoned: ["workshop", "ready"]
}

/** Draws a status, in most cases one that the ticket accepts as far as the till knows. */
const drawStatus = (ticket: KnownTicket, dice: Dice): string =>
  dice.oneOf(
    dice.chance(0.12) ? ["ready", "impossible", "workshop", "collected"] : (LIKELY_STATUSES[ticket.state] ?? ["ready"])
  )

/** A till's request for a status. */
export const planStatus = ({ shop, key }: Till, { id }: KnownTicket, status: string): PlannedRequest => ({
  ...planRequest("till", "status", shop.id, ["set status", id, { status }]),
  key,
  onResponse: rememberTicket(shop)
})

const drawCreation = ({ key }: Till, planning: PlanContext): SentAttempt => {
  const body = drawTicket(planning)
  return { key, path: "/v1/tickets", idempotency_key: planning.actors.freshName("till"), body, action: "create" }
}

const repeatAttempt: Activity["plan"] = ({ actors, dice }) => {
  const shop = dice.pick(actors.shops)
  if (shop === undefined) return null
  const earlierAttempt = dice.chance(0.7) ? dice.pick(shop.openAttempts) : dice.pick(shop.doneAttempts)
  const attempt = earlierAttempt ?? dice.pick(shop.doneAttempts)
  if (attempt === undefined) return null
  if (attempt.action !== "create" || dice.chance(0.8))
    return [planAttempt(shop, attempt, drawFault(dice), `repeat ${attempt.action}`)]
  const other = { ...attempt, body: { ...(attempt.body as object), description: actors.freshName("Another") } }
  return [{ ...planAttempt(shop, other, "plain", "reuse a key"), onResponse: () => {} }]
}

/** Activities of tills with tickets (Specification, Endpoints). */
const ticketActivities: ReadonlyArray<Activity> = [
  {
    weight: 22,
    plan: planAtTill((till, planning) => {
      const attempt = drawCreation(till, planning)
      return [planAttempt(till.shop, attempt, drawFault(planning.dice))]
    })
  },
  {
    weight: 4,
    plan: planAtTill((till, planning) => {
      const attempt = drawCreation(till, planning)
      return repeatTimes(planning.dice.integerBetween(2, 6), () =>
        planAttempt(till.shop, attempt, "plain", "create at once")
      )
    })
  },
  { weight: 7, plan: repeatAttempt },
  { weight: 24, plan: planOnTicket((till, ticket, dice) => [planStatus(till, ticket, drawStatus(ticket, dice))]) },
  {
    weight: 4,
    plan: planOnTicket((till, ticket, dice) =>
      repeatTimes(dice.integerBetween(2, 4), () => planStatus(till, ticket, drawStatus(ticket, dice)))
    )
  },
  {
    weight: 4,
    plan: planOnTicket(({ shop, key }, { id }, dice) => {
      const body = { channel: dice.oneOf(["sms", "whatsapp", "call"]) }
      const request = planRequest("till", "notified", shop.id, ["notified", id, body])
      return [{ ...request, key, onResponse: rememberTicket(shop) }]
    })
  }
]

interface FeedMeta {
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly synced_until: string
}

const followFeed = (shop: KnownShop, response: RecordedResponse | null) => {
  const tickets = successData<ReadonlyArray<TicketJson>>(response)
  if (tickets === null) return
  for (const ticket of tickets) {
    shop.feed.tickets.set(ticket.id, ticket)
    remember(shop, ticket)
  }
  const meta = response?.body.meta as unknown as FeedMeta
  shop.feed.cursor = meta.next_cursor
  // The filter changes only at the end of a round, because the next round begins where the last round ended.
  if (!meta.has_more) shop.feed.updated_since = meta.synced_until
}

/** The next page of the feed that a till follows (Specification, Lists and sync). */
export const planPoll = (till: Till, limit: number): PlannedRequest => {
  const { feed } = till.shop
  const { updated_since, cursor } = feed
  const query = new URLSearchParams({ updated_since, limit: String(limit) })
  if (cursor !== null) query.set("cursor", cursor)
  const onResponse = (response: RecordedResponse | null) => {
    // The response is ignored if the place in the feed has changed, because only the first of two concurrent polls may
    // move it.
    if (feed.updated_since === updated_since && feed.cursor === cursor) followFeed(till.shop, response)
  }
  return { ...planRead(till, "poll", "/v1/tickets", query.toString()), actor: "poller", onResponse }
}

const FILTERS = [
  "state=workshop,ready",
  "state=abandoned",
  "limit=7",
  "created_after=2026-11-21",
  "phone=%2B21629999999"
] as const

const planForeignRead: Activity["plan"] = (planning) => {
  const { actors, dice } = planning
  const till = drawTill(planning)
  const other = dice.pick(actors.shops.filter((shop) => shop !== till?.shop))
  const ticket = other === undefined ? undefined : drawKnownTicket(other, dice)
  return till === null || ticket === undefined
    ? null
    : [planRead(till, "another shop's ticket", `/v1/tickets/${ticket.id}`)]
}

const planWithoutRight: Activity["plan"] = ({ actors, dice }) => {
  const shop = dice.pick(actors.shops)
  const key = dice.pick(shop?.keys.filter(({ scopes, isRevoked }) => scopes === "read" && !isRevoked) ?? [])
  if (shop === undefined || key === undefined) return null
  const request = planRequest("till", "a key without the right", shop.id, ["create ticket", "", { service: "Hem" }])
  return [{ ...request, key, idempotency_key: actors.freshName("no") }]
}

const planWithRevokedKey: Activity["plan"] = ({ actors, dice }) => {
  const shop = dice.pick(actors.shops)
  const key = dice.pick(shop?.keys.filter(({ isRevoked }) => isRevoked).slice(-3) ?? [])
  return shop === undefined || key === undefined ? null : [planRead({ shop, key }, "a revoked key", "/v1/shop")]
}

/** The read-only activities of tills (Specification, Endpoints). */
const readActivities: ReadonlyArray<Activity> = [
  { weight: 12, plan: planAtTill((till, { dice }) => [planPoll(till, dice.oneOf([1, 3, 10, 50, 100]))]) },
  { weight: 4, plan: planOnTicket((till, { id }) => [planRead(till, "read", `/v1/tickets/${id}`)]) },
  {
    weight: 2,
    plan: planOnTicket((till, { number }) => [planRead(till, "by number", `/v1/tickets/by-number/${number}`)])
  },
  { weight: 3, plan: planAtTill((till, { dice }) => [planRead(till, "list", "/v1/tickets", dice.oneOf(FILTERS))]) },
  { weight: 1, plan: planForeignRead },
  { weight: 1.5, plan: planWithoutRight },
  { weight: 1.5, plan: planWithRevokedKey },
  {
    weight: 0.25,
    plan: planAtTill((till, { dice }) =>
      repeatTimes(dice.integerBetween(60, 140), () => planRead(till, "many reads", "/v1/shop"))
    )
  }
]

const planLookUp = (till: Till, action: string, phone: string): PlannedRequest =>
  planRead(till, action, "/v1/clients", `phone=${encodeURIComponent(phone)}`)

const planWithIdempotencyKey = (action: "stamps" | "redeem"): Activity["plan"] =>
  planWithClient(({ shop, key }, { id }, { actors, dice }) => {
    const body = action === "stamps" ? { count: dice.integerBetween(1, 10) } : undefined
    const attempt = {
      key,
      path: `/v1/clients/${id}/loyalty/${action}`,
      idempotency_key: actors.freshName(action),
      body,
      action
    }
    const copies = dice.chance(0.15) ? dice.integerBetween(2, 4) : 1
    const fault = copies === 1 ? drawFault(dice) : "plain"
    return repeatTimes(copies, () => planAttempt(shop, attempt, fault))
  })

/** Activities of tills with clients and their cards (Specification, Endpoints). */
const loyaltyActivities: ReadonlyArray<Activity> = [
  { weight: 4, plan: planWithClient((till, { phone }) => [planLookUp(till, "find a client", phone)]) },
  {
    weight: 0.3,
    plan: planWithClient((till, { phone }, { dice }) =>
      repeatTimes(dice.integerBetween(20, 70), () => planLookUp(till, "many look-ups", phone))
    )
  },
  { weight: 3, plan: planWithClient((till, { id }) => [planRead(till, "read a client", `/v1/clients/${id}`)]) },
  { weight: 3, plan: planWithClient((till, { id }) => [planRead(till, "read a card", `/v1/clients/${id}/loyalty`)]) },
  { weight: 7, plan: planWithIdempotencyKey("stamps") },
  { weight: 4, plan: planWithIdempotencyKey("redeem") }
]

/** All activities of tills, with their weights. */
export const tillActivities: ReadonlyArray<Activity> = [...ticketActivities, ...readActivities, ...loyaltyActivities]
