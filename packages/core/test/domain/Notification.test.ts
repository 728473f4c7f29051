import { describe, expect, it } from "vitest"
import type { ClientLink } from "../../src/domain/Client.js"
import {
  type NotificationContacts,
  type NotificationRecord,
  notificationPhone,
  withChannel
} from "../../src/domain/Notification.js"
import type { Phone } from "../../src/domain/Phone.js"

const OWN = "+21620123456" as Phone
const ON_TICKET = "+21620999999" as Phone
const record = (client_id: string | null) =>
  ({ id: "n", type: "ticket.ready", ticket_id: "t", created_at: 5, client_id }) as unknown as NotificationRecord
const link = (blocked_at: number | null) => ({ known_at: 1, blocked_at }) as ClientLink
const contacts = (
  account_phone: Phone | null,
  ticket_phone: Phone | null,
  holder_link: ClientLink | null = null
): NotificationContacts => ({ account_phone, ticket_phone, holder_link })

describe("the recipient of a notification (Specification, States)", () => {
  it.each<[name: string, client_id: string | null, NotificationContacts, expected: Phone | null]>([
    ["a client with an account is notified at its number", "c", contacts(OWN, null), OWN],
    ["the number on the ticket of a client with an account is ignored", "c", contacts(OWN, ON_TICKET), OWN],
    [
      "a client with an account is notified even if the number's holder blocks the shop",
      "c",
      contacts(OWN, OWN, link(3)),
      OWN
    ],
    ["an erased account has no number", "c", contacts(null, ON_TICKET), null],
    ["a client without an account is notified at the number on the ticket", null, contacts(null, ON_TICKET), ON_TICKET],
    ["the holder of the number need not be known to the shop", null, contacts(null, ON_TICKET, link(null)), ON_TICKET],
    ["a number whose holder blocks the shop is not notified", null, contacts(null, ON_TICKET, link(3)), null],
    ["a ticket without a number has none", null, contacts(null, null), null]
  ])("a notification gets the right number: %s", (_, client_id, known, expected) => {
    expect(notificationPhone(record(client_id), known)).toBe(expected)
  })

  it("a client with an account is notified in the app, even if the number was erased", () => {
    expect(withChannel(record("c"), contacts(OWN, null))).toEqual({ ...record("c"), channel: "app", phone: OWN })
    expect(withChannel(record("c"), contacts(null, null))).toEqual({ ...record("c"), channel: "app", phone: null })
  })

  it("a client without an account is notified by the number on the ticket, and not at all if it has none", () => {
    const walkIn = record(null)
    expect(withChannel(walkIn, contacts(null, ON_TICKET))).toEqual({ ...walkIn, channel: "phone", phone: ON_TICKET })
    expect(withChannel(walkIn, contacts(null, ON_TICKET, link(3)))).toBeNull()
    expect(withChannel(walkIn, contacts(null, null))).toBeNull()
  })
})
