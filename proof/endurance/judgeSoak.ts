import { quantile } from "../quantile.js"
import type { Sample, TableSample } from "./Probe.js"

/** The rate and the latencies of requests between two samples. */
export interface Window {
  readonly second: number
  readonly requests_per_s: number
  readonly p50_ms: number
  readonly p99_ms: number
}

/**
 * A measure that must not grow: its median in the last third of the samples may exceed the median of the second third
 * by at most `share`. The first third is the warm-up.
 */
export interface Flat<A> {
  readonly name: string
  readonly unit: string
  readonly of: (one: A) => number
  readonly share: number
  /** A rise up to this value is ignored, even if it exceeds `share`. */
  readonly slack: number
}

const USED: ReadonlyArray<Flat<Sample>> = [
  { name: "memory of the process", unit: "MiB", of: ({ node_mib }) => node_mib, share: 0.2, slack: 16 },
  { name: "memory of Postgres", unit: "MiB", of: ({ postgres_mib }) => postgres_mib, share: 0.2, slack: 16 },
  { name: "handles", unit: "", of: ({ handles }) => handles, share: 0.2, slack: 10 },
  { name: "connections to the database", unit: "", of: ({ connections }) => connections, share: 0.2, slack: 5 }
]

const WAITED: ReadonlyArray<Flat<Window>> = [
  { name: "median of responses", unit: "ms", of: ({ p50_ms }) => p50_ms, share: 0.5, slack: 10 },
  { name: "99th percentile of responses", unit: "ms", of: ({ p99_ms }) => p99_ms, share: 0.5, slack: 30 }
]

/** The share by which the size of a table and its indexes may grow faster than its rows. */
const TABLE_SHARE = 0.2
/** The growth of a table and its indexes that is ignored. */
const TABLE_SLACK_BYTES = 1024 * 1024
/**
 * The longest time in which a table may exceed its threshold of dead rows: three rounds of autovacuum, by default a
 * minute each.
 */
const MAX_UNCLEAN_S = 180
/**
 * The share by which the dead rows of a table may grow. A busy table may always exceed its threshold between two rounds
 * of autovacuum, but the number must not rise by more than the rows that die between two samples, because rounds and
 * samples shift against each other.
 */
const DEAD_SHARE = 0.2
const DEAD_SLACK = 200
/** The longest age of a transaction. The service's own transactions end within seconds. */
const MAX_SNAPSHOT_S = 60

/** The second and the last third of a series. */
export const thirds = <A>(all: ReadonlyArray<A>): readonly [ReadonlyArray<A>, ReadonlyArray<A>] => {
  const third = Math.floor(all.length / 3)
  return [all.slice(third, 2 * third), all.slice(-third)]
}

const medianOf = <A>(part: ReadonlyArray<A>, of: (one: A) => number) => quantile(part.map(of), 0.5)

/** Reports a measure that grew by more than it may. */
export const grown = <A>(all: ReadonlyArray<A>, { name, unit, of, share, slack }: Flat<A>): ReadonlyArray<string> => {
  const [before, after] = thirds(all).map((part) => medianOf(part, of)) as [number, number]
  if (after <= before * (1 + share) || after - before <= slack) return []
  return [`${name}: ${before} ${unit} in the second third, ${after} ${unit} in the last`]
}

const tableNames = (samples: ReadonlyArray<Sample>) => [
  ...new Set(samples.flatMap(({ tables }) => tables.map(({ name }) => name)))
]

const ofTable = (samples: ReadonlyArray<Sample>, name: string) =>
  samples.flatMap(({ second, tables }) => {
    const match = tables.find((table) => table.name === name)
    return match === undefined ? [] : [{ second, ...match }]
  })

const sizeOf = ({ table_bytes, index_bytes }: TableSample) => table_bytes + index_bytes

const swollen = (samples: ReadonlyArray<Sample>, name: string): ReadonlyArray<string> => {
  const [early, late] = thirds(ofTable(samples, name))
  const [before, after] = [medianOf(early, sizeOf), medianOf(late, sizeOf)]
  const rows = (part: typeof early) =>
    Math.max(
      1,
      medianOf(part, (one) => one.rows)
    )
  const max = before * Math.max(1, rows(late) / rows(early)) * (1 + TABLE_SHARE)
  if (after <= max || after - before <= TABLE_SLACK_BYTES) return []
  return [`${name} grew from ${before} to ${after} bytes, and its rows from ${rows(early)} to ${rows(late)}`]
}

/** The longest time in seconds in which a table exceeded its threshold of dead rows and autovacuum did not clean it. */
export const uncleanFor = (samples: ReadonlyArray<Sample>, name: string): number => {
  let since: number | undefined
  let before = 0
  let longest = 0
  for (const { second, dead_rows, vacuum_at, vacuums } of ofTable(samples, name)) {
    if (vacuums > before) since = second
    since = dead_rows > vacuum_at ? (since ?? second) : undefined
    if (since !== undefined) longest = Math.max(longest, second - since)
    before = vacuums
  }
  return longest
}

const unclean = (samples: ReadonlyArray<Sample>, name: string): ReadonlyArray<string> => {
  const seconds = uncleanFor(samples, name)
  if (seconds <= MAX_UNCLEAN_S) return []
  return [`${name} had more dead rows than it tolerates for ${seconds} s, and autovacuum did not clean it`]
}

const dirtier = (samples: ReadonlyArray<Sample>, name: string): ReadonlyArray<string> => {
  const [early, late] = thirds(ofTable(samples, name))
  const dead = (part: typeof early) => medianOf(part, ({ dead_rows }) => dead_rows)
  const [before, after] = [dead(early), dead(late)]
  const tolerated = medianOf(late, ({ vacuum_at }) => vacuum_at)
  const died = early.map(({ dead_rows }, index) => dead_rows - (early[index - 1]?.dead_rows ?? dead_rows))
  const shift = medianOf(
    died.filter((rows) => rows > 0),
    (rows) => rows
  )
  if (after <= Math.max(tolerated, before + shift + Math.max(before * DEAD_SHARE, DEAD_SLACK))) return []
  return [`${name} had ${before} dead rows in the second third, ${after} in the last`]
}

/** Everything that grew during a soak, in words; empty if the soak passes. */
export const judgeSoak = (samples: ReadonlyArray<Sample>, windows: ReadonlyArray<Window>): ReadonlyArray<string> => {
  if (samples.length < 9) return [`${samples.length} samples are too few to tell whether anything grows`]
  const oldest_s = Math.max(...samples.map(({ oldest_snapshot_s }) => oldest_snapshot_s))
  return [
    ...USED.flatMap((measure) => grown(samples, measure)),
    ...WAITED.flatMap((measure) => grown(windows, measure)),
    ...tableNames(samples).flatMap((name) => [swollen, unclean, dirtier].flatMap((rule) => rule(samples, name))),
    ...(oldest_s > MAX_SNAPSHOT_S ? [`a transaction was open for ${oldest_s} s`] : [])
  ]
}
