import type { ClientId, Entropy, ShopId, StorePorts } from "@workshop/core"
import { type Cell, CellAccess, type CellDirectory, cellPorts, Deliveries } from "@workshop/core/store"
import { Context, Effect, Layer } from "effect"
import { Memory } from "./Memory.js"
import { memoryDeliveries } from "./MemoryDeliveries.js"
import { layerOn } from "./MemoryStore.js"

/** The operations of a memory as one of several cells. */
const memoryCell = (
  memory: Memory,
  { claimNumbered: claim }: ReturnType<typeof memoryDeliveries>
): Context.Tag.Service<CellAccess> => ({
  confirm: Effect.void,
  turns: (now) =>
    Effect.sync(() =>
      memory.turns.ready(now).flatMap(([shop_id, turn]) => {
        const { queue } = memory.dataOf(shop_id)
        const claimable = queue.claimable(now)
        if (claimable === 0) memory.turns.correctDueAt(shop_id, queue.next())
        return Array.from({ length: claimable }, (_, rank) => ({ shop_id, rank, turn }))
      })
    ),
  claim,
  keepCopy: (id, account) =>
    Effect.sync(() => {
      const holder = account === null ? undefined : memory.holders.get(account.phone)
      if (holder !== undefined && holder.id !== id) memory.putAccount(holder.id, null)
      memory.putAccount(id, account)
    }),
  beginErasure: (person) =>
    Effect.sync(() => {
      memory.putAccount(person.client_id, null)
      memory.erasures.set(person.client_id, person)
    }),
  audit: (before, limit) =>
    Effect.sync(() =>
      memory.audit
        .filter(({ id }) => before === null || id < before)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
    )
})

/** The directory of cells, for the memory of the home cell. */
const memoryCellDirectory = (home: Memory, names: ReadonlyArray<string>): CellDirectory => {
  const [, ...others] = names
  const shops = new Map<ShopId, string>()
  const keys = new Map<string, string>()
  const shopCounts = new Map<string, number>()
  /** For each account, the cells whose copy lacks the last change, with the number of that change. */
  const staleCells = new Map<ClientId, Map<string, number>>()
  let changes = 0
  home.onAccount = (id) => {
    changes++
    staleCells.set(id, new Map(others.map((cell) => [cell, changes])))
  }
  const stale = (client_id: ClientId) => ({
    client_id,
    account: home.accounts.get(client_id) ?? null,
    lacking: Array.from(staleCells.get(client_id) ?? [], ([cell, change_number]) => ({ cell, change_number }))
  })
  return {
    cellOfShop: (shop_id) => Effect.sync(() => shops.get(shop_id) ?? null),
    place: (shop_id, among) =>
      Effect.sync(() => {
        const [emptiestCell] = among.toSorted((a, b) => (shopCounts.get(a) ?? 0) - (shopCounts.get(b) ?? 0))
        const cell = shops.get(shop_id) ?? emptiestCell!
        if (!shops.has(shop_id)) shopCounts.set(cell, (shopCounts.get(cell) ?? 0) + 1)
        shops.set(shop_id, cell)
        return cell
      }),
    names: Effect.succeed(names),
    hasPlaced: Effect.sync(() => shops.size > 0),
    cellOfKey: (hash) => Effect.sync(() => keys.get(hash) ?? null),
    putKey: (hash, cell) => Effect.sync(() => void keys.set(hash, cell)),
    stale: (client_id) => Effect.sync(() => (client_id === null ? [...staleCells.keys()] : [client_id]).map(stale)),
    copied: (client_id, cell, change_number) =>
      Effect.sync(() => {
        const ofAccount = staleCells.get(client_id)
        if (ofAccount?.get(cell) !== change_number) return false
        ofAccount.delete(cell)
        if (ofAccount.size === 0) staleCells.delete(client_id)
        return true
      })
  }
}

/** Makes cells in memory, with their directory, for tests. */
export const memoryCells = (
  names: readonly [string, ...ReadonlyArray<string>]
): Effect.Effect<
  { readonly cells: readonly [Cell, ...ReadonlyArray<Cell>]; readonly directory: CellDirectory },
  never,
  Entropy
> =>
  Effect.gen(function* () {
    const openCell = (name: string) => {
      const memory = new Memory()
      const deliveries = memoryDeliveries(memory)
      return Effect.map(Effect.scoped(Layer.build(layerOn(memory))), (ports) => ({
        memory,
        cell: {
          name,
          ports: ports.pipe(
            Context.add(Deliveries, deliveries),
            Context.add(CellAccess, memoryCell(memory, deliveries))
          )
        }
      }))
    }
    const [first, ...rest] = names
    const home = yield* openCell(first)
    const others = yield* Effect.forEach(rest, openCell)
    return {
      cells: [home.cell, ...others.map(({ cell }) => cell)] as const,
      directory: memoryCellDirectory(home.memory, names)
    }
  })

/** All store ports, in memory, on several cells. Each cell has some of the shops. */
export const layerCells = (
  names: readonly [string, ...ReadonlyArray<string>]
): Layer.Layer<StorePorts, never, Entropy> => Layer.scopedContext(Effect.flatMap(memoryCells(names), cellPorts))
