import type { ClientView } from "../../domain/Client.js"
import type { LoyaltyCard, LoyaltyProgram } from "../../domain/LoyaltyCard.js"
import type { ShopView } from "../../domain/Shop.js"
import type { Ticket } from "../../domain/Ticket.js"

/** The client of the examples, as in a ticket. */
export const badge = { id: "0198c5f2-4c01-7000-9e27-c1a05b7d3f88", display_name: "Amira B." } as const

/** The shop of the examples. */
export const shop: ShopView = {
  id: "0198c5f1-0d20-7000-8a4f-2be6c90d1357",
  name: "Cordonnerie du Port",
  currency: "TND",
  decimals: 3,
  time_zone: "Africa/Tunis",
  scopes: ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]
}

const created_at = "2026-11-20T09:12:04.511Z"
const ready_at = "2026-11-21T16:40:30.008Z"
const collected_at = "2026-11-23T10:05:51.730Z"

/** A pair of boots just brought in by a client whom the shop knows. */
export const workshopTicket: Ticket = {
  id: "0198c5f2-8a10-7000-b3c1-5d2f9a7e4b60",
  number: 42,
  number_label: "0042",
  state: "workshop",
  outcome: null,
  type: "repair",
  service: "Resoling",
  item: "Brown leather boots",
  description: "Left heel is worn down further",
  items: [],
  money: {
    currency: "TND",
    decimals: 3,
    price_minor: 45_000,
    deposit_minor: 20_000,
    remaining_minor: 25_000,
    before_minor: null
  },
  quote: null,
  promised_at: "2026-11-22T17:00:00.000Z",
  delay: null,
  part: null,
  client: badge,
  client_phone: "+21620123456",
  tracking_code: "7K3M-Q9XD",
  tracking_url: "https://suivi.cordonnerie.example/7K3M-Q9XD",
  photo_url: null,
  created_at,
  updated_at: created_at,
  ready_at: null,
  collected_at: null,
  abandoned_at: null,
  abandon_reason: null,
  notified_at: null,
  created_via: "api",
  external_ref: "POS-2026-1182"
}

/** The boots, done. The client was notified in the app. */
export const readyTicket: Ticket = {
  ...workshopTicket,
  state: "ready",
  ready_at,
  notified_at: ready_at,
  updated_at: ready_at
}

/** The boots, beyond repair. */
export const impossibleTicket: Ticket = {
  ...workshopTicket,
  state: "impossible",
  notified_at: ready_at,
  updated_at: ready_at
}

/** The boots, with their owner again. */
export const collectedTicket: Ticket = {
  ...readyTicket,
  state: "collected",
  outcome: "ready",
  collected_at,
  updated_at: collected_at
}

/** The boots, brought back a day later. */
export const reopenedTicket: Ticket = {
  ...workshopTicket,
  notified_at: ready_at,
  updated_at: "2026-11-24T08:30:12.404Z"
}

/** The boots, never picked up. */
export const abandonedTicket: Ticket = {
  ...readyTicket,
  state: "abandoned",
  abandoned_at: "2027-01-20T16:40:30.008Z",
  abandon_reason: "uncollected",
  updated_at: "2027-01-20T16:40:30.008Z"
}

/** The boots, after the shop called its client. */
export const notifiedTicket: Ticket = {
  ...readyTicket,
  notified_at: "2026-11-22T09:15:00.220Z",
  updated_at: "2026-11-22T09:15:00.220Z"
}

/** The boots, promised a day later. */
export const delayedTicket: Ticket = {
  ...workshopTicket,
  promised_at: "2026-11-23T17:00:00.000Z",
  delay: {
    previous_promised_at: "2026-11-22T17:00:00.000Z",
    reason: "The leather comes tomorrow",
    announced_at: "2026-11-21T11:20:09.377Z"
  },
  updated_at: "2026-11-21T11:20:09.377Z"
}

const proposal = {
  status: "proposed",
  price_minor: 60_000,
  note: "The welt has to be sewn again",
  proposed_at: "2026-11-20T14:02:10.900Z",
  answered_at: null
} as const

/** The boots with a new price that the client has not answered. */
export const quotedTicket = {
  ...workshopTicket,
  quote: proposal,
  updated_at: proposal.proposed_at
} as const satisfies Ticket

const answered_at = "2026-11-20T14:31:47.015Z"

/** The boots at their old price, as the client refused the new one. */
export const refusedQuoteTicket = {
  ...workshopTicket,
  quote: { ...proposal, status: "refused", answered_at },
  updated_at: answered_at
} as const satisfies Ticket

/** The boots at a price that the client accepted. */
export const requoted = {
  ...workshopTicket,
  money: { ...workshopTicket.money, price_minor: 60_000, remaining_minor: 40_000, before_minor: 45_000 },
  quote: { ...proposal, status: "accepted", answered_at },
  updated_at: answered_at
} as const satisfies Ticket

/** A ticket with several items, without a client. */
export const orderTicket: Ticket = {
  ...workshopTicket,
  id: "0198c5f3-1f00-7000-a2d4-90cb5e6a7712",
  number: 43,
  number_label: "0043",
  type: "prepare",
  service: "Curtains",
  item: null,
  description: null,
  items: [
    {
      id: "0198c5f3-1f00-7001-a2d4-90cb5e6a7712",
      label: "Living room, two panels",
      service: "Hem",
      price_minor: 38_000,
      done: false
    },
    {
      id: "0198c5f3-1f00-7002-a2d4-90cb5e6a7712",
      label: "Kitchen",
      service: null,
      price_minor: null,
      done: false
    }
  ],
  money: { ...workshopTicket.money, price_minor: 52_000, deposit_minor: null, remaining_minor: 52_000 },
  promised_at: null,
  client: null,
  client_phone: null,
  tracking_code: "R2VN-08TJ",
  tracking_url: "https://suivi.cordonnerie.example/R2VN-08TJ",
  created_at: "2026-11-20T09:48:33.120Z",
  updated_at: "2026-11-20T09:48:33.120Z",
  external_ref: null
}

/** The client's card. */
export const card: LoyaltyCard = {
  balance: 7,
  lifetime: 17,
  rewards_available: 0,
  rewards_redeemed: 1,
  updated_at: "2026-11-21T16:40:30.008Z"
}

/** The card after three more stamps. */
export const fullCard: LoyaltyCard = {
  ...card,
  balance: 10,
  lifetime: 20,
  rewards_available: 1,
  updated_at: collected_at
}

/** The card after its reward was used. */
export const spentCard: LoyaltyCard = { ...fullCard, balance: 0, rewards_available: 0, rewards_redeemed: 2 }

/** The shop's programme. */
export const program: LoyaltyProgram = {
  active: true,
  name: "Ten and one",
  stamps_required: 10,
  stamps_per_ticket: 1,
  reward_label: "A free shine"
}

/** The client, as responses contain them. */
export const client: ClientView = { ...badge, tickets_open: 1, tickets_total: 4, loyalty: card }
