import { describe, expect, it } from "vitest"
import { CELL_WORKS, MOVED_TICKETS } from "../bench/src/cells/cellWorks.js"
import { costsFrom } from "../bench/src/fleet/costsFrom.js"
import { ASSUMED, type Costs, lookUps, simulateFleet, ticketsADay } from "../bench/src/fleet/FleetModel.js"
import type { Row } from "../bench/src/report/Benchmark.js"

const costs: Costs = {
  batch_ms: 4,
  command_ms: 0.5,
  batch_took_ms: 5,
  read_ms: 0.5,
  delivery_ms: 0.5,
  look_ms: 1,
  service_command_ms: 0.5,
  service_read_ms: 0.2,
  dispatch_delivery_ms: 0.2,
  move_s: 5,
  move_bytes_per_s: 20 * 2 ** 20,
  ticket_bytes: 1_000
}
const fleet = (workers: number, shops: number, more: Partial<Costs> = {}) =>
  simulateFleet({ workers, shops, seed: 1 }, { ...costs, ...more })
const total = (values: Float64Array) => values.reduce((a, b) => a + b, 0)

describe("The simulation of a fleet (docs/scaling.md)", () => {
  it("the simulation has the same result for the same seed, and a different order of shops for a different seed", () => {
    expect(fleet(4, 10_000)).toEqual(fleet(4, 10_000))
    expect(simulateFleet({ workers: 4, shops: 10_000, seed: 2 }, costs).uneven_cells).not.toBe(
      fleet(4, 10_000).uneven_cells
    )
  })

  it("tickets are distributed by Zipf's law, and tickets above a shop's daily limit go to the other shops", () => {
    const [limited, free] = [true, false].map((isLimited) => ticketsADay({ shops: 10_000, isLimited }))
    for (const one of [limited!, free!]) expect(total(one) / 10_000).toBeCloseTo(ASSUMED.tickets_a_day, 1)
    expect([limited![0], limited![10]]).toEqual([600, 600])
    expect(free![0]! / free![9]!).toBeCloseTo(10, 6)
    expect(limited![9_999]).toBeGreaterThan(free![9_999]!)
  })

  it("cells with equally many shops have similar loads with limits, and unequal loads if a hot shop has no limit", () => {
    const free = simulateFleet({ workers: 16, shops: 100_000, seed: 1, isLimited: false }, costs)
    expect(fleet(16, 100_000).uneven_workers).toBeLessThan(1.1)
    expect(free.uneven_workers).toBeGreaterThan(1.5)
    expect(free.busiest_shop).toBeGreaterThan(100 * fleet(16, 100_000).busiest_shop)
  })

  it("the throughput stops rising when the most used part reaches its capacity", () => {
    const dear = fleet(1, 100_000, { command_ms: 5 })
    expect(dear.bends).toBe("CPU of the busiest worker")
    const slow = fleet(64, 100_000, { service_command_ms: 20 })
    expect(slow.bends).toBe("connections of a worker")
    // With `bends_at_shops` shops, the most used part is at its capacity.
    const atLimit = simulateFleet({ workers: 4, shops: Math.round(fleet(4, 100_000).bends_at_shops), seed: 1 }, costs)
    expect(Math.max(...Object.values(atLimit.used))).toBeCloseTo(1, 1)
  })

  it("more cells and processes make batches smaller, and more cells make moves shorter", () => {
    const slow = { batch_took_ms: 2_000 }
    const [few, many] = [fleet(4, 1_000_000, slow), fleet(64, 1_000_000, slow)]
    expect(few.batch).toBeGreaterThan(1)
    expect(many.batch).toBeLessThan(few.batch)
    expect(many.move_s - costs.move_s).toBeCloseTo((few.move_s - costs.move_s) / 16, 6)
  })

  it("a process that serves more shops than it caches looks up cells again", () => {
    expect(lookUps(100_000)).toBe(0)
    const share = lookUps(400_000)
    expect(share).toBeGreaterThan(0.1)
    expect(share).toBeLessThan(1)
  })

  it("the simulation reads its costs from the results of the benchmarks, and names a missing result", () => {
    const row = (work: string, ours: number): Row => ({ work, unit: "ms", ours })
    const rows = <W extends keyof typeof CELL_WORKS>(where: string, ours: Record<W, number>) =>
      Object.entries<number>(ours).map(([work, n]) => row(`${CELL_WORKS[work as W]}${where}`, n))
    const onCells = { serverAlone: 5, server: 2, batch: 4, idle: 6, read: 1, delivery: 2, look: 27 }
    const cells = [
      ...rows(", eight cells of Citus", { ...onCells, service: 0.5, serviceRead: 0.25 }),
      ...rows("", { moveSmall: 5, moveLarge: 10, moveBytes: 100 }),
      row(MOVED_TICKETS, 1_000)
    ]
    const results: Readonly<Record<string, ReadonlyArray<Row>>> = {
      cells,
      http: [row("POST /v1/tickets, memory store", 2_000), row("GET /v1/tickets/{id}, memory store", 4_000)],
      deliver: [row("deliveries with their attempts logged, 50 shops, Postgres", 5_000)]
    }
    expect(costsFrom((name) => results[name] ?? [])).toEqual({
      batch_ms: 4,
      command_ms: 1,
      batch_took_ms: 6,
      read_ms: 1,
      delivery_ms: 2,
      look_ms: 3,
      service_command_ms: 1,
      service_read_ms: 0.5,
      dispatch_delivery_ms: 0.2,
      move_s: 5,
      move_bytes_per_s: 20 * 2 ** 20,
      ticket_bytes: (100 * 2 ** 20) / 1_000
    })
    expect(() => costsFrom((name) => (name === "cells" ? [] : (results[name] ?? [])))).toThrow(
      "The results of cells lack a row: run npm run bench -- --only cells"
    )
  })
})
