import * as Workshop from "@workshop/core/promise"
import { PgStore } from "@workshop/store-pg"
import { Effect } from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { testDatabase } from "../../packages/store-pg/test/cluster/TestDatabase.js"
import { placeOrder, requestTickets } from "./orders.js"

const SHOP = { name: "Needle", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }

const shopOf = async (url: string) => {
  const workshop = await Workshop.start({ store: PgStore.layer({ url }), background: false })
  const pool = new pg.Pool({ connectionString: url, options: "-c search_path=app" })
  await pool.query(
    "create schema app; create table app.orders (id text primary key, service text, ticket_id uuid unique, ticket_number integer)"
  )
  const shop = await workshop.shops.create(SHOP)
  if (!shop.ok) throw shop.refusal
  const id = shop.value.id
  const caller = {
    shop_id: id,
    caller_id: id,
    scopes: ["tickets:read" as const, "tickets:write" as const],
    via: "api" as const
  }
  const tickets = async () => {
    const listed = await workshop.tickets.list(caller, {})
    return listed.ok ? listed.value.data.map(({ external_ref }) => external_ref) : []
  }
  const orders = async () => (await pool.query("select id, ticket_number from orders order by id")).rows
  const close = async () => {
    await pool.end()
    await workshop.stop()
  }
  return { workshop, pool, caller, tickets, orders, close }
}

const withShop = (work: (shop: Awaited<ReturnType<typeof shopOf>>) => Promise<void>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(testDatabase, ({ url }) =>
        Effect.promise(async () => {
          const shop = await shopOf(url)
          await work(shop).finally(shop.close)
        })
      )
    )
  )

describe("orders with tickets", { timeout: 60_000 }, () => {
  it("a repeated order is placed once, even if a ticket without an order used its key before", () =>
    withShop(async ({ workshop, pool, caller, tickets, orders }) => {
      const order = { id: "A1", service: "Hem" }
      await workshop.orThrow.tickets.create(caller, { service: "Hem", external_ref: "A1" }, "order-A1")
      expect([
        await placeOrder(workshop, pool, caller, order),
        await placeOrder(workshop, pool, caller, order)
      ]).toEqual([1, 1])
      expect([await orders(), await tickets()]).toEqual([[{ id: "A1", ticket_number: 1 }], ["A1"]])
    }))

  it("an order and its ticket are committed together or not at all", () =>
    withShop(async ({ workshop, pool, caller, tickets, orders }) => {
      expect(await placeOrder(workshop, pool, caller, { id: "A1", service: "Hem" })).toBe(1)
      // The database refuses the order's row after its ticket was created.
      await expect(placeOrder(workshop, pool, caller, { id: "A1", service: "Hem again" })).rejects.toThrow()
      await pool.query("alter table orders add check (id <> 'A2')")
      await expect(placeOrder(workshop, pool, caller, { id: "A2", service: "Zip" })).rejects.toThrow()
      expect([await orders(), await tickets()]).toEqual([[{ id: "A1", ticket_number: 1 }], ["A1"]])
    }))

  it("an order in another database gets one ticket, although a response was lost", () =>
    withShop(async ({ workshop, pool, caller, tickets, orders }) => {
      await pool.query("insert into orders (id, service) values ('B1', 'Hem'), ('B2', 'Zip')")
      expect(await requestTickets(workshop, pool, caller)).toBe(2)
      // This simulates a crash of the process before it stored the first number.
      await pool.query("update orders set ticket_number = null where id = 'B1'")
      expect(await requestTickets(workshop, pool, caller)).toBe(1)
      expect(await orders()).toEqual([
        { id: "B1", ticket_number: 1 },
        { id: "B2", ticket_number: 2 }
      ])
      expect((await tickets()).sort()).toEqual(["B1", "B2"])
    }))
})
