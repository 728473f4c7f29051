import { type ClientId, type ShopId, ShopNotFound, type TicketId } from "@workshop/core"
import {
  blankCard,
  type DisplayedClient,
  isOpen,
  narrowestFilter,
  preferredByNumber,
  type Reads,
  type SeenTicket,
  ServiceLimits,
  type TicketFilter,
  type TicketOrder,
  type TicketRecord,
  visibleClient
} from "@workshop/core/store"
import { type Context, Effect } from "effect"
import type { Memory } from "./Memory.js"
import { partOf, type ShopData } from "./ShopData.js"

const clientOf = ({ state }: ShopData, id: ClientId | null): DisplayedClient | null =>
  id === null ? null : visibleClient(state.accounts.get(id), state.links.get(id))

const seenTicket = (data: ShopData, record: TicketRecord): SeenTicket => ({
  record,
  client: clientOf(data, record.client_id)
})

const matches = (filter: TicketFilter, data: ShopData): ((ticket: TicketRecord) => boolean) => {
  const { state, number, client_id, phone, external_ref, tracking_code, created_after, created_before } = filter
  if (client_id !== undefined && clientOf(data, client_id) === null) return () => false
  return (ticket) =>
    (state === undefined || state.includes(ticket.state)) &&
    (number === undefined || ticket.number === number) &&
    (client_id === undefined || ticket.client_id === client_id) &&
    (phone === undefined || ticket.client_phone === phone) &&
    (external_ref === undefined || ticket.external_ref === external_ref) &&
    (tracking_code === undefined || ticket.tracking_code === tracking_code) &&
    (created_after === undefined || ticket.created_at >= created_after) &&
    (created_before === undefined || ticket.created_at < created_before)
}

/** Reads the data of a shop. Fails with `ShopNotFound` if the shop does not exist. */
const readShopData = <A>(
  memory: Memory,
  shop_id: ShopId,
  read: (data: ShopData) => A
): Effect.Effect<A, ShopNotFound> =>
  Effect.suspend(() => {
    const data = memory.shops.get(shop_id)
    return data === undefined ? Effect.fail(new ShopNotFound()) : Effect.succeed(read(data))
  })

/** The tickets of the best index for a filter, oldest first. They include all matching tickets. */
const candidates = (data: ShopData, { number, client_id, tracking_code }: TicketFilter): ReadonlyArray<TicketId> => {
  if (tracking_code !== undefined) {
    const id = data.byTrackingCode.get(tracking_code)
    return id === undefined ? [] : [id]
  }
  if (number !== undefined) return data.byNumber.get(number) ?? []
  if (client_id === undefined) return data.byCreation
  return [...(data.byClient.get(client_id) ?? [])].sort()
}

/**
 * The first change that a read does not examine; null if the read examines all changes, because an index has few enough
 * tickets.
 */
const unreadFrom = (data: ShopData, filter: TicketFilter, order: TicketOrder): TicketRecord | null => {
  const part = filter.tracking_code === undefined ? narrowestFilter(filter) : null
  if (order._tag === "Newest" || part === null) return null
  const { since, after, max = ServiceLimits.changes_read_max } = order
  const next = takeWhere(max + 1, data.byChange.from(since, after ?? 0), () => true)[max]
  if (next === undefined) return null
  const candidateTickets = takeWhere(
    max + 1,
    ticketsInOrder(data, part, { _tag: "Newest", after: null }),
    matches(part, data)
  )
  return candidateTickets.length > max ? next : null
}

function* ticketsInOrder(data: ShopData, filter: TicketFilter, order: TicketOrder): Generator<TicketRecord> {
  if (order._tag === "Changes") return yield* data.byChange.from(order.since, order.after ?? 0)
  const { after } = order
  const ids = candidates(data, filter)
  for (let i = indexAfter(ids, after); i >= 0; i--) yield data.state.tickets.get(ids[i]!)!
}

/** The index of the newest ticket that is older than `after`, in a list with the oldest first. */
const indexAfter = (ids: ReadonlyArray<TicketId>, after: TicketId | null): number => {
  if (after === null) return ids.length - 1
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (after > ids[middle]!) low = middle + 1
    else high = middle
  }
  return low - 1
}

const takeWhere = (
  limit: number,
  tickets: Iterable<TicketRecord>,
  isWanted: (ticket: TicketRecord) => boolean
): Array<TicketRecord> => {
  const taken: Array<TicketRecord> = []
  if (limit === 0) return taken
  for (const ticket of tickets) if (isWanted(ticket) && taken.push(ticket) === limit) break
  return taken
}

/** The port for reads of a shop. */
export const memoryReads = (memory: Memory): Context.Tag.Service<Reads> => ({
  shop: (shop_id) =>
    Effect.sync(() => {
      const state = memory.shops.get(shop_id)?.state
      return state === undefined ? null : { shop: state.shop, head: state.head, webhook: state.webhook }
    }),

  ticket: (shop_id, id) =>
    readShopData(memory, shop_id, (data) => {
      const record = data.state.tickets.get(id)
      return { shop: data.state.shop, tickets: record === undefined ? [] : [seenTicket(data, record)] }
    }),

  tickets: (shop_id, filter, order, limit) =>
    readShopData(memory, shop_id, (data) => {
      const unread = unreadFrom(data, filter, order)
      const isIn = matches(filter, data)
      const upTo = unread?.change_seq ?? Number.POSITIVE_INFINITY
      const read = ticketsInOrder(data, filter, order)
      const tickets = takeWhere(limit, read, (ticket) => ticket.change_seq < upTo && isIn(ticket))
      const last_change_at = order._tag === "Changes" ? data.byChange.last_change_at : null
      const unread_from = unread && { change_seq: unread.change_seq, updated_at: unread.updated_at }
      return {
        shop: data.state.shop,
        tickets: tickets.map((record) => seenTicket(data, record)),
        last_change_at,
        unread_from
      }
    }),

  ticketsOfNumber: (shop_id, number, limit) =>
    readShopData(memory, shop_id, (data) => {
      const newest = [...ticketsInOrder(data, { number }, { _tag: "Newest", after: null })]
      const preferred = preferredByNumber(newest, ({ state }) => state, limit)
      return { shop: data.state.shop, tickets: preferred.map((record) => seenTicket(data, record)) }
    }),

  client: (shop_id, by) =>
    Effect.sync(() => {
      const data = memory.shops.get(shop_id)
      if (data === undefined) return null
      const id = "id" in by ? by.id : (memory.holders.get(by.phone)?.id ?? null)
      const client = clientOf(data, id)
      if (client === null) return null
      const states = [...(data.byClient.get(client.id) ?? [])].map((ticket) => data.state.tickets.get(ticket)!.state)
      const card = data.state.cards.get(client.id) ?? blankCard(shop_id, client.id)
      return {
        client,
        card,
        shop: data.state.shop,
        tickets_open: states.filter(isOpen).length,
        tickets_total: states.length
      }
    }),

  keys: (shop_id) => Effect.sync(() => [...memory.dataOf(shop_id).state.keys.values()].slice(-ServiceLimits.list_max)),
  externalRefs: (shop_id, refs) =>
    Effect.sync(() => {
      const { state } = memory.dataOf(shop_id)
      const askedRefs = new Set(refs)
      const existingRefs = new Set<string>()
      for (const { id, external_ref } of state.tickets.values())
        for (const ref of [id, external_ref]) if (ref !== null && askedRefs.has(ref)) existingRefs.add(ref)
      return existingRefs
    }),
  events: (shop_id, part) => Effect.sync(() => partOf(memory.dataOf(shop_id).events, part))
})
