import type { ShopId } from "@workshop/core"
import {
  type Directory,
  isBlocked,
  latestOfShops,
  type OwnedRef,
  ServiceLimits,
  trackedTicket,
  visibleOffers
} from "@workshop/core/store"
import { type Context, Effect, Stream } from "effect"
import type { Memory } from "./Memory.js"
import type { ShopData } from "./ShopData.js"

/**
 * The shop that `isOwner` accepts. Searches all shops, because this is rarely needed and an index would slow down every
 * create.
 */
const ownerOf = (memory: Memory, isOwner: (data: ShopData) => boolean): ShopId | null => {
  for (const [shop_id, data] of memory.shops) if (isOwner(data)) return shop_id
  return null
}

const shopOf = (memory: Memory, thing: OwnedRef): ShopId | null => {
  switch (thing._tag) {
    case "Ticket":
      return ownerOf(memory, ({ state }) => state.tickets.has(thing.id))
    case "Offer":
      return memory.shopOfOffer.get(thing.id) ?? null
    case "Key":
      return memory.shopOfKey.get(thing.id) ?? null
  }
}

/** The first rows after an id, in the order of their ids. */
const pageById = <Row extends { readonly id: string }>(
  rows: ReadonlyArray<Row>,
  after: string | null,
  limit: number
): ReadonlyArray<Row> =>
  rows
    .filter(({ id }) => after === null || id > after)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit)

/** The port for shops, the accounts of clients, and look-ups across shops. */
export const memoryDirectory = (memory: Memory): Context.Tag.Service<Directory> => ({
  createShop: (shop) => Effect.sync(() => memory.open(shop)),
  listShops: (after, limit) =>
    Effect.sync(() =>
      pageById(
        Array.from(memory.shops.values(), ({ state }) => state.shop),
        after,
        limit
      )
    ),
  listClients: (after, limit) => Effect.sync(() => pageById([...memory.accounts.values()], after, limit)),
  hasShops: Effect.sync(() => memory.shops.size > 0),
  claimFirstShop: Effect.sync(() => {
    const isFirst = !memory.isFirstShopClaimed
    memory.isFirstShopClaimed = true
    return isFirst
  }),
  isSandboxMade: Effect.sync(() => memory.isSandboxMade),
  markSandboxMade: Effect.sync(() => {
    memory.isSandboxMade = true
  }),
  latest: Effect.sync(() =>
    Array.from(memory.shops.values(), ({ state }) => state.head.last_recorded_at).reduce((a, b) => Math.max(a, b), 0)
  ),
  shopsAhead: (of) =>
    Effect.sync(() => {
      const ids = [...memory.shops].flatMap(([id, { state }]) => (state.head.last_recorded_at > of ? [id] : [])).sort()
      return { count: ids.length, first: ids.slice(0, ServiceLimits.data_ahead_named) }
    }),
  createClient: (account) =>
    Effect.sync(() => {
      if (memory.holders.has(account.phone)) return false
      memory.putAccount(account.id, account)
      return true
    }),
  changeClient: (account) =>
    Effect.sync(() => {
      const holder = memory.holders.get(account.phone)
      if (holder !== undefined && holder.id !== account.id) return false
      memory.putAccount(account.id, account)
      return true
    }),
  keyByHash: (hash) =>
    Effect.sync(() => {
      const place = memory.keyHashes.get(hash)
      if (place === undefined) return null
      const { state } = memory.dataOf(place.shop_id)
      return { key: state.keys.get(place.id)!, shop: state.shop }
    }),
  keysUsed: (uses) =>
    Effect.sync(() => {
      for (const [id, at] of uses) {
        const shop_id = memory.shopOfKey.get(id)
        const keys = shop_id === undefined ? undefined : memory.dataOf(shop_id).state.keys
        const key = keys?.get(id)
        if (key !== undefined) keys?.set(id, { ...key, last_used_at: Math.max(key.last_used_at ?? at, at) })
      }
    }),
  shopOf: (thing) => Effect.sync(() => shopOf(memory, thing)),
  tracked: (tracking_code) =>
    Effect.sync(() => {
      const tickets = [...memory.shops.values()].flatMap(({ state, byTrackingCode }) => {
        const id = byTrackingCode.get(tracking_code)
        return id === undefined ? [] : [trackedTicket(state.tickets.get(id)!, state.shop)]
      })
      return tickets.slice(0, ServiceLimits.tracked_max)
    }),
  holders: (phones) => Effect.sync(() => phones.flatMap((phone) => memory.holders.get(phone) ?? [])),
  account: (id) => Effect.sync(() => memory.accounts.get(id) ?? null),
  offers: (id) =>
    Effect.sync(() => {
      const account = memory.accounts.get(id)
      const offers = account === undefined ? [] : memory.offers(account.phone)
      return visibleOffers(offers, (shop_id) => isBlocked(memory.dataOf(shop_id).state.links.get(id)))
    }),
  changedShops: Stream.empty,
  inbox: (id) => Effect.sync(() => latestOfShops(memory.inboxes.get(id) ?? []))
})
