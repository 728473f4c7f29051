import { Effect, Metric } from "effect"
import { batchCommands } from "../../../packages/store-pg/dist/observe/PgMetrics.js"
import { median } from "../Median.js"
import { sentBy } from "./WireCounts.js"

/** The cost of a piece of work. */
export interface Observation {
  /** The number of creates, reads or deliveries per second. */
  readonly rate: number
  /** The median duration of one act, if acts were done one after another; otherwise 0. */
  readonly p50_ms: number
  /** The processor time of all database servers for each act; null for servers on other machines. */
  readonly server_ms: number | null
  /** The processor time of this process for each act. */
  readonly service_ms: number
  /** The number of acts in a batch, such as the commands of a transaction. */
  readonly batch: number
  /** The number of statements of each batch. */
  readonly statements: number
  /** The number of round trips of each batch. */
  readonly round_trips: number
}

/**
 * The work that was done: the number of acts, the number of batches (by default counted in the lanes), and the duration
 * of each act.
 */
export interface Done {
  readonly count: number
  readonly batches?: number
  readonly durations: ReadonlyArray<number>
}

const service = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const batches = Effect.map(Metric.value(batchCommands), ({ count }) => count)

/** Measures the costs of work. `names` are the application names of the database connections that the work uses. */
export const observeWork = <E, R>(
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
    const { count, durations, batches: counted } = yield* work
    const after = yield* now
    const each = counted ?? after.count - before.count
    return {
      rate: (count * 1000) / (after.at - before.at),
      p50_ms: durations.length === 0 ? 0 : median(durations),
      server_ms: servers === null ? null : (after.servers - before.servers) / count,
      service_ms: (after.service - before.service) / count,
      batch: count / each,
      statements: (after.statements - before.statements) / each,
      round_trips: (after.round_trips - before.round_trips) / each
    }
  })
