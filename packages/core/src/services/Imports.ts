import { Chunk, Clock, Effect, Either, Exit, Option, ParseResult, Stream } from "effect"
import {
  type CheckedRow,
  type ImportResult,
  ImportRow,
  importIssues,
  importTickets,
  refuseIfChanged
} from "../decisions/importTickets.js"
import type { ClientAccount } from "../domain/Client.js"
import type { ClientId, ShopId, TicketId } from "../domain/Identifier.js"
import { toIso, toIsoOrNull } from "../domain/Instant.js"
import { type Issue, inputIssues } from "../domain/InvalidInput.js"
import { ServiceLimits } from "../domain/Limits.js"
import { ENTROPY_BYTES, makeIdentifier } from "../domain/Moment.js"
import { ShopNotFound } from "../domain/Shop.js"
import { delayView, partView, quoteView, type TicketRecord } from "../domain/Ticket.js"
import { Entropy } from "../ports/Entropy.js"
import { Directory, Reads, Store, type StoreUnavailable } from "../ports/StorePorts.js"
import type { SeenTicket } from "../ports/TicketList.js"
import { Audit } from "./Audit.js"

/** How many rows one command writes. */
const ROWS_AT_ONCE = 500

/**
 * A row that was read, or the error of a row that could not be read. With `cut_short` no later row can be read either.
 */
export type ImportLine =
  | { readonly line: number; readonly row: unknown }
  | { readonly line: number; readonly unreadable: string; readonly cut_short?: boolean }

/** A row that was not written, by its line. */
export interface BadRow {
  /** The line of the file, or the row's number, from 1. */
  readonly line: number
  /** The row's own reference, to find it; null if it has none or cannot be read. */
  readonly external_ref: string | null
  /** Everything that is wrong with the row; at least one issue. */
  readonly issues: ReadonlyArray<Issue>
}

/** The result of an import, or the expected result in a dry run. */
export interface ImportReport extends ImportResult {
  /** The number of rows that were read, with those in `already` and `bad`. */
  readonly rows: number
  /** Rows whose ticket existed already, by its `external_ref` or its id; nothing was changed. */
  readonly already: number
  /** The number of rows that were not written because they are wrong. */
  readonly bad: number
  /** The first thousand bad rows. */
  readonly bad_rows: ReadonlyArray<BadRow>
  /**
   * The line at which the import stopped, because the row is bad or no later row can be read; null if it reached the
   * end.
   */
  readonly stopped_at: number | null
  /** Whether the counts are only expected, because nothing was written. */
  readonly dry_run: boolean
}

/** The options of {@link Imports.run}. */
export interface ImportOptions {
  /** The rows in their order, read lazily. Each has its line number, which the report names. */
  readonly lines: AsyncIterable<ImportLine> | Iterable<ImportLine>
  /** Checks every row and writes nothing; false by default. */
  readonly dryRun?: boolean | undefined
  /** The effect of a bad row: `stop`, the default, so that nothing after it is written, or `skip`. */
  readonly badRows?: "stop" | "skip" | undefined
  /** Raises `ticket.created` for each ticket; false by default. */
  readonly events?: boolean | undefined
  /** Called after each batch, with the report so far. */
  readonly onProgress?: ((report: ImportReport) => unknown) | undefined
}

/** The shop to which rows are written, with the options that matter for writing. */
interface ImportTarget extends Pick<ImportOptions, "dryRun" | "events"> {
  readonly shop_id: ShopId
}

const decodeRow = ParseResult.decodeUnknownEither(ImportRow, { errors: "all", onExcessProperty: "error" })

const refOf = (row: unknown): string | null => {
  const ref = typeof row === "object" && row !== null ? (row as { external_ref?: unknown }).external_ref : null
  return typeof ref === "string" ? ref : null
}

interface Row {
  readonly line: number
  readonly row: ImportRow
}

/**
 * An issue of a row. The issue of a price has an example, because files of other systems may have prices in another
 * unit.
 */
const issueOf = ({ field, message }: Issue): Issue => ({
  field: field || "row",
  message:
    /_minor$/.test(field) && message === "must be a whole number"
      ? `${message} of minor units, such as 1250 for 12.50 EUR`
      : message
})

/** Checks the rows of an import one after another. A row with the reference of an earlier row is bad. */
const makeRowChecker = () => {
  const seen = new Map<string, number>()
  return (read: ImportLine, now: number): Either.Either<Row, BadRow> => {
    const { line } = read
    if ("unreadable" in read)
      return Either.left({ line, external_ref: null, issues: [{ field: "row", message: read.unreadable }] })
    const external_ref = refOf(read.row)
    const badRow = (issues: ReadonlyArray<Issue>) => Either.left({ line, external_ref, issues })
    const decoded = decodeRow(read.row)
    if (Either.isLeft(decoded)) return badRow(inputIssues(decoded.left).map(issueOf))
    const row = decoded.right
    const issues = importIssues(row, now)
    if (issues.length > 0) return badRow(issues)
    const { external_ref: ref } = row
    if (ref !== null && ref !== undefined) {
      const firstRow = seen.get(ref)
      if (firstRow !== undefined)
        return badRow([{ field: "external_ref", message: `is the same as in line ${firstRow}` }])
      seen.set(ref, line)
    }
    return Either.right({ line, row })
  }
}

const isCutShort = (line: ImportLine): boolean => "unreadable" in line && line.cut_short === true

/** A source of lines, read a batch at a time. */
const makeBatchReader = (lines: ImportOptions["lines"]) => {
  const iterator = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]()
  return {
    /** The next lines, at most one batch of them. */
    next: Effect.promise(async () => {
      const batch: Array<ImportLine> = []
      while (batch.length < ROWS_AT_ONCE) {
        const { done, value } = await iterator.next()
        if (done === true) break
        batch.push(value)
      }
      return batch
    }),
    /**
     * Closes the source, such as an open file. An interruption does not wait for this, because closing waits for a read
     * that may hang.
     */
    leave: (exit: Exit.Exit<unknown, unknown>) => {
      const closing = (async () => iterator.return?.())().catch(() => {})
      return Exit.isInterrupted(exit) ? Effect.void : Effect.promise(() => closing)
    }
  }
}

const emptyReport: ImportReport = {
  rows: 0,
  tickets: 0,
  clients: 0,
  cards: 0,
  closing: 0,
  already: 0,
  bad: 0,
  bad_rows: [],
  stopped_at: null,
  dry_run: false
}

const addReports = (report: ImportReport, result: ImportResult): ImportReport => ({
  ...report,
  tickets: report.tickets + result.tickets,
  clients: report.clients + result.clients,
  cards: report.cards + result.cards,
  closing: report.closing + result.closing
})

/** Writes valid rows. */
const writeRows = Effect.gen(function* () {
  const store = yield* Store
  const reads = yield* Reads
  const directory = yield* Directory
  const entropy = yield* Entropy

  /** The accounts of the rows' clients by number. If `opensAccounts`, missing accounts are created. */
  const accountsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>, opensAccounts: boolean) {
    const wanted = new Map(
      rows.flatMap(({ row: { client } }) => (client == null ? [] : [[client.phone, client] as const]))
    )
    const findHolders = () => directory.holders([...wanted.keys()])
    const idsByPhone = new Map((yield* findHolders()).map(({ phone, id }) => [phone, id]))
    if (!opensAccounts) return idsByPhone
    const missing = [...wanted.values()].filter(({ phone }) => !idsByPhone.has(phone))
    const created_at = yield* Clock.currentTimeMillis
    const openAccount = ({ phone, given_name, family_name, hide_name }: (typeof missing)[number]) => {
      const id = makeIdentifier<ClientId>({ now: created_at, entropy: entropy.bytes(ENTROPY_BYTES) }, 0)
      const account = { id, given_name, family_name, phone, hide_name: hide_name ?? false, created_at }
      return Effect.map(directory.createClient(account), (isOpened) =>
        isOpened ? idsByPhone.set(phone, id) : undefined
      )
    }
    const openedAccounts = yield* Effect.forEach(missing, openAccount, { concurrency: 8 })
    // Another process created an account with one of the numbers at the same moment.
    if (openedAccounts.includes(undefined)) for (const { phone, id } of yield* findHolders()) idsByPhone.set(phone, id)
    return idsByPhone
  })

  /** The rows whose tickets do not exist yet. A row with only a client is always included. */
  const selectNewRows = Effect.fnUntraced(function* (shop_id: ShopId, rows: ReadonlyArray<Row>) {
    const refs = rows.flatMap(({ row }) => row.external_ref ?? [])
    const existingRefs = refs.length === 0 ? new Set<string>() : yield* reads.externalRefs(shop_id, refs)
    return rows.filter(({ row }) => !existingRefs.has(row.external_ref ?? ""))
  })

  /**
   * Writes rows whose tickets do not exist yet. Returns null if tickets of the shop changed meanwhile, because the
   * rows' tickets may exist now.
   */
  const writeRows = Effect.fnUntraced(function* (to: ImportTarget, rows: ReadonlyArray<Row>, change_seq: number) {
    const { shop_id, dryRun = false, events = false } = to
    const ids = yield* accountsOf(rows, !dryRun)
    const checked = rows.map(
      ({ row }): CheckedRow => ({ row, client_id: row.client == null ? null : (ids.get(row.client.phone) ?? null) })
    )
    const command = refuseIfChanged(importTickets(shop_id, checked, { raises: events }), change_seq)
    if (!dryRun) return (yield* store.transact(command)).result
    const { result } = yield* store.transact({
      ...command,
      // A dry run makes the decision, but saves nothing.
      run: (state, moment) =>
        Either.map(command.run(state, moment), ({ result }) => ({ result, changes: [], limitStatuses: [] }))
    })
    if (result === null) return null
    const withoutAccount = rows.filter(({ row }) => row.client != null && !ids.has(row.client.phone))
    const phones = new Set(withoutAccount.map(({ row }) => row.client!.phone))
    const cards = new Set(withoutAccount.flatMap(({ row }) => (row.client?.card == null ? [] : [row.client.phone])))
    return { ...result, clients: result.clients + phones.size, cards: result.cards + cards.size }
  })

  /**
   * Writes those rows whose tickets do not exist yet. Their references are looked up before the command runs, so they are looked up again
   * if tickets of the shop were written in between.
   */
  const writeNewRows = Effect.fnUntraced(function* (to: ImportTarget, validRows: ReadonlyArray<Row>) {
    while (true) {
      const shop = yield* reads.shop(to.shop_id)
      if (shop === null) return yield* new ShopNotFound()
      const rows = yield* selectNewRows(to.shop_id, validRows)
      const alreadyImported = validRows.length - rows.length
      if (rows.length === 0) return { already: alreadyImported, imported: null }
      const imported = yield* writeRows(to, rows, shop.head.change_seq)
      if (imported !== null) return { already: alreadyImported, imported }
    }
  })

  return { writeNewRows: writeNewRows }
})

/** Imports and exports tickets with their dates and clients. They count against no limit. */
export class Imports extends Effect.Service<Imports>()("@workshop/core/Imports", {
  accessors: true,
  dependencies: [Audit.Default],
  effect: Effect.gen(function* () {
    const reads = yield* Reads
    const directory = yield* Directory
    const audit = yield* Audit
    const { writeNewRows } = yield* writeRows

    return {
      /**
       * Imports tickets in any state with their dates, clients and cards, each batch in one commit. An import skips a
       * row whose `external_ref` is the `external_ref` of a ticket of the shop or, as in an export, a ticket's id. An
       * import can therefore be repeated, and two simultaneous imports of one file create each ticket once.
       */
      run: Effect.fnUntraced(function* (shop_id: ShopId, options: ImportOptions) {
        const { badRows = "stop", dryRun = false, onProgress = () => undefined } = options
        if ((yield* reads.shop(shop_id)) === null) return yield* new ShopNotFound()
        const source = makeBatchReader(options.lines)
        const check = makeRowChecker()
        let report: ImportReport = { ...emptyReport, dry_run: dryRun }
        const importing = Effect.gen(function* () {
          while (report.stopped_at === null) {
            const batch = yield* source.next
            if (batch.length === 0) break
            const now = yield* Clock.currentTimeMillis
            const validRows: Array<Row> = []
            const wrongRows: Array<BadRow> = []
            for (const line of batch) {
              const checked = check(line, now)
              report = { ...report, rows: report.rows + 1 }
              if (Either.isRight(checked)) validRows.push(checked.right)
              else wrongRows.push(checked.left)
              if (Either.isLeft(checked) && (badRows === "stop" || isCutShort(line))) {
                report = { ...report, stopped_at: line.line }
                break
              }
            }
            const { already, imported } = yield* writeNewRows({ ...options, shop_id }, validRows)
            if (imported !== null) report = addReports(report, imported)
            report = {
              ...report,
              already: report.already + already,
              bad: report.bad + wrongRows.length,
              bad_rows: [...report.bad_rows, ...wrongRows].slice(0, ServiceLimits.import_rows_listed)
            }
            onProgress(report)
          }
        })
        const auditing = Effect.suspend(() => {
          const { tickets, clients, cards } = report
          if (dryRun || tickets + clients + cards === 0) return Effect.void
          return audit.record({ act: "tickets.imported", details: { tickets, clients, cards } }, shop_id)
        })
        // The batches before a failure stay committed, so the audit log records them too.
        yield* Effect.onError(Effect.onExit(importing, source.leave), () =>
          Effect.catchAll(auditing, (error) =>
            Effect.logWarning("An interrupted import could not be recorded in the audit log", error)
          )
        )
        yield* auditing
        return report
      }),

      /**
       * All tickets of a shop as rows of an import, newest first, read page by page. Each ticket occurs once, as it was when its page was
       * read, even if tickets change meanwhile; tickets that are created meanwhile are not included.
       */
      exported: (shop_id: ShopId): Stream.Stream<ExportedRow, ShopNotFound | StoreUnavailable> =>
        Stream.unwrap(exportRows(shop_id, { reads, directory }))
    }
  })
}) {}

/** A ticket as {@link Imports} exports it: a row of an import, without its empty fields. */
export type ExportedRow = Readonly<Record<string, unknown>>

type CachedClients = Map<ClientId, { readonly account: ClientAccount; readonly card: object } | null>

/** How many tickets an export reads at once. */
const PAGE = 500

/** The maximum number of clients that an export caches. */
const MAX_CACHED_CLIENTS = 10_000

/** The row of a ticket, without its empty fields. */
const rowOf = ({ record }: SeenTicket, client: object | null): ExportedRow => {
  const { quote, delay, part, items } = record
  const row: ExportedRow = {
    external_ref: record.external_ref ?? record.id,
    number: record.number,
    state: record.state,
    outcome: record.outcome,
    type: record.type,
    service: record.service,
    item: record.item,
    description: record.description,
    items: items.length === 0 ? null : items.map(({ id: _, ...item }) => item),
    price_minor: record.price_minor,
    deposit_minor: record.deposit_minor,
    before_minor: record.before_minor,
    quote: quote && quoteView(quote),
    delay: delay && delayView(delay),
    part: part && partView(part),
    promised_at: toIsoOrNull(record.promised_at),
    created_at: toIso(record.created_at),
    ...datesOf(record),
    photo_url: record.photo_url,
    client_phone: record.client_phone,
    client
  }
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}

const datesOf = (record: TicketRecord) => ({
  ready_at: toIsoOrNull(record.ready_at),
  collected_at: toIsoOrNull(record.collected_at),
  abandoned_at: toIsoOrNull(record.abandoned_at),
  abandon_reason: record.abandon_reason,
  notified_at: toIsoOrNull(record.notified_at),
  notified_channel: record.notified_channel,
  created_via: record.created_via
})

const exportRows = (
  shop_id: ShopId,
  { reads, directory }: { readonly reads: typeof Reads.Service; readonly directory: typeof Directory.Service }
) =>
  Effect.gen(function* () {
    if ((yield* reads.shop(shop_id)) === null) return yield* new ShopNotFound()
    const clients: CachedClients = new Map()
    const clientOf = Effect.fnUntraced(function* (id: ClientId) {
      const before = clients.get(id)
      if (before !== undefined) return before
      const seen = yield* reads.client(shop_id, { id })
      const account = seen === null ? null : yield* directory.account(id)
      const client = account === null ? null : { account, card: seen!.card }
      if (clients.size >= MAX_CACHED_CLIENTS) clients.clear()
      clients.set(id, client)
      return client
    })
    const clientRow = Effect.fnUntraced(function* ({ record: { client_id } }: SeenTicket) {
      const client = client_id === null ? null : yield* clientOf(client_id)
      if (client === null) return null
      const { phone, given_name, family_name, hide_name } = client.account
      const { balance, lifetime, rewards_redeemed, updated_at } = client.card as Record<string, unknown>
      const card = updated_at === null ? {} : { card: { balance, lifetime, rewards_redeemed } }
      return { phone, given_name, family_name, hide_name, ...card }
    })
    // The order is by creation, because a ticket that changes between two pages would move in the order of changes.
    return Stream.paginateChunkEffect(null as TicketId | null, (after) =>
      Effect.gen(function* () {
        const { tickets } = yield* reads.tickets(shop_id, {}, { _tag: "Newest", after }, PAGE)
        const rows = yield* Effect.forEach(tickets, (ticket) =>
          Effect.map(clientRow(ticket), (client) => rowOf(ticket, client))
        )
        const lastId = tickets.length < PAGE ? undefined : tickets.at(-1)?.record.id
        return [Chunk.unsafeFromArray(rows), Option.fromNullable(lastId)] as const
      })
    )
  })
