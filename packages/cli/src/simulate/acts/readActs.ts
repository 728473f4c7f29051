import type { Answer, SeenTicket } from "../auditor/Evidence.js"
import { type Deed, type Errand, type Stage, successOf } from "../Errand.js"
import { type HeldKey, type KnownShop, type KnownTicket, remember } from "../Town.js"
import { atTill, drawKnown } from "./tillActs.js"

/** A till reads something. */
export const readErrand = (shop: KnownShop, key: HeldKey, act: string, path: string, query = ""): Errand => ({
  actor: "till",
  act,
  shop: shop.id,
  key,
  method: "GET",
  path,
  query
})

interface FeedMeta {
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly synced_until: string
}

const heard = (shop: KnownShop, answer: Answer | null) => {
  const tickets = successOf<ReadonlyArray<SeenTicket>>(answer)
  if (tickets === null) return
  for (const ticket of tickets) {
    shop.feed.tickets.set(ticket.id, ticket)
    remember(shop, ticket)
  }
  const meta = answer?.body.meta as unknown as FeedMeta
  shop.feed.cursor = meta.next_cursor
  // A new round begins where the last one ended; in the middle of one the filter stays.
  if (!meta.has_more) shop.feed.updated_since = meta.synced_until
}

/** The next page of the feed that a till follows (Specification, Lists and sync). */
export const pollErrand = (shop: KnownShop, key: HeldKey, limit: number): Errand => {
  const { updated_since, cursor } = shop.feed
  const query = new URLSearchParams({ updated_since, limit: String(limit) })
  if (cursor !== null) query.set("cursor", cursor)
  const told = (answer: Answer | null) => {
    // Where two polls ran at once, the one that ended first has moved the place on.
    if (shop.feed.updated_since === updated_since && shop.feed.cursor === cursor) heard(shop, answer)
  }
  return { ...readErrand(shop, key, "poll", "/v1/tickets", query.toString()), actor: "poller", told }
}

const withTicket = (stage: Stage, act: string, pathOf: (ticket: KnownTicket) => string) => {
  const at = atTill(stage)
  const ticket = at === null ? undefined : drawKnown(at.shop, stage.dice)
  if (at === null || ticket === undefined) return null
  return [readErrand(at.shop, at.key, act, pathOf(ticket))]
}

const FILTERS = [
  "state=workshop,ready",
  "state=abandoned",
  "limit=7",
  "created_after=2026-11-21",
  "phone=%2B21629999999"
] as const

/** What tills read (Specification, Endpoints). */
export const readActs: ReadonlyArray<Deed> = [
  {
    name: "poll",
    weight: 12,
    plan: (stage) => {
      const { dice } = stage
      const at = atTill(stage)
      return at === null ? null : [pollErrand(at.shop, at.key, dice.oneOf([1, 3, 10, 50, 100]))]
    }
  },
  { name: "read", weight: 4, plan: (stage) => withTicket(stage, "read", ({ id }) => `/v1/tickets/${id}`) },
  {
    name: "by number",
    weight: 2,
    plan: (stage) => withTicket(stage, "by number", ({ number }) => `/v1/tickets/by-number/${number}`)
  },
  {
    name: "list",
    weight: 3,
    plan: (stage) => {
      const { dice } = stage
      const at = atTill(stage)
      return at === null ? null : [readErrand(at.shop, at.key, "list", "/v1/tickets", dice.oneOf(FILTERS))]
    }
  },
  {
    name: "another shop's ticket",
    weight: 1,
    plan: (stage) => {
      const { town, dice } = stage
      const at = atTill(stage)
      const other = dice.pick(town.shops.filter((shop) => shop !== at?.shop))
      const ticket = other === undefined ? undefined : drawKnown(other, dice)
      return at === null || ticket === undefined
        ? null
        : [readErrand(at.shop, at.key, "another shop's ticket", `/v1/tickets/${ticket.id}`)]
    }
  },
  {
    name: "a key without the right",
    weight: 1.5,
    plan: ({ town, dice }) => {
      const shop = dice.pick(town.shops)
      const key = dice.pick(shop?.keys.filter(({ scopes, isRevoked }) => scopes === "read" && !isRevoked) ?? [])
      if (shop === undefined || key === undefined) return null
      const body = { service: "Hem" }
      return [
        {
          actor: "till",
          act: "a key without the right",
          shop: shop.id,
          key,
          method: "POST",
          path: "/v1/tickets",
          once: town.fresh("no"),
          body
        }
      ]
    }
  },
  {
    name: "a revoked key",
    weight: 1.5,
    plan: ({ town, dice }) => {
      const shop = dice.pick(town.shops)
      const key = dice.pick(shop?.keys.filter(({ isRevoked }) => isRevoked).slice(-3) ?? [])
      return shop === undefined || key === undefined ? null : [readErrand(shop, key, "a revoked key", "/v1/shop")]
    }
  },
  {
    name: "many reads",
    weight: 0.25,
    plan: (stage) => {
      const { dice } = stage
      const at = atTill(stage)
      return at === null
        ? null
        : Array.from({ length: dice.between(60, 140) }, () => readErrand(at.shop, at.key, "many reads", "/v1/shop"))
    }
  }
]
