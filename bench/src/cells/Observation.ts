import { Effect, Metric } from "effect"
import { batchCommands } from "../../../packages/store-pg/dist/observe/PgMetrics.js"
import { median } from "../Median.js"
import { sentBy } from "./WireCounts.js"

/** The cost of a piece of work. */
export interface Observation {
  /** How many creates, reads or deliveries were done in a second. */
  readonly rate: number
  /** The median of what one act took, where acts were done one after another. */
  readonly p50_ms: number
  /** Processor time of all database servers, and of this process, for each that was done; null for servers on other machines. */
  readonly server_ms: number | null
  readonly service_ms: number
  /** Acts that went together: the commands of a transaction. */
  readonly batch: number
  /** The statements and round trips of each batch. */
  readonly statements: number
  readonly round_trips: number
}

/** The work that was done: how many acts in all, in how many batches (those of the lanes unless it says so), and how long each act took. */
export interface Done {
  readonly count: number
  readonly batches?: number
  readonly took: ReadonlyArray<number>
}

const service = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const batches = Effect.map(Metric.value(batchCommands), ({ count }) => count)

/** Observes work of which the connections with these names are the sign. */
export const observed = <E, R>(
  names: ReadonlyArray<string>,
  servers: (() => number) | null,
  work: Effect.Effect<Done, E, R>
): Effect.Effect<Observation, E, R> =>
  Effect.gen(function* () {
    const now = Effect.map(batches, (count) => {
      const sent = names.map(sentBy)
      return {
        count,
        at: performance.now(),
        service: service(),
        servers: servers?.() ?? 0,
        statements: sent.reduce((sum, { statements }) => sum + statements, 0),
        round_trips: sent.reduce((sum, { round_trips }) => sum + round_trips, 0)
      }
    })
    const before = yield* now
    const { count, took, batches: given } = yield* work
    const after = yield* now
    const each = given ?? after.count - before.count
    return {
      rate: (count * 1000) / (after.at - before.at),
      p50_ms: took.length === 0 ? 0 : median(took),
      server_ms: servers === null ? null : (after.servers - before.servers) / count,
      service_ms: (after.service - before.service) / count,
      batch: count / each,
      statements: (after.statements - before.statements) / each,
      round_trips: (after.round_trips - before.round_trips) / each
    }
  })
