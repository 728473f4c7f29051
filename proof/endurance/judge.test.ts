import { describe, expect, it } from "vitest"
import { judgeOverload, type Overload } from "./judgeOverload.js"
import { judgeSoak, type Window } from "./judgeSoak.js"
import type { Sample, TableSample } from "./Probe.js"

const table: TableSample = {
  name: "delivery",
  rows: 100,
  dead_rows: 400,
  vacuum_at: 1000,
  vacuums: 1,
  table_bytes: 4_000_000,
  index_bytes: 1_000_000
}

/** Judges thirty samples and windows, one every 15 s, with the changes of a test. */
const judged = (
  change: (index: number) => Partial<Sample> = () => ({}),
  changed: (index: number) => Partial<TableSample> = () => ({}),
  waited: (index: number) => Partial<Window> = () => ({})
) => {
  const times = Array.from({ length: 30 }, (_, index) => index)
  return judgeSoak(
    times.map((index) => ({
      second: 15 * (index + 1),
      node_mib: 160 + (index % 5),
      postgres_mib: 60,
      handles: 60,
      connections: 9,
      oldest_snapshot_s: 0.1,
      tables: [{ ...table, ...changed(index) }],
      ...change(index)
    })),
    times.map((index) => ({ second: 15 * (index + 1), requests_per_s: 40, p50_ms: 5, p99_ms: 20, ...waited(index) }))
  )
}

describe("the judge of a soak", () => {
  it("a soak passes if only the stored data grow, and if the number of dead rows rises and falls", () => {
    const stored = (index: number) => ({ rows: 100 * (index + 1), table_bytes: 4_000_000 * (index + 1) })
    const sawtooth = (index: number) => ({ dead_rows: (index % 8) * 200 })
    expect(judged(undefined, (index) => ({ ...stored(index), ...sawtooth(index) }))).toEqual([])
    expect(judged((index) => ({ node_mib: index < 10 ? 100 + index * 10 : 200 }))).toEqual([])
  })

  it("a soak fails if memory, handles or connections rise by more than a fifth", () => {
    expect(judged((index) => ({ node_mib: 100 + index * 5 }))).toEqual([
      "memory of the process: 175 MiB in the second third, 225 MiB in the last"
    ])
    expect(judged((index) => ({ postgres_mib: 60 + index * 2 }))).toHaveLength(1)
    expect(judged((index) => ({ handles: 60 + index * 2, connections: 9 + index }))).toHaveLength(2)
  })

  it("a soak fails if the latency of responses rises", () => {
    expect(judged(undefined, undefined, (index) => ({ p50_ms: 5 + index * 2, p99_ms: 20 + index * 10 }))).toHaveLength(
      2
    )
  })

  it("a soak fails if a table grows and the number of its rows does not", () => {
    expect(judged(undefined, (index) => ({ index_bytes: 1_000_000 + index * 300_000 }))).toEqual([
      "delivery grew from 9500000 to 12500000 bytes, and its rows from 100 to 100"
    ])
  })

  it("a soak passes if autovacuum cleans a busy table in every round, even if the table always exceeds its threshold of dead rows", () => {
    const busy = (index: number) => ({ dead_rows: 1200 + (index % 4) * 300, vacuums: Math.floor(index / 4) })
    expect(judged(undefined, busy)).toEqual([])
  })

  it("a soak passes if the samples shift against autovacuum's rounds, so that they see more dead rows", () => {
    const drifting = (index: number) => ({
      dead_rows: 400 * (index % 4) + (index < 20 ? 0 : 350),
      vacuums: Math.floor(index / 4)
    })
    expect(judged(undefined, (index) => ({ ...drifting(index), vacuum_at: 370 }))).toEqual([])
  })

  it("a soak fails if autovacuum does not clean a table that exceeds its threshold of dead rows", () => {
    expect(judged(undefined, () => ({ dead_rows: 1001 }))).toEqual([
      "delivery had more dead rows than it tolerates for 435 s, and autovacuum did not clean it"
    ])
    expect(judged(undefined, (index) => ({ dead_rows: 1001, vacuums: index < 12 ? 1 : 2 }))).toEqual([
      "delivery had more dead rows than it tolerates for 255 s, and autovacuum did not clean it"
    ])
  })

  it("a soak fails if the number of dead rows rises although autovacuum runs", () => {
    expect(judged(undefined, (index) => ({ dead_rows: index * 100, vacuums: Math.floor(index / 4) }))).toEqual([
      "delivery had 1500 dead rows in the second third, 2500 in the last"
    ])
  })

  it("a soak fails if a transaction stays open", () => {
    expect(judged((index) => ({ oldest_snapshot_s: index * 15 }))).toEqual(["a transaction was open for 435 s"])
  })

  it("a soak with too few samples is reported as too short", () => {
    expect(judgeSoak([], [])).toEqual(["0 samples are too few to tell whether anything grows"])
  })
})

const good: Overload = {
  capacity: 1000,
  wanted: 4000,
  offered: 4000,
  lag_ms: 20,
  handled: 700,
  handled_p99_ms: 2000,
  refused_p99_ms: 200,
  limited_p99_ms: 1500,
  lost: 0,
  in_flight: 1100,
  before_mib: 200,
  most_mib: 300,
  recovered_s: 2,
  unexpected: []
}

describe("the judge of an overload", () => {
  it("an overload passes if the process handles requests up to its capacity, refuses the others quickly, and recovers", () => {
    expect(judgeOverload(good)).toEqual([])
  })

  it.each<[string, Partial<Overload>]>([
    ["the generator sends too few requests", { offered: 3000 }],
    ["the generator is late", { lag_ms: 400 }],
    ["less than half of the capacity is handled", { handled: 499 }],
    ["handled requests take too long", { handled_p99_ms: 3001 }],
    ["refusals take too long", { refused_p99_ms: 1001 }],
    ["refusals for a limit take too long", { limited_p99_ms: 3001 }],
    ["more than one request in a hundred gets no response", { lost: 0.011 }],
    ["too many requests are in flight", { in_flight: 2001 }],
    ["memory rises", { most_mib: 401 }],
    ["the process does not recover", { recovered_s: undefined }],
    ["the process recovers late", { recovered_s: 6 }],
    ["a valid request gets a 400", { unexpected: ["GET /v1/shop got 400"] }]
  ])("an overload fails if %s", (_, change) => {
    expect(judgeOverload({ ...good, ...change })).toHaveLength(1)
  })
})
