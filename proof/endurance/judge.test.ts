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

/** Thirty samples, one every 15 s, and the same windows, changed as a test says. */
const judged = (
  change: (no: number) => Partial<Sample> = () => ({}),
  changed: (no: number) => Partial<TableSample> = () => ({}),
  waited: (no: number) => Partial<Window> = () => ({})
) => {
  const times = Array.from({ length: 30 }, (_, no) => no)
  return judgeSoak(
    times.map((no) => ({
      second: 15 * (no + 1),
      node_mib: 160 + (no % 5),
      postgres_mib: 60,
      handles: 60,
      connections: 9,
      oldest_snapshot_s: 0.1,
      tables: [{ ...table, ...changed(no) }],
      ...change(no)
    })),
    times.map((no) => ({ second: 15 * (no + 1), requests_per_s: 40, p50_ms: 5, p99_ms: 20, ...waited(no) }))
  )
}

describe("a soak", () => {
  it("a soak is flat where nothing rises but what is stored, and dead rows come and go", () => {
    const stored = (no: number) => ({ rows: 100 * (no + 1), table_bytes: 4_000_000 * (no + 1) })
    const sawtooth = (no: number) => ({ dead_rows: (no % 8) * 200 })
    expect(judged(undefined, (no) => ({ ...stored(no), ...sawtooth(no) }))).toEqual([])
    expect(judged((no) => ({ node_mib: no < 10 ? 100 + no * 10 : 200 }))).toEqual([])
  })

  it("a soak is not flat where memory, handles or connections rise by more than a fifth", () => {
    expect(judged((no) => ({ node_mib: 100 + no * 5 }))).toEqual([
      "memory of the process: 175 MiB in the second third, 225 MiB in the last"
    ])
    expect(judged((no) => ({ postgres_mib: 60 + no * 2 }))).toHaveLength(1)
    expect(judged((no) => ({ handles: 60 + no * 2, connections: 9 + no }))).toHaveLength(2)
  })

  it("a soak is not flat where responses take longer and longer", () => {
    expect(judged(undefined, undefined, (no) => ({ p50_ms: 5 + no * 2, p99_ms: 20 + no * 10 }))).toHaveLength(2)
  })

  it("a soak is not flat where a table grows and its rows do not", () => {
    expect(judged(undefined, (no) => ({ index_bytes: 1_000_000 + no * 300_000 }))).toEqual([
      "delivery grew from 9500000 to 12500000 bytes, and its rows from 100 to 100"
    ])
  })

  it("a soak is flat where a busy table always has more dead rows than it tolerates, and autovacuum cleans it in every round", () => {
    const busy = (no: number) => ({ dead_rows: 1200 + (no % 4) * 300, vacuums: Math.floor(no / 4) })
    expect(judged(undefined, busy)).toEqual([])
  })

  it("a soak is flat where samples come later and later after autovacuum's rounds", () => {
    const drifting = (no: number) => ({ dead_rows: 400 * (no % 4) + (no < 20 ? 0 : 350), vacuums: Math.floor(no / 4) })
    expect(judged(undefined, (no) => ({ ...drifting(no), vacuum_at: 370 }))).toEqual([])
  })

  it("a soak is not flat where autovacuum leaves out a table that it should clean", () => {
    expect(judged(undefined, () => ({ dead_rows: 1001 }))).toEqual([
      "delivery had more dead rows than it tolerates for 435 s, and autovacuum did not clean it"
    ])
    expect(judged(undefined, (no) => ({ dead_rows: 1001, vacuums: no < 12 ? 1 : 2 }))).toEqual([
      "delivery had more dead rows than it tolerates for 255 s, and autovacuum did not clean it"
    ])
  })

  it("a soak is not flat where autovacuum runs, but dead rows become more", () => {
    expect(judged(undefined, (no) => ({ dead_rows: no * 100, vacuums: Math.floor(no / 4) }))).toEqual([
      "delivery had 1500 dead rows in the second third, 2500 in the last"
    ])
  })

  it("a soak is not flat where a transaction stays open", () => {
    expect(judged((no) => ({ oldest_snapshot_s: no * 15 }))).toEqual(["a transaction was open for 435 s"])
  })

  it("the judge says nothing of a run that was too short", () => {
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

describe("an overload", () => {
  it("an overload keeps its rules where the process handles what it can, refuses the rest in time, and recovers", () => {
    expect(judgeOverload(good)).toEqual([])
  })

  it.each<[string, Partial<Overload>]>([
    ["the generator cannot send so fast", { offered: 3000 }],
    ["the generator is late", { lag_ms: 400 }],
    ["less than half of the capacity is handled", { handled: 499 }],
    ["handled requests take too long", { handled_p99_ms: 3001 }],
    ["refusals take too long", { refused_p99_ms: 1001 }],
    ["refusals for a limit take too long", { limited_p99_ms: 3001 }],
    ["more than one request in a hundred gets no response", { lost: 0.011 }],
    ["more and more requests are in flight", { in_flight: 2001 }],
    ["memory rises", { most_mib: 401 }],
    ["the process does not recover", { recovered_s: undefined }],
    ["the process recovers late", { recovered_s: 6 }],
    ["a valid request gets a 400", { unexpected: ["GET /v1/shop got 400"] }]
  ])("an overload breaks a rule where %s", (_, change) => {
    expect(judgeOverload({ ...good, ...change })).toHaveLength(1)
  })
})
