import { describe, expect, it } from "vitest"
import { type NotificationRecord, withChannel } from "../../src/domain/Notification.js"
import type { Phone } from "../../src/domain/Phone.js"

const PHONE = "+21620123456" as Phone
const record = (client_id: string | null) =>
  ({ id: "n", type: "ticket.ready", ticket_id: "t", created_at: 5, client_id }) as unknown as NotificationRecord

describe("how a notification reaches a client (Specification, States)", () => {
  it("a client with an account is notified in the app, even if the number was erased", () => {
    expect(withChannel(record("c"), PHONE)).toEqual({ ...record("c"), channel: "app", phone: PHONE })
    expect(withChannel(record("c"), null)).toEqual({ ...record("c"), channel: "app", phone: null })
  })

  it("a client without an account is notified by the number on the ticket, and not at all if it has none", () => {
    expect(withChannel(record(null), PHONE)).toEqual({ ...record(null), channel: "phone", phone: PHONE })
    expect(withChannel(record(null), null)).toBeNull()
  })
})
