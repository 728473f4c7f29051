import { Policies } from "@workshop/core"
import { ServiceLimits } from "@workshop/core/store"

/** The measured costs of the acts, in milliseconds of processor time, and of moving cells; see `costsFrom`. */
export interface Costs {
  /** The cost of a transaction in the database, without its commands. */
  readonly batch_ms: number
  /** The cost of each command of a transaction in the database. */
  readonly command_ms: number
  /** The duration of a transaction. Commands that arrive meanwhile share the next one. */
  readonly batch_took_ms: number
  readonly read_ms: number
  readonly delivery_ms: number
  /** The cost of a claim in one cell without due deliveries. */
  readonly look_ms: number
  /** The cost of a command in the processes of the service. */
  readonly service_command_ms: number
  readonly service_read_ms: number
  readonly dispatch_delivery_ms: number
  /** The duration of moving an empty cell. */
  readonly move_s: number
  /** The rate at which a move copies the rows of a cell. */
  readonly move_bytes_per_s: number
  readonly ticket_bytes: number
}

/** A fleet, and the shops that it serves. */
export interface Fleet {
  readonly workers: number
  readonly shops: number
  readonly seed: number
  /** True if the limits of the specification bound a shop's tickets per day; true by default. */
  readonly isLimited?: boolean
}

/** Assumptions about the machines and the shops. */
export const ASSUMED = {
  cores_per_worker: 8,
  cells_per_worker: 4,
  /**
   * The mean number of tickets per shop. Zipf's law with the exponent 1 distributes the tickets
   * over the shops.
   */
  tickets_a_day: 60,
  hours_a_day: 10,
  /** The load of the busiest hour, divided by the mean. */
  peak: 2,
  commands_per_ticket: 5,
  events_per_ticket: 5,
  reads_per_ticket: 20,
  /** The share of a processor that may be used in the busiest hour. */
  most_cpu: 0.7,
  days_kept: 300,
  lanes: 2,
  connections_per_process: 16,
  /** `max_connections` of docs/scaling.md, minus the connections of Citus itself and of an operator. */
  most_connections: 260,
  /** The number of shops whose cells a process caches (OpenCells.ts). */
  remembered: 200_000,
  looks_per_s: 1
} as const

/** The parts of a fleet that can be the bottleneck. */
export type Part = "CPU of the busiest worker" | "connections of a worker" | "CPU of the coordinator"

/** The state of a fleet in its busiest hour. */
export interface SimulatedFleet extends Fleet {
  readonly tickets_per_s: number
  readonly processes: number
  /** The number of commands that share a transaction. */
  readonly batch: number
  /** The used share of each part's capacity. */
  readonly used: Readonly<Record<Part, number>>
  /** The part that reaches its capacity first as shops are added. */
  readonly bends: Part
  /** The number of shops at which that part reaches its capacity. */
  readonly bends_at_shops: number
  /** The load of the most loaded cell, divided by the mean. */
  readonly uneven_cells: number
  /** The load of the most loaded worker, divided by the mean. */
  readonly uneven_workers: number
  /** The share of a worker's processor time that the busiest shop uses. */
  readonly busiest_shop: number
  readonly move_s: number
}

/** A seeded generator of random numbers from 0 to below 1. */
const random = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A number of shops of about the same rank. */
interface Group {
  readonly count: number
  readonly rank: number
}

/**
 * Groups the ranks of shops. Groups of higher ranks are larger, because computing a million shops one by one would take
 * too long.
 */
const groupsOf = (shops: number): ReadonlyArray<Group> => {
  const groups: Array<Group> = []
  for (let first = 1; first <= shops; ) {
    const count = Math.min(shops - first + 1, Math.max(1, Math.floor(first / 200)))
    groups.push({ count, rank: first + (count - 1) / 2 })
    first += count
  }
  return groups
}

/** Finds the least number for which `isEnough` holds, by bisection. */
const smallestWhere = (low: number, high: number, isEnough: (value: number) => boolean): number => {
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2
    if (isEnough(middle)) high = middle
    else low = middle
  }
  return high
}

/**
 * The tickets per day of the shop of each rank. With limits, the tickets above a busy shop's limit go to the other
 * shops.
 */
const spreadOf = (shops: number, isLimited: boolean) => {
  const groups = groupsOf(shops)
  const all = shops * ASSUMED.tickets_a_day
  const max = isLimited ? Policies.tickets_per_day.limit : Number.POSITIVE_INFINITY
  const first = smallestWhere(
    0,
    all,
    (first) => groups.reduce((sum, { count, rank }) => sum + count * Math.min(max, first / rank), 0) >= all
  )
  return { groups, all, of: (rank: number) => Math.min(max, first / rank) }
}

type SpreadOfShops = ReturnType<typeof spreadOf>

/** The tickets per day of each shop, the busiest first. */
export const ticketsADay = ({ shops, isLimited = true }: Pick<Fleet, "shops" | "isLimited">): Float64Array => {
  const { of } = spreadOf(shops, isLimited)
  return Float64Array.from({ length: shops }, (_, i) => of(i + 1))
}

/** The load of each cell. The shops arrive in random order, and each is placed in the cell with the fewest shops. */
const placed = (tickets: Float64Array, cells: number, seed: number): Float64Array => {
  const draw = random(seed)
  const order = Float64Array.from(tickets)
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(draw() * (i + 1))
    const held = order[i]!
    order[i] = order[j]!
    order[j] = held
  }
  const loads = new Float64Array(cells)
  for (let i = 0; i < order.length; i++) loads[i % cells]! += order[i]!
  return loads
}

const max = (values: Float64Array): number => values.reduce((a, b) => Math.max(a, b), 0)
const total = (values: Float64Array): number => values.reduce((a, b) => a + b, 0)

/**
 * The share of requests for which a process must look up the shop's cell, because it clears its cache whenever the
 * cache is full.
 */
const lookUpsOf = ({ groups, all, of }: SpreadOfShops): number => {
  if (groups.reduce((sum, { count }) => sum + count, 0) <= ASSUMED.remembered) return 0
  const met = (requests: number) =>
    groups.reduce((sum, { count, rank }) => sum + count * (1 - Math.exp((-of(rank) * requests) / all)), 0)
  return (
    ASSUMED.remembered /
    smallestWhere(ASSUMED.remembered, ASSUMED.remembered * 10_000, (requests) => met(requests) >= ASSUMED.remembered)
  )
}

/** See {@link ASSUMED.remembered}. */
export const lookUps = (shops: number): number => lookUpsOf(spreadOf(shops, true))

/** The rates of commands, deliveries and reads at a rate of tickets. */
const ratesOf = (tickets_per_s: number) => ({
  commands: tickets_per_s * ASSUMED.commands_per_ticket,
  deliveries: tickets_per_s * ASSUMED.events_per_ticket,
  reads: tickets_per_s * ASSUMED.reads_per_ticket
})

const processesFor = (tickets_per_s: number, costs: Costs) => {
  const { commands, deliveries, reads } = ratesOf(tickets_per_s)
  const processor = 1_000 * ASSUMED.most_cpu
  const serving = (commands * costs.service_command_ms + reads * costs.service_read_ms) / processor
  return {
    serving: Math.max(2, Math.ceil(serving)),
    dispatching: Math.max(2, Math.ceil((deliveries * costs.dispatch_delivery_ms) / processor))
  }
}

/**
 * The number of commands that share a transaction: the commands that arrive in a lane of a process and a cell while the
 * previous transaction runs.
 */
const batchOf = (commands: number, cells: number, serving: number, { batch_took_ms }: Costs): number =>
  Math.min(128, Math.max(1, (commands / (cells * serving * ASSUMED.lanes)) * (batch_took_ms / 1_000)))

interface Spread {
  readonly cells: number
  readonly uneven_workers: number
  readonly lookUps: number
}

/** The used share of each part's capacity at a rate of tickets. */
const used = (tickets_per_s: number, workers: number, spread: Spread, costs: Costs) => {
  const { commands, deliveries, reads } = ratesOf(tickets_per_s)
  const { serving, dispatching } = processesFor(tickets_per_s, costs)
  const batch = batchOf(commands, spread.cells, serving, costs)
  const acts =
    commands * (costs.batch_ms / batch + costs.command_ms) + reads * costs.read_ms + deliveries * costs.delivery_ms
  const claimsPerSecond = 1_000 / ServiceLimits.delivery_poll_ms
  const looks =
    ASSUMED.cells_per_worker *
    (dispatching * claimsPerSecond * costs.look_ms + (serving + dispatching) * ASSUMED.looks_per_s * costs.read_ms)
  const capacity = 1_000 * ASSUMED.cores_per_worker * ASSUMED.most_cpu
  const connections = ASSUMED.connections_per_process * (serving + dispatching)
  const shares = {
    "CPU of the busiest worker": ((acts / workers) * spread.uneven_workers + looks) / capacity,
    "connections of a worker": connections / ASSUMED.most_connections,
    // The coordinator finds the cells of shops and keys, and the nodes of the cells.
    "CPU of the coordinator":
      ((2 * (commands + reads) * spread.lookUps + (serving + dispatching) * ASSUMED.looks_per_s) * costs.read_ms) /
      capacity
  } satisfies Record<Part, number>
  return { used: shares, batch, processes: serving + dispatching }
}

const bending = (shares: Readonly<Record<Part, number>>): Part =>
  (Object.keys(shares) as Array<Part>).reduce((a, b) => (shares[b] > shares[a] ? b : a))

const perSecond = (day: number): number => (day / (ASSUMED.hours_a_day * 3_600)) * ASSUMED.peak

const MAX_SHOPS = 100_000_000

/** The number of shops at which the first part reaches its capacity, and that part. */
const bend = (workers: number, uneven_workers: number, costs: Costs) => {
  const cells = workers * ASSUMED.cells_per_worker
  const at = (shops: number) => {
    const tickets_per_s = perSecond(shops * ASSUMED.tickets_a_day)
    const spread = { cells, uneven_workers, lookUps: lookUps(Math.round(shops)) }
    return used(tickets_per_s, workers, spread, costs).used
  }
  const shops = smallestWhere(1, MAX_SHOPS, (shops) => {
    const shares = at(shops)
    return shares[bending(shares)] >= 1
  })
  return { shops, part: bending(at(shops)) }
}

/** Simulates the busiest hour of a fleet. */
export const simulateFleet = (fleet: Fleet, costs: Costs): SimulatedFleet => {
  const { workers, shops, seed, isLimited = true } = fleet
  const spreadOfShops = spreadOf(shops, isLimited)
  const cells = workers * ASSUMED.cells_per_worker
  const loads = placed(ticketsADay(fleet), cells, seed)
  const ofWorkers = new Float64Array(workers)
  for (const [i, load] of loads.entries()) ofWorkers[i % workers]! += load
  const all = total(loads)
  const uneven_workers = (max(ofWorkers) * workers) / all
  const tickets_per_s = perSecond(all)
  const usage = used(tickets_per_s, workers, { cells, uneven_workers, lookUps: lookUpsOf(spreadOfShops) }, costs)
  const bent = bend(workers, uneven_workers, costs)
  const alone = ratesOf(perSecond(spreadOfShops.of(1)))
  const aloneCosts =
    alone.commands * (costs.batch_ms + costs.command_ms) +
    alone.reads * costs.read_ms +
    alone.deliveries * costs.delivery_ms
  const bytes = (all / cells) * ASSUMED.days_kept * costs.ticket_bytes
  return {
    ...fleet,
    tickets_per_s,
    processes: usage.processes,
    batch: usage.batch,
    used: usage.used,
    bends: bent.part,
    bends_at_shops: bent.shops,
    uneven_cells: (max(loads) * cells) / all,
    uneven_workers,
    busiest_shop: aloneCosts / (1_000 * ASSUMED.cores_per_worker),
    move_s: costs.move_s + bytes / costs.move_bytes_per_s
  }
}
