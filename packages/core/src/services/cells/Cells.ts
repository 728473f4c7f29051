import { Clock, Context, Effect, Either, FiberSet, Metric, type Scope, Stream } from "effect"
import type { Command, Outcome } from "../../decisions/Command.js"
import { type AuditEntry, NO_SHOP } from "../../domain/AuditEntry.js"
import type { ClientId, ShopId } from "../../domain/Identifier.js"
import { ServiceLimits } from "../../domain/Limits.js"
import type { LimitStatus, LimitUse } from "../../domain/LimitWindow.js"
import { latestOfShops, type ShopNotFound } from "../../domain/Shop.js"
import type { Cell, CellDirectory } from "../../ports/CellPorts.js"
import { probe, type UnavailableCell } from "../../ports/Probes.js"
import {
  AuditLog,
  Closures,
  Deliveries,
  DeliveryLog,
  Directory,
  NotificationQueue,
  PersonalData,
  RateLimits,
  Reads,
  SandboxData,
  Store,
  type StorePorts,
  StoreUnavailable,
  TransactionRefused,
  Transactions
} from "../../ports/StorePorts.js"
import { logRemedy } from "../background/BackgroundFailure.js"
import { composeDeliveries } from "./CellDeliveries.js"
import {
  AllCells,
  compareBy,
  groupValues,
  mergeSorted,
  type OpenCell,
  openCell,
  queryShopsAhead,
  ShopCells
} from "./OpenCells.js"

/*
 * One store that consists of several cells. Each cell is a complete store, and each shop is in one cell:
 *
 * - Commands, reads and the limits of a shop and its keys use the cell of the shop. The directory records the cell, and each process
 *   caches it, because a shop never leaves its cell.
 * - The work on all shops (claims, closures, notifications, replays) queries every cell and merges the results. A cell that does not
 *   respond is left out, and queried again in the background until it responds, so that it delays no other.
 * - Accounts of clients, and the limits of addresses, belong to no shop. The home cell, which is the first, stores them. Every other
 *   cell has a copy of each account, because its statements join tickets with accounts. The home cell records which copies are out of
 *   date in the transaction that changes an account, so that any process can update them.
 */

/** How often the process checks which cells respond, and which copies of accounts are out of date. */
const LOOK_EVERY = "1 second"

const cellUnavailable = Metric.gauge("workshop_cell_unavailable", {
  description: "1 while this process cannot use the cell, otherwise 0."
})

/** The maximum number of immediate rewrites of a copy whose account changes meanwhile. After that, the background work rewrites it. */
const MAX_COPY_ATTEMPTS = 8

/** The cells, of which the first is the home cell, and their directory. */
export interface CellsOptions {
  /** The cells that respond. Shops without a record in the directory are in the first, the home cell. */
  readonly cells: readonly [Cell, ...ReadonlyArray<Cell>]
  /** The directory of the home cell, which knows the cell of each shop. */
  readonly directory: CellDirectory
  /** The names of the cells that cannot be used at the start. */
  readonly unavailable?: ReadonlyArray<string>
}

/** The store's commands, each in the cell of its shop. The hashes of keys that a command saves are added to the directory. */
const routeStore = (shopCells: ShopCells, directory: CellDirectory): Context.Tag.Service<Store> => ({
  transact: <A, E>(command: Command<A, E>) =>
    shopCells.runInCell(command.shop_id, (cell): Effect.Effect<Outcome<A>, E | ShopNotFound | StoreUnavailable> => {
      if (cell === shopCells.home) return cell.store.transact(command)
      const hashes = new Set<string>()
      const collectingHashes: Command<A, E> = {
        ...command,
        run: (state, moment) => {
          const decision = command.run(state, moment)
          if (Either.isRight(decision))
            for (const change of decision.right.changes) if (change._tag === "KeyPut") hashes.add(change.row.hash)
          return decision
        }
      }
      return Effect.tap(cell.store.transact(collectingHashes), () =>
        Effect.forEach(hashes, (hash) => directory.putKey(hash, cell.name), { discard: true })
      )
    })
})

const routeReads = (shopCells: ShopCells): Context.Tag.Service<Reads> => ({
  shop: (shop_id) => shopCells.runInCell(shop_id, ({ reads }) => reads.shop(shop_id)),
  ticket: (shop_id, id) => shopCells.runInCell(shop_id, ({ reads }) => reads.ticket(shop_id, id)),
  tickets: (shop_id, ...rest) => shopCells.runInCell(shop_id, ({ reads }) => reads.tickets(shop_id, ...rest)),
  ticketsOfNumber: (shop_id, ...rest) =>
    shopCells.runInCell(shop_id, ({ reads }) => reads.ticketsOfNumber(shop_id, ...rest)),
  client: (shop_id, by) => shopCells.runInCell(shop_id, ({ reads }) => reads.client(shop_id, by)),
  keys: (shop_id) => shopCells.runInCell(shop_id, ({ reads }) => reads.keys(shop_id)),
  externalRefs: (shop_id, refs) => shopCells.runInCell(shop_id, ({ reads }) => reads.externalRefs(shop_id, refs)),
  events: (shop_id, part) => shopCells.runInCell(shop_id, ({ reads }) => reads.events(shop_id, part))
})

const routeDeliveryLog = (shopCells: ShopCells): Context.Tag.Service<DeliveryLog> => ({
  deliveries: (shop_id, part) => shopCells.runInCell(shop_id, (cell) => cell.deliveryLog.deliveries(shop_id, part)),
  count: (shop_id, filter) => shopCells.runInCell(shop_id, (cell) => cell.deliveryLog.count(shop_id, filter)),
  notices: (shop_id) => shopCells.runInCell(shop_id, (cell) => cell.deliveryLog.notices(shop_id))
})

/** Limits are counted in the cell of their shop. Uses in several cells are taken one cell after another, and given back if one refuses. */
const routeLimits = (shopCells: ShopCells): Context.Tag.Service<RateLimits> => {
  const groupByCell = (takes: ReadonlyArray<LimitUse>) =>
    Effect.map(
      Effect.forEach(takes, (use) => Effect.map(shopCells.cellOfUse(use), (cell) => [cell, use] as const)),
      (found) =>
        groupValues(found, ([cell]) => cell).map(([cell, uses]) => ({ cell, uses: uses.map(([, use]) => use) }))
    )

  /** The statuses in the order of the uses. */
  const orderStatuses = (takes: ReadonlyArray<LimitUse>, statuses: ReadonlyMap<LimitUse, LimitStatus>) =>
    takes.map((use) => statuses.get(use)!)

  return {
    take: (takes, now) =>
      Effect.gen(function* () {
        const groups = yield* groupByCell(takes)
        const taken = new Map<LimitUse, LimitStatus>()
        for (const { cell, uses } of groups) {
          const giveBack = Effect.forEach(
            groups.filter((group) => group.uses.every((use) => taken.has(use))),
            (group) => group.cell.limits.giveBack(group.uses, orderStatuses(group.uses, taken))
          )
          const take = shopCells.limiter.limit(cell, cell.limits.take(uses, now))
          const limitStatuses = yield* Effect.tapError(take, () => giveBack)
          uses.forEach((use, i) => void taken.set(use, limitStatuses[i]!))
        }
        return orderStatuses(takes, taken)
      }),
    giveBack: (takes, taken) =>
      Effect.flatMap(groupByCell(takes), (groups) =>
        Effect.forEach(
          groups,
          ({ cell, uses }) =>
            cell.limits.giveBack(
              uses,
              uses.map((use) => taken[takes.indexOf(use)]!)
            ),
          { discard: true }
        )
      ),
    peek: (use, now) =>
      Effect.flatMap(shopCells.cellOfUse(use), (cell) => shopCells.limiter.limit(cell, cell.limits.peek(use, now)))
  }
}

/** Updates copies of accounts in the cells that can be reached. */
const makeCopier = (allCells: AllCells, directory: CellDirectory) => {
  const cellsByName = new Map(allCells.cells.map((cell) => [cell.name, cell]))

  /** Writes one account's copies. An account that changed meanwhile is written again, because writes may overtake each other. */
  const writeCopies = (client_id: ClientId | null, retries: number): Effect.Effect<void, StoreUnavailable> =>
    Effect.flatMap(directory.stale(client_id), (stale) =>
      Effect.forEach(
        stale.flatMap(({ lacking, ...of }) => lacking.map((missingCell) => ({ ...of, ...missingCell }))),
        ({ client_id, account, cell, change_number }) => {
          const cellOfCopy = cellsByName.get(cell)
          if (cellOfCopy === undefined || !allCells.available.includes(cellOfCopy)) return Effect.void
          return cellOfCopy.access.keepCopy(client_id, account).pipe(
            Effect.zipRight(directory.copied(client_id, cell, change_number)),
            Effect.flatMap((isLatest) =>
              isLatest || retries === 0 ? Effect.void : writeCopies(client_id, retries - 1)
            ),
            // The copy stays out of date in the directory, so the background work tries again.
            Effect.catchAll(() => Effect.void)
          )
        },
        { concurrency: "unbounded", discard: true }
      )
    )
  return (client_id: ClientId | null) => writeCopies(client_id, MAX_COPY_ATTEMPTS)
}

type Copy = ReturnType<typeof makeCopier>

/** Places a new shop in a cell that responds now. In an unavailable cell the shop could not be created. */
const placeShop = (shopCells: ShopCells, allCells: AllCells) => (shop_id: ShopId) =>
  shopCells.hasCachedCell(shop_id)
    ? shopCells.cellOfShop(shop_id)
    : Effect.zipRight(
        allCells.ask(({ access }) => access.confirm),
        Effect.suspend(() => shopCells.place(shop_id, allCells.available))
      )

const composeDirectory = (
  shopCells: ShopCells,
  allCells: AllCells,
  directory: CellDirectory,
  copy: Copy
): Context.Tag.Service<Directory> => {
  const { home } = shopCells
  const copyAfterChange = (change: Effect.Effect<boolean, StoreUnavailable>, id: ClientId) =>
    Effect.tap(change, (isDone) => (isDone ? copy(id) : Effect.void))
  return {
    createShop: (shop) =>
      Effect.flatMap(placeShop(shopCells, allCells)(shop.id), (cell) => cell.directory.createShop(shop)),
    hasShops: Effect.flatMap(
      allCells.ask((cell) => cell.directory.hasShops),
      (results) => {
        if (results.some(([, isThere]) => isThere)) return Effect.succeed(true)
        return results.length === allCells.cells.length ? Effect.succeed(false) : directory.hasPlaced
      }
    ),
    claimFirstShop: home.directory.claimFirstShop,
    listShops: (after, limit) =>
      Effect.map(
        allCells.askEvery(({ directory }) => directory.listShops(after, limit)),
        (pages) => mergeSorted(pages.flat(), ({ id }) => id, limit)
      ),
    isSandboxMade: home.directory.isSandboxMade,
    markSandboxMade: home.directory.markSandboxMade,
    // The data of an unavailable cell cannot be compared with the clock now.
    latest: Effect.map(
      allCells.ask(({ directory }) => directory.latest),
      (results) => Math.max(...results.map(([, latest]) => latest))
    ),
    shopsAhead: queryShopsAhead(allCells),
    createClient: (account) => copyAfterChange(home.directory.createClient(account), account.id),
    listClients: home.directory.listClients,
    holders: home.directory.holders,
    changeClient: (account) => copyAfterChange(home.directory.changeClient(account), account.id),
    keyByHash: (hash) =>
      Effect.flatMap(shopCells.cellOfKeyHash(hash), (cell) =>
        Effect.tap(shopCells.limiter.limit(cell, cell.directory.keyByHash(hash)), (found) => {
          // If a cell lacks a key that the directory records there, the cell's address may lead to another cell.
          if (found === null) return cell === home ? Effect.void : cell.access.confirm
          return Effect.sync(() => shopCells.rememberKey(hash, found.key.id, found.shop.id, cell))
        })
      ),
    // If the cell of a key is unknown, every cell gets the use, because a cell ignores keys that it does not have.
    keysUsed: (uses) =>
      Effect.forEach(
        groupValues([...uses], ([id]) => shopCells.cellOfKey(id)),
        ([cell, ofCell]) =>
          Effect.forEach(cell === undefined ? allCells.available : [cell], ({ directory }) =>
            directory.keysUsed(new Map(ofCell))
          ),
        { concurrency: "unbounded", discard: true }
      ),
    shopOf: (thing) => allCells.find(({ directory }) => directory.shopOf(thing)),
    // If no cell that responds has the code, a cell that does not respond may have it.
    tracked: (tracking_code) =>
      Effect.flatMap(
        allCells.ask(({ directory }) => directory.tracked(tracking_code)),
        (results) => {
          const tickets = results.flatMap(([, tickets]) => tickets).slice(0, ServiceLimits.tracked_max)
          const isWhole = tickets.length > 0 || results.length === allCells.cells.length
          return isWhole ? Effect.succeed(tickets) : new StoreUnavailable({})
        }
      ),
    account: home.directory.account,
    offers: (id) =>
      Effect.map(
        allCells.gather(({ directory }) => directory.offers(id)),
        (rows) => latestOfShops(rows.toSorted(compareBy(({ created_at }) => created_at)))
      ),
    changedShops: Stream.mergeAll(
      allCells.cells.map(({ directory }) => directory.changedShops),
      { concurrency: "unbounded" }
    ),
    inbox: (id) =>
      Effect.map(
        allCells.gather(({ directory }) => directory.inbox(id)),
        (rows) => latestOfShops(rows.toSorted(compareBy(({ created_at }) => created_at)))
      )
  }
}

const composeAudit = (shopCells: ShopCells, allCells: AllCells): Context.Tag.Service<AuditLog> => ({
  // The audit entry of a new shop is written before the shop.
  append: (entry) =>
    entry.shop_id === NO_SHOP
      ? shopCells.home.audit.append(entry)
      : Effect.flatMap(placeShop(shopCells, allCells)(entry.shop_id), ({ audit }) => audit.append(entry)),
  list: (shop_id, before, limit) => {
    if (shop_id === NO_SHOP) return shopCells.home.audit.list(shop_id, before, limit)
    if (shop_id !== null) return shopCells.runInCell(shop_id, ({ audit }) => audit.list(shop_id, before, limit))
    return Effect.map(
      allCells.askEvery(({ access }) => access.audit(before, limit)),
      (pages) =>
        pages
          .flat()
          .toSorted(compareBy<AuditEntry>(({ id }) => id))
          .reverse()
          .slice(0, limit)
    )
  }
})

/** Erases a person's data in every cell. An erasure fails while a cell is unavailable, and must then be started again. */
const composePersonalData = (
  shopCells: ShopCells,
  allCells: AllCells,
  copy: Copy
): Context.Tag.Service<PersonalData> => {
  const [home, ...others] = [shopCells.home, ...allCells.cells.slice(1)]
  return {
    beginErasure: (id, phones) =>
      Effect.tap(home.personal.beginErasure(id, phones), (person) =>
        person === null
          ? Effect.void
          : Effect.zipRight(
              Effect.forEach(others, ({ access }) => access.beginErasure(person), {
                concurrency: "unbounded",
                discard: true
              }),
              copy(id)
            )
      ),
    endErasure: (id) =>
      Effect.zipRight(
        Effect.forEach(others, ({ personal }) => personal.endErasure(id), {
          concurrency: "unbounded",
          discard: true
        }),
        home.personal.endErasure(id)
      ),
    shops: (person) =>
      Effect.map(
        allCells.askEvery(({ personal }) => personal.shops(person)),
        (lists) => lists.flat().sort()
      ),
    readShopData: (shop_id, person) =>
      shopCells.runInCell(shop_id, ({ personal }) => personal.readShopData(shop_id, person)),
    events: (shop_id, ...rest) => shopCells.runInCell(shop_id, ({ personal }) => personal.events(shop_id, ...rest)),
    idempotencyRecords: (shop_id, ...rest) =>
      shopCells.runInCell(shop_id, ({ personal }) => personal.idempotencyRecords(shop_id, ...rest))
  }
}

/** The data of a sandbox in all cells. The home cell is cleared last, because it records whether a sandbox made the data. */
const composeSandboxData = (shopCells: ShopCells, allCells: AllCells): Context.Tag.Service<SandboxData> => {
  const [home, ...others] = [shopCells.home, ...allCells.cells.slice(1)]
  const clearCell = ({ directory, sandboxData }: OpenCell) =>
    Effect.zipRight(directory.markSandboxMade, sandboxData.clear)
  return {
    ofShop: (shop_id) => shopCells.runInCell(shop_id, ({ sandboxData }) => sandboxData.ofShop(shop_id)),
    clear: Effect.flatMap(home.directory.isSandboxMade, (isMade) =>
      isMade ? Effect.zipRight(Effect.forEach(others, clearCell), home.sandboxData.clear) : Effect.succeed(false)
    )
  }
}

const noJoinedTransactions: Context.Tag.Service<Transactions> = {
  join: () =>
    new TransactionRefused({
      message:
        "within cannot be used on a store with several cells, because a transaction of your database client is in only one database. Use a store with one cell, or commit your rows and the commands separately."
    })
}

const addedCellRemedy = (name: string) =>
  `The cell ${name} was added after this process started, so this process refuses requests of the cell's shops. Restart the process with the cell in --cells.`

/** Makes the ports of one store from those of several cells. For a single cell, use its own ports. */
export const cellPorts = (options: CellsOptions): Effect.Effect<Context.Context<StorePorts>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { cells, directory, unavailable } = options
    const background = yield* FiberSet.makeRuntime<never>()
    const open = cells.map(openCell)
    const allCells = new AllCells(open, background, unavailable)
    const shopCells = new ShopCells(open, directory, allCells)
    const copy = makeCopier(allCells, directory)
    const names = new Set(open.map(({ name }) => name))
    /** Cells that were added after this process started. It refuses requests of their shops. */
    let addedCells: ReadonlyArray<UnavailableCell> = []
    const unavailableCells = () => [...allCells.unavailable, ...addedCells]
    yield* probe({
      measure: Effect.suspend(() => {
        const unavailable = new Set(unavailableCells().map(({ name }) => name))
        return Effect.forEach(
          new Set([...names, ...unavailable]),
          (name) => Metric.set(Metric.tagged(cellUnavailable, "cell", name), unavailable.has(name) ? 1 : 0),
          { discard: true }
        )
      }),
      unavailable: Effect.sync(unavailableCells),
      complaint: Effect.sync(() => (allCells.available.length > 0 ? null : "No cell responds."))
    })
    const lookForOthers = Effect.flatMap(directory.names, (allNames) => {
      addedCells = allNames.filter((name) => !names.has(name)).map((name) => ({ name, remedy: addedCellRemedy(name) }))
      return Effect.forEach(addedCells, ({ name }) => logRemedy(addedCellRemedy(name)), { discard: true })
    })
    const copyAndLook = Effect.zipRight(
      allCells.ask(({ access }) => access.confirm),
      Effect.zipRight(copy(null), lookForOthers)
    )
    yield* copyAndLook.pipe(
      // Commands and reads in an unavailable cell report the failure themselves.
      Effect.catchTag("StoreUnavailable", () => Effect.void),
      Effect.catchAllCause((cause) => Effect.logError("Cells could not be checked. The service tries again", cause)),
      // This sleep takes real time, because a sandbox's clock may be frozen.
      Effect.zipRight(Effect.withClock(Effect.sleep(LOOK_EVERY), Clock.make())),
      Effect.forever,
      Effect.forkScoped
    )
    return Context.make(Store, routeStore(shopCells, directory)).pipe(
      Context.add(Transactions, noJoinedTransactions),
      Context.add(Reads, routeReads(shopCells)),
      Context.add(AuditLog, composeAudit(shopCells, allCells)),
      Context.add(PersonalData, composePersonalData(shopCells, allCells, copy)),
      Context.add(Directory, composeDirectory(shopCells, allCells, directory, copy)),
      Context.add(Closures, {
        due: (until, limit) =>
          Effect.map(
            allCells.gather(({ closures }) => closures.due(until, limit)),
            (rows) => mergeSorted(rows, ({ due_at }) => due_at, limit)
          )
      }),
      Context.add(NotificationQueue, {
        due: (until, limit, receiver) =>
          Effect.map(
            allCells.gather(({ notificationQueue }) => notificationQueue.due(until, limit, receiver)),
            (rows) => mergeSorted(rows, ({ due_at }) => due_at, limit)
          ),
        dueAfter: (shop_id, after, limit) =>
          Effect.flatMap(shopCells.cellOfShop(shop_id), ({ notificationQueue }) =>
            notificationQueue.dueAfter(shop_id, after, limit)
          )
      }),
      Context.add(Deliveries, composeDeliveries(allCells)),
      Context.add(DeliveryLog, routeDeliveryLog(shopCells)),
      Context.add(RateLimits, routeLimits(shopCells)),
      Context.add(SandboxData, composeSandboxData(shopCells, allCells))
    )
  })
