import { Effect, Schedule } from "effect"
import type { Link } from "./Link.js"

/** What became of a transaction whose answer was lost. */
export type TransactionOutcome = "committed" | "aborted" | "unknown"

const STATUS = { name: "transaction status", text: "select pg_xact_status($1::text::xid8) as status" }

/** How often a transaction that is still in progress is asked after: about as long as anybody waits for it. */
const PATIENCE = Schedule.intersect(Schedule.exponential("10 millis"), Schedule.recurs(8))

/** Asks the database, on a new connection, what became of a transaction. */
export const outcomeOf = (link: Link, xid: string): Effect.Effect<TransactionOutcome> =>
  Effect.flatMap(link.connection, (connection) => connection.send([{ ...STATUS, values: [xid] }])).pipe(
    Effect.map(([answer]) => answer?.rows[0]?.["status"]),
    Effect.filterOrFail((status) => status === "committed" || status === "aborted"),
    Effect.map((status) => status as TransactionOutcome),
    Effect.retry(PATIENCE),
    Effect.orElseSucceed((): TransactionOutcome => "unknown")
  )
