import type { PolicyName } from "@workshop/core"
import type { LimitUse, LimitWindow, LimitWindows } from "@workshop/core/store"
import { BEGIN, COMMIT, ROLLBACK } from "../connection/Connection.js"
import type { Statement } from "../connection/Statement.js"

/** A window as its table stores it. */
export interface RateLimitRow extends LimitWindow {
  readonly policy: PolicyName
  readonly subject: string
}

type WindowKey = Pick<RateLimitRow, "policy" | "subject">

/** A text that identifies a window. */
const keyOf = ({ policy, subject }: WindowKey): string => `${policy} ${subject}`

/** The last use of each window, so that each window is locked once. */
export const distinctUses = (uses: ReadonlyArray<LimitUse>): ReadonlyArray<LimitUse> => [
  ...new Map(uses.map((use) => [keyOf(use), use])).values()
]

/** The windows that a transaction has locked, with the transaction's changes. */
export class LockedWindows implements LimitWindows {
  readonly #windows: Map<string, LimitWindow>
  readonly #changed = new Map<string, RateLimitRow>()

  constructor(rows: ReadonlyArray<RateLimitRow>) {
    this.#windows = new Map(rows.map((row) => [keyOf(row), row]))
  }

  get(key: WindowKey): LimitWindow | undefined {
    return this.#windows.get(keyOf(key))
  }

  put({ policy, subject }: WindowKey, window: LimitWindow): void {
    const row = { policy, subject, ...window }
    this.#windows.set(keyOf(row), row)
    this.#changed.set(keyOf(row), row)
  }

  /** The statements that save the changes and commit, or that roll back if there are no changes. */
  endStatements(): ReadonlyArray<Statement> {
    const rows = [...this.#changed.values()]
    return rows.length === 0 ? [ROLLBACK] : [putStatement(rows), COMMIT]
  }
}

/** The keys as the values of two array parameters. */
const columnsOf = (keys: ReadonlyArray<WindowKey>) => [
  keys.map(({ policy }) => policy),
  keys.map(({ subject }) => subject)
]

/**
 * Sorts keys in the order in which all processes lock windows, to prevent deadlocks. Sorting in SQL would scan a whole
 * index.
 */
const sortForLocking = (keys: ReadonlyArray<WindowKey>): ReadonlyArray<WindowKey> =>
  keys.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

const KEYS = "unnest($1::text[], $2::text[]) q (policy, subject)"

/**
 * The statements that begin a transaction, insert missing rows, lock all rows and return them. Each row is looked up by
 * its key, so the cost does not grow with the table.
 */
export const lockStatements = (keys: ReadonlyArray<WindowKey>): ReadonlyArray<Statement> => {
  const values = columnsOf(sortForLocking(keys))
  return [
    BEGIN,
    {
      name: "open rate_limit",
      text: `insert into workshop.rate_limit (policy, subject, used, resets_at) select policy, subject, 0, 0 from ${KEYS} on conflict do nothing`,
      values
    },
    {
      name: "lock rate_limit",
      text: `select r.policy, r.subject, r.used, r.resets_at::double precision as resets_at from ${KEYS} cross join lateral (
        select * from workshop.rate_limit l where l.policy = q.policy and l.subject = q.subject for update
      ) r`,
      values
    }
  ]
}

/**
 * Saves windows. It is an upsert, because that always uses the primary key, even if the planner's statistics are
 * outdated.
 */
const putStatement = (rows: ReadonlyArray<RateLimitRow>): Statement => ({
  name: "put rate_limit",
  text: `insert into workshop.rate_limit (policy, subject, used, resets_at)
    select * from unnest($1::text[], $2::text[], $3::integer[], $4::bigint[])
    on conflict (policy, subject) do update set used = excluded.used, resets_at = excluded.resets_at`,
  values: [...columnsOf(rows), rows.map(({ used }) => used), rows.map(({ resets_at }) => resets_at)]
})
