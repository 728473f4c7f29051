import { ServiceLimits } from "@workshop/core"
import { Clock, Effect } from "effect"
import { DatabaseFailed } from "../migrate/DatabaseFailed.js"
import { checkOn } from "../migrate/Migrator.js"
import { connect, type Session } from "../migrate/Session.js"
import { checkedSchema, type Database } from "../Schema.js"
import { type Invariant, invariants } from "./invariants.js"

/** A violated invariant. */
export interface Finding extends Pick<Invariant, "name" | "finds"> {
  /** How many rows violate it. */
  readonly count: number
  /** The first five rows at most; their columns depend on the check. */
  readonly first: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** The result of checking all invariants. */
export interface Checked {
  /** How many there are. */
  readonly checks: number
  readonly findings: ReadonlyArray<Finding>
}

const MOST_SHOWN = 5
const CANCELED = "57014"

/** Many rows go to a temporary file and not into memory. */
const counted = ({ name, sql }: Invariant): string => `with /* workshop check ${name} */ found as materialized (${sql})
  select (select count(*)::integer from found) as count,
    coalesce((select json_agg(f) from (select * from found limit ${MOST_SHOWN}) f), '[]') as first`

const look = (session: Session, invariant: Invariant, timeout_ms: number) =>
  session.run<Pick<Finding, "count" | "first">>(counted(invariant)).pipe(
    Effect.map(([row]): Finding => ({ name: invariant.name, finds: invariant.finds, ...row! })),
    Effect.mapError((failed) =>
      failed.code === CANCELED
        ? new DatabaseFailed({
            reason: "statement",
            code: CANCELED,
            what: `The check ${invariant.name} took longer than ${timeout_ms / 1000} seconds: give it more time, or check a copy of the database`
          })
        : failed
    )
  )

/** Checks the invariants in the transaction that a session has begun. Each check may take `timeout_ms`. */
export const checkIn = Effect.fnUntraced(function* (session: Session, timeout_ms: number) {
  const all = invariants((yield* Clock.currentTimeMillis) - ServiceLimits.events_kept_min_ms)
  const looked = yield* Effect.forEach(all, (one) => look(session, one, timeout_ms))
  return { checks: all.length, findings: looked.filter(({ count }) => count > 0) } satisfies Checked
})

/**
 * Checks the invariants that the program keeps and the database does not enforce. It reads one snapshot and changes nothing. Each check may
 * take `timeout_ms`; the schema must be this program's.
 */
export const checkData = (url: string, timeout_ms: number, options: Pick<Database, "schema"> = {}) =>
  Effect.gen(function* () {
    const schema = yield* checkedSchema(options.schema)
    const session = yield* connect(url, { schema, statement_timeout_ms: timeout_ms })
    yield* checkOn(session, schema)
    yield* session.run("begin isolation level repeatable read read only")
    return yield* checkIn(session, timeout_ms)
  }).pipe(Effect.scoped)
