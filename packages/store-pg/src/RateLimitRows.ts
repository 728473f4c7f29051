import type { PolicyName } from "@workshop/core/domain/Limits"
import type { LimitWindow } from "@workshop/core/domain/LimitWindow"
import type { Take, Windows } from "@workshop/core/domain/Take"
import { BEGIN, COMMIT, ROLLBACK, type Statement } from "./Connection.js"

/** A window as it stands in its table. */
export interface RateLimitRow extends LimitWindow {
  readonly policy: PolicyName
  readonly subject: string
}

type Place = Pick<RateLimitRow, "policy" | "subject">

const textOf = ({ policy, subject }: Place): string => `${policy} ${subject}`

/** Those of different windows. */
export const distinct = (takes: ReadonlyArray<Take>): ReadonlyArray<Take> => [
  ...new Map(takes.map((take) => [textOf(take), take])).values()
]

/** The windows that a transaction has locked, and how they change in it. */
export class LockedWindows implements Windows {
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

const KEYS = "unnest($1::text[], $2::text[]) q (policy, subject)"

/** Begins, and locks windows, of which the last statement answers the rows. They must be there for it; all processes lock them in one order. */
export const locking = (places: ReadonlyArray<Place>): ReadonlyArray<Statement> => [
  BEGIN,
  {
    name: "open rate_limit",
    text: `insert into rate_limit select policy, subject, 0, 0 from ${KEYS} order by 1, 2 on conflict do nothing`,
    values: keys(places)
  },
  {
    name: "lock rate_limit",
    text: `select r.policy, r.subject, r.used, r.resets_at::double precision as resets_at
      from rate_limit r join ${KEYS} on r.policy = q.policy and r.subject = q.subject
      order by r.policy, r.subject for update of r`,
    values: keys(places)
  }
]

const putting = (rows: ReadonlyArray<RateLimitRow>): Statement => ({
  name: "put rate_limit",
  text: `update rate_limit r set used = q.used, resets_at = q.resets_at
    from unnest($1::text[], $2::text[], $3::integer[], $4::bigint[]) q (policy, subject, used, resets_at)
    where r.policy = q.policy and r.subject = q.subject`,
  values: [...keys(rows), rows.map(({ used }) => used), rows.map(({ resets_at }) => resets_at)]
})
