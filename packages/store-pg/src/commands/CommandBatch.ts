import type { EventId, ShopId, ShopRecord } from "@workshop/core"
import {
  type Command,
  type Decision,
  type EventRange,
  execute,
  loadState,
  type Moment,
  type SentEvent,
  type ShopHead,
  type ShopState,
  type Webhook
} from "@workshop/core/store"
import { Effect, Either, Exit } from "effect"
import type { ReconnectingConnection } from "../connection/Connection.js"
import { BEGIN, COMMIT, type Connection, type QueryResult, ROLLBACK } from "../connection/Connection.js"
import { PgFailure } from "../connection/PgFailure.js"
import type { Statement } from "../connection/Statement.js"
import { combined } from "../fast/combined.js"
import { type SecretsRefused, unopened, type WebhookSecrets } from "../secrets/WebhookSecrets.js"
import { loadStatements } from "./LoadStatements.js"
import { BatchChanges } from "./SaveStatements.js"

/*
 * One transaction for many commands, in two round trips, and no more for 128 commands than for one:
 *
 * 1. `decideBatch` sends: begin, lock the heads of all shops in one order, load what the commands need. Then it runs one decision
 *    after the other in memory; each sees the changes of those before it.
 * 2. `saveBatch` sends all changes as one statement, with a receipt (the connection and a number), and the commit.
 *
 * If the answer to the commit is lost, `outcomeOf` looks for the receipt on a new connection.
 *
 * A command that is refused, or whose decision throws, changes nothing; the others of its batch go on.
 */

/** How the connections that commit are named to Postgres, as its logs and views show them: a number follows the first one. */
export const COMMIT_CONNECTIONS = { lane: "workshop lane", contended: "workshop contended" } as const

/** A command in a queue, with its caller. */
export interface QueuedCommand {
  readonly command: Command<unknown, unknown>
  /** The time and randomness with which the command runs; made anew for every run. */
  readonly moment: () => Moment
  readonly isExpired: () => boolean
  /** Gives the caller the result; only the first call counts. */
  readonly settle: (exit: Exit.Exit<Decision<unknown>, unknown>) => void
}

/** The results of a batch, before it is saved. No caller gets any of them before the commit is known. */
export interface DecidedBatch {
  readonly changes: BatchChanges
  readonly exits: ReadonlyArray<readonly [QueuedCommand, Exit.Exit<Decision<unknown>, unknown>]>
  /** Commands beyond the size of a transaction. */
  readonly left: ReadonlyArray<QueuedCommand>
  /** Commands whose shop's head was locked, or does not exist. */
  readonly missing: ReadonlyArray<QueuedCommand>
}

/** About how much text one transaction saves at most. */
const MAX_BYTES = 1_048_576

const LOCK = `select (
    select json_agg(row_to_json(h)) from (
      select * from workshop.shop_head where shop_id = any($1::uuid[]) order by shop_id for no key update`

/** Locks the heads of shops. Everything else is loaded by later statements, because one that waited for a lock still sees the state before its wait. */
export const lockAll: Omit<Statement, "values"> = { name: "lock heads", text: `${LOCK}) h) as heads` }
/** Locks those heads that nobody else has locked. */
export const lockFree: Omit<Statement, "values"> = { name: "lock free heads", text: `${LOCK} skip locked) h) as heads` }

/** Loads what every decision needs of its shop besides the head. */
export const SHOPS: Omit<Statement, "values"> = {
  name: "load shops",
  text: `select row_to_json(s) as shop, row_to_json(w) as webhook
    from unnest($1::uuid[]) q (id) join workshop.shop s on s.id = q.id left join workshop.webhook w on w.shop_id = q.id`
}

const NOTHING_TO_REPLAY: EventRange = { found: [], last_seq: 0 }

interface HeadsRow {
  readonly heads: ReadonlyArray<ShopHead> | null
}

interface ShopRow {
  readonly shop: ShopRecord
  readonly webhook: Webhook | null
}

const rowsOf = <Row>(answer: QueryResult | undefined): ReadonlyArray<Row> => (answer?.rows ?? []) as ReadonlyArray<Row>

interface Loaded {
  readonly states: ReadonlyMap<ShopId, ShopState>
  /** Shops whose webhook secret cannot be decrypted: to save it again, or to show it, would be wrong. */
  readonly unopened: ReadonlyMap<ShopId, SecretsRefused>
}

const decide = ({ command, moment }: QueuedCommand, state: ShopState): Exit.Exit<Decision<unknown>, unknown> => {
  try {
    return Either.match(execute(command, state, moment()), { onLeft: Exit.fail, onRight: Exit.succeed })
  } catch (defect) {
    return Exit.die(defect)
  }
}

const decideAll = (entries: ReadonlyArray<QueuedCommand>, loaded: Loaded, secrets: WebhookSecrets): DecidedBatch => {
  const changes = new BatchChanges(secrets)
  const exits: Array<readonly [QueuedCommand, Exit.Exit<Decision<unknown>, unknown>]> = []
  const missing: Array<QueuedCommand> = []
  let i = 0
  for (; i < entries.length && changes.bytes < MAX_BYTES; i++) {
    const entry = entries[i]!
    const { shop_id } = entry.command
    const refused = loaded.unopened.get(shop_id)
    const state = loaded.states.get(shop_id)
    if (refused !== undefined) exits.push([entry, Exit.fail(unopened(refused))])
    else if (state === undefined) missing.push(entry)
    else {
      const exit = decide(entry, state)
      if (Exit.isSuccess(exit)) for (const change of exit.value.changes) changes.add(change, shop_id)
      exits.push([entry, exit])
    }
  }
  return { changes, exits, left: entries.slice(i), missing }
}

/** Begins a transaction, locks and loads what the commands need, and decides all of them. */
export const decideBatch = (
  connection: Connection,
  entries: ReadonlyArray<QueuedCommand>,
  {
    skipsLocked,
    secrets,
    begin = BEGIN
  }: { readonly skipsLocked: boolean; readonly secrets: WebhookSecrets; readonly begin?: Statement }
): Effect.Effect<DecidedBatch, PgFailure> => {
  const shop_ids = [...new Set(entries.map(({ command }) => command.shop_id))]
  const loads = loadStatements(
    entries.flatMap(({ command: { shop_id, loadRequests: asks } }) => asks.map((ask) => ({ shop_id, ask })))
  )
  const lock = { values: [shop_ids], ...(skipsLocked ? lockFree : lockAll) }
  const statements = [begin, lock, { values: [shop_ids], ...SHOPS }, ...loads.map(({ statement }) => statement)]
  return Effect.map(connection.send(statements), (answers) => {
    const [{ heads }] = rowsOf<HeadsRow>(answers[1]) as readonly [HeadsRow]
    const shared = { accounts: new Map(), holders: new Map() }
    const ranges = new Map<string, EventRange>()
    const sent = new Map<EventId, SentEvent>()
    const events: ShopState["events"] = {
      get: (id) => sent.get(id),
      rewrite: (event) => sent.set(event.id, { event, attempts: sent.get(event.id)?.attempts ?? [] })
    }
    const replayable: ShopState["replayable"] = ({ id }) => ranges.get(id) ?? NOTHING_TO_REPLAY
    const headOf = new Map(heads?.map((head) => [head.shop_id, head]))
    const states = new Map<ShopId, ShopState>()
    const unopened = new Map<ShopId, SecretsRefused>()
    for (const { shop, webhook: stored } of rowsOf<ShopRow>(answers[2])) {
      const head = headOf.get(shop.id)
      if (head === undefined) continue
      const webhook = stored === null ? Either.right(null) : secrets.open(stored)
      if (Either.isLeft(webhook)) unopened.set(shop.id, webhook.left)
      else states.set(shop.id, loadState({ shop, head, webhook: webhook.right, events, replayable, ...shared }))
    }
    const filled = { ranges, events: sent, of: (shop_id: ShopId) => states.get(shop_id), ...shared }
    loads.forEach(({ fill }, i) => {
      for (const row of rowsOf<never>(answers[i + 3])) fill(filled, row)
    })
    return decideAll(entries, { states, unopened }, secrets)
  })
}

const undone = new PgFailure({
  kind: "conflict",
  code: null,
  constraint: null,
  cause: new Error("The commit was answered with a rollback")
})

/** Saves the changes with the receipt and commits, or rolls back where nothing changed. Succeeds once it is committed. */
export const saveBatch = (
  connection: Connection,
  { changes }: DecidedBatch,
  receipt: BatchReceipt
): Effect.Effect<void, PgFailure> =>
  changes.isEmpty
    ? Effect.asVoid(connection.send([ROLLBACK]))
    : Effect.flatMap(
        connection.send([
          ...changes.locks(),
          combined([...changes.statements(), writing(receipt)]),
          ...changes.rewrites(),
          COMMIT
        ]),
        (answers) => (answers.at(-1)?.command === "COMMIT" ? Effect.void : undone)
      )

/** Sends the changes of a command that has no transaction of its own, with a check; no receipt, because the commit is somebody else's. */
export const saveWithin = (
  connection: Connection,
  { changes }: DecidedBatch,
  checking: Statement
): Effect.Effect<void, PgFailure> =>
  Effect.asVoid(
    connection.send([...changes.locks(), combined([...changes.statements(), checking]), ...changes.rewrites()])
  )

/** Identifies a batch in the table `batch_receipt`. */
export interface BatchReceipt {
  /** The id of the connection that runs it. */
  readonly connection: string
  /** Larger with each batch of the connection, by {@database RECEIPT_STEP}. */
  readonly batch: number
  readonly saved_at: number
}

/** Two, because the number between two batches says that the first of them was given up. */
export const RECEIPT_STEP = 2

/** The outcome of a batch whose commit got no response. */
export type BatchOutcome = "committed" | "aborted" | "unknown"

/** Writes the receipt in the batch's own transaction, which a division by zero ends if the batch was given up meanwhile. */
export const writing = ({ connection, batch, saved_at }: BatchReceipt): Statement => ({
  name: "put batch_receipt",
  text: `insert into workshop.batch_receipt (connection, batch, saved_at) values ($1, $2, $3)
    on conflict (connection) do update set saved_at = excluded.saved_at,
      batch = excluded.batch / (batch_receipt.batch < excluded.batch)::integer`,
  values: [connection, batch, saved_at]
})

/**
 * Returns the batch's number if it was committed. Otherwise it writes and returns the next number, so that the batch cannot be
 * committed later either. It waits for a transaction that is still open, and for a synchronous standby because it writes.
 */
export const asking = ({ connection, batch, saved_at }: BatchReceipt): Statement => ({
  name: "ask batch_receipt",
  text: `insert into workshop.batch_receipt (connection, batch, saved_at) values ($1, $2::bigint + 1, $3)
    on conflict (connection) do update set saved_at = excluded.saved_at,
      batch = case when batch_receipt.batch = $2 then $2 else excluded.batch end
    returning batch::double precision as batch`,
  values: [connection, batch, saved_at]
})

/** The time in which the outcome must be found, in real time: together with the wait for the commit, longer than the server keeps a silent transaction. */
const OUTCOME_TIMEOUT_MS = 1_500
const RETRY_INTERVAL = "50 millis"

const late = new PgFailure({ kind: "late", code: null, constraint: null, cause: new Error("No outcome in time") })

const askOnce = (database: ReconnectingConnection, receipt: BatchReceipt) =>
  Effect.flatMap(database.connection, (connection) => connection.send([asking(receipt)])).pipe(
    Effect.interruptible,
    Effect.timeoutFail({ duration: OUTCOME_TIMEOUT_MS, onTimeout: () => late }),
    Effect.tapError(database.undo),
    Effect.map(([answer]): BatchOutcome => (answer!.rows[0]!.batch === receipt.batch ? "committed" : "aborted")),
    Effect.catchAll(() => Effect.succeed(undefined))
  )

/** Finds out on a new connection whether a batch was committed. */
export const outcomeOf = (database: ReconnectingConnection, receipt: BatchReceipt): Effect.Effect<BatchOutcome> =>
  Effect.clockWith((clock) => {
    const since = clock.unsafeCurrentTimeNanos()
    const isOver = () => clock.unsafeCurrentTimeNanos() - since > BigInt(OUTCOME_TIMEOUT_MS) * 1_000_000n
    const ask: Effect.Effect<BatchOutcome> = Effect.flatMap(askOnce(database, receipt), (found) => {
      if (found !== undefined) return Effect.succeed(found)
      return isOver() ? Effect.succeed("unknown" as const) : Effect.zipRight(Effect.sleep(RETRY_INTERVAL), ask)
    })
    return ask
  })
