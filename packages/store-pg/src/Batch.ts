import type { EventId, SentEvent, ShopHead, ShopId, ShopRecord, Webhook } from "@workshop/core"
import { type Decision, type EventRange, execute, loadState, type ShopState } from "@workshop/core/store"
import { type Cause, Effect, Either, Exit } from "effect"
import { type BatchReceipt, writing } from "./BatchReceipt.js"
import { BEGIN, COMMIT, type Connection, type QueryResult, ROLLBACK } from "./Connection.js"
import { loading, type RequestedLoads } from "./Loading.js"
import { PgFailure } from "./PgFailure.js"
import type { QueuedCommand } from "./QueuedCommand.js"
import { Saving } from "./Saving.js"
import type { Statement } from "./Statement.js"
import { together } from "./together.js"
import { type SecretsRefused, unopened, type WebhookSecrets } from "./WebhookSecrets.js"

/** How a batch left its shops and its commands. Nothing is told to anybody before the commit is known. */
export interface Decided {
  readonly saving: Saving
  readonly exits: ReadonlyArray<readonly [QueuedCommand, Exit.Exit<Decision<unknown>, unknown>]>
  /** Those that did not fit. */
  readonly left: ReadonlyArray<QueuedCommand>
  /** Those whose shop another process holds. */
  readonly held: ReadonlyArray<QueuedCommand>
}

/** About how much text one transaction saves at most. */
const MOST_BYTES = 1_048_576

const LOCK = `select (
    select json_agg(row_to_json(h)) from (
      select * from shop_head where shop_id = any($1::uuid[]) order by shop_id for no key update`

/**
 * Locks the heads of shops, and waits for those that are held. Everything else is read in the next statement: one that had
 * waited for a lock would still see what was there before it waited.
 */
export const lockAll: Omit<Statement, "values"> = { name: "lock heads", text: `${LOCK}) h) as heads` }
/** Locks those heads that are free. */
export const lockFree: Omit<Statement, "values"> = { name: "lock free heads", text: `${LOCK} skip locked) h) as heads` }

/** Loads what every decision sees of its shop besides the head. */
export const SHOPS: Omit<Statement, "values"> = {
  name: "load shops",
  text: `select row_to_json(s) as shop, row_to_json(w) as webhook
    from unnest($1::uuid[]) q (id) join shop s on s.id = q.id left join webhook w on w.shop_id = q.id`
}

const NOTHING_TO_REPLAY: EventRange = { found: [], looked_at: 0, last_seq: null }

interface HeadsRow {
  readonly heads: ReadonlyArray<ShopHead> | null
}

interface ShopRow {
  readonly shop: ShopRecord
  readonly webhook: Webhook | null
}

const rowsOf = <Row>(answer: QueryResult | undefined): ReadonlyArray<Row> => (answer?.rows ?? []) as ReadonlyArray<Row>

const runOne = ({ command, moment }: QueuedCommand, slice: ShopState): Exit.Exit<Decision<unknown>, unknown> => {
  try {
    return Either.match(execute(command, slice, moment()), { onLeft: Exit.fail, onRight: Exit.succeed })
  } catch (defect) {
    return Exit.die(defect)
  }
}

/** What a batch loaded of its shops. */
interface Loaded {
  readonly slices: ReadonlyMap<ShopId, ShopState>
  /** Shops whose webhook secret cannot be opened: to save it again, or show it, would be wrong. */
  readonly unopened: ReadonlyMap<ShopId, SecretsRefused>
}

const decideAll = (entries: ReadonlyArray<QueuedCommand>, loaded: Loaded, secrets: WebhookSecrets): Decided => {
  const saving = new Saving(secrets)
  const exits: Array<readonly [QueuedCommand, Exit.Exit<Decision<unknown>, unknown>]> = []
  const held: Array<QueuedCommand> = []
  let i = 0
  for (; i < entries.length && saving.bytes < MOST_BYTES; i++) {
    const entry = entries[i]!
    const { shop_id } = entry.command
    const refused = loaded.unopened.get(shop_id)
    if (refused !== undefined) {
      exits.push([entry, Exit.fail(unopened(refused))])
      continue
    }
    const slice = loaded.slices.get(shop_id)
    if (slice === undefined) {
      held.push(entry)
      continue
    }
    const exit = runOne(entry, slice)
    if (Exit.isSuccess(exit)) for (const change of exit.value.changes) saving.add(change, shop_id)
    exits.push([entry, exit])
  }
  return { saving, exits, left: entries.slice(i), held }
}

const asksOf = (entries: ReadonlyArray<QueuedCommand>): ReadonlyArray<RequestedLoads> =>
  entries.flatMap(({ command: { shop_id, asks } }) => asks.map((ask) => ({ shop_id, ask })))

/**
 * Begins a transaction, locks the heads of the shops of all commands in one order, loads what they ask for, and runs one
 * after the other, each seeing the changes of those before it. A refusal, or a decision that throws, ends its own command only.
 */
export const decideTogether = (
  connection: Connection,
  entries: ReadonlyArray<QueuedCommand>,
  { skipsHeld, secrets }: { readonly skipsHeld: boolean; readonly secrets: WebhookSecrets }
): Effect.Effect<Decided, PgFailure> => {
  const shop_ids = [...new Set(entries.map(({ command }) => command.shop_id))]
  const loads = loading(asksOf(entries))
  const lock = { ...(skipsHeld ? lockFree : lockAll), values: [shop_ids] }
  const statements = [BEGIN, lock, { ...SHOPS, values: [shop_ids] }, ...loads.map(({ statement }) => statement)]
  return Effect.map(connection.send(statements), (answers) => {
    const [{ heads }] = rowsOf<HeadsRow>(answers[1]) as readonly [HeadsRow]
    const shared = { accounts: new Map(), holders: new Map() }
    const stretches = new Map<string, EventRange>()
    const sent = new Map<EventId, SentEvent>()
    const events: ShopState["events"] = {
      get: (id) => sent.get(id),
      rewrite: (event) => sent.set(event.id, { event, attempts: sent.get(event.id)?.attempts ?? [] })
    }
    const replayable: ShopState["replayable"] = ({ id }) => stretches.get(id) ?? NOTHING_TO_REPLAY
    const headOf = new Map(heads?.map((head) => [head.shop_id, head]))
    const slices = new Map<ShopId, ShopState>()
    const unopened = new Map<ShopId, SecretsRefused>()
    for (const { shop, webhook: stored } of rowsOf<ShopRow>(answers[2])) {
      const head = headOf.get(shop.id)
      if (head === undefined) continue
      const webhook = stored === null ? Either.right(null) : secrets.open(stored)
      if (Either.isLeft(webhook)) unopened.set(shop.id, webhook.left)
      else slices.set(shop.id, loadState({ shop, head, webhook: webhook.right, events, replayable, ...shared }))
    }
    loads.forEach(({ fill }, i) => {
      for (const row of rowsOf<never>(answers[i + 3]))
        fill({ ...shared, stretches, events: sent, of: (shop_id) => slices.get(shop_id) }, row)
    })
    return decideAll(entries, { slices, unopened }, secrets)
  })
}

const undone = new PgFailure({
  kind: "conflict",
  code: null,
  constraint: null,
  cause: new Error("The commit was answered with a rollback")
})

/** Saves what was decided and commits, or ends the transaction where there is nothing to save. Succeeds once it is committed. */
export const save = (
  connection: Connection,
  { saving }: Decided,
  receipt: BatchReceipt
): Effect.Effect<void, PgFailure> =>
  saving.isEmpty
    ? Effect.asVoid(connection.send([ROLLBACK]))
    : Effect.flatMap(
        connection.send([together([...saving.statements(), writing(receipt)]), ...saving.rewrites(), COMMIT]),
        (answers) => (answers.at(-1)?.command === "COMMIT" ? Effect.void : Effect.fail(undone))
      )

/** Tells everybody how their command ended. */
export const settleAll = ({ exits }: Decided): void => {
  for (const [{ settle }, exit] of exits) settle(exit)
}

/** Tells everybody the same failure. */
export const failAll = (entries: ReadonlyArray<QueuedCommand>, cause: Cause.Cause<unknown>): void => {
  for (const { settle } of entries) settle(Exit.failCause(cause))
}
