import { type ClientId, type Phone, type ShopId, StoreUnavailable } from "@workshop/core"
import { unavailableCells } from "@workshop/core/internal"
import {
  AuditLog,
  type Cell,
  CellAccess,
  Closures,
  cellPorts,
  Deliveries,
  Directory,
  NotificationQueue,
  PersonalData,
  RateLimits,
  Reads,
  Store
} from "@workshop/core/store"
import { RiggedEntropy, runContract, SettableClock } from "@workshop/core/testing"
import { layerCells, memoryCells } from "@workshop/store-memory"
import { Context, Effect, Fiber, FiberStatus, Logger, Stream } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { until } from "../../../test/until.js"
import { createKey } from "../../core/src/decisions/shopSettings.js"
import { hashKey, KEY_BYTES, makeKeyText } from "../../core/src/domain/ApiKey.js"
import { MINUTE_MS } from "../../core/src/domain/Instant.js"
import { Entropy } from "../../core/src/ports/Entropy.js"
import { type Probe, Probes } from "../../core/src/ports/Probes.js"
import { freshPhone, newTicket, openAccount, openShop, runCommand } from "../../core/src/testing/Fixtures.js"
import { TestDispatcher } from "../../core/src/testing/TestDispatcher.js"

const NAMES = ["home", "north", "south"] as const

runContract({ describe, it, afterAll }, "A store of three cells in memory", layerCells(NAMES))

const PORTS = [
  ...[Store, Reads, AuditLog, PersonalData, Directory, Closures, Deliveries, NotificationQueue, RateLimits, CellAccess]
] as unknown as ReadonlyArray<Context.Tag<never, object>>

/**
 * Wraps a cell, so that its ports fail while the cell is in `unavailable`, and never respond while it is in `silent`.
 */
const breakable = (
  cell: Cell,
  unavailable: Set<string>,
  silent: Set<string>,
  remedies: ReadonlyMap<string, string> = new Map()
): Cell => {
  const guarded = (value: unknown): unknown => {
    if (typeof value === "function") return (...args: ReadonlyArray<unknown>) => guarded(value(...args))
    if (!Effect.isEffect(value) || Stream.StreamTypeId in (value as object)) return value
    return Effect.suspend((): Effect.Effect<unknown, unknown> => {
      if (silent.has(cell.name)) return Effect.never
      const remedy = remedies.get(cell.name)
      return unavailable.has(cell.name)
        ? new StoreUnavailable(remedy === undefined ? {} : { remedy })
        : (value as Effect.Effect<unknown>)
    })
  }
  const ports = PORTS.reduce(
    (context, tag) => {
      const service = Object.entries(Context.get(cell.ports as never, tag))
      return Context.add(context, tag, Object.fromEntries(service.map(([name, value]) => [name, guarded(value)])))
    },
    cell.ports as Context.Context<never>
  )
  return { name: cell.name, ports: ports as never }
}

/** Runs a test on three cells with one shop each. The test can make a cell unavailable or silent. */
const testing = (
  body: (fixture: {
    readonly unavailable: Set<string>
    readonly silent: Set<string>
    readonly shops: ReadonlyArray<ShopId>
    readonly cells: ReadonlyArray<Cell>
    readonly unavailableSeen: Effect.Effect<ReadonlyArray<string>>
    readonly complaints: Effect.Effect<ReadonlyArray<string>>
  }) => Effect.Effect<void, unknown, never>
) => {
  const entropy = new RiggedEntropy(1)
  const unavailable = new Set<string>()
  const silent = new Set<string>()
  const probes = new Set<Probe>()
  const program = Effect.gen(function* () {
    const { cells, directory } = yield* memoryCells(NAMES)
    const [home, ...others] = cells.map((cell) => breakable(cell, unavailable, silent))
    const ports = yield* cellPorts({ cells: [home!, ...others], directory })
    const unavailableSeen = Effect.map(Effect.provideService(unavailableCells, Probes, probes), (seen) =>
      seen.map(({ name }) => name)
    )
    const complaints = Effect.map(
      Effect.forEach(probes, (probe) => probe.complaint ?? Effect.succeed(null)),
      (reasons) => reasons.flatMap((reason) => reason ?? [])
    )
    const tested = Effect.gen(function* () {
      const shops = yield* Effect.replicateEffect(openShop(), 3)
      yield* body({
        unavailable,
        silent,
        cells,
        unavailableSeen,
        complaints,
        shops: shops.map(({ id }) => id)
      }) as Effect.Effect<void>
    })
    yield* Effect.provide(tested, ports)
  })
  return program.pipe(
    Effect.provide(entropy.layer),
    Effect.provideService(Probes, probes),
    Effect.withClock(new SettableClock()),
    Effect.scoped,
    Effect.runPromise
  )
}

const within = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect as Effect.Effect<A, E, never>

describe("A store of several cells", () => {
  it("a new shop is opened only in the cell with the fewest shops", () =>
    testing(({ cells, shops }) =>
      Effect.gen(function* () {
        for (const shop of shops) {
          const having = yield* Effect.filter(cells, ({ ports }) =>
            Effect.map(Context.get(ports, Reads).shop(shop), (found) => found !== null)
          )
          expect(having.map(({ name }) => name)).toEqual([NAMES[shops.indexOf(shop)]])
        }
      })
    ))

  it("the directory lists a cell as stale until the cell has the newest copy of an account, not an older copy", () =>
    Effect.gen(function* () {
      const { cells, directory } = yield* memoryCells(NAMES)
      const { keepCopy } = Context.get(cells[0].ports, CellAccess)
      const names = { given_name: "Amira", family_name: "Ben", hide_name: false }
      const account = { ...names, id: "c" as ClientId, phone: "+21620123456" as Phone, created_at: 0 }
      const numbers = Effect.map(directory.stale(null), (stale) => stale.flatMap(({ lacking }) => lacking))
      yield* keepCopy(account.id, account)
      const [older] = yield* numbers
      yield* keepCopy(account.id, { ...account, hide_name: true })
      const [newer] = yield* numbers
      expect(yield* directory.copied(account.id, "north", older!.change_number)).toBe(false)
      expect(yield* directory.copied(account.id, "north", newer!.change_number)).toBe(true)
      expect((yield* numbers).map(({ cell }) => cell)).toEqual(["south"])
    }).pipe(Effect.provide(new RiggedEntropy(1).layer), Effect.scoped, Effect.runPromise))

  it("an unavailable cell refuses only its own shops, and serves them again once it is available", () =>
    testing(({ unavailable, shops: [first, second, third] }) =>
      within(
        Effect.gen(function* () {
          yield* newTicket(second!)
          unavailable.add("north")
          const { reads, directory } = { reads: yield* Reads, directory: yield* Directory }
          expect((yield* Effect.flip(newTicket(second!)))._tag).toBe("StoreUnavailable")
          expect((yield* Effect.flip(reads.shop(second!)))._tag).toBe("StoreUnavailable")
          yield* newTicket(first!)
          yield* newTicket(third!)
          // A list of all shops fails while one cell is unavailable.
          expect((yield* Effect.flip(directory.listShops(null, 9)))._tag).toBe("StoreUnavailable")
          unavailable.delete("north")
          yield* newTicket(second!)
          expect((yield* directory.listShops(null, 9)).length).toBe(3)
        })
      )
    ))

  it("at most eight requests wait for a cell that never responds, and further requests are refused at once", () =>
    testing(({ unavailable, silent, unavailableSeen, shops: [first, second] }) =>
      within(
        Effect.gen(function* () {
          const { shop } = yield* Reads
          unavailable.add("north")
          yield* Effect.flatMap(Closures, ({ due }) => due(0, 1))
          expect(yield* unavailableSeen).toEqual(["north"])
          silent.add("north")
          const reads = yield* Effect.replicateEffect(Effect.fork(shop(second!)), 20)
          const refused = reads.slice(8)
          expect((yield* Effect.flip(Fiber.join(refused.at(-1)!)))._tag).toBe("StoreUnavailable")
          expect(yield* Effect.filter(reads, (read) => Effect.map(read.status, FiberStatus.isDone))).toEqual(refused)
          expect(yield* shop(first!)).not.toBeNull()
          // An interrupted request lets another request wait.
          yield* Fiber.interrupt(reads[0]!)
          const next = yield* Effect.fork(shop(second!))
          yield* Effect.yieldNow()
          expect(FiberStatus.isDone(yield* next.status)).toBe(false)
          yield* Fiber.interruptAll([...reads, next])
        })
      )
    ))

  it("a claim takes the other cells' deliveries while one cell is unavailable, and that cell's deliveries once it is available", () =>
    testing(({ unavailable, unavailableSeen }) =>
      within(
        Effect.gen(function* () {
          const dispatcher = new TestDispatcher()
          const shops = yield* Effect.replicateEffect(dispatcher.open, 3)
          for (const shop of shops) yield* dispatcher.raise(shop, null)
          unavailable.add("north")
          const claims = yield* dispatcher.claim()
          expect(claims.map(({ shop_id }) => shop_id)).toEqual([shops[0], shops[2]])
          expect(yield* unavailableSeen).toEqual(["north"])
          unavailable.delete("north")
          // This claim checks the cell in the background, so only the next claim includes it.
          yield* dispatcher.claim()
          yield* until("the cell to be back", unavailableSeen, ({ length }) => length === 0)
          expect((yield* dispatcher.claim()).map(({ shop_id }) => shop_id)).toEqual([shops[1]])
        })
      )
    ))

  it("the process is ready while any cell responds, even without the home cell, and serves cached keys and shops", () =>
    testing(({ unavailable, unavailableSeen, complaints, shops: [first, second] }) =>
      within(
        Effect.gen(function* () {
          const key = makeKeyText("live", yield* Entropy.draw(KEY_BYTES))
          yield* runCommand(createKey(second!, { name: "Till", scopes: ["tickets:read"] } as never, key))
          const [directory, closures] = [yield* Directory, yield* Closures]
          yield* directory.keyByHash(hashKey(key))
          expect(yield* complaints).toEqual([])
          unavailable.add("home")
          yield* closures.due(0, 1)
          expect([yield* unavailableSeen, yield* complaints]).toEqual([["home"], []])
          yield* newTicket(second!)
          expect((yield* directory.keyByHash(hashKey(key)))?.shop.id).toBe(second)
          expect((yield* Effect.flip(newTicket(first!)))._tag).toBe("StoreUnavailable")
          expect((yield* Effect.flip(openShop()))._tag).toBe("StoreUnavailable")
          for (const name of NAMES) unavailable.add(name)
          yield* Effect.flip(closures.due(0, 1))
          expect(yield* complaints).toEqual(["No cell responds."])
        })
      )
    ))

  it("an unavailable cell that has a remedy is listed with the remedy, and logged once a minute until the cell is available", () => {
    const lines: Array<string> = []
    const logging = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void lines.push(String(message)))
    )
    const [clock, probes, unavailable] = [new SettableClock(), new Set<Probe>(), new Set(["north", "south"])]
    const remedy = "The role may not read it: run workshop migrate --roles"
    return Effect.gen(function* () {
      const { cells, directory } = yield* memoryCells(NAMES)
      const [home, ...others] = cells.map((cell) =>
        breakable(cell, unavailable, new Set(), new Map([["north", remedy]]))
      )
      const ports = yield* cellPorts({ cells: [home!, ...others], directory, unavailable: ["north"] })
      const looked = Effect.zipRight(Context.get(ports, Closures).due(0, 1), unavailableCells)
      yield* until("the remedy", looked, (seen) => seen.some((one) => one.remedy !== undefined))
      const line = `The cell north cannot be used (${remedy.replace(/\.$/, "")}). Requests of its shops are refused until it can be used again`
      const others_ = "The cell south cannot be used"
      expect(yield* unavailableCells).toEqual([{ name: "north", remedy }, { name: "south" }])
      expect(lines.filter((one) => one === line).length).toBe(1)
      clock.advance(MINUTE_MS)
      yield* until("the line again", Effect.as(looked, lines), (all) => all.filter((one) => one === line).length === 2)
      expect(lines.filter((one) => one.startsWith(others_)).length).toBe(1)
      unavailable.clear()
      yield* until("no cell unavailable", looked, ({ length }) => length === 0)
    }).pipe(
      Effect.provide(new RiggedEntropy(1).layer),
      Effect.provide(logging),
      Effect.provideService(Probes, probes),
      Effect.withClock(clock),
      Effect.scoped,
      Effect.runPromise
    )
  })

  it("new shops are opened only in available cells", () =>
    testing(({ unavailable, cells }) =>
      within(
        Effect.gen(function* () {
          unavailable.add("north")
          yield* Effect.flatMap(Closures, ({ due }) => due(0, 1))
          const opened = yield* Effect.replicateEffect(openShop(), 3)
          unavailable.delete("north")
          const having = yield* Effect.forEach(opened, ({ id }) =>
            Effect.filter(cells, ({ ports }) =>
              Effect.map(Context.get(ports, Reads).shop(id), (found) => found !== null)
            )
          )
          expect(having.flat().map(({ name }) => name)).toEqual(["home", "south", "home"])
        })
      )
    ))

  it("an account that changed while a cell was unavailable is copied to the cell once it is available", () =>
    testing(({ unavailable, cells, unavailableSeen }) =>
      within(
        Effect.gen(function* () {
          const directory = yield* Directory
          const north = Context.get(cells[1]!.ports, Directory)
          const [amira, zoe] = [yield* openAccount(), yield* openAccount({ given_name: "Zoë" })]
          expect(yield* north.account(amira.id)).toEqual(amira)
          unavailable.add("north")
          yield* Effect.flatMap(Closures, ({ due }) => due(0, 1))
          // The two accounts exchange their phone numbers, so that neither copy can be written before the other copy is
          // removed.
          const phone = yield* freshPhone
          yield* directory.changeClient({ ...amira, phone })
          yield* directory.changeClient({ ...zoe, phone: amira.phone })
          yield* directory.changeClient({ ...amira, phone: zoe.phone })
          expect(yield* north.account(zoe.id)).toEqual(zoe)
          unavailable.delete("north")
          yield* Effect.flatMap(Closures, ({ due }) => due(0, 1))
          yield* until("the cell to be back", unavailableSeen, ({ length }) => length === 0)
          // The copies are written at the next change of an account, or by the check of every second.
          yield* until("one account in the cell", north.account(zoe.id), (account) => account?.phone === amira.phone)
          yield* until(
            "the other account in the cell",
            north.account(amira.id),
            (account) => account?.phone === zoe.phone
          )
        })
      )
    ))

  it("an erasure covers every cell, and a repeated call completes it after a cell was unavailable", () =>
    testing(({ unavailable, cells }) =>
      within(
        Effect.gen(function* () {
          const personal = yield* PersonalData
          const { id } = yield* openAccount()
          unavailable.add("south")
          expect((yield* Effect.flip(personal.beginErasure(id, [])))._tag).toBe("StoreUnavailable")
          unavailable.delete("south")
          expect((yield* personal.beginErasure(id, []))?.client_id).toBe(id)
          for (const { ports } of cells) expect(yield* Context.get(ports, Directory).account(id)).toBeNull()
        })
      )
    ))

  it("a key is looked up in the cell that the directory names, and its limits are counted in that cell", () =>
    testing(({ unavailable, shops: [, second] }) =>
      within(
        Effect.gen(function* () {
          const text = makeKeyText("live", yield* Entropy.draw(KEY_BYTES))
          const key = yield* runCommand(createKey(second!, { name: "Till", scopes: ["tickets:read"] } as never, text))
          const [directory, limits] = [yield* Directory, yield* RateLimits]
          expect((yield* directory.keyByHash(hashKey(text)))?.key.id).toBe(key.id)
          expect(yield* directory.keyByHash("0".repeat(64))).toBeNull()
          const uses = [
            { policy: "requests_per_minute", subject: key.id, time_zone: null },
            { policy: "unauthenticated_per_minute", subject: "192.0.2.1", time_zone: null }
          ] as const
          const left = (statuses: ReadonlyArray<{ readonly remaining: number }>) =>
            statuses.map(({ remaining }) => remaining)
          expect(left(yield* limits.take(uses, 1))).toEqual([119, 119])
          for (let n = 0; n < 119; n++) yield* limits.take([uses[1]], 1)
          // The home cell refuses, so the use in the other cell must be reverted.
          expect((yield* Effect.flip(limits.take(uses, 1)))._tag).toBe("LimitReached")
          expect((yield* limits.peek(uses[0], 1)).remaining).toBe(119)
          unavailable.add("north")
          expect((yield* Effect.flip(limits.take([uses[0]], 1)))._tag).toBe("StoreUnavailable")
        })
      )
    ))

  it("a shop of a cell that was not passed to the process is refused with a remedy", async () => {
    const refusal = await Effect.gen(function* () {
      const { cells, directory } = yield* memoryCells(NAMES)
      const clock = new SettableClock()
      const all = yield* cellPorts({ cells, directory })
      const shops = yield* Effect.replicateEffect(openShop(), 3).pipe(Effect.provide(all), Effect.withClock(clock))
      const fewer = yield* cellPorts({ cells: [cells[0], cells[1]!], directory })
      return yield* Effect.flip(Context.get(fewer, Reads).shop(shops[2]!.id))
    }).pipe(Effect.provide(new RiggedEntropy(1).layer), Effect.scoped, Effect.runPromise)
    expect(refusal.message).toBe(
      "The directory of cells has the cell south, but --cells of this process does not. Start the process with the same --cells as workshop migrate."
    )
  })
})
