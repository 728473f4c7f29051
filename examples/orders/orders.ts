/** Orders of an online shop, each with a ticket of the workshop. */
import { type PlainCaller, type PromiseWorkshop, withClient } from "@workshop/core/promise"
import type pg from "pg"

/** A sale of the shop. */
export interface Order {
  readonly id: string
  readonly service: string
}

/**
 * Places an order in the database of the workshop. The order and its ticket commit together, or neither does. The
 * ticket's number is known before the commit, so it can be stored with the order.
 */
export const placeOrder = async (workshop: PromiseWorkshop, pool: pg.Pool, caller: PlainCaller, order: Order) => {
  const { number, afterCommit } = await withClient(pool, async (client, giveUp) => {
    try {
      await client.query("begin")
      const {
        value: { id, number },
        afterCommit
      } = await workshop.within(client, async ({ orThrow: { tickets } }) => {
        const ticket = { service: order.service, external_ref: order.id }
        return (await tickets.create(caller, ticket, `order-${order.id}`)).data
      })
      // A repeated order has its row already. Another caller's order with the same id is an error, which rolls the
      // ticket back.
      const insert =
        "insert into orders (id, ticket_id, ticket_number) values ($1, $2, $3) on conflict (ticket_id) do nothing"
      await client.query(insert, [order.id, id, number])
      await client.query("commit")
      return { number, afterCommit }
    } catch (error) {
      // A client that cannot roll back is broken, so it must not return to the pool.
      await client.query("rollback").catch(giveUp)
      throw error
    }
  })
  // The order is already placed, even if this call fails.
  await afterCommit()
  return number
}

/**
 * Creates the tickets of the orders that have none yet, and stores their numbers. It is for orders
 * in another database, which the shop writes first. The idempotency key is made from the order's
 * id, so that a repeated request creates no second ticket if the first response was lost.
 */
export const requestTickets = async (workshop: PromiseWorkshop, pool: pg.Pool, caller: PlainCaller) => {
  const { rows } = await pool.query<Order>("select id, service from orders where ticket_number is null order by id")
  for (const { id, service } of rows) {
    const ticket = await workshop.tickets.create(caller, { service, external_ref: id }, `order-${id}`)
    if (!ticket.ok) throw ticket.refusal
    await pool.query("update orders set ticket_number = $2 where id = $1", [id, ticket.value.data.number])
  }
  return rows.length
}
