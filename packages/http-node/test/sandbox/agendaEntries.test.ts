import { describe, expect, it } from "vitest"
import { DAY, HOUR, MINUTE, SHOP, START, TestShop } from "../../../core/test/decisions/fixtures.js"
import { type AgendaData, agendaOf } from "../../src/sandbox/agenda.js"

const nothing: AgendaData = { shop_id: SHOP, webhook: null, keys: [], tickets: [], attempts: [], limits: [] }

const ticketIn = (...statuses: ReadonlyArray<"ready" | "impossible" | "collected">) => {
  const shop = new TestShop()
  const id = shop.create()
  shop.moves(id, ...statuses)
  return shop.record(id)
}
const webhook = { previous_secret: "whsec_old", previous_until: START + 24 * HOUR } as AgendaData["webhook"]
const key = (fields: object) => ({ name: "till", revoked_at: null, expires_at: START + DAY, ...fields }) as never
const limit = (remaining: number) =>
  ({ policy: "writes_per_minute", limit: 30, remaining, resets_at: START + MINUTE }) as const
const attempt = {
  event_id: "e" as never,
  type: "ticket.ready" as const,
  ticket_id: null,
  number_label: "0001",
  n: 3,
  at: START + 5 * MINUTE
}

// Copied by hand from Specification, States, Limits, Keys and scopes, and Webhooks.
const rows: ReadonlyArray<readonly [string, Partial<AgendaData>, ReadonlyArray<readonly [number, string, string]>]> = [
  ["nothing", {}, []],
  ["work", { tickets: [ticketIn()] }, [[60 * DAY, "closure", "Ticket 0001 is closed"]]],
  ["ready", { tickets: [ticketIn("ready")] }, [[60 * DAY, "closure", "Ticket 0001 is closed"]]],
  ["not possible", { tickets: [ticketIn("impossible")] }, []],
  [
    "collected",
    { tickets: [ticketIn("ready", "collected")] },
    [[24 * HOUR, "reopen_end", "Ticket 0001 can no longer be reopened"]]
  ],
  ["old secret", { webhook }, [[24 * HOUR, "secret_end", "The webhook's old secret stops signing"]]],
  ["key", { keys: [key({})] }, [[DAY, "key_expiry", "The key till expires"]]],
  ["revoked key", { keys: [key({ revoked_at: START })] }, []],
  ["expired key", { keys: [key({ expires_at: START - 1 })] }, []],
  [
    "used limit",
    { limits: [limit(28)] },
    [[MINUTE, "limit_reset", "The limit writes_per_minute resets (2 of 30 used)"]]
  ],
  ["unused limit", { limits: [limit(30)] }, []],
  ["retry", { attempts: [attempt] }, [[5 * MINUTE, "retry", "Attempt 3 to send ticket.ready of 0001"]]],
  [
    "retry of a ping",
    { attempts: [{ ...attempt, number_label: null }] },
    [[5 * MINUTE, "retry", "Attempt 3 to send ticket.ready"]]
  ],
  [
    "at this very instant",
    { attempts: [{ ...attempt, at: START }] },
    [[0, "retry", "Attempt 3 to send ticket.ready of 0001"]]
  ],
  [
    "several, soonest first",
    { attempts: [attempt], limits: [limit(0)], keys: [key({})] },
    [
      [MINUTE, "limit_reset", "The limit writes_per_minute resets (30 of 30 used)"],
      [5 * MINUTE, "retry", "Attempt 3 to send ticket.ready of 0001"],
      [DAY, "key_expiry", "The key till expires"]
    ]
  ]
]

describe("the agenda entries of a shop's data", () => {
  for (const [name, data, expected] of rows)
    it(name, () => {
      const due = agendaOf({ ...nothing, ...data }, START)
      expect(due.map(({ at, kind, text }) => [at - START, kind, text])).toEqual(expected)
    })
})
