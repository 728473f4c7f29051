import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from "@workshop/core"
import { Effect } from "effect"
import { BEGIN, COMMIT, type Connection } from "../Connection.js"
import type { PgFailure } from "../PgFailure.js"
import type { Statement } from "../Statement.js"
import { countOf } from "./answers.js"
import { BY_AGE } from "./Partitions.js"

/** How many rows one statement removes: few enough that nobody waits for it. */
const AT_ONCE = 1_000

/** How often in a row at most, so that all tables have their turn. */
const MOST_TIMES = 100

/** Ended windows are kept this long, for processes whose clocks are behind. */
const SPARE_MS = HOUR_MS

interface Expiring {
  readonly table: string
  readonly key: string
  /** The column that tells until when a row counts. */
  readonly until: string
  readonly spare_ms: number
}

/** What is of no use once its time has passed. What is in somebody's hands just then is left for the next time. */
const expiring: ReadonlyArray<Expiring> = [
  { table: "remembered", key: "shop_id, caller_id, operation, key", until: "expires_at", spare_ms: 0 },
  { table: "stamps_used", key: "shop_id, caller_id, client_id", until: "resets_at", spare_ms: SPARE_MS },
  // Strangers make these rows, one for each address; and no process that serves has a clock that is a second off.
  { table: "rate_limit", key: "policy, subject", until: "resets_at", spare_ms: MINUTE_MS },
  // Asked for within seconds, by those who wrote them.
  { table: "batch_receipt", key: "connection", until: "saved_at", spare_ms: DAY_MS }
]

const removing = ({ table, key, until, spare_ms }: Expiring, now: Instant): Statement => ({
  name: `expire ${table}`,
  text: `with gone as (
      delete from ${table} where (${key}) in (
        select ${key} from ${table} where ${until} <= $1 order by ${until} limit ${AT_ONCE} for update skip locked
      ) returning 1
    ) select count(*)::integer as n from gone`,
  values: [now - spare_ms]
})

/** Runs a statement until it finds fewer rows than it may remove. BRIN indexes, by which it may find them, answer bitmap scans only. */
const repeated = (connection: Connection, statement: Statement) =>
  Effect.gen(function* () {
    let removed = 0
    for (let times = 0; times < MOST_TIMES; times++) {
      const [, , answer] = yield* connection.send([BEGIN, BY_AGE, statement, COMMIT])
      const n = countOf(answer)
      removed += n
      if (n < AT_ONCE) break
    }
    return { removed, isMore: removed === MOST_TIMES * AT_ONCE }
  })

/** What goes with the events of its age: a notification once it was delivered, a replay once it is done. */
const aged = (before: Instant): ReadonlyArray<Statement> => [
  {
    name: "remove old notification",
    text: `with gone as (
        delete from notification where ctid = any (array(
          select n.ctid from notification n where n.created_at < $1
            and not exists (select from message m where m.shop_id = n.shop_id and m.id = n.id) limit ${AT_ONCE}
        )) returning 1
      ) select count(*)::integer as n from gone`,
    values: [before]
  },
  {
    name: "remove old replay",
    text: `with gone as (
        delete from replay where ctid = any (array(
          select ctid from replay where is_done and created_at < $1 order by created_at limit ${AT_ONCE}
        )) returning 1
      ) select count(*)::integer as n from gone`,
    values: [before]
  }
]

/**
 * Removes idempotency records, and windows of limits, that have ended by `now`, and notifications and replays older than `before`.
 * Returns how many rows that were, and whether there are more.
 */
export const removeExpired = (
  connection: Connection,
  now: Instant,
  before: Instant
): Effect.Effect<{ readonly expired: number; readonly isMore: boolean }, PgFailure> =>
  Effect.map(
    Effect.all([
      ...expiring.map((one) => repeated(connection, removing(one, now))),
      ...aged(before).map((one) => repeated(connection, one))
    ]),
    (all) => ({
      expired: all.reduce((sum, { removed }) => sum + removed, 0),
      isMore: all.some(({ isMore }) => isMore)
    })
  )
