import type { PolicyName } from "@workshop/core"
import type { LimitUse, LimitWindow, LimitWindows } from "@workshop/core/store"
import { BEGIN, COMMIT, ROLLBACK } from "./Connection.js"
import type { Statement } from "./Statement.js"

/** A window as it stands in its table. */
export interface RateLimitRow extends LimitWindow {
  readonly policy: PolicyName
  readonly subject: string
}

type Place = Pick<RateLimitRow, "policy" | "subject">

const textOf = ({ policy, subject }: Place): string => `${policy} ${subject}`

/** Those of different windows. */
export const distinct = (takes: ReadonlyArray<LimitUse>): ReadonlyArray<LimitUse> => [
  ...new Map(takes.map((take) => [textOf(take), take])).values()
]

/** The windows that a transaction has locked, and how they change in it. */
export class LockedWindows implements LimitWindows {
  readonly #windows: Map<string, LimitWindow>
  readonly #changed = new Map<string, RateLimitRow>()

  constructor(rows: ReadonlyArray<RateLimitRow>) {
    this.#windows = new Map(rows.map((row) => [textOf(row), row]))
  }

  get(place: Place): LimitWindow | undefined {
    return this.#windows.get(textOf(place))
  }

  put({ policy, subject }: Place, window: LimitWindow): void {
    const row = { policy, subject, ...window }
    this.#windows.set(textOf(row), row)
    this.#changed.set(textOf(row), row)
  }

  /** Saves what changed and commits, or ends the transaction where nothing did. */
  ending(): ReadonlyArray<Statement> {
    const rows = [...this.#changed.values()]
    return rows.length === 0 ? [ROLLBACK] : [putting(rows), COMMIT]
  }
}

const keys = (places: ReadonlyArray<Place>) => [
  places.map(({ policy }) => policy),
  places.map(({ subject }) => subject)
]

/** In the one order in which every process locks. The database would sort by a walk through its whole index. */
const inOrder = (places: ReadonlyArray<Place>): ReadonlyArray<Place> =>
  places.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))

const KEYS = "unnest($1::text[], $2::text[]) q (policy, subject)"

/**
 * Begins a transaction, makes the rows that are missing, and locks all of them; the last statement answers the rows. Each
 * row is looked up by its key, so the cost does not grow with the table.
 */
export const locking = (places: ReadonlyArray<Place>): ReadonlyArray<Statement> => {
  const values = keys(inOrder(places))
  return [
    BEGIN,
    {
      name: "open rate_limit",
      text: `insert into rate_limit (policy, subject, used, resets_at) select policy, subject, 0, 0 from ${KEYS} on conflict do nothing`,
      values
    },
    {
      name: "lock rate_limit",
      text: `select r.policy, r.subject, r.used, r.resets_at::double precision as resets_at from ${KEYS} cross join lateral (
        select * from rate_limit l where l.policy = q.policy and l.subject = q.subject for update
      ) r`,
      values
    }
  ]
}

/** An upsert finds each row by the primary key, however the planner judges the table. */
const putting = (rows: ReadonlyArray<RateLimitRow>): Statement => ({
  name: "put rate_limit",
  text: `insert into rate_limit (policy, subject, used, resets_at)
    select * from unnest($1::text[], $2::text[], $3::integer[], $4::bigint[])
    on conflict (policy, subject) do update set used = excluded.used, resets_at = excluded.resets_at`,
  values: [...keys(rows), rows.map(({ used }) => used), rows.map(({ resets_at }) => resets_at)]
})
