import { SqlClient } from "@effect/sql"
import { Tickets } from "@workshop/core"
import { respondWithFailure } from "@workshop/core/http"
import { CurrentCaller } from "@workshop/core/http/joined"
import { sqlTransaction } from "@workshop/store-pg"
import type { Event } from "@workshop/webhooks"
import { Effect, Schedule } from "effect"
import { keyOf, type Order, refuse } from "./Api.js"

const taken = (id: string) =>
  refuse("CONFLICT", `The order id ${id} is already in use for something else`, { reason: "ORDER_EXISTS" })

/**
 * Writes an order and its ticket, both or neither. A repetition gets the first response, and another order with the
 * same id is refused.
 */
export const place = ({ id, customer, ticket }: typeof Order.Type) =>
  Effect.gen(function* () {
    const caller = yield* CurrentCaller
    const sql = yield* SqlClient.SqlClient
    const order = Effect.gen(function* () {
      const { data } = yield* Tickets.create(caller, ticket, keyOf(id))
      const row = { id, customer, ticket_id: data.id }
      yield* sql`insert into orders ${sql.insert(row)} on conflict do nothing`
      const same =
        yield* sql`select 1 from orders where id = ${id} and customer = ${customer} and ticket_id = ${data.id}`
      // An idempotency key is valid only for its caller, for 30 days. If another user or an older
      // request placed the order, this call has created a second ticket, which the failure rolls
      // back.
      return same.length === 0 ? yield* taken(id) : { id, number: data.number_label }
    })
    return yield* sqlTransaction(order).pipe(
      // The connection was lost, perhaps during the commit. A retry is safe, because the key and the insert prevent a
      // second ticket and order.
      Effect.retry({
        while: (failure) => "_tag" in failure && failure._tag === "StoreUnavailable",
        schedule: Schedule.jittered(Schedule.exponential("100 millis")),
        times: 3
      })
    )
  }).pipe(
    Effect.catchAll((failure) => {
      // This is a refusal of the program, which the endpoint declares.
      if (!("_tag" in failure)) return Effect.fail(failure)
      // The service's message is about the header, but here the key is the order's id.
      if (failure._tag === "IdempotencyKeyReused") return taken(id)
      // A statement that the database rejects is a bug.
      return failure._tag === "SqlError" ? Effect.die(failure) : respondWithFailure(failure)
    })
  )

/** An order with the state of its ticket in the last event. */
export const read = (id: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [order] = yield* Effect.orDie(
      sql<{ id: string; state: string }>`select id, state from orders where id = ${id}`
    )
    return order ?? (yield* refuse("NOT_FOUND", "There is no such order"))
  })

/** Stores the state of an event's ticket. An event may arrive twice, or after a later one. */
export const keep = ({ id, data }: Event) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (!("ticket" in data)) return
    yield* sql`update orders set state = ${data.ticket.state}, last_event = ${id}
      where ticket_id = ${data.ticket.id} and last_event < ${id}`
  })
