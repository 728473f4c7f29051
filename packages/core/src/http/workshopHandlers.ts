import { Effect } from "effect"
import type { IdempotentResult } from "../decisions/Idempotency.js"
import type { LimitStatus } from "../domain/LimitWindow.js"
import type { ShopView } from "../domain/Shop.js"
import type { Ticket } from "../domain/Ticket.js"
import { Reads } from "../ports/StorePorts.js"
import type { Caller } from "../services/Caller.js"
import { Clients } from "../services/Clients.js"
import { Loyalty } from "../services/Loyalty.js"
import { Tickets } from "../services/Tickets.js"
import type { Handlers } from "./Endpoint.js"
import type { WorkshopApi } from "./WorkshopApi.js"

const REPLAYED = { "Idempotent-Replayed": "true" } as const

/** The first answer or its repetition, and which of them it is (Specification, Lists and sync). */
const repeatable = <A>({ data, replayed }: IdempotentResult<A>) =>
  replayed ? { data, meta: { replayed }, headers: REPLAYED } : { data, meta: { replayed } }

/** A ticket as its creation is answered: 201 the first time, 200 when repeated, with the limits it counted against. */
export const createdTicket = ({
  data,
  replayed,
  usages
}: IdempotentResult<Ticket> & { readonly usages: ReadonlyArray<LimitStatus> }) =>
  replayed
    ? { data, meta: { replayed }, headers: REPLAYED, status: 200, usages }
    : { data, meta: { replayed }, status: 201, usages }

const data = <A>(data: A) => ({ data })

/** Each endpoint by the service that serves it. */
export const workshopHandlers = Effect.gen(function* () {
  const reads = yield* Reads
  const tickets = yield* Tickets
  const clients = yield* Clients
  const loyalty = yield* Loyalty

  return {
    shop: {
      read: (_, { shop_id, scopes }) =>
        Effect.flatMap(reads.shop(shop_id), (state) => {
          if (state === null) return Effect.dieMessage("The shop of a good key is gone")
          const { id, name, currency, decimals, time_zone } = state.shop
          return Effect.succeed(data<ShopView>({ id, name, currency, decimals, time_zone, scopes }))
        })
    },
    tickets: {
      create: ({ headers, payload }, caller) =>
        Effect.map(tickets.create(caller, payload, headers["idempotency-key"]), createdTicket),
      list: ({ urlParams }, caller) => tickets.list(caller, urlParams),
      byId: ({ path }, caller) => Effect.map(tickets.byId(caller, path.id), data),
      byNumber: ({ path }, caller) =>
        Effect.map(tickets.byNumber(caller, path.n), ({ data, others }) => ({ data, meta: { others } })),
      changeStatus: ({ path, headers, payload }, caller) =>
        Effect.map(tickets.changeStatusOnce(caller, path.id, payload.status, headers["idempotency-key"]), repeatable),
      recordNotified: ({ path, headers, payload }, caller) =>
        Effect.map(tickets.recordNotifiedOnce(caller, path.id, payload.channel, headers["idempotency-key"]), repeatable)
    },
    clients: {
      byPhone: ({ urlParams }, caller) => Effect.map(clients.byPhone(caller, urlParams.phone), data),
      byId: ({ path }, caller) => Effect.map(clients.byId(caller, path.id), data),
      loyalty: ({ path }, caller) => Effect.map(loyalty.read(caller, path.id), data),
      giveStamps: ({ path, headers, payload }, caller) =>
        Effect.map(loyalty.giveStamps(caller, path.id, payload.count, headers["idempotency-key"]), repeatable),
      redeem: ({ path, headers }, caller) =>
        Effect.map(loyalty.redeem(caller, path.id, headers["idempotency-key"]), repeatable)
    }
  } satisfies Handlers<typeof WorkshopApi, Caller>
})
