import { randomBytes, randomUUID } from "node:crypto"
import { hashKey } from "@workshop/core/internal"
import { Effect } from "effect"
import { KEY_BYTES, makeKeyText } from "../../../packages/core/dist/domain/ApiKey.js"
import type { Session } from "../../../packages/store-pg/dist/migrate/Session.js"
import { type Release, run } from "./Release.js"

/** The number of shops, each with one key, with which no limit is reached. */
const SHOPS = 150

/** A shop that creates tickets, with its key. */
export interface Seller {
  readonly shop_id: string
  readonly key: string
}

/** Copies the rows of any table with some other values. Its identity columns get new values. */
const copied = (session: Session, table: string, where: string, values: object) =>
  session.run(
    `insert into ${table} overriding user value
    select c.* from ${table} t cross join lateral json_populate_record(t, $1) c where ${where} limit 1`,
    [JSON.stringify(values)]
  )

/**
 * Opens shops on a database that a release migrated: one shop with the release's own command, the others as copies of
 * it. Each has a webhook that never responds.
 */
export const openSellers = (session: Session, release: Release, url: string) =>
  Effect.gen(function* () {
    const own = ["--no-migrate", "--database-url", url]
    const named = ["--name", "Atelier Lac", "--currency", "TND", "--decimals", "3", "--time-zone", "Africa/Tunis"]
    run(release, "shop", "create", ...own, ...named)
    const [first] = yield* session.run<{ id: string }>("select id from shop")
    run(release, "key", "create", first!.id, ...own, "--name", "till", "--preset", "full")
    run(release, "webhook", "set", first!.id, "https://receiver.invalid/hook", ...own)
    const sellers: Array<Seller> = []
    for (let n = 0; n < SHOPS; n++) {
      const [shop_id, key] = [randomUUID(), makeKeyText("live", randomBytes(KEY_BYTES))]
      yield* copied(session, "shop", "true", { id: shop_id })
      yield* copied(session, "shop_head", "true", { shop_id })
      yield* copied(session, "webhook", "true", { shop_id })
      const last_four = key.slice(-4)
      yield* copied(session, "api_key", "true", { id: randomUUID(), shop_id, hash: hashKey(key), last_four })
      sellers.push({ shop_id, key })
    }
    return sellers
  })

/** Adds tickets to the first seller's shop, as copies of an existing one with earlier ids. They never become due. */
export const addTickets = (session: Session, { shop_id }: Seller, ticket_id: string, tickets: number) =>
  session.run(
    `insert into ticket
    select c.* from ticket t cross join generate_series(1, $3::integer) n
      cross join lateral json_populate_record(t, json_build_object('id', '01890000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'), 'tracking_code', 'FILL-' || n,
        'change_seq', -n, 'external_ref', 'fill-' || n)) c
    where t.shop_id = $1 and t.id = $2`,
    [shop_id, ticket_id, tickets]
  )
