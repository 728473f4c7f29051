import type { Instant, ShopId } from "@workshop/core"
import { type Change, closure } from "@workshop/core/store"
import { rarelyRemoving, removing, rewriting } from "./RemovalStatements.js"
import type { Statement } from "./Statement.js"
import { type Rows, type TableName, tables } from "./Tables.js"
import { type Turn, turnsCalled, turnsEnded, turnsNamed } from "./TurnStatements.js"
import { inClear, type WebhookSecrets } from "./WebhookSecrets.js"

/** Sets rows, given as one JSON text: a row of a key that is there already takes its place. */
const putStatement = (table: TableName): { readonly name: string; readonly text: string } => {
  const { key, kept, replaced } = tables[table] as Readonly<Record<"key" | "kept" | "replaced", ReadonlyArray<string>>>
  const columns = [...key, ...kept, ...replaced].join(", ")
  const insert = `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`
  if (replaced.length === 0) return { name: `put ${table}`, text: insert }
  const update = replaced.map((column) => `${column} = excluded.${column}`).join(", ")
  return { name: `put ${table}`, text: `${insert} on conflict (${key.join(", ")}) do update set ${update}` }
}

const puts = (Object.keys(tables) as ReadonlyArray<TableName>).map((table) => [table, putStatement(table)] as const)

/** Changes that do no more than put their row into a table. */
const tableOf = {
  HeadPut: "shop_head",
  LinkPut: "client_link",
  OfferPut: "offer",
  CardPut: "loyalty_card",
  ReplayPut: "replay",
  RememberedPut: "remembered",
  LedgerAppended: "loyalty_ledger",
  NotificationAppended: "notification",
  AttemptAppended: "attempt",
  NoticeAppended: "notice",
  AuditAppended: "audit_entry",
  EventRaised: "event"
} as const satisfies { readonly [Tag in Change["_tag"]]?: TableName }

const rarely = { ...rarelyRemoving, ...rewriting }

type Removable = keyof typeof removing

const removes = Object.entries(removing) as ReadonlyArray<readonly [Removable, (typeof removing)[Removable]]>

/** Its lease stays, so the claim under which it is on its way holds. */
const RENEW = {
  name: "renew delivery",
  text: `update delivery d set attempts_in_round = 0 from unnest($1::uuid[], $2::uuid[]) q (shop_id, event_id)
         where d.shop_id = q.shop_id and d.event_id = q.event_id`
} as const

/** What saves changes: the statements of a batch, which it sends as one, are some of these. */
export const saves: ReadonlyArray<Omit<Statement, "values">> = [
  ...puts.map(([, statement]) => statement),
  ...Object.values(removing),
  ...Object.values(rarely),
  RENEW,
  turnsNamed(new Map()),
  turnsCalled(new Set()),
  ...turnsEnded(new Set())
]

interface Gone {
  readonly shop_id: ShopId
  readonly id: string
}

const shopsAndIds = (rows: ReadonlyArray<Gone>) => [rows.map(({ shop_id }) => shop_id), rows.map(({ id }) => id)]

/**
 * Gathers the changes of a batch and folds them to one final row a key: a statement that met the same row twice
 * would lose one of them or fail.
 */
export class Saving {
  readonly #rows = new Map<TableName, Map<string, object>>()
  readonly #gone = new Map<Removable, Map<string, Gone>>()
  readonly #rare = new Map<keyof typeof rarely, Map<string, object>>()
  /** Deliveries under way that get all their attempts anew. */
  readonly #renewed = new Map<string, Gone>()
  readonly #turns = new Map<ShopId, Turn>()
  readonly #called = new Set<ShopId>()
  readonly #settings = new Set<ShopId>()
  readonly #secrets: WebhookSecrets
  #bytes = 0

  constructor(secrets: WebhookSecrets = inClear) {
    this.#secrets = secrets
  }

  /** About how much text the rows come to. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether there is nothing to save. */
  get isEmpty(): boolean {
    return this.#rows.size === 0 && this.#gone.size === 0 && this.#rare.size === 0 && this.#renewed.size === 0
  }

  /** Whether a delivery may have become due. */
  get wakesDispatchers(): boolean {
    return this.#turns.size > 0 || this.#called.size > 0 || this.#rows.has("replay")
  }

  /** The shops of which settings or keys changed. */
  get changedShops(): ReadonlySet<ShopId> {
    return this.#settings
  }

  /** Takes a change in; `shop_id` is its shop. */
  add(change: Change, shop_id: ShopId): void {
    switch (change._tag) {
      case "ShopPut":
        this.#settings.add(shop_id)
        this.#put("shop", change.row)
        break
      case "TicketPut":
        this.#put("ticket", { ...change.row, closure_due_at: closure(change.row)?.due_at ?? null })
        break
      case "StampsUsedPut":
        this.#put("stamps_used", { ...change.key, ...change.row, shop_id })
        break
      case "KeyPut":
        this.#settings.add(shop_id)
        this.#put("api_key", change.row)
        break
      case "WebhookPut":
        this.#turn(shop_id, 0, 0)
        this.#gone.get("webhook")?.delete(keyOf("webhook", change.row))
        this.#put("webhook", this.#secrets.seal(change.row))
        break
      case "WebhookRemoved":
        this.#remove("webhook", keyOf("webhook", change.row), { shop_id, id: shop_id })
        break
      case "DeliveryPut":
        this.#turn(shop_id, change.row.attempts_in_round === 0 ? 0 : change.row.due_at, change.row.due_at)
        this.#gone.get("delivery")?.delete(keyOf("delivery", change.row))
        this.#renewed.delete(keyOf("delivery", change.row))
        this.#put("delivery", { ...change.row, lease_until: null })
        break
      case "DeliveryRenewed":
        this.#renew(keyOf("delivery", change.row), { shop_id, id: change.row.event_id })
        break
      case "DeliveryRemoved":
        this.#called.add(shop_id)
        this.#remove("delivery", keyOf("delivery", change.row), { shop_id, id: change.row.event_id })
        break
      case "MessagePut":
        this.#gone.get("message")?.delete(keyOf("message", change.row))
        this.#put("message", change.row)
        break
      case "MessageRemoved":
        this.#remove("message", keyOf("message", change.row), { shop_id, id: change.row.id })
        break
      case "LinkRemoved":
        this.#seldom("client_link", change.row)
        break
      case "OfferRemoved":
        this.#seldom("offer", change.row)
        break
      case "NotificationRemoved":
        this.#seldom("notification", change.row)
        break
      case "RememberedRemoved":
        this.#seldom("remembered", change.row)
        break
      case "EventRewritten":
        this.#seldom("event", change.row)
        break
      case "AttemptRewritten":
        this.#seldom("attempt", change.row)
        break
      default:
        this.#put(tableOf[change._tag], change.row)
    }
  }

  /** The statements that save it all, in one order whichever change came first: put together otherwise, each order would be prepared. */
  statements(): ReadonlyArray<Statement> {
    const saves: Array<Statement> = []
    for (const [table, statement] of puts) {
      const rows = this.#rows.get(table)
      if (rows?.size) saves.push({ ...statement, values: [JSON.stringify([...rows.values()])] })
    }
    for (const [table, statement] of removes) {
      const rows = [...(this.#gone.get(table)?.values() ?? [])]
      if (rows.length === 0) continue
      saves.push({ ...statement, values: shopsAndIds(rows) })
    }
    saves.push(...this.#rarely(rarelyRemoving))
    if (this.#renewed.size > 0) saves.push({ ...RENEW, values: shopsAndIds([...this.#renewed.values()]) })
    return [...saves, ...this.#turnStatements()]
  }

  /** The statements that rewrite events and attempts, each by a function and so sent by itself. */
  rewrites(): ReadonlyArray<Statement> {
    return this.#rarely(rewriting)
  }

  #rarely(statements: Partial<typeof rarely>): ReadonlyArray<Statement> {
    return Object.entries(statements).flatMap(([table, statement]) => {
      const rows = this.#rare.get(table as keyof typeof rarely)
      return rows?.size ? [{ ...statement, values: [JSON.stringify([...rows.values()])] }] : []
    })
  }

  /**
   * A shop is named, called or ended, one of them: the same row twice in one statement is lost. One whose webhook is gone
   * has no turn any more: no claim would move it on, and shops that have something due would wait behind it.
   */
  #turnStatements(): ReadonlyArray<Statement> {
    const ended = new Set([...(this.#gone.get("webhook")?.values() ?? [])].map(({ shop_id }) => shop_id))
    const turns = [...this.#turns].filter(([shop_id]) => !ended.has(shop_id))
    const named = new Map(
      turns.map(([shop_id, turn]) => [shop_id, this.#called.has(shop_id) ? { ...turn, look_at: 0 } : turn])
    )
    const called = new Set([...this.#called].filter((shop_id) => !named.has(shop_id) && !ended.has(shop_id)))
    return [
      ...(named.size > 0 ? [turnsNamed(named)] : []),
      ...(called.size > 0 ? [turnsCalled(called)] : []),
      ...(ended.size > 0 ? turnsEnded(ended) : [])
    ]
  }

  #put<Name extends TableName>(table: Name, row: Rows[Name]): void {
    const rows = this.#rows.get(table)
    const key = keyOf(table, row)
    if (this.#rare.size > 0 && table in rarelyRemoving) this.#rare.get(table as keyof typeof rarely)?.delete(key)
    if (rows === undefined) this.#rows.set(table, new Map([[key, row]]))
    else rows.set(key, row)
    this.#bytes += table === "event" ? 2_500 : table === "ticket" ? 1_000 : 300
  }

  /** Notes a row that goes, or gets another text. Whatever the batch was to put in its place before is gone with it. */
  #seldom(table: keyof typeof rarely, row: object): void {
    const key = keyOf(table, row)
    const isRemoval = table in rarelyRemoving
    if (isRemoval) this.#rows.get(table)?.delete(key)
    const known = this.#rare.get(table)
    if (known === undefined) this.#rare.set(table, new Map([[key, row]]))
    else known.set(key, row)
    this.#bytes += 1_000
  }

  /** What the batch wrote, or removed, it does not touch again: that delivery is not under way any more. */
  #renew(key: string, delivery: Gone): void {
    const isWritten = this.#rows.get("delivery")?.has(key) || this.#gone.get("delivery")?.has(key)
    if (!isWritten) this.#renewed.set(key, delivery)
  }

  #remove(table: Removable, key: string, gone: Gone): void {
    this.#rows.get(table)?.delete(key)
    if (table === "delivery") this.#renewed.delete(key)
    const known = this.#gone.get(table)
    if (known === undefined) this.#gone.set(table, new Map([[key, gone]]))
    else known.set(key, gone)
  }

  #turn(shop_id: ShopId, look_at: Instant, due_from: Instant): void {
    const known = this.#turns.get(shop_id) ?? { look_at, due_from }
    this.#turns.set(shop_id, {
      look_at: Math.min(look_at, known.look_at),
      due_from: Math.min(due_from, known.due_from)
    })
  }
}

const keyOf = (table: TableName, row: object): string => {
  const named = row as Readonly<Record<string, unknown>>
  let key = ""
  for (const column of tables[table].key) key += `${named[column]} `
  return key
}
