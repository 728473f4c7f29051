import { HttpServerRequest } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { Tickets } from "@workshop/core"
import { refused } from "@workshop/core/http"
import { CurrentCaller } from "@workshop/core/http/joined"
import { sqlTransaction } from "@workshop/store-pg"
import type { Event } from "@workshop/webhooks"
import { Effect } from "effect"
import { Order, refuse } from "./Api.js"

/** Writes an order and its ticket, both or neither. */
export const place = Effect.gen(function* () {
  const caller = yield* CurrentCaller
  const sql = yield* SqlClient.SqlClient
  const { id, ticket } = yield* HttpServerRequest.schemaBodyJson(Order, { errors: "all", onExcessProperty: "error" })
  const order = Effect.gen(function* () {
    const { data } = yield* Tickets.create(caller, ticket, id)
    yield* sql`insert into orders ${sql.insert({ id, ticket_id: data.id })} on conflict do nothing`
    const own = yield* sql`select 1 from orders where id = ${id} and ticket_id = ${data.id}`
    // A key belongs to its caller, so the order of another one got a second ticket here. The failure takes it back.
    if (own.length === 0)
      return yield* refuse("CONFLICT", `Another user has the order ${id}`, { reason: "ORDER_EXISTS" })
    return { id, number: data.number_label }
  })
  return yield* sqlTransaction(order)
}).pipe(
  Effect.catchAll((failure) => {
    // A refusal of yours, which the endpoint declares.
    if (!("_tag" in failure)) return Effect.fail(failure)
    // A statement that the database refuses is a bug.
    return failure._tag === "SqlError" ? Effect.die(failure) : refused(failure)
  })
)

/** An order with the state of its ticket, as the last event said it. */
export const read = (id: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [order] = yield* Effect.orDie(
      sql<{ id: string; state: string }>`select id, state from orders where id = ${id}`
    )
    return order ?? (yield* refuse("NOT_FOUND", "There is no such order"))
  })

/** Keeps the state of an event's ticket. An event may come twice, or after a later one. */
export const keep = ({ id, data }: Event) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (!("ticket" in data)) return
    yield* sql`update orders set state = ${data.ticket.state}, last_event = ${id}
      where ticket_id = ${data.ticket.id} and last_event < ${id}`
  })
