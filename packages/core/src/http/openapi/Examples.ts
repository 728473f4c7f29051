import { Limits } from "../../domain/Limits.js"
import type { RequestIssue } from "../ErrorTable.js"
import * as Sample from "./Samples.js"

/** An example with its summary. */
export interface Example {
  readonly summary: string
  readonly value: unknown
}

/** The examples of an operation. */
interface OperationExamples {
  readonly requests?: Readonly<Record<string, Example>>
  /** The examples of responses, by status and then by name. */
  readonly responses: Readonly<Record<string, Readonly<Record<string, Example>>>>
  readonly issues: ReadonlyArray<RequestIssue>
}

const responseExample = (summary: string, data: unknown, meta?: unknown): Example => ({
  summary,
  value: meta === undefined ? { success: true, data } : { success: true, data, meta }
})

const missingKey: RequestIssue = { in: "header", field: "Idempotency-Key", message: "is required" }
const badId: RequestIssue = { in: "path", field: "id", message: "must be a UUID" }
const unknownQuery: RequestIssue = {
  in: "query",
  field: "verbose",
  message: "is unknown; correct its name or remove it"
}

const TicketExamples: Readonly<Record<string, OperationExamples>> = {
  createTicket: {
    requests: {
      smallest: { summary: "Only the required field", value: { service: "Key copy" } },
      repair: {
        summary: "A repair, offered to a phone number",
        value: {
          service: "Resoling",
          item: "Brown leather boots",
          description: "Left heel is worn down further",
          client_phone: "+216 20 123 456",
          price_minor: 45_000,
          deposit_minor: 20_000,
          promised_at: "2026-11-22T18:00:00+01:00",
          external_ref: "POS-2026-1182"
        }
      },
      order: {
        summary: "An order of two items",
        value: {
          service: "Curtains",
          type: "prepare",
          items: [{ label: "Living room, two panels", service: "Hem", price_minor: 38_000 }, { label: "Kitchen" }],
          price_minor: 52_000
        }
      }
    },
    responses: {
      201: {
        repair: responseExample("The ticket", Sample.workshopTicket, { replayed: false }),
        order: responseExample("The order", Sample.orderTicket, { replayed: false })
      },
      200: { replayed: responseExample("The first response again", Sample.workshopTicket, { replayed: true }) }
    },
    issues: [
      missingKey,
      { in: "body", field: "service", message: "is required" },
      { in: "body", field: "deposit_minor", message: "must not be greater than price_minor" }
    ]
  },
  listTickets: {
    responses: {
      200: {
        newest: responseExample("The newest tickets, with another page", [Sample.orderTicket, Sample.readyTicket], {
          has_more: true,
          next_cursor: "MTc5NTE3MDA0MjEyMyAwMTk4YzVmMg.9f2c6a1be07d4358"
        }),
        changes: responseExample("The changes since an instant", [Sample.collectedTicket], {
          has_more: false,
          next_cursor: null,
          synced_until: Sample.collectedTicket.updated_at
        })
      }
    },
    issues: [
      { in: "query", field: "limit", message: `must be a whole number from ${Limits.page_min} to ${Limits.page_max}` },
      unknownQuery
    ]
  },
  getTicket: { responses: { 200: { ready: responseExample("The ticket", Sample.readyTicket) } }, issues: [badId] },
  getTicketByNumber: {
    responses: {
      200: {
        found: responseExample("The open ticket, and an older one", Sample.readyTicket, {
          others: [
            {
              id: "0197a0b4-2c30-7000-8f15-6e0d3ab94c21",
              number: 42,
              number_label: "0042",
              state: "collected",
              created_at: "2025-06-24T10:30:00.250Z"
            }
          ]
        })
      }
    },
    issues: [{ in: "path", field: "n", message: `must be a whole number from 1 to ${Limits.ticket_number_max}` }]
  },
  changeTicketStatus: {
    requests: {
      ready: { summary: "The work is done", value: { status: "ready" } },
      impossible: { summary: "It cannot be done", value: { status: "impossible" } },
      workshop: { summary: "Back to the workshop", value: { status: "workshop" } },
      collected: { summary: "The client took it", value: { status: "collected" } }
    },
    responses: {
      200: {
        ready: responseExample("Ready", Sample.readyTicket, { replayed: false }),
        impossible: responseExample("Not possible", Sample.impossibleTicket, { replayed: false }),
        workshop: responseExample("In the workshop again", Sample.reopenedTicket, { replayed: false }),
        collected: responseExample("Collected", Sample.collectedTicket, { replayed: false })
      }
    },
    issues: [{ in: "body", field: "status", message: "must be one of ready, impossible, workshop, collected" }]
  },
  recordNotified: {
    requests: { call: { summary: "The shop rang its client up", value: { channel: "call" } } },
    responses: {
      200: { notified: responseExample("The client was notified", Sample.notifiedTicket, { replayed: false }) }
    },
    issues: [{ in: "body", field: "channel", message: "must be one of sms, whatsapp, call" }]
  }
}

const ClientExamples: Readonly<Record<string, OperationExamples>> = {
  findClient: {
    responses: { 200: { found: responseExample("The client", Sample.client) } },
    issues: [
      {
        in: "query",
        field: "phone",
        message: "must be a phone number in international format, such as +21620123456"
      }
    ]
  },
  getClient: { responses: { 200: { found: responseExample("The client", Sample.client) } }, issues: [badId] },
  getLoyalty: {
    responses: {
      200: {
        active: responseExample("A card in use", { program: Sample.program, card: Sample.card }),
        off: responseExample("The programme is off; the card does not change", {
          program: { ...Sample.program, active: false },
          card: Sample.card
        })
      }
    },
    issues: [badId]
  },
  addStamps: {
    requests: { three: { summary: "Three stamps", value: { count: 3 } } },
    responses: {
      200: {
        added: responseExample(
          "The third completes the card",
          { card: Sample.fullCard, added: 3, rewards_unlocked: 1 },
          { replayed: false }
        ),
        replayed: responseExample(
          "The first response again",
          { card: Sample.fullCard, added: 3, rewards_unlocked: 1 },
          { replayed: true }
        )
      }
    },
    issues: [
      missingKey,
      {
        in: "body",
        field: "count",
        message: `must be a whole number from ${Limits.stamps_per_call_min} to ${Limits.stamps_per_call_max}`
      }
    ]
  },
  redeemReward: {
    requests: { nothing: { summary: "An empty body", value: {} } },
    responses: {
      200: {
        redeemed: responseExample(
          "A reward used",
          { card: Sample.spentCard, reward: { label: "A free shine", redeemed_at: "2026-11-23T10:05:51.730Z" } },
          { replayed: false }
        )
      }
    },
    issues: [missingKey]
  }
}

/** The examples of each operation, by its operationId. */
export const examples: Readonly<Record<string, OperationExamples>> = {
  getShop: {
    responses: { 200: { shop: responseExample("The shop and the key's scopes", Sample.shop) } },
    issues: [unknownQuery]
  },
  ...TicketExamples,
  ...ClientExamples
}
