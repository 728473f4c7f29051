import { readClock } from "@workshop/core/ports/readClock"
import { Effect } from "effect"
import type { Link } from "./Link.js"
import { LIFE } from "./ServerLife.js"

/** What became of a transaction whose answer was lost. */
export type TransactionOutcome = "committed" | "aborted" | "unknown"

/** A transaction, and the life of the server in which it was begun. */
export interface Begun {
  readonly xid: string
  readonly life: string | null
}

const STATUS = {
  name: "transaction status",
  text: `select pg_xact_status($1::text::xid8) as status, ${LIFE} as life`
}

/** How long it is asked after, in real time, where it is still in progress or the database is away: with the time for which an answer was waited, longer than such a one lives. */
const PATIENCE_NS = 1_500_000_000n

const AGAIN = "50 millis"

const verdict = (status: string | null, isSameLife: boolean): TransactionOutcome | undefined => {
  if (status === "aborted") return "aborted"
  if (status === "committed") return isSameLife ? "committed" : "unknown"
  return status === "in progress" ? undefined : "unknown"
}

const asked = (link: Link, { xid, life }: Begun) =>
  Effect.flatMap(link.connection, (connection) => connection.send([{ ...STATUS, values: [xid] }])).pipe(
    Effect.map(
      ([answer]) => answer!.rows[0] as unknown as { readonly status: string | null; readonly life: string | null }
    ),
    Effect.map((now) => verdict(now.status, life !== null && now.life === life)),
    Effect.catchAll(() => Effect.succeed(undefined))
  )

/** Asks the database, on a new connection, what became of a transaction. */
export const outcomeOf = (link: Link, begun: Begun): Effect.Effect<TransactionOutcome> =>
  readClock((clock) => {
    const since = clock.unsafeCurrentTimeNanos()
    const isOver = () => clock.unsafeCurrentTimeNanos() - since > PATIENCE_NS
    const ask: Effect.Effect<TransactionOutcome> = Effect.flatMap(asked(link, begun), (found) => {
      if (found !== undefined) return Effect.succeed(found)
      return isOver() ? Effect.succeed("unknown" as const) : Effect.zipRight(Effect.sleep(AGAIN), ask)
    })
    return ask
  })
