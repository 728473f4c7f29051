import { DAY_MS } from "../../domain/Instant.js"
import { Limits } from "../../domain/Limits.js"
import { badge, workshopTicket } from "./Samples.js"

/** The schema of a parameter in the document, in place of the schema of its text. */
interface Parameter {
  readonly name?: string
  readonly description: string
  readonly schema?: Readonly<Record<string, unknown>>
  readonly example: unknown
  readonly style?: string
  readonly explode?: boolean
}

const uuid = { type: "string", format: "uuid" }
const number = { type: "integer", minimum: 1, maximum: Limits.ticket_number_max }

/**
 * Every path, query and header parameter, by the name that its schema gives it; the name is prefixed with the tag if it
 * is ambiguous.
 */
export const parameters: Readonly<Record<string, Parameter>> = {
  "Tickets.id": { description: "The ticket's id", schema: uuid, example: workshopTicket.id },
  "Clients.id": { description: "The client's id", schema: uuid, example: badge.id },
  n: { description: "The ticket's number", schema: number, example: 42 },
  state: {
    description: "Return only tickets in one of these states, separated by commas. `state=a&state=b` means the same",
    schema: { type: "array", items: { $ref: "#/components/schemas/TicketState" }, minItems: 1 },
    style: "form",
    explode: false,
    example: ["workshop", "ready"]
  },
  number: { description: "Return only tickets with this number", schema: number, example: 42 },
  client_id: { description: "Return only tickets that are linked to this client", schema: uuid, example: badge.id },
  phone: {
    description: "A phone number in international format. An unescaped `+` arrives as a space and is read as `+`",
    example: "+21620123456"
  },
  external_ref: { description: "Return only tickets with this external reference", example: "POS-2026-1182" },
  tracking_code: {
    description:
      "Return only the ticket with this tracking code, as a person types it from a receipt. Case and hyphens do not matter, O is read as 0, and I and L are read as 1",
    example: "7k3m-q9xd"
  },
  created_after: {
    description: "Return only tickets created at this instant or later. A date without a time means 00:00 UTC",
    example: "2026-11-01"
  },
  created_before: {
    description: "Return only tickets created before this instant. A date without a time means 00:00 UTC",
    example: "2026-12-01"
  },
  updated_since: {
    description:
      "Return only tickets that changed at this instant or later. An unescaped `+` arrives as a space and is read as `+`. The list is then in the order of changes, oldest first, and `meta.synced_until` is the `updated_since` for the next sync",
    example: "2026-11-20T10:20:42.123Z"
  },
  limit: {
    description: "How many tickets a page has at most. A value out of range is refused, not clamped",
    schema: { type: "integer", minimum: Limits.page_min, maximum: Limits.page_max, default: Limits.page_default },
    example: 50
  },
  cursor: {
    description: "The `next_cursor` of the previous page. Send the same filters again; only `limit` may differ",
    example: "MTc5NTE3MDA0MjEyMyAwMTk4YzVmMg.9f2c6a1be07d4358"
  },
  "idempotency-key": {
    name: "Idempotency-Key",
    description: `Send a new key with every new request, and the same key when you repeat a request. The repeated request gets the first response and changes nothing. The service remembers a key for ${Limits.idempotency_memory_ms / DAY_MS} days, per API key and operation`,
    example: "till-3-2026-11-20-0017"
  }
}

type Refs = Readonly<Record<string, { readonly $ref: string }>>

const wholeNumber = { type: "integer", minimum: 0 }

/** Headers of responses, by name. */
export const headers = {
  "RateLimit-Limit": {
    description:
      "How many uses the limit allows in a window. If several limits apply, the headers show the one with the fewest uses left",
    schema: wholeNumber,
    example: 120
  },
  "RateLimit-Remaining": { description: "How many uses are left in this window", schema: wholeNumber, example: 117 },
  "RateLimit-Reset": { description: "Seconds until the window ends", schema: wholeNumber, example: 42 },
  "Request-Id": {
    description: "The id of this request. Include it when you report a problem",
    schema: { type: "string" },
    example: "9f2c6a1be07d4358c1aa20e4"
  },
  "Retry-After": { description: "How many seconds to wait before another attempt", schema: wholeNumber, example: 42 },
  "WWW-Authenticate": {
    description: "The authentication scheme of the key (RFC 9110 §11.6.1)",
    schema: { type: "string" },
    example: "Bearer"
  },
  "Idempotent-Replayed": {
    description: "`true` if this response repeats an earlier one, otherwise absent",
    schema: { type: "string", const: "true" },
    example: "true"
  }
} as const

const makeRefs = (...names: ReadonlyArray<keyof typeof headers>): Refs =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const commonHeaders = makeRefs("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Request-Id")

/** The headers of a response with this status. */
export const headersOf = (status: number, isRepeatable: boolean): Refs => ({
  ...commonHeaders,
  ...(status === 401 ? makeRefs("WWW-Authenticate") : {}),
  ...(status === 429 || status === 503 ? makeRefs("Retry-After") : {}),
  ...(status === 200 && isRepeatable ? makeRefs("Idempotent-Replayed") : {})
})
