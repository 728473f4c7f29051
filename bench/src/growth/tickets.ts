import type { Instant } from "@workshop/core"
import { Effect } from "effect"
import type { Session } from "../../../packages/store-pg/dist/migrate/Session.js"

const APART_MS = 500

/**
 * Creates tickets of the shops of a queue in turn, until `now`, each with a delivered event. Seven of ten tickets are
 * collected.
 */
export const fillTickets = (session: Session, now: Instant, shops: number, tickets: number) =>
  Effect.gen(function* () {
    const begun = now - tickets * APART_MS
    const shop = "('10000000-0000-7000-8000-' || lpad((n % $1::integer + 1)::text, 12, '0'))::uuid"
    const id =
      "(lpad(to_hex(at), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || substr(md5(n::text), 1, 15))::uuid"
    const all = `(select n, ${begun}::bigint + n * ${APART_MS}::bigint as at, n / $1::integer + 1 as seq from generate_series(0, $2::integer - 1) n) n`
    const parameters = [shops, tickets]
    yield* session.run("set synchronous_commit = off")
    yield* session.run(
      `insert into ticket (shop_id, id, number, state, outcome, type, service, item, items, price_minor, client_phone, tracking_code,
        created_at, updated_at, collected_at, created_via, external_ref, change_seq, shop_changed_at, stamps_earned, closure_due_at)
      select ${shop}, ${id}, (seq - 1) % 9999 + 1, case when n % 10 < 7 then 'collected' else 'workshop' end, case when n % 10 < 7 then 'ready' end,
        'repair', 'Resoling', 'Brown boots', '[]', 45000, '+2162' || lpad((n % 10000000)::text, 7, '0'), upper(substr(md5('c' || n), 1, 8)),
        at, at, case when n % 10 < 7 then at end, 'api', 'web-' || n, seq, at, false, case when n % 10 >= 7 then at + 5184000000 end
      from ${all} order by n`,
      parameters
    )
    yield* session.run(
      `insert into event (shop_id, id, type, seq, ticket_id, created_at, body)
      select ${shop}, ${id}, 'ticket.created', seq, ${id}, at, '{"type":"ticket.created"}' from ${all} order by n`,
      parameters
    )
    yield* session.run(
      `insert into attempt (shop_id, event_id, n, started_at, status, timings, head)
      select ${shop}, ${id}, 1, at, 200, '{}', '' from ${all} order by n`,
      parameters
    )
    yield* session.run(
      `update shop_head set change_seq = $2::integer / $1::integer + 2, event_seq = $2::integer / $1::integer + 2`,
      parameters
    )
    yield* session.run("vacuum analyze")
    yield* session.run("checkpoint")
  })
