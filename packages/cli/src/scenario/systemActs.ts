import { Effect, Schema } from "effect"
import { Anything, about, actsOf, type Doing, idOf, Nothing, open, Reference } from "./Act.js"
import type { Call } from "./Exchange.js"
import type { Fields } from "./Fields.js"
import { NameUnknown } from "./Names.js"

const authorized = ({ key }: Doing): Record<string, string> => (key === null ? {} : { authorization: `Bearer ${key}` })

const repeatable = (doing: Doing): Record<string, string> =>
  doing.idempotency_key === null ? {} : { "idempotency-key": doing.idempotency_key }

const read = (doing: Doing, path: string) => doing.ask({ method: "GET", path, headers: authorized(doing) })

const write = (doing: Doing, path: string, body: unknown, headers: Record<string, string> = {}) =>
  doing.ask({ method: "POST", path, headers: { ...authorized(doing), ...headers }, body })

const queryOf = (fields: Fields): string => {
  const query = new URLSearchParams(
    Object.entries(fields).map(
      ([field, value]) => [field, Array.isArray(value) ? value.join(",") : String(value)] as [string, string]
    )
  ).toString()
  return query === "" ? "" : `?${query}`
}

const Request = Schema.Struct({
  method: Schema.String,
  path: Schema.String,
  query: Schema.optionalWith(open(), { exact: true }),
  headers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.NullOr(Schema.String) }), {
    exact: true
  }),
  body: Schema.optionalWith(Anything, { exact: true })
})

const raw = (request: typeof Request.Type, doing: Doing) => {
  const given: ReadonlyArray<readonly [string, string | null]> = Object.entries(request.headers ?? {})
  const headers = Object.fromEntries(
    Object.entries({
      ...authorized(doing),
      ...Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value]))
    }).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
  )
  const call: Call = { method: request.method, path: request.path + queryOf(request.query ?? {}), headers }
  if (!request.path.startsWith("/"))
    return Effect.fail(new NameUnknown({ message: "the path must start with /v1 or another /" }))
  return doing.ask(request.body === undefined ? call : { ...call, body: request.body })
}

const LIST_FILTERS = [
  "state",
  "number",
  "client_id",
  "phone",
  "external_ref",
  "tracking_code",
  "created_after",
  "created_before",
  "updated_since",
  "limit",
  "cursor"
] as const

/** The fields of a new ticket. */
export const TICKET_FIELDS = [
  "service",
  "type",
  "item",
  "description",
  "items",
  "client_id",
  "client_phone",
  "price_minor",
  "deposit_minor",
  "promised_at",
  "external_ref"
] as const

const Phone = Schema.String.annotations({ message: () => 'must be text: put it in quotes, such as "+21620123456"' })
const TicketNumberText = Schema.Union(Schema.Int, Schema.String).annotations({
  message: () => "must be a ticket's number"
})

/** What the shop's own system does through the API, with one of the shop's keys (Specification, Endpoints). */
export const systemActs = actsOf("system", [
  {
    name: "create ticket",
    endpoint: "POST /v1/tickets",
    description: "Creates a ticket: POST /v1/tickets",
    takes: open(...TICKET_FIELDS),
    isRepeatable: true,
    perform: (body: Fields, doing) => write(doing, "/v1/tickets", body, repeatable(doing))
  },
  {
    name: "get ticket",
    endpoint: "GET /v1/tickets/:id",
    description: "Reads a ticket: GET /v1/tickets/{id}",
    takes: Reference,
    perform: (ticket, doing) => Effect.flatMap(idOf(ticket), (id) => read(doing, `/v1/tickets/${id}`))
  },
  {
    name: "list tickets",
    endpoint: "GET /v1/tickets",
    description: "Lists tickets: GET /v1/tickets",
    takes: open(...LIST_FILTERS),
    perform: (query: Fields, doing) => read(doing, `/v1/tickets${queryOf(query)}`)
  },
  {
    name: "get ticket by number",
    endpoint: "GET /v1/tickets/by-number/:n",
    description: "Reads the ticket with a number: GET /v1/tickets/by-number/{n}",
    takes: TicketNumberText,
    perform: (n: unknown, doing) => read(doing, `/v1/tickets/by-number/${encodeURIComponent(String(n))}`)
  },
  {
    name: "set status",
    endpoint: "POST /v1/tickets/:id/status",
    description: "Moves a ticket to another state: POST /v1/tickets/{id}/status",
    takes: about("ticket", "status"),
    perform: ({ ticket, ...body }: Fields, doing) =>
      Effect.flatMap(idOf(ticket), (id) => write(doing, `/v1/tickets/${id}/status`, body))
  },
  {
    name: "notified",
    endpoint: "POST /v1/tickets/:id/notified",
    description: "Says that the shop told the client: POST /v1/tickets/{id}/notified",
    takes: about("ticket", "channel"),
    perform: ({ ticket, ...body }: Fields, doing) =>
      Effect.flatMap(idOf(ticket), (id) => write(doing, `/v1/tickets/${id}/notified`, body))
  },
  {
    name: "find client",
    endpoint: "GET /v1/clients",
    description: "Finds a client by phone number: GET /v1/clients",
    takes: Phone,
    perform: (phone: unknown, doing) => read(doing, `/v1/clients${queryOf({ phone })}`)
  },
  {
    name: "get client",
    endpoint: "GET /v1/clients/:id",
    description: "Reads a client: GET /v1/clients/{id}",
    takes: Reference,
    perform: (client, doing) => Effect.flatMap(idOf(client), (id) => read(doing, `/v1/clients/${id}`))
  },
  {
    name: "get loyalty",
    endpoint: "GET /v1/clients/:id/loyalty",
    description: "Reads a client's loyalty card: GET /v1/clients/{id}/loyalty",
    takes: Reference,
    perform: (client, doing) => Effect.flatMap(idOf(client), (id) => read(doing, `/v1/clients/${id}/loyalty`))
  },
  {
    name: "add stamps",
    endpoint: "POST /v1/clients/:id/loyalty/stamps",
    description: "Adds stamps to a card: POST /v1/clients/{id}/loyalty/stamps",
    takes: about("client", "count"),
    isRepeatable: true,
    perform: ({ client, ...body }: Fields, doing) =>
      Effect.flatMap(idOf(client), (id) => write(doing, `/v1/clients/${id}/loyalty/stamps`, body, repeatable(doing)))
  },
  {
    name: "redeem reward",
    endpoint: "POST /v1/clients/:id/loyalty/redeem",
    description: "Uses a reward: POST /v1/clients/{id}/loyalty/redeem",
    takes: Reference,
    isRepeatable: true,
    perform: (client, doing) =>
      Effect.flatMap(idOf(client), (id) => write(doing, `/v1/clients/${id}/loyalty/redeem`, {}, repeatable(doing)))
  },
  {
    name: "get shop",
    endpoint: "GET /v1/shop",
    description: "Reads the shop behind the key: GET /v1/shop",
    takes: Nothing,
    perform: (_, doing) => read(doing, "/v1/shop")
  },
  {
    name: "request",
    description: "Any request, as it is; the key's header comes by itself unless `headers` says otherwise",
    takes: Request,
    perform: raw
  }
])
