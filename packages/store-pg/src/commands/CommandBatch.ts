import type { Entropy, ShopId, ShopRecord, TrackingPages } from "@workshop/core"
import {
  type Command,
  type Decision,
  ENTROPY_BYTES,
  type EventRange,
  emptyShopState,
  execute,
  type Moment,
  type Outcome,
  type ShopHead,
  type ShopState,
  type Webhook
} from "@workshop/core/store"
import { type Clock, type Context, Effect, Either, Exit } from "effect"
import type { ReconnectingConnection } from "../connection/Connection.js"
import { BEGIN, COMMIT, type Connection, type QueryResult, ROLLBACK } from "../connection/Connection.js"
import { PgFailure } from "../connection/PgFailure.js"
import type { Statement } from "../connection/Statement.js"
import { combineStatements } from "../fast/combineStatements.js"
import { type SecretsRefused, secretsUnavailable, type WebhookSecrets } from "../secrets/WebhookSecrets.js"
import { type BatchStates, loadStatements } from "./LoadStatements.js"
import { BatchChanges } from "./SaveStatements.js"

/*
 * Runs many commands in one transaction, which takes two round trips, for 128 commands as for one:
 *
 * 1. `decideBatch` begins a transaction, locks the heads of all shops in one order, and loads the rows that the commands request. Then it
 *    runs one decision after the other in memory; each sees the changes of the earlier ones.
 * 2. `saveBatch` sends all changes as one statement, with a receipt (the connection and a number), and the commit.
 *
 * If the connection breaks before the commit is confirmed, `outcomeOf` looks for the receipt on a new connection.
 *
 * A command that is refused, or whose decision throws, changes nothing; the other commands of its batch are not affected.
 */

/**
 * The `application_name` of lanes' connections, which Postgres shows in its logs and views. The lane's number follows
 * `numbered`.
 */
export const LANE_CONNECTIONS = { numbered: "workshop lane", contended: "workshop contended" } as const

/** A command of a batch. */
export interface BatchedCommand {
  readonly command: Command<unknown, unknown>
  /** Returns the time and the randomness for an attempt to run the command. */
  readonly moment: () => Moment
}

/** Returns the moment of each attempt to run a command: the clock's current time, and new random bytes. */
export const momentOf =
  (
    clock: Clock.Clock,
    entropy: Context.Tag.Service<Entropy>,
    pages: Context.Tag.Service<TrackingPages>
  ): BatchedCommand["moment"] =>
  () => ({
    now: clock.unsafeCurrentTimeMillis(),
    entropy: entropy.bytes(ENTROPY_BYTES),
    tracking_base_url: pages.base_url
  })

/** The part of a decision that the caller of a command gets. */
export const toOutcome = <A>({ result, limitStatuses }: Decision<A>): Outcome<A> => ({ result, limitStatuses })

/** The result of a command: its decision or refusal, or the defect of a decision that threw. */
export type CommandExit = Exit.Exit<Decision<unknown>, unknown>

/** The results of a batch, before it is saved. No caller gets any of them before the commit is known. */
export interface DecidedBatch<C extends BatchedCommand = BatchedCommand> {
  readonly changes: BatchChanges
  readonly exits: ReadonlyArray<readonly [C, CommandExit]>
  /** Commands that were not run, because the changes before them fill a transaction. */
  readonly remaining: ReadonlyArray<C>
  /** Commands whose shop's head was locked, or does not exist. */
  readonly withoutHead: ReadonlyArray<C>
}

/** The approximate maximum length of the text that one transaction saves. */
const MAX_SAVED_BYTES = 1_048_576

const SELECT_HEADS = `select (
    select json_agg(row_to_json(h)) from (
      select * from workshop.shop_head where shop_id = any($1::uuid[]) order by shop_id for no key update`

/**
 * Locks the heads of shops. Separate statements load the other rows, because a statement that waits for a lock reads
 * the state before its wait.
 */
export const LOCK_HEADS: Omit<Statement, "values"> = { name: "lock heads", text: `${SELECT_HEADS}) h) as heads` }
/** Locks the heads that no other transaction has locked. */
export const LOCK_FREE_HEADS: Omit<Statement, "values"> = {
  name: "lock free heads",
  text: `${SELECT_HEADS} skip locked) h) as heads`
}

/** Loads the rows that every decision gets in addition to the head: the shop and its webhook. */
export const LOAD_SHOPS: Omit<Statement, "values"> = {
  name: "load shops",
  text: `select row_to_json(s) as shop, row_to_json(w) as webhook
    from unnest($1::uuid[]) q (id) join workshop.shop s on s.id = q.id left join workshop.webhook w on w.shop_id = q.id`
}

const EMPTY_RANGE: EventRange = { events: [], last_seq: 0 }

interface HeadsRow {
  readonly heads: ReadonlyArray<ShopHead> | null
}

interface ShopRow {
  readonly shop: ShopRecord
  readonly webhook: Webhook | null
}

const rowsOf = <Row>(result: QueryResult | undefined): ReadonlyArray<Row> => (result?.rows ?? []) as ReadonlyArray<Row>

interface LoadedShops {
  readonly states: ReadonlyMap<ShopId, ShopState>
  /**
   * Shops whose webhook secret cannot be decrypted. Their commands fail, because a command may save the secret again or
   * return it.
   */
  readonly undecryptable: ReadonlyMap<ShopId, SecretsRefused>
}

const runCommand = ({ command, moment }: BatchedCommand, state: ShopState): CommandExit => {
  try {
    return Either.match(execute(command, state, moment()), { onLeft: Exit.fail, onRight: Exit.succeed })
  } catch (defect) {
    return Exit.die(defect)
  }
}

const decideAll = <C extends BatchedCommand>(
  commands: ReadonlyArray<C>,
  { states, undecryptable }: LoadedShops,
  secrets: WebhookSecrets
): DecidedBatch<C> => {
  const changes = new BatchChanges(secrets)
  const exits: Array<readonly [C, CommandExit]> = []
  const withoutHead: Array<C> = []
  let i = 0
  for (; i < commands.length && changes.bytes < MAX_SAVED_BYTES; i++) {
    const command = commands[i]!
    const { shop_id } = command.command
    const refused = undecryptable.get(shop_id)
    const state = states.get(shop_id)
    if (refused !== undefined) exits.push([command, Exit.fail(secretsUnavailable(refused))])
    else if (state === undefined) withoutHead.push(command)
    else {
      const exit = runCommand(command, state)
      if (Exit.isSuccess(exit)) for (const change of exit.value.changes) changes.add(change, shop_id)
      exits.push([command, exit])
    }
  }
  return { changes, exits, remaining: commands.slice(i), withoutHead }
}

/**
 * Builds the states of the shops from the results of BEGIN, the lock, {@link LOAD_SHOPS} and the loads, in this order.
 */
const loadedShops = (
  results: ReadonlyArray<QueryResult>,
  loads: ReturnType<typeof loadStatements>,
  secrets: WebhookSecrets
): LoadedShops => {
  const [, lock, shops, ...loaded] = results
  const [{ heads }] = rowsOf<HeadsRow>(lock) as readonly [HeadsRow]
  const headOf = new Map(heads?.map((head) => [head.shop_id, head]))
  const accounts: BatchStates["accounts"] = new Map()
  const holders: BatchStates["holders"] = new Map()
  const ranges: BatchStates["ranges"] = new Map()
  const sent: BatchStates["events"] = new Map()
  const events: ShopState["events"] = {
    get: (id) => sent.get(id),
    rewrite: (event) => sent.set(event.id, { event, attempts: sent.get(event.id)?.attempts ?? [] })
  }
  const replayable: ShopState["replayable"] = ({ id }) => ranges.get(id) ?? EMPTY_RANGE
  const states = new Map<ShopId, ShopState>()
  const undecryptable = new Map<ShopId, SecretsRefused>()
  for (const { shop, webhook: storedWebhook } of rowsOf<ShopRow>(shops)) {
    const head = headOf.get(shop.id)
    if (head === undefined) continue
    const webhook = storedWebhook === null ? Either.right(null) : secrets.open(storedWebhook)
    if (Either.isLeft(webhook)) undecryptable.set(shop.id, webhook.left)
    else
      states.set(shop.id, emptyShopState({ shop, head, webhook: webhook.right, events, replayable, accounts, holders }))
  }
  const batch: BatchStates = { accounts, holders, ranges, events: sent, ofShop: (shop_id) => states.get(shop_id) }
  loads.forEach(({ addRow }, i) => {
    for (const row of rowsOf<never>(loaded[i])) addRow(batch, row)
  })
  return { states, undecryptable }
}

/** Begins a transaction, locks the shops, loads the rows that the commands request, and decides all commands. */
export const decideBatch = <C extends BatchedCommand>(
  connection: Connection,
  commands: ReadonlyArray<C>,
  {
    skipsLocked,
    secrets,
    begin = BEGIN
  }: { readonly skipsLocked: boolean; readonly secrets: WebhookSecrets; readonly begin?: Statement }
): Effect.Effect<DecidedBatch<C>, PgFailure> => {
  const shop_ids = [...new Set(commands.map(({ command }) => command.shop_id))]
  const loads = loadStatements(
    commands.flatMap(({ command: { shop_id, loadRequests } }) => loadRequests.map((request) => ({ shop_id, request })))
  )
  const lock = { values: [shop_ids], ...(skipsLocked ? LOCK_FREE_HEADS : LOCK_HEADS) }
  const statements = [begin, lock, { values: [shop_ids], ...LOAD_SHOPS }, ...loads.map(({ statement }) => statement)]
  return Effect.map(connection.send(statements), (results) =>
    decideAll(commands, loadedShops(results, loads, secrets), secrets)
  )
}

const rolledBackFailure = new PgFailure({
  kind: "conflict",
  code: null,
  constraint: null,
  cause: new Error("The database rolled the transaction back instead of committing it")
})

/** Saves the changes with the receipt and commits, or rolls back if nothing changed. Succeeds once the commit is confirmed. */
export const saveBatch = (
  connection: Connection,
  { changes }: Pick<DecidedBatch, "changes">,
  receipt: BatchReceipt
): Effect.Effect<void, PgFailure> =>
  changes.isEmpty
    ? Effect.asVoid(connection.send([ROLLBACK]))
    : Effect.flatMap(
        connection.send([
          ...changes.locks(),
          combineStatements([...changes.statements(), putReceipt(receipt)]),
          ...changes.rewrites(),
          COMMIT
        ]),
        (results) => (results.at(-1)?.command === "COMMIT" ? Effect.void : rolledBackFailure)
      )

/**
 * Saves the changes of a command within an embedder's transaction, with a check that fails if that transaction has ended. There is no
 * receipt, because the embedder commits.
 */
export const saveInTransaction = (
  connection: Connection,
  { changes }: Pick<DecidedBatch, "changes">,
  check: Statement
): Effect.Effect<void, PgFailure> =>
  Effect.asVoid(
    connection.send([...changes.locks(), combineStatements([...changes.statements(), check]), ...changes.rewrites()])
  )

/** Identifies a batch in the table `batch_receipt`. */
export interface BatchReceipt {
  /** The id of the connection that runs the batch. */
  readonly connection: string
  /** The number of the batch, which grows by {@link RECEIPT_STEP} with each batch of the connection. */
  readonly batch: number
  readonly saved_at: number
}

/** Two, because the odd number after a batch's number marks that batch as aborted. */
export const RECEIPT_STEP = 2

/** The outcome of a batch whose commit got no response. */
export type BatchOutcome = "committed" | "aborted" | "unknown"

/** Writes the receipt in the batch's own transaction. If the batch was marked as aborted meanwhile, a division by zero fails the transaction. */
export const putReceipt = ({ connection, batch, saved_at }: BatchReceipt): Statement => ({
  name: "put batch_receipt",
  text: `insert into workshop.batch_receipt (connection, batch, saved_at) values ($1, $2, $3)
    on conflict (connection) do update set saved_at = excluded.saved_at,
      batch = excluded.batch / (batch_receipt.batch < excluded.batch)::integer`,
  values: [connection, batch, saved_at]
})

/**
 * Returns the batch's number if the batch was committed. Otherwise writes and returns the next number, which marks the
 * batch as aborted and prevents a later commit of it. The statement waits for the batch's transaction if that is still
 * open, and for a synchronous standby, because it writes.
 */
export const lookUpReceipt = ({ connection, batch, saved_at }: BatchReceipt): Statement => ({
  name: "ask batch_receipt",
  text: `insert into workshop.batch_receipt (connection, batch, saved_at) values ($1, $2::bigint + 1, $3)
    on conflict (connection) do update set saved_at = excluded.saved_at,
      batch = case when batch_receipt.batch = $2 then $2 else excluded.batch end
    returning batch::double precision as batch`,
  values: [connection, batch, saved_at]
})

/**
 * The time for looking the outcome up, in real time. Together with the wait for the commit it exceeds
 * `SILENT_TRANSACTION_MS`, after which the server ends a silent transaction, so the batch's transaction has ended by
 * then.
 */
const OUTCOME_TIMEOUT_MS = 1_500
const RETRY_INTERVAL = "50 millis"

const outcomeLateFailure = new PgFailure({
  kind: "responseTimeout",
  code: null,
  constraint: null,
  cause: new Error("The transaction did not end in time")
})

const queryOutcome = (database: ReconnectingConnection, receipt: BatchReceipt) =>
  Effect.flatMap(database.connection, (connection) => connection.send([lookUpReceipt(receipt)])).pipe(
    Effect.interruptible,
    Effect.timeoutFail({ duration: OUTCOME_TIMEOUT_MS, onTimeout: () => outcomeLateFailure }),
    Effect.tapError(database.undo),
    Effect.map(([result]): BatchOutcome => (result!.rows[0]!.batch === receipt.batch ? "committed" : "aborted")),
    Effect.catchAll(() => Effect.succeed(undefined))
  )

/** Looks up on a new connection whether a batch was committed. */
export const outcomeOf = (database: ReconnectingConnection, receipt: BatchReceipt): Effect.Effect<BatchOutcome> =>
  Effect.clockWith((clock) => {
    const since = clock.unsafeCurrentTimeNanos()
    const isPastDeadline = () => clock.unsafeCurrentTimeNanos() - since > BigInt(OUTCOME_TIMEOUT_MS) * 1_000_000n
    const readOutcome: Effect.Effect<BatchOutcome> = Effect.flatMap(queryOutcome(database, receipt), (outcome) => {
      if (outcome !== undefined) return Effect.succeed(outcome)
      return isPastDeadline()
        ? Effect.succeed("unknown" as const)
        : Effect.zipRight(Effect.sleep(RETRY_INTERVAL), readOutcome)
    })
    return readOutcome
  })
