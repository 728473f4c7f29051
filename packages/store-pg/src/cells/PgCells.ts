import { SqlClient } from "@effect/sql/SqlClient"
import type { AuditEntry, ClientAccount, ClientId, ShopId } from "@workshop/core"
import type { CellAccess, CellDirectory } from "@workshop/core/store"
import { type Context, Effect } from "effect"
import { runRead } from "../connection/Sql.js"
import { insertRow } from "../reads/PgDirectory.js"
import { type WithSequence, withoutSequence } from "../Tables.js"
import { HOME_CELL } from "./CellLocations.js"

/** The most stale copies that one statement reads. */
const ACCOUNTS_AT_ONCE = 200

/** The operations of a store as one of several cells. */
export const pgCellAccess = ({
  turns,
  claimNumbered: claim
}: {
  readonly turns: Context.Tag.Service<CellAccess>["turns"]
  readonly claimNumbered: Context.Tag.Service<CellAccess>["claim"]
}): Effect.Effect<Context.Tag.Service<CellAccess>, never, SqlClient> =>
  Effect.map(SqlClient, (sql) => ({
    confirm: Effect.void,
    turns,
    claim,
    keepCopy: (id, account) =>
      (account === null
        ? sql`delete /* workshop remove copy */ from workshop.client_account where id = ${id}`
        : sql`with /* workshop keep copy */ stale as (
            delete from workshop.client_account where phone = ${account.phone} and id <> ${id} returning id
          ) ${insertRow(sql, "client_account", account)} where (select count(*) from stale) >= 0
          on conflict (id) do update set given_name = excluded.given_name, family_name = excluded.family_name, phone = excluded.phone,
            hide_name = excluded.hide_name`
      ).pipe(Effect.asVoid, runRead),
    beginErasure: ({ client_id, names: [given_name = "", family_name = ""], phones }) =>
      sql`with /* workshop begin erasure in cell */ gone as (delete from workshop.client_account where id = ${client_id})
        insert into workshop.client_erasure (client_id, given_name, family_name, phones)
        values (${client_id}, ${given_name}, ${family_name}, ${[...phones]}::text[])
        on conflict (client_id) do update set phones = excluded.phones`.pipe(Effect.asVoid, runRead),
    audit: (before, limit) =>
      sql<{
        readonly entry: WithSequence<AuditEntry>
      }>`select /* workshop list audit entries of cell */ row_to_json(e) as entry from workshop.audit_entry e
      where ${before === null ? sql`true` : sql`e.id < ${before}`} order by e.id desc limit ${limit}`.pipe(
        Effect.map((rows) => rows.map(({ entry }) => withoutSequence<AuditEntry>(entry))),
        runRead
      )
  }))

/** The directory of cells, in the schema of the home cell. */
export const pgCellDirectory: Effect.Effect<CellDirectory, never, SqlClient> = Effect.map(SqlClient, (sql) => {
  const cellOfShop = (shop_id: ShopId) =>
    sql<{
      readonly cell: string
    }>`select /* workshop cell of shop */ cell from workshop.shop_cell where shop_id = ${shop_id}`.pipe(
      Effect.map(([row]) => row?.cell ?? null),
      runRead
    )

  return {
    cellOfShop,
    place: (shop_id, among) =>
      sql<{ readonly cell: string }>`with /* workshop place shop */ emptiest as (
          select name from workshop.cell where takes_shops and name = any(${[...among]}) order by shops, name limit 1 for update
        ), placed as (
          insert into workshop.shop_cell (shop_id, cell) select ${shop_id}::uuid, name from emptiest on conflict (shop_id) do nothing returning cell
        ), counted as (
          update workshop.cell c set shops = c.shops + 1 from placed p where c.name = p.cell
        ) select cell from placed`.pipe(
        runRead,
        // Another process has placed the shop, or no cell takes new shops.
        Effect.flatMap(([row]) => (row === undefined ? cellOfShop(shop_id) : Effect.succeed(row.cell))),
        Effect.map((cell) => cell ?? HOME_CELL)
      ),
    names: sql<{
      readonly name: string
    }>`select /* workshop names of cells */ name from workshop.cell order by name`.pipe(
      Effect.map((rows) => rows.map(({ name }) => name)),
      runRead
    ),
    hasPlaced: sql<{
      readonly has_placed: boolean
    }>`select /* workshop has placed shops */ exists (select from workshop.shop_cell) as has_placed`.pipe(
      Effect.map(([row]) => row!.has_placed),
      runRead
    ),
    cellOfKey: (hash) =>
      sql<{
        readonly cell: string
      }>`select /* workshop cell of key */ cell from workshop.api_key_cell where hash = ${hash}`.pipe(
        Effect.map(([row]) => row?.cell ?? null),
        runRead
      ),
    putKey: (hash, cell) =>
      sql`insert /* workshop put key */ into workshop.api_key_cell (hash, cell) values (${hash}, ${cell}) on conflict (hash) do nothing`.pipe(
        Effect.asVoid,
        runRead
      ),
    stale: (client_id) =>
      sql<{
        readonly client_id: ClientId
        readonly account: ClientAccount | null
        readonly cell: string
        readonly change_number: number
      }>`select /* workshop stale copies */ c.client_id, c.cell, c.change_number::double precision as change_number, row_to_json(a) as account
        from workshop.stale_account_copy c left join workshop.client_account a on a.id = c.client_id
        where ${client_id === null ? sql`true` : sql`c.client_id = ${client_id}`} order by c.change_number limit ${ACCOUNTS_AT_ONCE}`.pipe(
        Effect.map((rows) =>
          rows.map(({ cell, change_number, ...of }) => ({ ...of, lacking: [{ cell, change_number }] }))
        ),
        runRead
      ),
    copied: (client_id, cell, change_number) =>
      sql`delete /* workshop note copy */ from workshop.stale_account_copy where client_id = ${client_id} and cell = ${cell} and change_number = ${change_number} returning cell`.pipe(
        Effect.map((rows) => rows.length > 0),
        runRead
      )
  }
})
