import type { IdempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { EventId, ShopId, TicketId } from "../domain/Identifier.js"
import type { NotificationRecord } from "../domain/Notification.js"
import type { OfferRecord } from "../domain/Offer.js"
import { eraseFromEventBody, eraseFromTicket, eraseFromTicketView, makeEraser, type Person } from "../domain/Person.js"
import type { Ticket, TicketRecord } from "../domain/Ticket.js"
import { eraseFromHistory } from "../domain/TicketChange.js"
import { type Command, makeCommand } from "./Command.js"
import { ERASED_FINGERPRINT } from "./Idempotency.js"
import * as Load from "./Load.js"

const isChanged = (before: unknown, after: unknown): boolean => JSON.stringify(before) !== JSON.stringify(after)

/**
 * Erases a person from tickets. Each changed ticket gets the next `change_seq`, so that a sync copies it to the shop's
 * other systems; no event is raised. The client's id stays as a pseudonym, because the ledger must add up.
 */
export const eraseTickets = (shop_id: ShopId, person: Person, ids: ReadonlyArray<TicketId>): Command<void> =>
  makeCommand(shop_id, { tickets: Load.tickets(ids) }, (loaded, changes) => {
    for (const ticket of loaded.tickets) {
      const isTheirs = ticket.client_id === null || ticket.client_id === person.client_id
      const history = ticket.history && { history: eraseFromHistory(person, ticket.history) }
      const erased: TicketRecord = { ...eraseFromTicket(person, ticket, isTheirs), ...history }
      if (isChanged(ticket, erased)) changes.putTicket(erased, null)
    }
    return changes.toDecision<void>(undefined)
  })

/** Erases a person from the frozen texts of events, including those that wait for delivery, and from the stored responses of receivers. */
export const eraseEvents = (shop_id: ShopId, person: Person, ids: ReadonlyArray<EventId>): Command<void> =>
  makeCommand(shop_id, { events: Load.events(ids) }, (loaded, changes) => {
    for (const { event, attempts } of loaded.events) {
      const body = eraseFromEventBody(person, event.body)
      if (body !== event.body) changes.add({ _tag: "EventRewritten", row: { ...event, body } })
      // A receiver's response may repeat the request in any form.
      for (const attempt of attempts)
        if (attempt.head !== "") changes.add({ _tag: "AttemptRewritten", row: { ...attempt, head: "" } })
    }
    return changes.toDecisionWithoutHead<void>(undefined)
  })

const isTicket = (result: object): result is Ticket => "tracking_code" in result

/**
 * Erases a person from idempotency records. The key still returns the same ticket, but the request is removed. A record
 * whose key names the person is deleted.
 */
export const eraseIdempotencyRecords = (
  shop_id: ShopId,
  person: Person,
  keys: ReadonlyArray<IdempotencyRecordKey>
): Command<void> =>
  makeCommand(shop_id, { records: Load.idempotencyRecords(keys) }, (loaded, changes) => {
    const erase = makeEraser(person)
    for (const row of loaded.records) {
      const { caller_id, operation, key, fingerprint } = row
      const result = JSON.parse(row.response)
      if (erase(key) !== key)
        changes.add({ _tag: "IdempotencyRecordRemoved", row: { shop_id, caller_id, operation, key } })
      else if (isTicket(result)) {
        const erasedResult = JSON.stringify(eraseFromTicketView(person, result))
        if (erasedResult !== row.response || fingerprint !== ERASED_FINGERPRINT)
          changes.add({
            _tag: "IdempotencyRecordPut",
            row: { ...row, response: erasedResult, fingerprint: ERASED_FINGERPRINT }
          })
      }
    }
    return changes.toDecisionWithoutHead<void>(undefined)
  })

/** The person's records that can still be found by number or id after the texts have been erased. */
export interface PersonRecords {
  readonly offers: ReadonlyArray<OfferRecord>
  readonly notifications: ReadonlyArray<NotificationRecord>
}

/** Deletes some of a person's offers and notifications, including those that wait to be sent. */
export const eraseRecords = (shop_id: ShopId, { offers, notifications }: PersonRecords): Command<void> =>
  makeCommand(shop_id, {}, (_, changes) => {
    for (const { id } of offers) changes.add({ _tag: "OfferRemoved", row: { shop_id, id } })
    for (const { id, client_id } of notifications) {
      changes.add({ _tag: "NotificationRemoved", row: { shop_id, id, client_id } })
      changes.add({ _tag: "QueuedNotificationRemoved", row: { shop_id, id } })
    }
    return changes.toDecision<void>(undefined)
  })

/** Ends the erasure in a shop: deletes the client's link to the shop. */
export const forgetClient = (shop_id: ShopId, { client_id }: Person): Command<void> =>
  makeCommand(shop_id, {}, (_, changes) =>
    changes.add({ _tag: "LinkRemoved", row: { shop_id, client_id } }).toDecision<void>(undefined)
  )
