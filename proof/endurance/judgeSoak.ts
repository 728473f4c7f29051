import { quantile } from "../quantile.js"
import type { Sample, TableSample } from "./Probe.js"

/** The requests of clients between two samples. */
export interface Window {
  readonly second: number
  readonly requests_per_s: number
  readonly p50_ms: number
  readonly p99_ms: number
}

/** A measure is flat if its median in the last third is at most so much above that of the second third; the first third is warm-up. */
export interface Flat<A> {
  readonly name: string
  readonly unit: string
  readonly of: (one: A) => number
  readonly share: number
  /** A rise below this counts as none, however large a share it is. */
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

/** A table with its indexes may grow by so much more than its rows do, or by so many bytes in all. */
const TABLE_SHARE = 0.2
const TABLE_SLACK_BYTES = 1024 * 1024
/** Where a table has more dead rows than it tolerates, autovacuum has cleaned it within three of its rounds, which take a minute each by default. */
const MOST_UNCLEAN_S = 180
/**
 * Between two of its rounds a busy table may always have more dead rows than it tolerates, but not more and more of them, apart from what
 * dies between two samples: rounds and samples shift against each other.
 */
const DEAD_SHARE = 0.2
const DEAD_SLACK = 200
/** Every transaction of the service ends in seconds. */
const MOST_SNAPSHOT_S = 60

/** The second third of a series, and the last. */
export const thirds = <A>(all: ReadonlyArray<A>): readonly [ReadonlyArray<A>, ReadonlyArray<A>] => {
  const third = Math.floor(all.length / 3)
  return [all.slice(third, 2 * third), all.slice(-third)]
}

const medianOf = <A>(part: ReadonlyArray<A>, of: (one: A) => number) => quantile(part.map(of), 0.5)

/** How a measure grew, if it is not flat. */
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
    const found = tables.find((table) => table.name === name)
    return found === undefined ? [] : [{ second, ...found }]
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
  const most = before * Math.max(1, rows(late) / rows(early)) * (1 + TABLE_SHARE)
  if (after <= most || after - before <= TABLE_SLACK_BYTES) return []
  return [`${name} grew from ${before} to ${after} bytes, and its rows from ${rows(early)} to ${rows(late)}`]
}

/** The longest time for which a table had more dead rows than it tolerates and autovacuum did not clean it, in seconds. */
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
  if (seconds <= MOST_UNCLEAN_S) return []
  return [`${name} had more dead rows than it tolerates for ${seconds} s, and autovacuum did not clean it`]
}

const dirtier = (samples: ReadonlyArray<Sample>, name: string): ReadonlyArray<string> => {
  const [early, late] = thirds(ofTable(samples, name))
  const dead = (part: typeof early) => medianOf(part, ({ dead_rows }) => dead_rows)
  const [before, after] = [dead(early), dead(late)]
  const tolerated = medianOf(late, ({ vacuum_at }) => vacuum_at)
  const died = early.map(({ dead_rows }, no) => dead_rows - (early[no - 1]?.dead_rows ?? dead_rows))
  const shift = medianOf(
    died.filter((rows) => rows > 0),
    (rows) => rows
  )
  if (after <= Math.max(tolerated, before + shift + Math.max(before * DEAD_SHARE, DEAD_SLACK))) return []
  return [`${name} had ${before} dead rows in the second third, ${after} in the last`]
}

/** Why a soak was not flat; nothing if it was. */
export const judgeSoak = (samples: ReadonlyArray<Sample>, windows: ReadonlyArray<Window>): ReadonlyArray<string> => {
  if (samples.length < 9) return [`${samples.length} samples are too few to tell whether anything grows`]
  const oldest_s = Math.max(...samples.map(({ oldest_snapshot_s }) => oldest_snapshot_s))
  return [
    ...USED.flatMap((measure) => grown(samples, measure)),
    ...WAITED.flatMap((measure) => grown(windows, measure)),
    ...tableNames(samples).flatMap((name) => [swollen, unclean, dirtier].flatMap((rule) => rule(samples, name))),
    ...(oldest_s > MOST_SNAPSHOT_S ? [`a transaction was open for ${oldest_s} s`] : [])
  ]
}
