/** The records of the naive workshop, and the JSON in which it shows a ticket. Instants are milliseconds; tickets, clients and shops are indices into arrays. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }
export type ActResult = { readonly ok: Json } | { readonly refused: string; readonly allowed?: ReadonlyArray<string> }

export interface NaiveTicket {
  shop: number
  number: number
  state: string
  outcome: string | null
  service: string
  client: number | null
  phone: string | null
  price: number | null
  deposit: number | null
  before: number | null
  quote: { status: string; price: number; proposed: number; answered: number | null } | null
  created: number
  updated: number
  ready: number | null
  collected: number | null
  abandoned: number | null
  reason: string | null
  notified: number | null
  news: number
  earned: boolean
}
export interface NaiveShop {
  readonly hours_ahead: number
  next: number
  last: number
  program: boolean
  required: number
  per_ticket: number
  hour: { n: number; until: number }
  day: { n: number; day: number }
  events: Array<{ type: string; ticket: number; at: string; data: Json }>
}
export interface NaiveOffer {
  shop: number
  ticket: number
  phone: string
  status: string
}
export interface NaiveClient {
  readonly name: string
  readonly phone: string
}
export interface Line {
  shop: number
  client: number
  stamps: number
  redeem: boolean
  at: number
}

/** ISO 8601 in UTC with milliseconds. */
export const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString())

export const refuse = (tag: string): ActResult => ({ refused: tag })

export const quoteView = ({ quote }: NaiveTicket): Json => {
  if (quote === null) return null
  const { status, price, proposed, answered } = quote
  return { status, price_minor: price, note: null, proposed_at: iso(proposed), answered_at: iso(answered) }
}

export const ticketView = (n: number, t: NaiveTicket, client: Json): Json => ({
  ticket: n,
  number: t.number,
  number_label: `000${t.number}`.slice(-4),
  state: t.state,
  outcome: t.outcome,
  type: "repair",
  service: t.service,
  item: null,
  description: null,
  items: [],
  money: {
    currency: "TND",
    decimals: 3,
    price_minor: t.price,
    deposit_minor: t.deposit,
    remaining_minor: t.price === null ? null : t.price - (t.deposit === null ? 0 : t.deposit),
    before_minor: t.before
  },
  quote: quoteView(t),
  promised_at: null,
  delay: null,
  part: null,
  client,
  client_phone: t.phone,
  photo_url: null,
  created_at: iso(t.created),
  updated_at: iso(t.updated),
  ready_at: iso(t.ready),
  collected_at: iso(t.collected),
  abandoned_at: iso(t.abandoned),
  abandon_reason: t.reason,
  notified_at: iso(t.notified),
  created_via: "api",
  external_ref: null
})
