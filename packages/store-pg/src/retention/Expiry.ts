import { HOUR_MS, type Instant } from "@workshop/core/domain/Instant"
import { Effect } from "effect"
import type { Connection, Statement } from "../Connection.js"
import type { PgFailure } from "../PgFailure.js"
import { countOf } from "./answers.js"

/** How many rows one statement removes: few enough that nobody waits for it. */
const AT_ONCE = 1_000

/** How often in a row at most; what is left then is for the next turn. */
const MOST_TIMES = 1_000

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
  { table: "rate_limit", key: "policy, subject", until: "resets_at", spare_ms: SPARE_MS }
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

const removeAll = (connection: Connection, one: Expiring, now: Instant) =>
  Effect.gen(function* () {
    let removed = 0
    for (let times = 0; times < MOST_TIMES; times++) {
      const [answer] = yield* connection.send([removing(one, now)])
      const n = countOf(answer)
      removed += n
      if (n < AT_ONCE) break
    }
    return removed
  })

/** Removes idempotency records, and windows of limits, that have ended by `now`. Answers how many rows that were. */
export const removeExpired = (connection: Connection, now: Instant): Effect.Effect<number, PgFailure> =>
  Effect.map(
    Effect.forEach(expiring, (one) => removeAll(connection, one, now)),
    (counts) => counts.reduce((sum, n) => sum + n, 0)
  )
