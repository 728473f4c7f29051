import { Context, Effect, Either } from "effect"
import type { KeyId, ShopId } from "../../domain/Identifier.js"
import { Policies, ServiceLimits } from "../../domain/Limits.js"
import type { LimitUse } from "../../domain/LimitWindow.js"
import { mergeShopsAhead } from "../../domain/Shop.js"
import { type Cell, CellAccess, type CellDirectory } from "../../ports/CellPorts.js"
import type { UnavailableCell } from "../../ports/Probes.js"
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
  StoreUnavailable
} from "../../ports/StorePorts.js"
import { logRemedy } from "../background/BackgroundFailure.js"

/** The maximum number of shops, and of keys, whose cells a process remembers. */
const MAX_CACHED_PLACES = 200_000

/** The ports of a cell, by short names. */
export interface OpenCell {
  readonly name: string
  readonly access: Context.Tag.Service<CellAccess>
  readonly store: Context.Tag.Service<Store>
  readonly reads: Context.Tag.Service<Reads>
  readonly directory: Context.Tag.Service<Directory>
  readonly deliveries: Context.Tag.Service<Deliveries>
  readonly deliveryLog: Context.Tag.Service<DeliveryLog>
  readonly audit: Context.Tag.Service<AuditLog>
  readonly closures: Context.Tag.Service<Closures>
  readonly notificationQueue: Context.Tag.Service<NotificationQueue>
  readonly personal: Context.Tag.Service<PersonalData>
  readonly limits: Context.Tag.Service<RateLimits>
  readonly sandboxData: Context.Tag.Service<SandboxData>
}

/** The ports of a cell. */
export const openCell = ({ name, ports }: Cell): OpenCell => ({
  name,
  access: Context.get(ports, CellAccess),
  store: Context.get(ports, Store),
  reads: Context.get(ports, Reads),
  directory: Context.get(ports, Directory),
  deliveries: Context.get(ports, Deliveries),
  deliveryLog: Context.get(ports, DeliveryLog),
  audit: Context.get(ports, AuditLog),
  closures: Context.get(ports, Closures),
  notificationQueue: Context.get(ports, NotificationQueue),
  personal: Context.get(ports, PersonalData),
  limits: Context.get(ports, RateLimits),
  sandboxData: Context.get(ports, SandboxData)
})

/** The cells that a process has found, by shop or by key. A full cache is emptied. */
class CellCache<K> {
  readonly #cells = new Map<K, OpenCell>()

  get(key: K): OpenCell | undefined {
    return this.#cells.get(key)
  }

  set(key: K, cell: OpenCell): void {
    if (this.#cells.size >= MAX_CACHED_PLACES) this.#cells.clear()
    this.#cells.set(key, cell)
  }
}

const makeUnknownCellError = (name: string) =>
  new StoreUnavailable({
    remedy: `The directory of cells has the cell ${name}, but --cells of this process does not. Start the process with the same --cells as workshop migrate.`
  })

/** Finds the cell of a shop or a key, and remembers it. */
export class ShopCells {
  readonly home: OpenCell
  readonly #cellsByName: ReadonlyMap<string, OpenCell>
  readonly #directory: CellDirectory
  readonly #shops = new CellCache<ShopId>()
  readonly #keys = new CellCache<string>()

  /** Limits how many calls wait for unavailable cells. */
  readonly limiter: Pick<AllCells, "limit">

  constructor(cells: ReadonlyArray<OpenCell>, directory: CellDirectory, limiter: Pick<AllCells, "limit">) {
    this.home = cells[0]!
    this.limiter = limiter
    this.#cellsByName = new Map(cells.map((cell) => [cell.name, cell]))
    this.#directory = directory
  }

  #cellNamed(name: string): Effect.Effect<OpenCell, StoreUnavailable> {
    const cell = this.#cellsByName.get(name)
    return cell === undefined ? makeUnknownCellError(name) : Effect.succeed(cell)
  }

  /** Finds the cell of a shop; null if no cell has the shop. */
  #findCell(shop_id: ShopId): Effect.Effect<OpenCell | null, StoreUnavailable> {
    const { home } = this
    return Effect.flatMap(this.#directory.cellOfShop(shop_id), (name) => {
      if (name !== null) return this.#cellNamed(name)
      // Shops that existed before the cells are in the home cell, and not in the directory.
      return Effect.map(home.reads.shop(shop_id), (shop) => (shop === null ? null : home))
    })
  }

  /** The cell of a shop. A shop that no cell has is not remembered, because another process may be creating it. */
  cellOfShop(shop_id: ShopId): Effect.Effect<OpenCell, StoreUnavailable> {
    const cached = this.#shops.get(shop_id)
    if (cached !== undefined) return Effect.succeed(cached)
    return Effect.map(this.limiter.limit(this.home, this.#findCell(shop_id)), (cell) => {
      if (cell !== null) this.#shops.set(shop_id, cell)
      return cell ?? this.home
    })
  }

  /** Whether this process remembers the cell of a shop. */
  hasCachedCell(shop_id: ShopId): boolean {
    return this.#shops.get(shop_id) !== undefined
  }

  /** Runs work in the cell of a shop. */
  runInCell<A, E>(
    shop_id: ShopId,
    work: (cell: OpenCell) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | StoreUnavailable> {
    return Effect.flatMap(this.cellOfShop(shop_id), (cell) => this.limiter.limit(cell, work(cell)))
  }

  /** The cell of a shop. If the shop is new, the directory records a cell for it. */
  place(shop_id: ShopId, among: ReadonlyArray<OpenCell>): Effect.Effect<OpenCell, StoreUnavailable> {
    const cached = this.#shops.get(shop_id)
    if (cached !== undefined) return Effect.succeed(cached)
    const placed = Effect.flatMap(
      this.#directory.place(
        shop_id,
        among.map(({ name }) => name)
      ),
      (name) => this.#cellNamed(name)
    )
    return Effect.flatMap(this.#findCell(shop_id), (cell) => (cell === null ? placed : Effect.succeed(cell))).pipe(
      Effect.tap((cell) => Effect.sync(() => this.#shops.set(shop_id, cell)))
    )
  }

  /** The cell of a key by its hash; the home cell if the directory does not have the key. */
  cellOfKeyHash(hash: string): Effect.Effect<OpenCell, StoreUnavailable> {
    const cached = this.#keys.get(hash)
    if (cached !== undefined) return Effect.succeed(cached)
    return Effect.flatMap(this.limiter.limit(this.home, this.#directory.cellOfKey(hash)), (name) =>
      name === null ? Effect.succeed(this.home) : this.#cellNamed(name)
    )
  }

  /** Remembers a key that was found, by its hash and by its id. */
  rememberKey(hash: string, id: KeyId, shop_id: ShopId, cell: OpenCell): void {
    this.#keys.set(hash, cell)
    this.#keys.set(id, cell)
    this.#shops.set(shop_id, cell)
  }

  /** The cell of a key by its id; undefined if this process did not find it by its hash. */
  cellOfKey(id: string): OpenCell | undefined {
    return this.#keys.get(id)
  }

  /** The cell that counts the uses of a subject. */
  cellOfUse({ policy, subject }: LimitUse): Effect.Effect<OpenCell, StoreUnavailable> {
    const { per } = Policies[policy]
    if (per === "shop") return this.cellOfShop(subject as ShopId)
    return Effect.succeed((per === "address" ? undefined : this.cellOfKey(subject)) ?? this.home)
  }
}

/** Why a store failed: its remedy, or the message of the innermost cause. One line, because there may be many cells. */
const reasonOf = ({ remedy, message, cause }: StoreUnavailable): string => {
  if (remedy !== undefined) return remedy
  let reason = message
  for (let at = cause; at instanceof Error; at = at.cause) reason = at.message === "" ? reason : at.message
  return reason
}

/** Queries all cells, but does not wait for those that did not respond before. */
export class AllCells {
  readonly cells: ReadonlyArray<OpenCell>
  /** The cells that cannot be used, with the remedy if waiting is not enough. */
  readonly #unavailable = new Map<OpenCell, string | undefined>()
  readonly #triedAt = new Set<OpenCell>()
  /** How many calls wait for unavailable cells. */
  #waiting = 0
  readonly #background: <A, E>(effect: Effect.Effect<A, E>) => unknown

  constructor(
    cells: ReadonlyArray<OpenCell>,
    background: <A, E>(effect: Effect.Effect<A, E>) => unknown,
    unavailable: ReadonlyArray<string> = []
  ) {
    this.cells = cells
    for (const cell of cells) if (unavailable.includes(cell.name)) this.#unavailable.set(cell, undefined)
    this.#background = background
  }

  /** The cells that responded to their last query. */
  get available(): ReadonlyArray<OpenCell> {
    return this.cells.filter((cell) => !this.#unavailable.has(cell))
  }

  get unavailable(): ReadonlyArray<UnavailableCell> {
    return [...this.#unavailable].map(([{ name }, remedy]) => (remedy === undefined ? { name } : { name, remedy }))
  }

  /** Records whether the cell responds. A failure with a remedy is logged once a minute until it is fixed; any other failure is logged once. */
  trackAvailability<A>(cell: OpenCell, work: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> {
    return work.pipe(
      Effect.tapBoth({
        onFailure: (failure) => {
          const isKnown = this.#unavailable.has(cell)
          this.#unavailable.set(cell, failure.remedy)
          const line = `The cell ${cell.name} cannot be used (${reasonOf(failure).replace(/\.$/, "")}). Requests of its shops are refused until it can be used again`
          if (failure.remedy !== undefined) return logRemedy(line)
          return isKnown ? Effect.void : Effect.logWarning(line)
        },
        onSuccess: () => Effect.sync(() => this.#unavailable.delete(cell))
      })
    )
  }

  /**
   * Limits how many calls wait for unavailable cells, and refuses the others at once: a cell that never responds delays
   * each call for seconds, and such calls could soon use the process's whole capacity. A cell that responds again is
   * confirmed first, because its address may now lead to another cell.
   */
  limit<A, E>(cell: OpenCell, work: Effect.Effect<A, E>): Effect.Effect<A, E | StoreUnavailable> {
    return Effect.suspend((): Effect.Effect<A, E | StoreUnavailable> => {
      if (!this.#unavailable.has(cell)) return work
      if (this.#waiting >= ServiceLimits.requests_waiting_for_cells) return new StoreUnavailable({})
      this.#waiting++
      return Effect.ensuring(
        Effect.zipRight(cell.access.confirm, work),
        Effect.sync(() => this.#waiting--)
      )
    })
  }

  #tryInBackground(cell: OpenCell): void {
    if (this.#triedAt.has(cell)) return
    this.#triedAt.add(cell)
    const reconnect = this.trackAvailability(cell, cell.access.confirm).pipe(
      Effect.exit,
      Effect.ensuring(Effect.sync(() => this.#triedAt.delete(cell)))
    )
    this.#background(reconnect)
  }

  /** Queries the cells, and collects the results of those that respond. Fails if no cell responds. */
  ask<A>(
    work: (cell: OpenCell) => Effect.Effect<A, StoreUnavailable>
  ): Effect.Effect<ReadonlyArray<readonly [OpenCell, A]>, StoreUnavailable> {
    return Effect.suspend(() => {
      const [askedCells, left] = [this.available, this.cells.filter((cell) => this.#unavailable.has(cell))]
      for (const cell of left) this.#tryInBackground(cell)
      return Effect.flatMap(
        Effect.forEach(askedCells, (cell) => Effect.either(this.trackAvailability(cell, work(cell))), {
          concurrency: "unbounded"
        }),
        (outcomes) => {
          const results = outcomes.flatMap((outcome, i) =>
            Either.isRight(outcome) ? [[askedCells[i]!, outcome.right] as const] : []
          )
          if (results.length > 0) return Effect.succeed(results)
          const failure = outcomes.find(Either.isLeft)
          return Effect.fail(failure === undefined ? new StoreUnavailable({}) : failure.left)
        }
      )
    })
  }

  /** The results of {@link ask}, in one list. */
  gather<A>(
    work: (cell: OpenCell) => Effect.Effect<ReadonlyArray<A>, StoreUnavailable>
  ): Effect.Effect<ReadonlyArray<A>, StoreUnavailable> {
    return Effect.map(this.ask(work), (results) => results.flatMap(([, rows]) => rows))
  }

  /** Queries every cell, including unavailable ones; fails if one does not respond. */
  askEvery<A>(
    work: (cell: OpenCell) => Effect.Effect<A, StoreUnavailable>
  ): Effect.Effect<ReadonlyArray<A>, StoreUnavailable> {
    return Effect.forEach(
      this.cells,
      (cell) =>
        Effect.mapError(
          work(cell),
          ({
            cause,
            remedy = `The cell ${cell.name} does not respond, but this call needs every cell. Try again when the cell responds.`
          }) => new StoreUnavailable({ cause, remedy })
        ),
      { concurrency: "unbounded" }
    )
  }

  /**
   * Returns the result of the first cell that has one. Returns null if every cell responded and none has it, else
   * fails.
   */
  find<A>(
    work: (cell: OpenCell) => Effect.Effect<A | null, StoreUnavailable>
  ): Effect.Effect<A | null, StoreUnavailable> {
    return Effect.flatMap(this.ask(work), (results) => {
      const firstFound = results.find(([, one]) => one !== null)
      if (firstFound !== undefined) return Effect.succeed(firstFound[1])
      return results.length === this.cells.length ? Effect.succeed(null) : new StoreUnavailable({})
    })
  }
}

/** Makes a function that compares rows by a key. */
export const compareBy =
  <Row>(key: (row: Row) => number | string) =>
  (a: Row, b: Row): number =>
    key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0

/** Merges lists that are in the same order, and returns the first rows. */
export const mergeSorted = <Row>(lists: ReadonlyArray<Row>, key: (row: Row) => number | string, limit: number) =>
  lists.toSorted(compareBy(key)).slice(0, limit)

/** Groups values by a key, in the order in which each group begins. */
export const groupValues = <A, K>(
  values: ReadonlyArray<A>,
  keyOf: (value: A) => K
): ReadonlyArray<readonly [K, ReadonlyArray<A>]> => {
  const groups = new Map<K, Array<A>>()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group === undefined) groups.set(keyOf(value), [value])
    else group.push(value)
  }
  return [...groups]
}

/** The shops of all cells whose data are ahead of the clock. */
export const queryShopsAhead = (allCells: AllCells) => (now: number) =>
  Effect.map(
    allCells.ask(({ directory }) => directory.shopsAhead(now)),
    (results) => mergeShopsAhead(results.map(([, ahead]) => ahead))
  )
