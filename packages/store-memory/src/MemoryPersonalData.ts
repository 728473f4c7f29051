import type { NotificationRecord } from "@workshop/core"
import {
  idempotencyRecordKey,
  type Person,
  type PersonalData,
  type PersonShopData,
  ServiceLimits
} from "@workshop/core/store"
import { type Context, Effect } from "effect"
import type { Memory } from "./Memory.js"
import type { ShopData } from "./ShopData.js"

/** Whether a text contains the id of a person or one of their phone numbers. */
const makeNameTest =
  ({ client_id, phones }: Person) =>
  (text: string): boolean =>
    text.includes(client_id) || phones.some((phone) => text.includes(phone))

const personShopData = ({ state, ledger }: ShopData, memory: Memory, { client_id, phones }: Person): PersonShopData => {
  const lines = ledger.filter((line) => line.client_id === client_id)
  const offers = [...state.offers.values()].filter(({ phone }) => phones.includes(phone))
  const inbox = (memory.inboxes.get(client_id) ?? []).filter(({ shop_id }) => shop_id === state.shop.id)
  const ticketIds = new Set([...lines, ...offers, ...inbox].map(({ ticket_id }) => ticket_id))
  const tickets = [...state.tickets.values()].filter(
    (ticket) =>
      ticket.client_id === client_id ||
      (ticket.client_phone !== null && phones.includes(ticket.client_phone)) ||
      ticketIds.has(ticket.id)
  )
  const isTheirs = new Set<string>(tickets.map(({ id }) => id))
  const walkInNotifications = [...memory.notifications.payloads.values()].filter(
    (one): one is NotificationRecord =>
      "ticket_id" in one && one.client_id === null && one.shop_id === state.shop.id && isTheirs.has(one.ticket_id)
  )
  const notifications = [...inbox, ...walkInNotifications].sort((a, b) => a.created_at - b.created_at)
  const link = state.links.get(client_id) ?? null
  return { link, card: state.cards.get(client_id) ?? null, ledger: lines, offers, notifications, tickets }
}

const hasData = ({ link, card, ledger, offers, notifications, tickets }: PersonShopData): boolean =>
  link !== null || card !== null || [ledger, offers, notifications, tickets].some(({ length }) => length > 0)

/** The port for a person's data in all shops. */
export const memoryPersonalData = (memory: Memory): Context.Tag.Service<PersonalData> => ({
  beginErasure: (id, phones) =>
    Effect.sync(() => {
      const account = memory.accounts.get(id)
      const pendingErasure = memory.erasures.get(id)
      if (account === undefined && pendingErasure === undefined) return null
      if (account !== undefined) memory.putAccount(id, null)
      const currentPhones = account === undefined ? [] : [account.phone]
      const person: Person = {
        client_id: id,
        names: account === undefined ? (pendingErasure?.names ?? []) : [account.given_name, account.family_name],
        phones: [...new Set([...(pendingErasure?.phones ?? []), ...currentPhones, ...phones])]
      }
      memory.erasures.set(id, person)
      return person
    }),
  endErasure: (id) => Effect.sync(() => void memory.erasures.delete(id)),
  shops: (person) =>
    Effect.sync(() => {
      const shopsWithData = [...memory.shops].filter(([, data]) => hasData(personShopData(data, memory, person)))
      return shopsWithData.map(([shop_id]) => shop_id).sort()
    }),
  readShopData: (shop_id, person) => Effect.sync(() => personShopData(memory.dataOf(shop_id), memory, person)),
  events: (shop_id, person, tickets, from_seq) =>
    Effect.sync(() => {
      const { events, attempts } = memory.dataOf(shop_id)
      const isNamed = makeNameTest(person)
      return events
        .slice(from_seq - 1, from_seq - 1 + ServiceLimits.erasure_batch_events)
        .filter(({ ticket_id, body }) => (ticket_id !== null && tickets.includes(ticket_id)) || isNamed(body))
        .map((event) => ({ event, attempts: attempts.get(event.id) ?? [] }))
    }),
  idempotencyRecords: (shop_id, person, tickets) =>
    Effect.sync(() => {
      const rows = [...memory.dataOf(shop_id).state.idempotency_records.values()]
      const isNamed = makeNameTest(person)
      const matchingRows = rows.filter(
        (row) =>
          isNamed(`${idempotencyRecordKey(row)} ${row.fingerprint} ${row.response}`) ||
          tickets.includes(JSON.parse(row.response).id)
      )
      return { records: matchingRows, next: null }
    })
})
